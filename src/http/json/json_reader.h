// JSON (RFC 8259, nothing beyond it) taken value by value, without memory of its own but for strings with escapes.
// nlohmann::json's events cost 2.0 µs and 10 allocations for a book of 204 bytes, before anything is done with them;
// and a parser that is called, not calling, needs no stack of states.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cqbench::transcoding {

// One text, which must outlive it. After a function has returned false without the end of what it is in, ok() is false
// and nothing more may be read.
class JsonReader {
 public:
  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull, kNone };

  JsonReader(absl::string_view text, int max_depth)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), depth_left_(max_depth) {}

  // What begins here; blanks before it are passed over.
  Kind Peek();

  // Each for what Peek() has just found; the others for an object's or an array's inside. Views of strings are valid
  // until the next string is read.
  bool ReadString(absl::string_view& value);  // decoded
  bool ReadNumber(absl::string_view& text);
  bool ReadWord();  // true, false, null
  bool Enter();     // '{' or '['
  // The next member of an object, up to its value. False: there is none, and the object is behind us; or !ok().
  bool NextMember(absl::string_view& name);
  // The same for an array's elements.
  bool NextElement();

  // A whole value, whatever is there. `text`: as it stands.
  bool Skip(absl::string_view& text);

  // Nothing but blanks is left.
  bool AtEnd();

  bool ok() const { return why_ == nullptr; }
  // INVALID_ARGUMENT: what is no JSON, and where.
  absl::Status status() const;

 private:
  bool Fail(const char* why);  // false
  void SkipBlanks();
  bool Next(char close);
  bool SkipInside(Kind kind);
  bool FinishString(const char* begin, absl::string_view& value);
  bool ReadEscape();
  bool ReadUnicode();
  bool ReadHex4(uint32_t& code);
  bool SkipDigits();

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const char* why_ = nullptr;
  int depth_left_;
  bool first_ = false;  // nothing of the innermost object or array was read
  std::string decoded_;
};

}  // namespace cqbench::transcoding
