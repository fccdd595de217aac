// The settings that an HTTP/2 server announces in its first frame (RFC 9113, sections 3.4 and 6.5). Bytes in, settings
// out; without I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench {

// Absent: not announced, so that the RFC's default holds.
struct Http2Settings {
  std::optional<uint32_t> max_concurrent_streams;  // per connection; by default without limit
  std::optional<uint32_t> initial_window_bytes;    // of a stream; by default 65,535
  std::optional<uint32_t> max_frame_bytes;         // by default 16,384
  std::optional<uint32_t> max_header_list_bytes;   // by default without limit
  bool operator==(const Http2Settings&) const = default;
};

// The settings of one server, as read from a connection of the client's own.
struct PeerSettings {
  std::string target;  // as in context.target
  Http2Settings announced;
  std::string not_read;  // why nothing is known; empty: `announced` was read
};

// The first frame of a server: a client that has announced no settings takes frames of at most 16,384 bytes.
inline constexpr size_t kHttp2FrameHeaderBytes = 9;
inline constexpr size_t kMaxFirstFrameBytes = kHttp2FrameHeaderBytes + 16'384;

// Returns the first bytes of a client: the connection preface, and settings without any entry.
absl::string_view Http2Hello();
// Returns the last bytes of a client that made no call: it acknowledges the server's settings, and goes away.
absl::string_view Http2Goodbye();

// Reads the first bytes of a server. Absent while they are too few: at most kMaxFirstFrameBytes are needed. What is
// decided does not depend on the bytes that follow. INVALID_ARGUMENT with one line if the server does not begin with
// its settings, or they break the RFC. Settings other than the four are passed over; of a repeated one, the last holds.
absl::StatusOr<std::optional<Http2Settings>> ReadFirstSettings(absl::string_view received);

}  // namespace cqbench
