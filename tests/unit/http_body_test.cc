// HTTP responses compared with the expected one: equal, equal except for blanks, and different.
#include "src/http/client/http_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace cqbench {
namespace {

// Tries pieces of every size.
bool Right(std::string_view expected, std::string_view body) {
  const auto right = [&](size_t piece) {
    BodyCheck check;
    for (std::string_view rest = body; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
      check.Take(expected, rest.substr(0, piece));
    }
    return check.Right(expected);
  };
  const bool whole = right(body.size());
  for (size_t piece = 1; piece < body.size(); ++piece) EXPECT_EQ(right(piece), whole) << body << " by " << piece;
  return whole;
}

std::string Fault(std::string_view expected, std::string_view body) {
  BodyCheck check;
  check.Take(expected, body);
  return check.Right(expected) ? "" : check.Fault(expected);
}

TEST(BodyCheck, EqualBytesAreRight) {
  for (std::string_view body : {"{}", "hello world", R"({"a":[1,2]})", "\n", "\"\\\""}) EXPECT_TRUE(Right(body, body));
  EXPECT_TRUE(Right("", "anything"));
  EXPECT_TRUE(Right("", ""));
}

TEST(BodyCheck, BlanksOutsideOfStringsDoNotCount) {
  EXPECT_TRUE(Right(R"({"a":[1,true],"b":{}})", "{ \"a\" :\r\n [1 ,\ttrue ] , \"b\": { } }\n"));
  EXPECT_TRUE(Right("{ \"a\" : 1 }\n", R"({"a":1})")) << "on either side";
  EXPECT_TRUE(Right("{\"a\": 1}\n{\"a\": 2}\n", "{\"a\":1}{\"a\":2}"));
  EXPECT_TRUE(Right(R"({"a": "x","b":1})", R"({"a": "x", "b":1})")) << "some are the same, others not";
}

TEST(BodyCheck, BlanksInStringsCount) {
  EXPECT_FALSE(Right(R"({"a":"x y"})", R"({"a":"xy"})"));
  EXPECT_FALSE(Right(R"({"a":"xy"})", R"({"a":"x y"})"));
  EXPECT_FALSE(Right(R"({"a":"x\" y"})", R"({ "a":"x\"y"})")) << "an escaped quote ends no string";
  EXPECT_FALSE(Right(R"({"a":"\\", "b":"c d"})", R"({"a":"\\","b":"cd"})"));
  EXPECT_TRUE(Right(R"({"a":"\\" ,"b":"c d"})", R"({"a":"\\","b" :"c d"})")) << "an escaped backslash escapes nothing";
}

TEST(BodyCheck, BlanksBetweenNumbersAndNamesCount) {
  EXPECT_FALSE(Right("1 2", "12"));
  EXPECT_FALSE(Right("12", "1 2"));
  EXPECT_FALSE(Right("[ 12]", "[1 2]"));
  EXPECT_FALSE(Right("hello world", "helloworld"));
  EXPECT_TRUE(Right("1\n2\n", "1 2"));
  EXPECT_TRUE(Right("[1, 2 ]", "[ 1 , 2]"));
}

TEST(BodyCheck, OtherBytesAreWrong) {
  constexpr std::string_view kExpected = R"({"name":"x","n":12})";
  for (size_t at = 0; at < kExpected.size(); ++at) {
    std::string other(kExpected);
    other[at] = '~';
    EXPECT_FALSE(Right(kExpected, other)) << other;
    EXPECT_FALSE(Right(kExpected, kExpected.substr(0, at))) << "cut off at " << at;
    EXPECT_FALSE(Right(kExpected, " " + other));
  }
  EXPECT_FALSE(Right(kExpected, std::string(kExpected) + "\n{}"));
}

TEST(BodyCheck, SaysWhereItIsWrong) {
  EXPECT_EQ(Fault("{\"a\":1}", "{\"a\":2}"), "the response's body is not the expected one after 5 of 7 bytes");
  EXPECT_EQ(Fault("{\"a\":1}", "{ \"a\""), "the response's body ends after 4 of 7 bytes");
  EXPECT_EQ(Fault("{\"a\":1}", "{\"a\":1}, 2"), "the response's body goes on after 7 of 7 bytes");
}

}  // namespace
}  // namespace cqbench
