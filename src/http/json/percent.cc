#include "src/http/json/percent.h"

#include <cstdint>

namespace cqbench::transcoding {
namespace {

// -1: not a hexadecimal digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool PercentDecode(absl::string_view text, Slashes slashes, std::string& buffer, absl::string_view& decoded) {
  size_t at = text.find('%');
  if (at == absl::string_view::npos) {
    decoded = text;
    return true;
  }
  buffer.assign(text.data(), at);
  for (; at < text.size(); ++at) {
    if (text[at] != '%') {
      buffer.push_back(text[at]);
      continue;
    }
    if (at + 2 >= text.size()) return false;
    const int high = HexDigit(text[at + 1]);
    const int low = HexDigit(text[at + 2]);
    if (high < 0 || low < 0) return false;
    const char c = static_cast<char>(high * 16 + low);
    if (c == '/' && slashes == Slashes::kKeepEncoded) {
      buffer.append(text.data() + at, 3);
    } else {
      buffer.push_back(c);
    }
    at += 2;
  }
  decoded = buffer;
  return true;
}

size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const auto follows = [&](size_t i, uint8_t from = 0x80, uint8_t to = 0xBF) {
    return byte(i) >= from && byte(i) <= to;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const uint8_t from = first == 0xE0 ? 0xA0 : 0x80;
    const uint8_t to = first == 0xED ? 0x9F : 0xBF;
    return follows(1, from, to) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const uint8_t from = first == 0xF0 ? 0x90 : 0x80;
    const uint8_t to = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, from, to) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool IsUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

}  // namespace cqbench::transcoding
