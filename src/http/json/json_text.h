// Values as JSON writes them. All append to `json` and need no memory beyond its growth.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// The enumeration whose only value is null.
inline constexpr char kNullValue[] = "google.protobuf.NullValue";

// The first byte from `at` on that cannot stand in a JSON string as it is: '"', '\', a control character, or what is no
// UTF-8. `end`: there is none.
const char* EndOfPlainText(const char* at, const char* end);

// As a JSON string. What is not UTF-8 becomes U+FFFD.
void AppendJsonString(absl::string_view text, std::string& json);

// With padding, in quotes.
void AppendBase64(absl::string_view bytes, std::string& json);

// The shortest text that reads back as the same number. Integers and finite ones only.
template <typename Number>
void AppendNumber(Number value, std::string& json) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  json.append(buffer, result.ptr);
}

// NaN and the infinities as strings.
void AppendFloat(float value, std::string& json);
void AppendFloat(double value, std::string& json);

// A field mask's path in camelCase, without quotes. False, and nothing appended: a path that would not come back as it
// was, or that is none.
bool AppendMaskPath(absl::string_view path, std::string& json);

}  // namespace cqbench::transcoding
