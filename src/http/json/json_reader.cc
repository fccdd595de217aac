#include "src/http/json/json_reader.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/json_text.h"

namespace cqbench::transcoding {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

void AppendUtf8(uint32_t code, std::string& text) {
  const auto rest = [&](int shift) { text.push_back(static_cast<char>(0x80 | (code >> shift & 0x3F))); };
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text.push_back(static_cast<char>(0xC0 | code >> 6));
    rest(0);
  } else if (code < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | code >> 12));
    rest(6);
    rest(0);
  } else {
    text.push_back(static_cast<char>(0xF0 | code >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace

bool JsonReader::Fail(const char* why) {
  why_ = why;
  return false;
}

absl::Status JsonReader::status() const {
  if (ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(why_, ", at byte ", at_ - begin_));
}

void JsonReader::SkipBlanks() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonReader::AtEnd() {
  SkipBlanks();
  return at_ == end_;
}

JsonReader::Kind JsonReader::Peek() {
  SkipBlanks();
  if (at_ == end_) return Kind::kNone;
  switch (*at_) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
      return Kind::kTrue;
    case 'f':
      return Kind::kFalse;
    case 'n':
      return Kind::kNull;
    default:
      return *at_ == '-' || IsDigit(*at_) ? Kind::kNumber : Kind::kNone;
  }
}

bool JsonReader::ReadWord() {
  const absl::string_view rest(at_, static_cast<size_t>(end_ - at_));
  for (const absl::string_view word : {"true", "false", "null"}) {
    if (!absl::StartsWith(rest, word)) continue;
    at_ += word.size();
    return true;
  }
  return Fail("a word that JSON does not have");
}

bool JsonReader::SkipDigits() {
  const char* const begin = at_;
  while (at_ < end_ && IsDigit(*at_)) ++at_;
  return at_ > begin || Fail("a digit is missing");
}

bool JsonReader::ReadNumber(absl::string_view& text) {
  const char* const begin = at_;
  if (*at_ == '-') ++at_;
  const bool zero = at_ < end_ && *at_ == '0';
  if (!SkipDigits()) return false;
  if (zero && at_ - begin > (*begin == '-' ? 2 : 1)) return Fail("a number that begins with 0");
  if (at_ < end_ && *at_ == '.') {
    ++at_;
    if (!SkipDigits()) return false;
  }
  if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!SkipDigits()) return false;
  }
  text = {begin, static_cast<size_t>(at_ - begin)};
  return true;
}

bool JsonReader::ReadString(absl::string_view& value) {
  const char* const begin = ++at_;
  at_ = EndOfPlainText(at_, end_);
  if (at_ == end_ || *at_ != '"') return FinishString(begin, value);
  value = {begin, static_cast<size_t>(at_++ - begin)};
  return true;
}

// From the first byte on that does not stand for itself.
bool JsonReader::FinishString(const char* begin, absl::string_view& value) {
  decoded_.assign(begin, at_);
  while (at_ < end_ && *at_ != '"') {
    if (static_cast<unsigned char>(*at_) < 0x20) return Fail("a control character in a string");
    if (*at_ != '\\') return Fail("a string that is no UTF-8");
    if (!ReadEscape()) return false;
    const char* const plain = at_;
    at_ = EndOfPlainText(at_, end_);
    decoded_.append(plain, at_);
  }
  if (at_ == end_) return Fail("a string without an end");
  ++at_;
  value = decoded_;
  return true;
}

bool JsonReader::ReadEscape() {
  constexpr absl::string_view kEscapes = "\"\\/bfnrt";
  constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (++at_ == end_) return Fail("a string without an end");
  if (*at_ == 'u') return ReadUnicode();
  const size_t which = kEscapes.find(*at_);
  if (which == absl::string_view::npos) return Fail("an escape that JSON does not have");
  ++at_;
  decoded_.push_back(kMeanings[which]);
  return true;
}

bool JsonReader::ReadUnicode() {
  uint32_t code = 0;
  if (!ReadHex4(code)) return false;
  if (code >= 0xDC00 && code < 0xE000) return Fail("the second half of a surrogate pair alone");
  if (code >= 0xD800 && code < 0xDC00) {
    uint32_t low = 0;
    if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') return Fail("half a surrogate pair");
    ++at_;
    if (!ReadHex4(low)) return false;
    if (low < 0xDC00 || low >= 0xE000) return Fail("half a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  AppendUtf8(code, decoded_);
  return true;
}

// From the 'u' on.
bool JsonReader::ReadHex4(uint32_t& code) {
  ++at_;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_ || !absl::ascii_isxdigit(static_cast<unsigned char>(*at_))) {
      return Fail("\\u without four hexadecimal digits");
    }
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(*at_));
    const auto digit = static_cast<uint32_t>(IsDigit(lower) ? lower - '0' : lower - 'a' + 10);
    code = code << 4 | digit;
  }
  return true;
}

bool JsonReader::Enter() {
  if (depth_left_-- == 0) return Fail("it is nested too deep");
  ++at_;
  return first_ = true;
}

bool JsonReader::Next(char close) {
  if (!ok()) return false;
  SkipBlanks();
  if (at_ == end_) return Fail("it has no end");
  if (*at_ == close) {
    ++at_;
    ++depth_left_;
    return first_ = false;
  }
  if (first_) {
    first_ = false;
    return true;
  }
  if (*at_ != ',') return Fail("a ',' is missing");
  ++at_;
  return true;
}

bool JsonReader::NextElement() {
  return Next(']');
}

bool JsonReader::NextMember(absl::string_view& name) {
  if (!Next('}')) return false;
  if (Peek() != Kind::kString) return Fail("a member without a name in quotes");
  if (!ReadString(name)) return false;
  SkipBlanks();
  if (at_ == end_ || *at_ != ':') return Fail("a ':' is missing");
  ++at_;
  return true;
}

bool JsonReader::SkipInside(Kind kind) {
  if (!Enter()) return false;
  absl::string_view text;
  while (kind == Kind::kObject ? NextMember(text) : NextElement()) {
    if (!Skip(text)) return false;
  }
  return ok();
}

bool JsonReader::Skip(absl::string_view& text) {
  const Kind kind = Peek();
  const char* const begin = at_;
  absl::string_view inside;
  bool read = false;
  switch (kind) {
    case Kind::kObject:
    case Kind::kArray:
      read = SkipInside(kind);
      break;
    case Kind::kString:
      read = ReadString(inside);
      break;
    case Kind::kNumber:
      read = ReadNumber(inside);
      break;
    case Kind::kNone:
      read = Fail("a value is missing");
      break;
    default:
      read = ReadWord();
  }
  text = {begin, static_cast<size_t>(at_ - begin)};
  return read;
}

}  // namespace cqbench::transcoding
