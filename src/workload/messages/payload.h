// The bytes of payloads: the same for the same kind and seed on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "src/config/payload_content.h"

namespace cqbench {

// The parts of a payload that are compared when the whole is too large.
struct PayloadEnds {
  static constexpr size_t kFirst = 8;

  uint64_t size = 0;
  std::array<char, kFirst> first{};  // as many as there are
  char last = 0;

  static PayloadEnds Of(absl::string_view payload) {
    PayloadEnds ends{payload.size()};
    if (payload.empty()) return ends;
    std::copy_n(payload.data(), std::min(payload.size(), kFirst), ends.first.data());
    ends.last = payload.back();
    return ends;
  }
};

// Bytes in the range of a block of 64 KiB, repeated: more than deflate's window of 32 KiB, so that random payloads of
// any length do not compress. Text is words of a few letters with spaces, some 4 to 5 bits a byte. A given entropy
// takes the minimum number of symbols (2^bits, rounded up), all equally frequent, except one that is rarer if 2^bits is
// not whole. Each symbol has its exact frequency in the block, in random order. If 2^bits is a power of two, an ideal
// code takes exactly that number of bits for each byte, and deflate comes near.
class PayloadSource {
 public:
  PayloadSource(const PayloadContent& content, uint64_t seed);

  // Makes `payload` the first `size` bytes. What has that size and begins as it should is taken to come from here and
  // stays: a message that is used again is filled once, unless another content or seed is asked for.
  void Fill(std::string* payload, size_t size) const {
    if (payload->size() != size || !Begins(*payload, telling_)) Write(payload, size);
  }
  // Returns true if a payload begins and ends like one of its size from here. Takes constant time.
  bool HasEnds(const PayloadEnds& ends) const;
  // Copies the first `size` bytes.
  void Copy(char* to, size_t size) const;

 private:
  bool Begins(const std::string& payload, size_t bytes) const {
    return payload.compare(0, bytes, block_, 0, std::min(bytes, payload.size())) == 0;
  }
  void Write(std::string* payload, size_t size) const;
  std::string block_;
  // This number of first bytes distinguishes the block from blocks of other contents or seeds: few, unless the entropy
  // is small.
  size_t telling_;
};

// The content that a request asks of the response's payload; a number that is none of the kinds means zeros.
PayloadContent ContentOf(int proto_kind, uint64_t tenths);

// Made once for each content and seed that is asked for; never destroyed. Any thread.
const PayloadSource& PayloadOf(PayloadContent content, uint64_t seed);

}  // namespace cqbench
