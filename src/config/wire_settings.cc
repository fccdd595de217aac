#include "src/config/wire_settings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/clock.h"
#include "src/config/units.h"

namespace cqbench {
namespace {

constexpr absl::string_view kPerCall = "call:";
constexpr absl::string_view kTimes = "\xC3\x97";  // the sign ×, in UTF-8

absl::Status NotMetadata(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not N×BYTES, as in 8x64, 8x64:bin or 8x64:changing: 1 to ", kMaxMetadataEntries,
      " entries with values of 1 to ", kMaxMetadataBytes, " bytes; for keys and values of your own there is --header"));
}

// False for what is neither of the words, or is there twice.
bool ParseKinds(absl::string_view text, GeneratedMetadata& metadata) {
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    bool* const kind = word == "bin" ? &metadata.binary : word == "changing" ? &metadata.changing : nullptr;
    if (kind == nullptr || *kind) return false;
    *kind = true;
  }
  return true;
}

// False for what is no time from a millisecond to a day.
bool ParseMillis(absl::string_view text, int& ms) {
  const auto ns = ParseDuration(text, kNanosPerMilli);
  if (ns.ok()) ms = static_cast<int>(*ns / kNanosPerMilli);
  return ns.ok();
}

}  // namespace

absl::StatusOr<ChannelArg> ParseChannelArg(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not KEY=VALUE"));
  }
  ChannelArg arg{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (int number = 0; absl::SimpleAtoi(text.substr(equals + 1), &number)) arg.value = number;
  return arg;
}

absl::StatusOr<Metadata> ParseMetadata(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos || colon == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not KEY: VALUE"));
  }
  Metadata metadata{absl::AsciiStrToLower(text.substr(0, colon)),
                    std::string(absl::StripAsciiWhitespace(text.substr(colon + 1)))};
  const auto is_legal = [](unsigned char c) {
    return absl::ascii_isdigit(c) || absl::ascii_islower(c) || c == '-' || c == '_' || c == '.';
  };
  if (!std::all_of(metadata.key.begin(), metadata.key.end(), is_legal) || absl::StartsWith(metadata.key, "grpc-")) {
    return absl::InvalidArgumentError(absl::StrCat("'", text.substr(0, colon),
                                                   "' is no key: letters, digits, - _ and . are accepted, and grpc- is "
                                                   "the library's own"));
  }
  if (absl::EndsWith(metadata.key, "-bin")) {
    std::string bytes;
    if (!absl::Base64Unescape(metadata.value, &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("the value of '", metadata.key, "' is not base64"));
    }
    metadata.value = std::move(bytes);
  } else if (!std::all_of(metadata.value.begin(), metadata.value.end(),
                          [](unsigned char c) { return absl::ascii_isprint(c); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value of '", metadata.key, "' is not printable ASCII: a key that ends in -bin takes base64"));
  }
  return metadata;
}

std::string ToString(const ClientCompression& compression) {
  return absl::StrCat(compression.per_call ? kPerCall : "", ToString(compression.algorithm));
}

absl::StatusOr<ClientCompression> ParseClientCompression(absl::string_view text) {
  ClientCompression compression;
  absl::string_view name = text;
  compression.per_call = absl::ConsumePrefix(&name, kPerCall);
  if (const auto algorithm = FromString<Compression>(name)) {
    compression.algorithm = *algorithm;
    if (!compression.per_call || *algorithm != Compression::kNone) return compression;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not one of none, deflate, gzip, call:deflate, call:gzip"));
}

absl::StatusOr<GeneratedMetadata> ParseGeneratedMetadata(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> halves = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const size_t sign = halves.first.find_first_of("x\xC3");
  GeneratedMetadata metadata;
  if (sign == absl::string_view::npos || !absl::SimpleAtoi(halves.first.substr(0, sign), &metadata.entries)) {
    return NotMetadata(text);
  }
  absl::string_view size = halves.first.substr(sign);
  if (!absl::ConsumePrefix(&size, kTimes) && !absl::ConsumePrefix(&size, "x")) return NotMetadata(text);
  const auto bytes = ParseBytes(size, kMaxMetadataBytes);
  const bool in_range = bytes.ok() && *bytes > 0 && metadata.entries >= 1 && metadata.entries <= kMaxMetadataEntries;
  const bool has_kinds = halves.first.size() < text.size();
  if (!in_range || (has_kinds && !ParseKinds(halves.second, metadata))) return NotMetadata(text);
  metadata.value_bytes = *bytes;
  return metadata;
}

std::string ToString(const GeneratedMetadata& metadata) {
  if (metadata.entries == 0) return "";
  const bool both = metadata.binary && metadata.changing;
  return absl::StrCat(metadata.entries, "x", metadata.value_bytes, metadata.binary || metadata.changing ? ":" : "",
                      metadata.binary ? "bin" : "", both ? "," : "", metadata.changing ? "changing" : "");
}

std::string GeneratedKey(const GeneratedMetadata& metadata, int entry) {
  return absl::StrCat("cqbench-", entry, metadata.binary ? "-bin" : "");
}

uint64_t HeaderListBytes(const GeneratedMetadata& metadata) {
  constexpr uint64_t kOfEach = 32;  // RFC 7541, 4.1
  uint64_t bytes = 0;
  for (int i = 0; i < metadata.entries; ++i) {
    bytes += GeneratedKey(metadata, i).size() + metadata.value_bytes + kOfEach;
  }
  return bytes;
}

absl::StatusOr<Keepalive> ParseKeepalive(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> times = absl::StrSplit(text, absl::MaxSplits(',', 1));
  const bool has_timeout = times.first.size() < text.size();
  Keepalive keepalive;
  if (ParseMillis(times.first, keepalive.time_ms) &&
      (!has_timeout || ParseMillis(times.second, keepalive.timeout_ms))) {
    return keepalive;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text,
                                                 "' is not TIME or TIME,TIMEOUT, as in 10s,2s: each from 1ms to 24h, "
                                                 "numbers of seconds or with ms, s, m or h"));
}

}  // namespace cqbench
