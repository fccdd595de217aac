#include "src/base/clean_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

constexpr absl::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr absl::string_view kCut = "...";

// The character that `text` begins with.
struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

Character First(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || surrogate || code > 0x10ffff) return {};
  return {code, bytes, true};
}

bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

bool TurnsDirection(uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string CleanText(absl::string_view text, size_t max_bytes) {
  std::string clean;
  size_t fits = 0;  // of `clean`, what leaves room for kCut
  while (!text.empty()) {
    const Character c = First(text);
    absl::string_view put = text.substr(0, c.bytes);
    if (!c.valid || TurnsDirection(c.code)) {
      put = kReplacement;
    } else if (IsControl(c.code)) {
      put = " ";
    }
    if (clean.size() + put.size() > max_bytes) {
      clean.resize(fits);
      absl::StrAppend(&clean, kCut);
      return clean;
    }
    absl::StrAppend(&clean, put);
    if (clean.size() + kCut.size() <= max_bytes) fits = clean.size();
    text.remove_prefix(c.bytes);
  }
  return clean;
}

std::string CleanName(absl::string_view text, size_t max_bytes) {
  std::string clean = CleanText(text, max_bytes);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '<' || c == '>'; }, '?');
  return clean;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const Character c = First(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const Character c = First(text);
    absl::StrAppend(&valid, c.valid ? text.substr(0, c.bytes) : kReplacement);
    text.remove_prefix(c.bytes);
  }
  return valid;
}

}  // namespace cqbench
