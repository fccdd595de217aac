// JSON by protobuf: what this project promises with any release of protobuf.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/clean_text.h"
#include "src/http/json/json.h"
#include "tests/unit/transcoding_fuzz.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class JsonTest : public Fuzz {};

TEST_F(JsonTest, RefusesWithOneLineWhateverComes) {
  TestService service({});
  Run(
      1'000,
      [&] {
        const auto message = service.NewKinds();
        FillParameters(random_, 2, *message);
        std::string text;
        EXPECT_TRUE(PrintJson(*message, text).ok());
        return Mutated(std::move(text));
      },
      [&](const std::string& text) {
        const auto message = service.NewKinds();
        const absl::Status status = ParseJson(text, *message);
        if (status.ok()) return;
        EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
        EXPECT_TRUE(IsUtf8(status.message())) << status;
        EXPECT_EQ(status.message().find_first_of("\n\r\t\x1b"), absl::string_view::npos) << status;
        EXPECT_LT(status.message().size(), 400u);
      });
}

struct JsonRead {
  const char* name;
  const char* json;
  const char* read;  // in protobuf's text format; "error: ...": the text of INVALID_ARGUMENT
};

class JsonReads : public ::testing::TestWithParam<JsonRead> {};

TEST_P(JsonReads, AsPromised) {
  TestService service({});
  const auto message = service.New("test.Every");
  const absl::Status status = ParseJson(GetParam().json, *message);
  const std::string read = GetParam().read;
  if (read.rfind("error: ", 0) == 0) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), StartsWith("the body is no "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(read.substr(7)));
    return;
  }
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(MessageDifferencer::Equals(*message, *FromText(*message, read))) << message->DebugString();
}

constexpr JsonRead kReads[] = {
    {"WholeNumbers", R"({"fInt32":1.0,"fInt64":1e3,"rInt32":[1,"2"]})", "f_int32: 1 f_int64: 1000 r_int32: [1, 2]"},
    {"LargestNumber", R"({"fUint64":"18446744073709551615"})", "f_uint64: 18446744073709551615"},
    {"Infinity", R"({"fDouble":"1.5","fFloat":"-Infinity"})", "f_double: 1.5 f_float: -inf"},
    {"Enumerations", R"({"fColor":7,"rColor":["RED",99]})", "f_color: DARK_BLUE r_color: RED r_color: 99"},
    {"Base64", R"({"fBytes":"-_8","oBytes":"+/8="})", R"(f_bytes: "\373\377" o_bytes: "\373\377")"},
    {"Null", R"({"fInt32":null,"rInt32":null,"wInt32":null,"fEvery":null,"wValue":null})",
     "w_value { null_value: NULL_VALUE }"},
    {"BothNames", R"({"f_int32":1,"fInt64":2})", "f_int32: 1 f_int64: 2"},
    {"Escapes", " {\t\"fString\"\r:\n\"\\u0041\\uD83D\\uDE00\\/\" } ", R"(f_string: "A\360\237\230\200/")"},
    {"UnknownField", R"({"fEvery":{"x":1}})", "error: test.Every: "},
    {"UnknownName", R"({"fColor":"red"})", "error: test.Every: "},
    {"WrongType", R"({"fEvery":{"rEvery":[{},{"fInt32":"x"}]}})", "error: test.Every: "},
    {"TooLarge", R"({"fInt32":2147483648})", "error: test.Every: "},
    {"OneofTwice", R"({"cInt32":1,"cString":"a"})", "error: test.Every: "},
    {"HalfASurrogatePair", R"({"fString":"\ud800"})", "error: test.Every: "},
    {"NoColon", R"({"fInt32" 1})", "error: test.Every: "},
    {"TwoValues", "{} {}", "error: test.Every: "},
    {"NoEnd", R"({"fInt32":1)", "error: JSON: it has no end, at byte 11"},
};
INSTANTIATE_TEST_SUITE_P(All, JsonReads, ::testing::ValuesIn(kReads), [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace cqbench::transcoding
