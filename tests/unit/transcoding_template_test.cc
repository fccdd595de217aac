// The grammar of path templates in google/api/http.proto, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/http/json/percent.h"
#include "src/http/routes/path_template.h"

namespace cqbench::transcoding {
namespace {

using ::testing::HasSubstr;

// Prints "shelves
// *
// ** a=0-2 b.c=2-3+ :verb": segments, variables with the segments they capture ('+': several), verb.
std::string Shown(const PathTemplate& path) {
  std::string shown = absl::StrJoin(path.segments, "|", [](std::string* out, const TemplateSegment& segment) {
    const bool literal = segment.kind == TemplateSegment::Kind::kLiteral;
    absl::StrAppend(out, literal ? segment.literal : segment.kind == TemplateSegment::Kind::kOne ? "*" : "**");
  });
  for (const TemplateVariable& variable : path.variables) {
    absl::StrAppend(&shown, " ", variable.field_path, "=", variable.begin, "-", variable.end,
                    variable.multi_segment ? "+" : "");
  }
  if (!path.verb.empty()) absl::StrAppend(&shown, " :", path.verb);
  return shown;
}

TEST(PathTemplate, IsWhatTheGrammarSays) {
  const struct {
    const char* text;
    const char* shown;
  } kCases[] = {
      {"/v1", "v1"},
      {"/v1/messages", "v1|messages"},
      {"/*", "*"},
      {"/**", "**"},
      {"/v1/*", "v1|*"},
      {"/v1/**", "v1|**"},
      {"/*/*/**", "*|*|**"},
      {"/{a}", "* a=0-1"},
      {"/{a=*}", "* a=0-1"},
      {"/{a=**}", "** a=0-1+"},
      {"/{a=b}", "b a=0-1"},
      {"/{a=b/c}", "b|c a=0-2+"},
      {"/v1/{name=messages/*}", "v1|messages|* name=1-3+"},
      {"/v1/messages/{message_id}", "v1|messages|* message_id=2-3"},
      {"/v1/messages/{message_id}/{sub.subfield}", "v1|messages|*|* message_id=2-3 sub.subfield=3-4"},
      {"/v1/users/{user_id}/messages/{message_id}", "v1|users|*|messages|* user_id=2-3 message_id=4-5"},
      {"/v1/{a.b=shelves/*/books/*}", "v1|shelves|*|books|* a.b=1-5+"},
      {"/v1/{name=shelves/**}", "v1|shelves|** name=1-3+"},
      {"/v1/{a=x/*}/{b=y/*}", "v1|x|*|y|* a=1-3+ b=3-5+"},
      {"/v1/{a}/**", "v1|*|** a=1-2"},
      {"/**/a", "**|a"},
      {"/**/*", "**|*"},
      {"/**/{b}", "**|* b=1-2"},
      {"/{a=**}/b", "**|b a=0-1+"},
      {"/{a=**/b}", "**|b a=0-2+"},
      {"/{a=**}/{b}", "**|* a=0-1+ b=1-2"},
      {"/v1/{a=p/*/**}/{b}:list", "v1|p|*|**|* a=1-4+ b=4-5 :list"},
      {"/v1/a:cancel", "v1|a :cancel"},
      {"/v1/*:cancel", "v1|* :cancel"},
      {"/v1/**:cancel", "v1|** :cancel"},
      {"/v1/{a}:cancel", "v1|* a=1-2 :cancel"},
      {"/v1/{a=b/**}:batch-get", "v1|b|** a=1-3+ :batch-get"},
      {"/{_a9._b}", "* _a9._b=0-1"},
      {"/{a.b.c.d=*}", "* a.b.c.d=0-1"},
      {"/v1/a.b-c_d~e", "v1|a.b-c_d~e"},
      {"/v1/a$b!c@d,e;f+g&h'(i)", "v1|a$b!c@d,e;f+g&h'(i)"},
      {"/v1/a%20b", "v1|a b"},
      {"/v1/a%2Fb", "v1|a/b"},
      {"/v1/%7Bx%7d", "v1|{x}"},
      {"/v1/%2A", "v1|*"},
      {"/v1/x:%3A", "v1|x ::"},
      {"/..", ".."},
      {"/v1/\xC3\xA9", nullptr},
      {"/a/b/c/d/e/f/g/h", "a|b|c|d|e|f|g|h"},
      {"/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2",
       "1|2|3|4|5|6|7|8|9|0|1|2|3|4|5|6|7|8|9|0|1|2|3|4|5|6|7|8|9|0|1|2"},
  };
  for (const auto& each : kCases) {
    const auto path = ParsePathTemplate(each.text);
    if (each.shown == nullptr) {
      EXPECT_FALSE(path.ok()) << each.text;
      continue;
    }
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(Shown(*path), each.shown) << each.text;
  }
}

TEST(PathTemplate, SaysWhatIsWrongAndWhere) {
  const struct {
    std::string text;
    const char* why;
  } kCases[] = {
      {"", "a template begins with '/', at byte 0"},
      {"v1", "a template begins with '/', at byte 0"},
      {"{a=/b}", "a template begins with '/'"},
      {"/", "a segment is empty, at byte 1"},
      {"//", "a segment is empty, at byte 1"},
      {"/v1/", "a segment is empty, at byte 4"},
      {"/v1//a", "a segment is empty, at byte 4"},
      {"/**/**", "'**' is there twice, at byte 4"},
      {"/**/a/**", "'**' is there twice, at byte 6"},
      {"/{a=**}/{b=x/**}", "'**' is there twice"},
      {"/{a=**/x/**}", "'**' is there twice"},
      {"/***", "'*' is not expected, at byte 3"},
      {"/a*", "'*' is not expected"},
      {"/*a", "'a' is not expected"},
      {"/{a}b", "'b' is not expected"},
      {"/a{b}", "'{' is not expected"},
      {"/{a}{b}", "'{' is not expected"},
      {"/{}", "the name of a field is expected, at byte 2"},
      {"/{=b}", "the name of a field is expected"},
      {"/{.a}", "the name of a field is expected"},
      {"/{a.}", "the name of a field is expected, at byte 4"},
      {"/{a..b}", "the name of a field is expected"},
      {"/{9a}", "the name of a field is expected"},
      {"/{a-b}", "'}' is expected"},
      {"/{a b}", "'}' is expected"},
      {"/{a=}", "a segment is empty"},
      {"/{a=/b}", "a segment is empty"},
      {"/{a=b/}", "a segment is empty"},
      {"/{a", "'}' is expected, at byte 3"},
      {"/{a=b", "'}' is expected"},
      {"/{a=b:c}", "'}' is expected"},
      {"/{a={b}}", "a variable is inside of another one"},
      {"/{a=x/{b=*}}", "a variable is inside of another one"},
      {"/}", "a segment is empty"},
      {"/a}", "'}' is not expected"},
      {"/a=b", "'=' is not expected"},
      {"/{a}/{a}", "the variable a is there twice"},
      {"/{a.b}/x/{a.b=y}", "the variable a.b is there twice"},
      {"/a:", "a verb is empty, at byte 3"},
      {"/:a", "a segment is empty, at byte 1"},
      {"/a:b:c", "':' is not expected"},
      {"/a:b/c", "'/' is not expected"},
      {"/a:*", "a verb is empty"},
      {"/a:{b}", "a verb is empty"},
      {"/a b", "a character that must be percent-encoded, at byte 2"},
      {"/a?b", "a character that must be percent-encoded"},
      {"/a#b", "a character that must be percent-encoded"},
      {"/a\tb", "a character that must be percent-encoded"},
      {std::string("/a\0b", 4), "a character that must be percent-encoded"},
      {"/\xFF", "a character that must be percent-encoded"},
      {"/a%", "'%' is not followed by two hexadecimal digits"},
      {"/a%2", "'%' is not followed by two hexadecimal digits"},
      {"/a%2G", "'%' is not followed by two hexadecimal digits"},
      {"/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/*", "at most 32 segments are accepted"},
      {"/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/{a}", "at most 32 segments are accepted"},
  };
  for (const auto& each : kCases) {
    const auto path = ParsePathTemplate(each.text);
    ASSERT_FALSE(path.ok()) << each.text;
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(path.status().message()), HasSubstr(each.why)) << each.text;
  }
}

TEST(Percent, DecodesAllOrKeepsSlashes) {
  const struct {
    const char* text;
    const char* all;  // nullptr: an error
    const char* kept;
  } kCases[] = {
      {"", "", ""},
      {"abc", "abc", "abc"},
      {"a%20b", "a b", "a b"},
      {"%61%62", "ab", "ab"},
      {"a%2Fb%2fc", "a/b/c", "a%2Fb%2fc"},
      {"%252F", "%2F", "%2F"},
      {"a+b", "a+b", "a+b"},
      {"%2B", "+", "+"},
      {"%C3%A9", "\xC3\xA9", "\xC3\xA9"},
      {"%e2%82%ac", "\xE2\x82\xAC", "\xE2\x82\xAC"},
      {"%", nullptr, nullptr},
      {"a%4", nullptr, nullptr},
      {"%4g", nullptr, nullptr},
      {"%-1", nullptr, nullptr},
      {"%%41", nullptr, nullptr},
  };
  for (const auto& each : kCases) {
    for (const auto& [slashes, expected] :
         {std::pair(Slashes::kDecode, each.all), std::pair(Slashes::kKeepEncoded, each.kept)}) {
      std::string buffer;
      absl::string_view decoded;
      ASSERT_EQ(PercentDecode(each.text, slashes, buffer, decoded), expected != nullptr) << each.text;
      if (expected != nullptr) {
        EXPECT_EQ(decoded, expected) << each.text;
      }
    }
  }
}

}  // namespace
}  // namespace cqbench::transcoding
