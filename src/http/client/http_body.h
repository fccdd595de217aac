// Compares the body of an HTTP response with the expected one while its bytes arrive; keeps no bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cqbench {

// One response's. Right are equal bytes, and JSON that differs in blanks outside of strings only: some servers print it
// with blanks, and grpc-gateway at random. One thread; `expected` is the same in all calls of a response; when it is
// empty, any body is right.
class BodyCheck {
 public:
  // A response begins.
  void Reset() { *this = BodyCheck(); }
  // The next bytes of it.
  void Take(std::string_view expected, std::string_view bytes) {
    if (expected.empty()) return;
    if (!loose_ && expected.substr(at_).starts_with(bytes)) [[likely]] {
      at_ += bytes.size();
      return;
    }
    TakeLoosely(expected, bytes);
  }
  // It has ended.
  bool Right(std::string_view expected) const {
    return !wrong_ && (at_ == expected.size() || expected.empty() || OnlyBlanksFrom(at_, expected));
  }
  // Describes, for people, why a body is wrong.
  std::string Fault(std::string_view expected) const;

 private:
  // The state that decides whether a blank counts.
  struct Place {
    bool in_string = false;
    bool escaped = false;      // the next character is, whatever it is
    bool after_word = false;   // a number or a name may go on: a blank would make two of it
    bool after_blank = false;  // of the response
    void Pass(char c);
  };
  void TakeLoosely(std::string_view expected, std::string_view bytes);
  bool Matches(std::string_view expected, char c);
  static bool OnlyBlanksFrom(size_t at, std::string_view expected);

  size_t at_ = 0;       // of the expected bytes, how many have come
  bool wrong_ = false;  // for good
  bool loose_ = false;  // the bytes are not equal, so blanks have to be looked at
  Place place_;         // of a loose comparison
};

}  // namespace cqbench
