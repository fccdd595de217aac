// Settings of gRPC other than the messages: channel arguments, metadata, compression, keepalive.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/enum_names.h"

namespace cqbench {

struct ChannelArg {
  std::string key;
  std::variant<int, std::string> value;
};
// "key=value"; a value that is a whole number in the range of int becomes one.
absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text);

struct Metadata {
  std::string key;
  std::string value;  // bytes, where the key ends in -bin
};
// "key: value"; the value of a key that ends in -bin is base64. INVALID_ARGUMENT for what gRPC does not take.
absl::StatusOr<Metadata> ParseMetadata(absl::string_view text);

enum class Compression { kNone, kDeflate, kGzip };
constexpr auto NamesOf(Compression) {
  return std::to_array<EnumName<Compression>>(
      {{Compression::kNone, "none"}, {Compression::kDeflate, "deflate"}, {Compression::kGzip, "gzip"}});
}

// Compression of what a client sends: the channel's default, or set in each call (ClientContext), which costs an entry
// of metadata on our side.
struct ClientCompression {
  Compression algorithm = Compression::kNone;
  bool per_call = false;
  bool operator==(const ClientCompression&) const = default;
};
// "none", "gzip", "call:gzip".
std::string ToString(const ClientCompression& compression);
absl::StatusOr<ClientCompression> ParseClientCompression(absl::string_view text);

// Metadata of every call (of a bidi stream: when it opens).
struct GeneratedMetadata {
  int entries = 0;  // 0: none
  uint32_t value_bytes = 0;
  bool binary = false;    // keys end in -bin, values are any bytes
  bool changing = false;  // no two calls in a row have the same values
  bool operator==(const GeneratedMetadata&) const = default;
};
inline constexpr int kMaxMetadataEntries = 1000;
inline constexpr uint32_t kMaxMetadataBytes = 64 << 10;  // of a value
// An end that runs gRPC accepts this much metadata unless its grpc.max_metadata_size is different.
inline constexpr uint64_t kUsualMetadataLimit = 8 << 10;

// "8x64" or "8×64": entries and the bytes of each value (1KiB, too); ":bin", ":changing" or both, separated by a comma,
// may follow.
absl::StatusOr<GeneratedMetadata> ParseGeneratedMetadata(absl::string_view text);
// "8x64:bin,changing"; empty for none.
std::string ToString(const GeneratedMetadata& metadata);
// The key of an entry: "cqbench-0", "cqbench-0-bin".
std::string GeneratedKey(const GeneratedMetadata& metadata, int entry);
// As HTTP/2 counts it against a limit: keys, values and 32 bytes for each entry.
uint64_t HeaderListBytes(const GeneratedMetadata& metadata);

// A ping on a connection after so long without anything received, and how long its response may take.
struct Keepalive {
  int time_ms = 0;
  int timeout_ms = 0;  // 0: the library's
};
// "10s", "10s,2s": at least a millisecond each.
absl::StatusOr<Keepalive> ParseKeepalive(absl::string_view text);

}  // namespace cqbench
