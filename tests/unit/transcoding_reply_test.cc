// Responses and errors as HTTP and JSON.
#include <google/protobuf/timestamp.pb.h>
#include <google/rpc/status.pb.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/http/routes/http_status.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

TEST(HttpStatus, IsThatOfTheCanonicalTable) {
  const std::vector<int> kStatuses = {200, 499, 500, 400, 504, 404, 409, 403, 429,
                                      400, 409, 400, 501, 500, 503, 500, 401};
  for (size_t code = 0; code < kStatuses.size(); ++code) {
    EXPECT_EQ(HttpStatusOf(static_cast<int>(code)), kStatuses[code]) << code;
  }
  for (const int code : {-1, 17, 1000}) EXPECT_EQ(HttpStatusOf(code), 500) << code;
}

class Reply : public ::testing::Test {
 protected:
  // Returns the JSON of a response with these fields, by a rule with this response_body.
  std::string Printed(const std::string& response_body, const std::string& fields) {
    TestService service({R"(get: "/v1" response_body: ")" + response_body + "\""});
    const auto transcoder = service.Make();
    EXPECT_TRUE(transcoder.ok()) << transcoder.status();
    Call call;
    EXPECT_EQ((*transcoder)->Find(RequestOf("GET /v1"), call), Found::kYes);
    std::string text = "before ";
    const absl::Status status = (*transcoder)->Print(call, *FromText(*call.rpc->response, fields), text);
    if (!status.ok()) return status.ToString();
    EXPECT_EQ(text.substr(0, 7), "before ");
    EXPECT_TRUE(nlohmann::json::accept(text.substr(7))) << text;
    return text.substr(7);
  }
};

TEST_F(Reply, IsTheWholeMessage) {
  EXPECT_EQ(Printed("", ""), "{}");
  EXPECT_EQ(Printed("", R"(s: "a" i64: 5 d: 1.5 color: RED long_field_name: "b")"),
            R"({"s":"a","i64":"5","d":1.5,"color":"RED","longFieldName":"b"})");
  EXPECT_EQ(Printed("", R"(inner { text: "a" } inners { number: 1 } numbers: [1, 2])"),
            R"({"numbers":[1,2],"inner":{"text":"a"},"inners":[{"number":1}]})");
  EXPECT_EQ(Printed("", R"(time { seconds: 1 } mask { paths: "a_b" } wrapped { value: 0 } b: "hi")"),
            R"({"b":"aGk=","time":"1970-01-01T00:00:01Z","mask":"aB","wrapped":"0"})");
}

TEST_F(Reply, IsOneFieldWhereTheRuleSaysSo) {
  const struct {
    const char* field;
    const char* fields;
    const char* json;
  } kCases[] = {
      {"inner", R"(inner { text: "a" } s: "b")", R"({"text":"a"})"},
      {"inner", "", "null"},
      {"inners", R"(inners { text: "a" } inners {})", R"([{"text":"a"},{}])"},
      {"inners", "", "[]"},
      {"s", R"(s: "a\"b" i32: 5)", R"("a\"b")"},
      {"s", "i32: 5", R"("")"},
      {"flag", "flag: true s: \"x\"", "true"},
      {"flag", "", "false"},
      {"i32", "i32: -5 i64: 6", "-5"},
      {"i32", "", "0"},
      {"i64", "i64: 6", R"("6")"},
      {"i64", "", R"("0")"},
      {"d", "d: 1.5", "1.5"},
      {"d", "", "0"},
      {"color", "color: RED", R"("RED")"},
      {"color", "", R"("NONE")"},
      {"numbers", "numbers: [1, 2] s: \"x\"", "[1,2]"},
      {"numbers", "", "[]"},
      {"strings", R"(strings: "a" strings: "b")", R"(["a","b"])"},
      {"counts", R"(counts { key: "a" value: 1 })", R"({"a":1})"},
      {"counts", "", "{}"},
      {"time", "time { seconds: 1 }", R"("1970-01-01T00:00:01Z")"},
      {"time", "", "null"},
      {"times", "times { seconds: 1 } times {}", R"(["1970-01-01T00:00:01Z","1970-01-01T00:00:00Z"])"},
      {"wrapped", "wrapped { value: 5 }", R"("5")"},
      {"maybe", "maybe: 0", "0"},
      {"maybe", "", "null"},
      {"left", R"(left: "")", R"("")"},
      {"left", "", "null"},
      {"renamed", R"(renamed: "a")", R"("a")"},
      {"object", R"(object { fields { key: "a" value { bool_value: true } } })", R"({"a":true})"},
      {"b", R"(b: "hi")", R"("aGk=")"},
  };
  for (const auto& each : kCases) EXPECT_EQ(Printed(each.field, each.fields), each.json) << each.field;
}

