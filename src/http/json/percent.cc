#include "src/http/json/percent.h"

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

}  // namespace cqbench::transcoding
