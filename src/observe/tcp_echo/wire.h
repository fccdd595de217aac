// The format of the TCP ping-pong; src/observe/tcp_echo/tcp_echo.h says it in words.
#pragma once

#include <arpa/inet.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "src/config/messages.h"

namespace cqbench {

// No more than this is sent or received at once, so that a message needs no buffer of its size.
inline constexpr size_t kChunkBytes = 64 << 10;

struct Hello {
  static constexpr uint32_t kMagic = 0x63716265;
  static constexpr uint32_t kSpinFlag = 1;
  static constexpr uint32_t kSendfileFlag = 2;
  using Bytes = std::array<char, 16>;

  uint32_t request_bytes = 0;
  uint32_t response_bytes = 0;
  bool spin = false;
  bool sendfile = false;
};

inline bool IsMessageSize(uint32_t bytes) {
  return bytes >= 1 && bytes <= kMaxPayloadBytes;
}

inline Hello::Bytes Encode(const Hello& hello) {
  const uint32_t flags = (hello.spin ? Hello::kSpinFlag : 0) | (hello.sendfile ? Hello::kSendfileFlag : 0);
  const std::array<uint32_t, 4> words = {htonl(Hello::kMagic), htonl(hello.request_bytes), htonl(hello.response_bytes),
                                         htonl(flags)};
  Hello::Bytes bytes;
  static_assert(sizeof(words) == sizeof(bytes));
  std::memcpy(bytes.data(), words.data(), sizeof(bytes));
  return bytes;
}

// Absent for what is no hello or has sizes that are not served.
inline std::optional<Hello> Decode(const Hello::Bytes& bytes) {
  std::array<uint32_t, 4> words;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  const uint32_t flags = ntohl(words[3]);
  const Hello hello{ntohl(words[1]), ntohl(words[2]), (flags & Hello::kSpinFlag) != 0,
                    (flags & Hello::kSendfileFlag) != 0};
  if (ntohl(words[0]) != Hello::kMagic) return std::nullopt;
  if (!IsMessageSize(hello.request_bytes) || !IsMessageSize(hello.response_bytes)) return std::nullopt;
  return hello;
}

}  // namespace cqbench
