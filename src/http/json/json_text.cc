#include "src/http/json/json_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "src/http/json/percent.h"

namespace cqbench::transcoding {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = kOnes * 0x80;

// Not 0: one of the eight bytes at `at` is '"', '\', below 0x20 or above 0x7F. Borrows may set bits beyond the first
// such byte, never without one.
uint64_t Special(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  const auto has = [&](uint64_t byte) {
    const uint64_t other = word ^ (kOnes * byte);
    return (other - kOnes) & ~other;
  };
  return (word | (word - kOnes * 0x20) | has('"') | has('\\')) & kHighBits;
}

void AppendEscaped(unsigned char c, std::string& json) {
  constexpr char kHex[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    json.push_back('\\');
    json.push_back(static_cast<char>(c));
  } else if (c < 0x20) {
    const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
    json.append(escape, sizeof(escape));
  } else {
    json += "\xEF\xBF\xBD";
  }
}

template <typename Float>
void AppendAnyFloat(Float value, std::string& json) {
  if (value == 0 && std::signbit(value)) {
    json += "-0.0";  // who reads "-0" as an integer loses the sign
    return;
  }
  if (std::isfinite(value)) return AppendNumber(value, json);
  json += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

}  // namespace

const char* EndOfPlainText(const char* at, const char* end) {
  while (at < end) {
    while (end - at >= 8 && Special(at) == 0) at += 8;
    if (at == end) break;
    const auto c = static_cast<unsigned char>(*at);
    if (c >= 0x80) {
      const size_t length = Utf8Length({at, static_cast<size_t>(end - at)});
      if (length == 0) break;
      at += length;
    } else if (c < 0x20 || c == '"' || c == '\\') {
      break;
    } else {
      ++at;
    }
  }
  return at;
}

void AppendJsonString(absl::string_view text, std::string& json) {
  json.push_back('"');
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const plain = EndOfPlainText(at, end);
    json.append(at, plain);
    if (plain == end) break;
    AppendEscaped(static_cast<unsigned char>(*plain), json);
    at = plain + 1;
  }
  json.push_back('"');
}

void AppendBase64(absl::string_view bytes, std::string& json) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  json.push_back('"');
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t there = std::min<size_t>(bytes.size() - i, 3);
    unsigned bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < there ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    char four[] = {kDigits[bits >> 18], kDigits[bits >> 12 & 63], kDigits[bits >> 6 & 63], kDigits[bits & 63]};
    std::fill(four + there + 1, four + 4, '=');
    json.append(four, sizeof(four));
  }
  json.push_back('"');
}

void AppendFloat(float value, std::string& json) {
  AppendAnyFloat(value, json);
}

void AppendFloat(double value, std::string& json) {
  AppendAnyFloat(value, json);
}

bool AppendMaskPath(absl::string_view path, std::string& json) {
  const size_t before = json.size();
  char last = '.';
  for (const char c : path) {
    const bool lower = absl::ascii_islower(static_cast<unsigned char>(c));
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(c));
    const bool fits = lower || (digit && last != '_') || ((c == '_' || c == '.') && last != '_' && last != '.');
    if (!fits) {
      json.resize(before);
      return false;
    }
    if (c != '_') json.push_back(last == '_' ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c);
    last = c;
  }
  if (last != '_' && last != '.') return true;
  json.resize(before);
  return false;
}

}  // namespace cqbench::transcoding
