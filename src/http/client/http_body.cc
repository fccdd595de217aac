#include "src/http/client/http_body.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Returns true for characters of numbers and names.
bool IsOfWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '-' || c == '+' || c == '.' || c == '_' || byte >= 0x80;
}

}  // namespace

void BodyCheck::Place::Pass(char c) {
  after_blank = false;
  if (in_string) {
    if (escaped) {
      escaped = false;
    } else if (c == '\\') {
      escaped = true;
    } else {
      in_string = c != '"';
    }
    return;
  }
  if (IsBlank(c)) {
    after_blank = true;
    return;
  }
  in_string = c == '"';
  after_word = IsOfWord(c);
}

void BodyCheck::TakeLoosely(std::string_view expected, std::string_view bytes) {
  if (wrong_) return;
  if (!loose_) {
    loose_ = true;
    for (char c : expected.substr(0, at_)) place_.Pass(c);
  }
  for (char c : bytes) {
    if (!place_.in_string && IsBlank(c)) {
      place_.Pass(c);
    } else if (!Matches(expected, c)) {
      wrong_ = true;
      return;
    }
  }
}

// A character that counts.
bool BodyCheck::Matches(std::string_view expected, char c) {
  const size_t from = at_;
  if (!place_.in_string) {
    while (at_ < expected.size() && IsBlank(expected[at_])) ++at_;
  }
  if (at_ == expected.size() || expected[at_] != c) return false;
  const bool blank_expected = at_ > from || (from > 0 && IsBlank(expected[from - 1]));
  const bool one_word = !place_.in_string && place_.after_word && IsOfWord(c);
  if (one_word && blank_expected != place_.after_blank) return false;
  place_.Pass(c);
  ++at_;
  return true;
}

bool BodyCheck::OnlyBlanksFrom(size_t at, std::string_view expected) {
  return std::all_of(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end(), IsBlank);
}

std::string BodyCheck::Fault(std::string_view expected) const {
  const char* const how = !wrong_ ? "ends" : at_ == expected.size() ? "goes on" : "is not the expected one";
  return absl::StrCat("the response's body ", how, " after ", at_, " of ", expected.size(), " bytes");
}

}  // namespace cqbench
