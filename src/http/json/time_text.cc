#include "src/http/json/time_text.h"

#include <charconv>
#include <chrono>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "src/http/json/json_text.h"

namespace cqbench::transcoding {
namespace {

constexpr int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z
constexpr int64_t kMostSeconds = 315'576'000'000;  // 10,000 years

// Takes exactly `width` digits, or as many as there are (0), from the beginning of `text`.
bool TakeDigits(absl::string_view& text, size_t width, int64_t& value) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  if (digits == 0 || digits < width) return false;
  if (width > 0) digits = width;
  const auto result = std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return result.ec == std::errc();
}

// "-02" with '-': the character, and two digits up to `most`.
bool TakePart(absl::string_view& text, absl::string_view before, int64_t most, int64_t& value) {
  return absl::ConsumePrefix(&text, before) && TakeDigits(text, 2, value) && value <= most;
}

// ".5", or nothing.
bool TakeFraction(absl::string_view& text, int32_t& nanos) {
  nanos = 0;
  if (!absl::ConsumePrefix(&text, ".")) return true;
  size_t digits = text.size();
  int64_t value = 0;
  if (!TakeDigits(text, 0, value)) return false;
  digits -= text.size();
  if (digits > 9) return false;
  for (; digits < 9; ++digits) value *= 10;
  nanos = static_cast<int32_t>(value);
  return true;
}

// "Z", "+02:00": what is to be taken off for UTC.
bool TakeOffset(absl::string_view& text, int64_t& seconds) {
  seconds = 0;
  if (absl::ConsumePrefix(&text, "Z")) return true;
  const int64_t sign = !text.empty() && text[0] == '-' ? -1 : 1;
  int64_t hours = 0;
  int64_t minutes = 0;
  if (!TakePart(text, sign < 0 ? "-" : "+", 23, hours) || !TakePart(text, ":", 59, minutes)) return false;
  seconds = sign * (hours * 3600 + minutes * 60);
  return true;
}

void AppendDigits(unsigned value, size_t width, std::string& json) {
  char digits[9];
  for (size_t i = width; i-- > 0; value /= 10) digits[i] = static_cast<char>('0' + value % 10);
  json.append(digits, width);
}

// Three, six or nine digits, or nothing.
void AppendFraction(unsigned nanos, std::string& json) {
  if (nanos == 0) return;
  json.push_back('.');
  if (nanos % 1'000'000 == 0) return AppendDigits(nanos / 1'000'000, 3, json);
  if (nanos % 1'000 == 0) return AppendDigits(nanos / 1'000, 6, json);
  AppendDigits(nanos, 9, json);
}

}  // namespace

bool ParseTimestamp(absl::string_view text, SecondsAndNanos& time) {
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offset = 0;
  if (!TakeDigits(text, 4, year) || !TakePart(text, "-", 12, month) || !TakePart(text, "-", 31, day) ||
      !TakePart(text, "T", 23, hour) || !TakePart(text, ":", 59, minute) || !TakePart(text, ":", 59, second) ||
      !TakeFraction(text, time.nanos) || !TakeOffset(text, offset) || !text.empty()) {
    return false;
  }
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  time.seconds = days * 86'400 + hour * 3600 + minute * 60 + second - offset;
  return time.seconds >= kFirstSecond && time.seconds <= kLastSecond;
}

bool ParseDuration(absl::string_view text, SecondsAndNanos& duration) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!TakeDigits(text, 0, duration.seconds) || !TakeFraction(text, duration.nanos) || text != "s") return false;
  if (duration.seconds > kMostSeconds) return false;
  if (negative) duration = {-duration.seconds, -duration.nanos};
  return true;
}

bool AppendTimestamp(int64_t seconds, int32_t nanos, std::string& json) {
  if (seconds < kFirstSecond || seconds > kLastSecond || nanos < 0 || nanos >= 1'000'000'000) return false;
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto append = [&](char before, auto value, size_t width) {
    json.push_back(before);
    AppendDigits(static_cast<unsigned>(value), width, json);
  };
  append('"', static_cast<int>(date.year()), 4);
  append('-', static_cast<unsigned>(date.month()), 2);
  append('-', static_cast<unsigned>(date.day()), 2);
  append('T', clock.hours().count(), 2);
  append(':', clock.minutes().count(), 2);
  append(':', clock.seconds().count(), 2);
  AppendFraction(static_cast<unsigned>(nanos), json);
  json += "Z\"";
  return true;
}

bool AppendDuration(int64_t seconds, int32_t nanos, std::string& json) {
  if (seconds < -kMostSeconds || seconds > kMostSeconds) return false;
  if (nanos <= -1'000'000'000 || nanos >= 1'000'000'000) return false;
  if ((seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0)) return false;
  json += seconds < 0 || nanos < 0 ? "\"-" : "\"";
  AppendNumber(std::abs(seconds), json);
  AppendFraction(static_cast<unsigned>(std::abs(nanos)), json);
  json += "s\"";
  return true;
}

}  // namespace cqbench::transcoding
