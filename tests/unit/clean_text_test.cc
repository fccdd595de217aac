// Cleaned text from the network has no characters that a terminal, a table or an editor would interpret.
#include "src/base/clean_text.h"

#include <gtest/gtest.h>

#include <string>

namespace cqbench {
namespace {

TEST(CleanText, LeavesTextAsItIs) {
  EXPECT_EQ(CleanText("Größe 1 €, 𝄞 <b>", 100), "Größe 1 €, 𝄞 <b>");
  EXPECT_EQ(CleanText("", 100), "");
}

TEST(CleanText, WhatActsOnTerminalsIsReplaced) {
  EXPECT_EQ(CleanText("a\x1b[31m\nb\r\x07\x7f", 100), "a [31m b   ");
  EXPECT_EQ(CleanText(std::string("a\0b", 3), 100), "a b");
  EXPECT_EQ(CleanText("a\xc2\x9b"
                      "31m",
                      100),
            "a 31m")
      << "the same escape, of the second set of control characters";
  EXPECT_EQ(CleanText("a\xe2\x80\xa8"
                      "b\xe2\x80\xae"
                      "c",
                      100),
            "a b\xef\xbf\xbd"
            "c")
      << "a line's end, and from right to left";
}

TEST(CleanText, BytesThatAreNoUtf8AreReplacedOneByOne) {
  const std::string no = "\xef\xbf\xbd";
  EXPECT_EQ(CleanText("\xff"
                      "a\xc0\xaf",
                      100),
            no + "a" + no + no);
  EXPECT_EQ(CleanText("\xed\xa0\x80", 100), no + no + no) << "half of a pair of UTF-16";
  EXPECT_EQ(CleanText("\xf5\x80\x80\x80", 100), no + no + no + no);
  EXPECT_EQ(CleanText("\xe2\x82", 100), no + no) << "cut off";
}

TEST(CleanText, WhatIsTooLongIsCutBetweenCharacters) {
  EXPECT_EQ(CleanText("123456789", 9), "123456789");
  EXPECT_EQ(CleanText("1234567890", 9), "123456...");
  EXPECT_EQ(CleanText("12345€€€", 9), "12345...");
  EXPECT_EQ(CleanText(std::string(1000, '\xff'), 10).size(), 9u) << "what replaces is longer than what was there";
}

TEST(CleanName, HasNoMarkup) {
  EXPECT_EQ(CleanName("<script>alert(1)</script>", 100), "?script?alert(1)?/script?");
}

TEST(Utf8, IsWhatRfc3629Has) {
  for (const char* text : {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA9z"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
    EXPECT_EQ(ValidUtf8(text), text);
  }
  EXPECT_TRUE(IsUtf8(absl::string_view("\0", 1)));
  for (const char* text : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3z", "\xE0\x9F\xBF", "\xED\xA0\x80",
                           "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xE2"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
    EXPECT_TRUE(IsUtf8(ValidUtf8(text))) << text;
  }
  EXPECT_EQ(ValidUtf8("a\xFF\xC3(\xC3\xA9\xE2"), "a\xEF\xBF\xBD\xEF\xBF\xBD(\xC3\xA9\xEF\xBF\xBD");
}

}  // namespace
}  // namespace cqbench
