// Single values as text and in JSON: what is taken, what is refused and with which words.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/http/json/json.h"
#include "src/http/json/json_text.h"
#include "src/http/json/time_text.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

TEST(TimeText, ReadsTimestamps) {
  const struct {
    const char* text;
    int64_t seconds;
    int32_t nanos;
  } kGood[] = {
      {"1970-01-01T00:00:00Z", 0, 0},
      {"2024-02-29T23:59:59Z", 1'709'251'199, 0},
      {"1969-12-31T23:59:59.5Z", -1, 500'000'000},
      {"2024-01-31T12:00:00.000000001Z", 1'706'702'400, 1},
      {"2024-01-31T14:30:00+02:30", 1'706'702'400, 0},
      {"2024-01-31T10:00:00-02:00", 1'706'702'400, 0},
      {"0001-01-01T00:00:00Z", -62'135'596'800, 0},
      {"9999-12-31T23:59:59.999999999Z", 253'402'300'799, 999'999'999},
  };
  for (const auto& each : kGood) {
    SecondsAndNanos time;
    ASSERT_TRUE(ParseTimestamp(each.text, time)) << each.text;
    EXPECT_EQ(time.seconds, each.seconds) << each.text;
    EXPECT_EQ(time.nanos, each.nanos) << each.text;
  }
  for (const char* text : {"",
                           "2024-01-31",
                           "2024-01-31T12:00:00",
                           "2024-01-31t12:00:00Z",
                           "2024-01-31T12:00:00z",
                           "2024-1-31T12:00:00Z",
                           "24-01-31T12:00:00Z",
                           "02024-01-31T12:00:00Z",
                           "2023-02-29T00:00:00Z",
                           "2024-13-01T00:00:00Z",
                           "2024-00-01T00:00:00Z",
                           "2024-01-00T00:00:00Z",
                           "2024-01-31T24:00:00Z",
                           "2024-01-31T12:60:00Z",
                           "2024-01-31T12:00:60Z",
                           "2024-01-31T12:00:00.Z",
                           "2024-01-31T12:00:00.0000000001Z",
                           "2024-01-31T12:00:00+0200",
                           "2024-01-31T12:00:00+24:00",
                           "2024-01-31T12:00:00+02:60",
                           "2024-01-31T12:00:00Zx",
                           "2024-01-31T12:00:00 Z",
                           "0000-12-31T23:59:59Z",
                           "0001-01-01T00:00:00+00:01",
                           "9999-12-31T23:59:59-00:01",
                           "-2024-01-31T12:00:00Z"}) {
    SecondsAndNanos time;
    EXPECT_FALSE(ParseTimestamp(text, time)) << text;
  }
}

TEST(TimeText, ReadsDurations) {
  const struct {
    const char* text;
    int64_t seconds;
    int32_t nanos;
  } kGood[] = {
      {"0s", 0, 0},           {"-0.5s", 0, -500'000'000},
      {"1.000000001s", 1, 1}, {"-3.25s", -3, -250'000'000},
      {"007s", 7, 0},         {"315576000000s", 315'576'000'000, 0},
  };
  for (const auto& each : kGood) {
    SecondsAndNanos duration;
    ASSERT_TRUE(ParseDuration(each.text, duration)) << each.text;
    EXPECT_EQ(duration.seconds, each.seconds) << each.text;
    EXPECT_EQ(duration.nanos, each.nanos) << each.text;
  }
  for (const char* text : {"", "s", "1", "1 s", "1S", "+1s", "--1s", ".5s", "1.s", "1.0000000001s", "315576000001s",
                           "99999999999999999999s", "1e3s", "1ss"}) {
    SecondsAndNanos duration;
    EXPECT_FALSE(ParseDuration(text, duration)) << text;
  }
}

TEST(JsonText, IsTheShortestThatReadsBack) {
  const auto text = [](auto value) {
    std::string json;
    AppendFloat(value, json);
    return json;
  };
  EXPECT_EQ(text(0.1f), "0.1");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(1e22), "1e+22");
  EXPECT_EQ(text(0.30000000000000004), "0.30000000000000004");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
  EXPECT_EQ(text(-std::numeric_limits<float>::infinity()), "\"-Infinity\"");
}

TEST(JsonText, PadsBase64) {
  for (const auto& [bytes, expected] : {std::pair("", "\"\""),
                                        {"a", "\"YQ==\""},
                                        {"ab", "\"YWI=\""},
                                        {"abc", "\"YWJj\""},
                                        {"\xFB\xFF\xFE", "\"+//+\""}}) {
    std::string json;
    AppendBase64(bytes, json);
    EXPECT_EQ(json, expected);
  }
}

class JsonValues : public ::testing::Test {
 protected:
  absl::Status Read(const std::string& text, google::protobuf::Message& message, const JsonOptions& options = {}) {
    Json json(service_.pool(), options);
    json.Add(*message.GetDescriptor());
    return json.Parse(text, message);
  }

  // That it says what these fields do, in protobuf's text format.
  void Check(const std::string& text, const std::string& fields, const JsonOptions& options = {}) {
    const auto message = service_.New("test.Every");
    const absl::Status status = Read(text, *message, options);
    ASSERT_TRUE(status.ok()) << text << ": " << status;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*message, *FromText(*message, fields)))
        << text << ": " << message->DebugString();
  }

  void CheckRefused(const std::string& text, const std::string& why, const JsonOptions& options = {}) {
    const absl::Status status = Read(text, *service_.New("test.Every"), options);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StartsWith(status.message(), absl::StrCat("the body is no test.Every: ", why)))
        << text << ": " << status;
  }

  TestService service_{{}};
};

TEST_F(JsonValues, SayWhichFieldIsWrong) {
  const struct {
    const char* json;
    const char* why;
  } kCases[] = {
      {R"({"fEvery":{"r_every":[{},{"f_int32":"x"}]}})", "f_every.r_every.f_int32: 'x' is not an int32"},
      {R"({"fInt32":1.5})", "f_int32: '1.5' is not an int32"},
      {R"({"fInt32":2147483648})", "f_int32: '2147483648' is not an int32"},
      {R"({"fInt32":1e400})", "f_int32: '1e400' is not an int32"},
      {R"({"fFloat":1e39})", "f_float: '1e39' is not a float"},
      {R"({"fString":1})", "f_string: it is a number instead of a value of type string"},
      {R"({"fBool":"yes"})", "f_bool: 'yes' is not true or false"},
      {R"({"rInt32":1})", "r_int32: it is a number instead of an array"},
      {R"({"rInt32":[null]})", "r_int32: it is null instead of a value of type int32"},
      {R"({"mString":{"a":"1","a":"2"}})", "m_string: the key 'a' is there twice"},
      {R"({"mString":{"a":null}})", "m_string: it is null instead of a value of type string"},
      {R"({"cInt32":1,"cString":"a"})", "c_string: c_int32 of the same oneof is set already"},
      {R"({"fEvery":{"x":1}})", "f_every: there is no field 'x'"},
      {R"({"fColor":"red"})", "f_color: 'red' is not one of the values of test.Color"},
      {R"({"wObject":1})", "w_object: "},
      {R"({"fInt32":01})", "f_int32: a number that begins with 0, at byte 12"},
      {R"({"fInt32":1,})", "a member without a name in quotes, at byte 12"},
      {R"({fInt32:1})", "a member without a name in quotes, at byte 1"},
      {R"({"fInt32" 1})", "a ':' is missing, at byte 10"},
      {R"({"rInt32":[1 2]})", "r_int32: a ',' is missing, at byte 13"},
      {R"({"fString":"\ud800"})", "f_string: half a surrogate pair"},
      {R"({"fString":"\udc00"})", "f_string: the second half of a surrogate pair alone"},
      {R"({"fString":"\x"})", "f_string: an escape that JSON does not have"},
      {R"({"fString":"\u12"})", "f_string: \\u without four hexadecimal digits"},
      {R"({} {})", "something follows the value"},
  };
  for (const auto& each : kCases) CheckRefused(each.json, each.why);
}

TEST_F(JsonValues, MayBeWrittenInSeveralWays) {
  const struct {
    const char* json;
    const char* message;
  } kCases[] = {
      {R"({"fInt32":1.0,"fInt64":1e3,"fUint64":-0})", "f_int32: 1 f_int64: 1000"},
      {R"({"fUint64":18446744073709551615})", "f_uint64: 18446744073709551615"},
      {R"({"fDouble":"1.5","fFloat":"-Infinity"})", "f_double: 1.5 f_float: -inf"},
      {R"({"fColor":7,"oColor":"7","rColor":["RED",99]})",
       "f_color: DARK_BLUE o_color: DARK_BLUE r_color: RED r_color: 99"},
      {R"({"fBytes":"-_8","oBytes":"+/8="})", R"(f_bytes: "\373\377" o_bytes: "\373\377")"},
      {R"({"fInt32":null,"rInt32":null,"wInt32":null,"fEvery":null})", ""},
      {R"({"fInt32":1,"fInt32":2,"rInt32":[1],"rInt32":[2]})", "f_int32: 2 r_int32: 1 r_int32: 2"},
      {R"({"wNull":null,"wValue":null})", "w_value { null_value: NULL_VALUE }"},
      {" {\t\"fString\"\r:\n\"\\u0041\\uD83D\\uDE00\\/\" } ", R"(f_string: "A\360\237\230\200/")"},
  };
  for (const auto& each : kCases) Check(each.json, each.message);
}

TEST_F(JsonValues, ThatAreUnknownArePassedOverWhereAsked) {
  JsonOptions options;
  options.ignore_unknown_fields = true;
  Check(R"({"x":{"y":[1,"a\"",null,{}]},"fColor":"red","rColor":["red","RED"],"fInt32":1})", "f_int32: 1 r_color: RED",
        options);
  CheckRefused(R"({"x":[1,]})", "a value is missing, at byte 8", options);
}