TEST_F(Reply, ThatCannotBeJsonIsAnError) {
  EXPECT_EQ(Printed("", "time { seconds: 999999999999 }").substr(0, 9), "INTERNAL:");
  EXPECT_EQ(Printed("inner", "inner { time { seconds: 999999999999 } }").substr(0, 9), "INTERNAL:");
  EXPECT_EQ(Printed("time", "time { seconds: 999999999999 }").substr(0, 9), "INTERNAL:");
}

TEST(Errors, AreJson) {
  std::string text;
  AppendErrorJson(5, "no such book", {}, text);
  EXPECT_EQ(text, R"({"code":5,"message":"no such book","details":[]})");
}

TEST(Errors, EscapeWhatIsNotText) {
  const std::string message("\"\\\n\t\0\x1F\x7F\xC3\xA9\xFF\xC3(\xE2\x82", 14);
  std::string text;
  AppendErrorJson(3, message, {}, text);
  ASSERT_TRUE(nlohmann::json::accept(text)) << text;
  EXPECT_EQ(nlohmann::json::parse(text)["message"],
            std::string("\"\\\n\t\0\x1F\x7F\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD", 22));
}

// Older protobuf's PackFrom() returns nothing.
bool Packed(const google::protobuf::Message& message, google::protobuf::Any& any) {
  any.set_type_url(absl::StrCat("type.googleapis.com/", std::string(message.GetDescriptor()->full_name())));
  return message.SerializeToString(any.mutable_value());
}

TEST(Errors, HaveDetailsOfKnownAndUnknownTypes) {
  google::rpc::Status status;
  google::protobuf::Timestamp time;
  time.set_seconds(1);
  ASSERT_TRUE(Packed(time, *status.add_details()));
  auto* unknown = status.add_details();
  unknown->set_type_url("type.googleapis.com/no.Such");
  unknown->set_value("hi");
  std::string text;
  AppendErrorJson(9, "", status.SerializeAsString(), text);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({"code":9,"message":"","details":[
      {"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"1970-01-01T00:00:01Z"},
      {"@type":"type.googleapis.com/no.Such","value":"aGk="}]})"));
  text.clear();
  AppendErrorJson(9, "", "\xFFno message", text);
  EXPECT_EQ(text, R"({"code":9,"message":"","details":[]})");
}

TEST(Errors, OfAFrontEndHaveACode) {
  for (const auto& [status, code] : {std::pair(400, 3), {408, 4}, {413, 3}, {414, 3}, {431, 3}, {500, 13}, {501, 12}}) {
    EXPECT_EQ(CodeOfRefusal(status), code) << status;
  }
}

TEST(Errors, OfPathsAndMethods) {
  TestService service({R"(get: "/v1" additional_bindings { post: "/v1" })"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok());
  const HttpError unknown = (*transcoder)->ErrorOf(Found::kNoPath, RequestOf("GET /v2"));
  EXPECT_EQ(unknown.http_status, 404);
  EXPECT_EQ(unknown.header, "");
  EXPECT_EQ(unknown.json, R"({"code":5,"message":"no method has this path","details":[]})");
  const HttpError other = (*transcoder)->ErrorOf(Found::kOtherMethod, RequestOf("PUT /v1"));
  EXPECT_EQ(other.http_status, 405);
  EXPECT_EQ(other.header, "Allow");
  EXPECT_EQ(other.header_value, "GET, HEAD, POST");
  EXPECT_EQ(other.json, R"({"code":12,"message":"this path has GET, HEAD, POST","details":[]})");
  const HttpError bad = (*transcoder)->ErrorOf(absl::InvalidArgumentError("x"));
  EXPECT_EQ(bad.http_status, 400);
  EXPECT_EQ(bad.json, R"({"code":3,"message":"x","details":[]})");
}

}  // namespace
}  // namespace cqbench::transcoding
