// Timestamps and durations as text, as protobuf's JSON has them: "2024-01-31T12:00:00.500Z" (RFC 3339), "-1.500s".
// protobuf's TimeUtil does the same through std::string, and lets some of what JSON must not say pass.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// Seconds and nanoseconds as in the messages: of a timestamp the latter count forward, of a duration both have its
// sign.
struct SecondsAndNanos {
  int64_t seconds = 0;
  int32_t nanos = 0;
};

// Any offset from UTC; at most nine digits behind the point. False: it is none, or not of the years 1 to 9999.
bool ParseTimestamp(absl::string_view text, SecondsAndNanos& time);
// At most nine digits behind the point and 10,000 years. False: it is none.
bool ParseDuration(absl::string_view text, SecondsAndNanos& duration);

// Append, in quotes, and without memory beyond the text's growth. False, and nothing appended: it is out of range, or a
// duration's parts have different signs.
bool AppendTimestamp(int64_t seconds, int32_t nanos, std::string& json);
bool AppendDuration(int64_t seconds, int32_t nanos, std::string& json);

}  // namespace cqbench::transcoding
