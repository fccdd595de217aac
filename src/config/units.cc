#include "src/config/units.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace cqbench {

absl::StatusOr<Nanos> ParseDuration(absl::string_view text, Nanos min_ns) {
  absl::Duration duration;
  if (double seconds = 0; absl::SimpleAtod(text, &seconds)) {
    duration = std::isfinite(seconds) ? absl::Seconds(seconds) : absl::InfiniteDuration();
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a duration: a number of seconds, or a number with ns, us, ms, s, m or h"));
  }
  if (duration < absl::Nanoseconds(min_ns) || duration > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is out of range: accepted is ",
                                                   min_ns > 0 ? "more than 0 and" : "0 or more,", " up to 24h"));
  }
  return absl::ToInt64Nanoseconds(duration);
}

absl::StatusOr<uint32_t> ParseBytes(absl::string_view text, uint32_t max) {
  static constexpr std::pair<absl::string_view, uint64_t> kUnits[] = {
      {"KiB", 1024}, {"MiB", 1024 * 1024}, {"kB", 1000}, {"MB", 1'000'000}, {"B", 1}};
  absl::string_view digits = text;
  uint64_t unit = 1;
  for (const auto& [name, bytes] : kUnits) {
    if (!absl::ConsumeSuffix(&digits, name)) continue;
    unit = bytes;
    break;
  }
  uint32_t number = 0;
  if (!absl::SimpleAtoi(digits, &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a size: a whole number of bytes, or one with B, kB, MB, KiB or MiB"));
  }
  if (number * unit > max) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is out of range: accepted is 0 to ", max, " bytes"));
  }
  return static_cast<uint32_t>(number * unit);
}

absl::StatusOr<double> ParseByteRate(absl::string_view text) {
  static constexpr std::pair<absl::string_view, double> kUnits[] = {
      {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"MiB/s", 8 << 20}, {"bit/s", 1}};
  constexpr double kMaxBits = 1e12;
  for (const auto& [name, bits] : kUnits) {
    absl::string_view digits = text;
    double number = 0;
    if (!absl::ConsumeSuffix(&digits, name) || !absl::SimpleAtod(digits, &number)) continue;
    if (number > 0 && number * bits <= kMaxBits) return number * bits;
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is out of range: accepted is more than 0 and up to 1000Gbit/s"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a rate of data: a number with bit/s, kbit/s, Mbit/s, Gbit/s or MiB/s"));
}

std::string FormatDuration(Nanos ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

}  // namespace cqbench