// An entry without its value would be one that nobody sent.
TEST_F(JsonValues, OfAMapThatAreUnknownAreNoEntries) {
  JsonOptions options;
  options.ignore_unknown_fields = true;
  Check(R"({"mUint64":{"1":"RED","2":"red","3":"NONE","4":"pink"}})",
        "m_uint64 { key: 1 value: RED } m_uint64 { key: 3 value: NONE }", options);
  Check(R"({"mBool":{"true":{"fColor":"red","mUint64":{"5":"red"}}}})", "m_bool { key: true value {} }", options);
}

TEST_F(JsonValues, OfBytesAreBase64AndNothingElse) {
  for (const char* text : {"", "YQ==", "YQ", "YWI=", "YWI", "YWJj", "-_8=", "-_8", "+/8=", "+/8"}) {
    EXPECT_TRUE(Read(absl::StrCat(R"({"fBytes":")", text, R"("})"), *service_.New("test.Every")).ok()) << text;
  }
  for (const char* text :
       {"Y",    "YQ=",   "YQ===", "YWI==", "YWJj=", "YWJj====", "=",    "==",  "====",      "YQ==YQ==",   "Y=Q=",
        "Y Q=", " YQ==", "YQ== ", "YQ..",  "YQ.",   "YW J",     "YWJ*", "-/8", R"(YW\nJj)", R"(YW\u00e9)"}) {
    CheckRefused(absl::StrCat(R"({"fBytes":")", text, R"("})"), "f_bytes: '");
  }
}

TEST_F(JsonValues, OfTypesThatWereNotAdded) {
  const Json json(service_.pool(), {});
  std::string text;
  EXPECT_EQ(json.Print(*service_.New("test.Every"), text).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(json.Parse("{}", *service_.New("test.Every")).code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace cqbench::transcoding
