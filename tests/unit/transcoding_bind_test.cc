// How the parts of a request fill the message: google/api/http.proto's "Rules for HTTP mapping" and its examples.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

struct Case {
  std::string request;
  std::string message;  // in protobuf's text format; "error: ...": the text of INVALID_ARGUMENT
};

void Check(const char* rule, const std::vector<Case>& cases, const TranscodingOptions& options = {}) {
  TestService service({rule});
  const auto transcoder = service.Make(options);
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  for (const Case& each : cases) {
    SCOPED_TRACE(each.request);
    const Outcome outcome = Transcode(**transcoder, each.request);
    ASSERT_EQ(outcome.refusal, "");
    if (each.message.rfind("error: ", 0) == 0) {
      EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(outcome.status.message()), HasSubstr(each.message.substr(7)));
      EXPECT_EQ(outcome.status.message().find('\n'), absl::string_view::npos);
      continue;
    }
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(MessageDifferencer::Equals(*outcome.message, *FromText(*outcome.message, each.message)))
        << outcome.message->DebugString();
  }
}

TEST(Bind, DecodesSingleSegmentsWholly) {
  Check(R"(get: "/v1/{s}")", {
                                 {"GET /v1/123", R"(s: "123")"},
                                 {"GET /v1/a%2Fb", R"(s: "a/b")"},
                                 {"GET /v1/a%2fb", R"(s: "a/b")"},
                                 {"GET /v1/a%20b+c", R"(s: "a b+c")"},
                                 {"GET /v1/%C3%A9", R"(s: "\303\251")"},
                                 {"GET /v1/\xC3\xA9", R"(s: "\303\251")"},
                                 {"GET /v1/%252F", R"(s: "%2F")"},
                                 {"GET /v1/..", R"(s: "..")"},
                                 {"GET /v1/%2E%2e", R"(s: "..")"},
                                 {"GET /v1/a%00b", R"(s: "a\000b")"},
                                 {"GET /v1/%", "error: s in the path: '%' is not followed by two"},
                                 {"GET /v1/a%2", "error: s in the path: '%' is not followed by two"},
                                 {"GET /v1/%zz", "error: s in the path: '%' is not followed by two"},
                                 {"GET /v1/%FF", "error: s in the path: '\\xff' is not UTF-8"},
                                 {"GET /v1/%C3", "error: is not UTF-8"},
                                 {"GET /v1/%ED%A0%80", "error: is not UTF-8"},
                                 {"GET /v1/\xC0\x80", "error: is not UTF-8"},
                             });
}

TEST(Bind, LeavesSlashesOfSeveralSegmentsEncoded) {
  Check(R"(get: "/v1/{name=a/**}")", {
                                         {"GET /v1/a/b", R"(name: "a/b")"},
                                         {"GET /v1/a/b%20c/d", R"(name: "a/b c/d")"},
                                         {"GET /v1/a/b%2Fc", R"(name: "a/b%2Fc")"},
                                         {"GET /v1/a/b%2fc%20", R"(name: "a/b%2fc ")"},
                                         {"GET /v1/a", R"(name: "a")"},
                                         {"GET /v1/a/../b", R"(name: "a/../b")"},
                                         {"GET /v1/%61/b", R"(name: "a/b")"},
                                         {"GET /v1/a/%", "error: name in the path"},
                                     });
}

TEST(Bind, TakesPrimitivesOfThePath) {
  Check(R"(get: "/{inner.number}/{inner.inner.color}/{flag}/{b}/{d}")",
        {
            {"GET /7/RED/true/YQ==/1.5", R"(inner { number: 7 inner { color: RED } } flag: true b: "a" d: 1.5)"},
            {"GET /-1/7/false/_-8/-1e3", R"(inner { number: -1 inner { color: DARK_BLUE } } b: "\377\357" d: -1000)"},
            {"GET /x/RED/true/YQ/1", "error: inner.number in the path: 'x' is not an int32"},
            {"GET /1/PINK/true/YQ/1",
             "error: inner.inner.color in the path: 'PINK' is not one of the values of test.Color"},
            {"GET /1/RED/yes/YQ/1", "error: flag in the path: 'yes' is not true or false"},
            {"GET /1/RED/true/!/1", "error: b in the path: '!' is not Base64"},
            {"GET /1/RED/true/YQ/one", "error: d in the path: 'one' is not a double"},
            {"GET /2147483648/RED/true/YQ/1", "error: is not an int32"},
        });
}

TEST(Bind, TakesParametersOfEveryType) {
  const std::vector<Case> kCases = {
      {"", ""},
      {"s=", R"(s: "")"},
      {"s", R"(s: "")"},
      {"s=a", R"(s: "a")"},
      {"s=a=b", R"(s: "a=b")"},
      {"s=a+b", R"(s: "a+b")"},
      {"s=a%20b%26%3D%2F/?", R"(s: "a b&=//?")"},
      {"%73=a", R"(s: "a")"},
      {"&&s=a&", R"(s: "a")"},
      {"b=aGk=", R"(b: "hi")"},
      {"b=aGk", R"(b: "hi")"},
      {"b=-_8=", R"(b: "\373\377")"},
      {"b=%2B/8=", R"(b: "\373\377")"},
      {"flag=true", "flag: true"},
      {"flag=false", "flag: false"},
      {"i32=-2147483648", "i32: -2147483648"},
      {"i64=9223372036854775807", "i64: 9223372036854775807"},
      {"u32=4294967295", "u32: 4294967295"},
      {"u64=18446744073709551615", "u64: 18446744073709551615"},
      {"si32=-5&fx64=6", "si32: -5 fx64: 6"},
      {"i32=007", "i32: 7"},
      {"f=1.5&d=2.5e-3", "f: 1.5 d: 2.5e-3"},
      {"d=-Infinity&f=Infinity", "d: -inf f: inf"},
      {"d=1e-400", "d: 0"},
      {"d=.5&f=5.", "d: 0.5 f: 5"},
      {"color=DARK_BLUE", "color: DARK_BLUE"},
      {"color=7", "color: DARK_BLUE"},
      {"color=99", "color: 99"},
      {"color=-1", "color: -1"},
      {"strings=a&strings=b", R"(strings: "a" strings: "b")"},
      {"numbers=1&s=x&numbers=2&numbers=1", R"(s: "x" numbers: [1, 2, 1])"},
      {"colors=RED&colors=7&colors=5", "colors: [RED, DARK_BLUE, 5]"},
      {"inner.text=a&inner.number=2", R"(inner { text: "a" number: 2 })"},
      {"inner.inner.inner.numbers=1&inner.inner.inner.numbers=2", "inner { inner { inner { numbers: [1, 2] } } }"},
      {"left=a", R"(left: "a")"},
      {"right=0", "right: 0"},
      {"middle.text=a&middle.number=1", R"(middle { text: "a" number: 1 })"},
      {"maybe=0", "maybe: 0"},
      {"time=2024-01-31T12:00:00Z", "time { seconds: 1706702400 }"},
      {"time=2024-01-31T12:00:00.5Z", "time { seconds: 1706702400 nanos: 500000000 }"},
      {"time=2024-01-31T14:00:00+02:00", "time { seconds: 1706702400 }"},
      {"time.seconds=5&time.nanos=6", "time { seconds: 5 nanos: 6 }"},
      {"inner.time=1970-01-01T00:00:01Z", "inner { time { seconds: 1 } }"},
      {"duration=1.5s", "duration { seconds: 1 nanos: 500000000 }"},
      {"duration=-3s", "duration { seconds: -3 }"},
      {"mask=a,b.c", R"(mask { paths: "a" paths: "b.c" })"},
      {"mask=longFieldName,inner.someThing", R"(mask { paths: "long_field_name" paths: "inner.some_thing" })"},
      {"mask=long_field_name", R"(mask { paths: "long_field_name" })"},
      {"mask=", "mask {}"},
      {"mask.paths=a&mask.paths=b", R"(mask { paths: "a" paths: "b" })"},
      {"wrapped=-5&wrappedText=x&wrapped_flag=true", R"(wrapped { value: -5 } wrapped_text { value: "x" }
                                                         wrapped_flag { value: true })"},
      {"wrapped_number=0.5&wrapped_bytes=aGk", R"(wrapped_number { value: 0.5 } wrapped_bytes { value: "hi" })"},
      {"wrapped.value=5", "wrapped { value: 5 }"},
      {"longFieldName=a", R"(long_field_name: "a")"},
      {"long_field_name=a", R"(long_field_name: "a")"},
      {"otherName=a", R"(renamed: "a")"},
      {"renamed=a", R"(renamed: "a")"},
      {"value.number_value=5", "value { number_value: 5 }"},
  };
  std::vector<Case> requests;
  for (const Case& each : kCases) requests.push_back({absl::StrCat("GET /v1?", each.request), each.message});
  Check(R"(get: "/v1")", requests);
}

TEST(Bind, RefusesParametersThatAreNone) {
  const std::vector<Case> kCases = {
      {"x=1", "query parameter 'x': there is none for test.S.M0"},
      {"=1", "query parameter '': there is none"},
      {"S=1", "query parameter 'S': there is none"},
      {"inner=1", "query parameter 'inner': there is none"},
      {"inner.x=1", "query parameter 'inner.x': there is none"},
      {"inner.=1", "there is none"},
      {".s=1", "there is none"},
      {"s.x=1", "there is none"},
      {"inners=1", "there is none"},
      {"inners.text=1", "there is none"},
      {"counts=1", "there is none"},
      {"counts.a=1", "there is none"},
      {"counts%5Ba%5D=1", "there is none"},
      {"times=2024-01-31T12:00:00Z", "there is none"},
      {"object=%7B%7D", "there is none"},
      {"s=1&s=2", "query parameter 's': it is there twice"},
      {"inner.number=1&inner.number=1", "it is there twice"},
      {"left=a&right=1", "query parameter 'right': left of the same oneof is set already"},
      {"middle.text=a&left=b", "middle of the same oneof is set already"},
      {"left=b&middle.text=a", "left of the same oneof is set already"},
      {"s=%", "query parameter 's': '%' is not followed by two hexadecimal digits"},
      {"%=1", "'%' is not followed by two hexadecimal digits"},
      {"s=%FF", "query parameter 's': '\\xff' is not UTF-8"},
      {"%FF=1", "query parameter '\\xff': there is none"},
      {"mask=%FF", "is not UTF-8"},
      {"flag=1", "'1' is not true or false"},
      {"flag=TRUE", "is not true or false"},
      {"flag", "'' is not true or false"},
      {"i32=", "'' is not an int32"},
      {"i32=%2B1", "'+1' is not an int32"},
      {"i32=%201", "' 1' is not an int32"},
      {"i32=1.0", "'1.0' is not an int32"},
      {"i32=1e3", "'1e3' is not an int32"},
      {"i32=0x10", "'0x10' is not an int32"},
      {"i32=2147483648", "is not an int32"},
      {"u32=-1", "'-1' is not a uint32"},
      {"u32=4294967296", "is not a uint32"},
      {"i64=9223372036854775808", "is not an int64"},
      {"u64=18446744073709551616", "is not a uint64"},
      {"i64=" + std::string(5000, '9'), "99...' is not an int64"},
      {"d=" + std::string(5000, '9'), "is not a double"},
      {"d=1e999", "is not a double"},
      {"f=1e39", "is not a float"},
      {"d=inf", "'inf' is not a double"},
      {"d=nan", "'nan' is not a double"},
      {"d=0x1p3", "is not a double"},
      {"d=+1", "is not a double"},
      {"d=", "is not a double"},
      {"color=red", "is not one of the values of test.Color"},
      {"color=", "is not one of the values of test.Color"},
      {"color=2147483648", "is not one of the values of test.Color"},
      {"b=%00", "is not Base64"},
      {"b=aGk%21", "is not Base64"},
      {"time=yesterday", "is not a time like 2024-01-31T12:00:00Z"},
      {"time=2024-01-31", "is not a time"},
      {"time=10000-01-01T00:00:00Z", "is not a time"},
      {"duration=5", "'5' is not a duration like 1.5s"},
      {"duration=99999999999999s", "is not a duration"},
      {"wrapped=x", "query parameter 'wrapped': 'x' is not an int64"},
      {"time.seconds=x", "is not an int64"},
  };
  std::vector<Case> requests;
  for (const Case& each : kCases) requests.push_back({"GET /v1?" + each.request, "error: " + each.message});
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "inner.";
  requests.push_back({"GET /v1?" + deep + "number=1", "error: there is none"});
  requests.push_back({"GET /v1?s=" + std::string(20'000, 'a'), "error: path and query are longer than 16384 bytes"});
  Check(R"(get: "/v1")", requests);
}

TEST(Bind, TakesThePathBeforeParametersAndBody) {
  Check(R"(get: "/v1/{s}/{inner.number}")",
        {
            {"GET /v1/a/1?s=b", R"(s: "a" inner { number: 1 })"},
            {"GET /v1/a/1?s=b&s=c&inner.number=x&inner.text=y", R"(s: "a" inner { number: 1 text: "y" })"},
        });
  Check(R"(patch: "/v1/{s}/{inner.number}" body: "*")",
        {
            {R"(PATCH /v1/a/1 {"s":"b","inner":{"number":5,"text":"t"},"i32":7})",
             R"(s: "a" inner { number: 1 text: "t" } i32: 7)"},
            {"PATCH /v1/a/1?s=b", R"(s: "a" inner { number: 1 })"},
        });
  Check(R"(patch: "/v1/{inner.text}" body: "inner")",
        {
            {R"(PATCH /v1/a {"text":"b","number":2})", R"(inner { text: "a" number: 2 })"},
            {R"(PATCH /v1/a?inner.text=c {})", R"(inner { text: "a" })"},
        });
}

TEST(Bind, TakesTheWholeBody) {
  Check(R"(post: "/v1" body: "*")",
        {
            {"POST /v1", ""},
            {"POST /v1 {}", ""},
            {"POST /v1  { } ", ""},
            {R"(POST /v1 {"s":"a","i64":"9","numbers":[1,2],"inner":{"text":"b"}})",
             R"(s: "a" i64: 9 numbers: [1, 2] inner { text: "b" })"},
            {R"(POST /v1 {"longFieldName":"a"})", R"(long_field_name: "a")"},
            {R"(POST /v1 {"long_field_name":"a"})", R"(long_field_name: "a")"},
            {R"(POST /v1 {"counts":{"a":1},"color":"RED","colors":[7]})",
             R"(counts { key: "a" value: 1 } color: RED colors: DARK_BLUE)"},
            {R"(POST /v1 {"time":"1970-01-01T00:00:01Z","mask":"longFieldName,s","wrapped":"5"})",
             R"(time { seconds: 1 } mask { paths: "long_field_name" paths: "s" } wrapped { value: 5 })"},
            {R"(POST /v1 {"s":null})", ""},
            {R"(POST /v1 {"s":"\u00e9\ud83d\ude00\n"})", R"(s: "\303\251\360\237\230\200\n")"},
            {"POST /v1?i32=1 {}", "error: query parameter 'i32': there is none"},
            {R"(POST /v1 {"x":1})", "error: the body is no test.Kinds: "},
            {R"(POST /v1 {"s":1,)", "error: it has no end"},
            {R"(POST /v1 {"i32":"x"})", "error: the body is no test.Kinds: "},
            {R"(POST /v1 {"i32":1e400})", "error: the body is no test.Kinds: "},
            {R"(POST /v1 {"i32":99999999999999999999})", "error: the body is no test.Kinds: "},
            {R"(POST /v1 [])", "error: the body is no test.Kinds: "},
            {R"(POST /v1 "a")", "error: the body is no test.Kinds: "},
            {R"(POST /v1 x)", "error: the body is no test.Kinds: "},
            {R"(POST /v1 {}{})", "error: the body is no test.Kinds: "},
            {R"(POST /v1 {},{})", "error: the body is no JSON: more than one value, at byte 2"},
            {R"(POST /v1 }{)", "error: the body is no JSON: a }, at byte 0"},
            {R"(POST /v1 {'s':"a"})", "error: the body is no JSON: a ', at byte 1"},
            {std::string("POST /v1 {\"s\":\"a\0\"}", 19), "error: a control character in a string, at byte 7"},
            {"POST /v1 {\"s\":\"\xFF\"}", "error: the body is no test.Kinds: "},
            {"POST /v1 {\"s\":\"\xED\xA0\x80\"}", "error: the body is no test.Kinds: "},
        });
}

TEST(Bind, TakesANamedFieldAsTheBody) {
  Check(R"(post: "/v1/{s}" body: "inner")",
        {
            {R"(POST /v1/a {"text":"b"})", R"(s: "a" inner { text: "b" })"},
            {R"(POST /v1/a?i32=5 {"text":"b"})", R"(s: "a" i32: 5 inner { text: "b" })"},
            {"POST /v1/a {}", R"(s: "a" inner {})"},
            {"POST /v1/a", R"(s: "a")"},
            {"POST /v1/a?inner.text=b {}", "error: query parameter 'inner.text': there is none"},
            {R"(POST /v1/a {"i32":5})", "error: the body is no test.Inner: "},
        });
  Check(R"(post: "/v1" body: "s")", {
                                        {R"(POST /v1 "a")", R"(s: "a")"},
                                        {R"(POST /v1?i32=1 "a")", R"(s: "a" i32: 1)"},
                                        {R"(POST /v1 {})", "error: the body is no test.Kinds: "},
                                        {R"(POST /v1 "a","i32":1)", "error: more than one value"},
                                        {R"(POST /v1 "a"},{"i32":1)", "error: the body is no JSON: a }, at byte 3"},
                                        {R"(POST /v1 '"', "i32":1)", "error: the body is no JSON: a ', at byte 0"},
                                        {R"(POST /v1 "a\",\"i32\":1)", "error: it has no end"},
                                    });
  Check(R"(post: "/v1" body: "inners")",
        {{R"(POST /v1 [{"text":"a"},{"number":1}])", R"(inners { text: "a" } inners { number: 1 })"},
         {"POST /v1 []", ""}});
  Check(R"(post: "/v1" body: "numbers")", {{"POST /v1?s=x [1,2]", R"(s: "x" numbers: [1, 2])"}});
  Check(R"(post: "/v1" body: "counts")", {{R"(POST /v1 {"a":1})", R"(counts { key: "a" value: 1 })"}});
  Check(R"(post: "/v1" body: "time")", {{R"(POST /v1 "1970-01-01T00:00:01Z")", "time { seconds: 1 }"}});
  Check(R"(post: "/v1" body: "object")",
        {{R"(POST /v1 {"a":true})", R"(object { fields { key: "a" value { bool_value: true } } })"}});
}

// Returns "" if the body is read, otherwise the status and the header that names the accepted encodings.
std::string RefusalOfBody(const Transcoder& transcoder, absl::string_view type, absl::string_view coding,
                          absl::string_view body = "{}") {
  HttpRequest request = RequestOf("POST /v1");
  request.body = body;
  request.content_type = type;
  request.content_encoding = coding;
  Call call;
  const Found found = transcoder.Find(request, call);
  if (found == Found::kYes) return "";
  const HttpError error = transcoder.ErrorOf(found, request);
  EXPECT_THAT(error.json, HasSubstr("{\"code\":3,\"message\":\"Content-"));
  EXPECT_LT(error.json.size(), 400u);
  return absl::StrCat(error.http_status, " ", error.header, ": ", error.header_value);
}

TEST(Bind, ReadsNoOtherMediaTypeThanJson) {
  TestService service({R"(post: "/v1" body: "*")"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok());
  for (const char* type : {"", "application/json", "application/json; charset=utf-8", "application/json;charset=x",
                           "Application/JSON ; a=b", "application/problem+json", "application/vnd.api+JSON;v=1"}) {
    EXPECT_EQ(RefusalOfBody(**transcoder, type, ""), "") << type;
  }
  const std::string longest(10'000, 'x');
  for (const std::string& type :
       {std::string("text/plain"), std::string("application/x-www-form-urlencoded"),
        std::string("multipart/form-data; boundary=json"), std::string("text/json"),
        std::string("application/x-ndjson"), std::string("application/jsonx"), std::string("json"),
        std::string("application/grpc+proto"), std::string(";"), std::string("text/x+json"), longest}) {
    EXPECT_EQ(RefusalOfBody(**transcoder, type, ""), "415 Accept: application/json") << type;
    EXPECT_EQ(RefusalOfBody(**transcoder, type, "", /*body=*/""), "") << "there is nothing to read";
  }
}

TEST(Bind, ReadsNoCompressedBody) {
  TestService service({R"(post: "/v1" body: "*")"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok());
  EXPECT_EQ(RefusalOfBody(**transcoder, "application/json", "Identity"), "");
  for (const char* coding : {"gzip", "br", "identity, gzip", "x"}) {
    EXPECT_EQ(RefusalOfBody(**transcoder, "application/json", coding), "415 Accept-Encoding: identity") << coding;
    EXPECT_EQ(RefusalOfBody(**transcoder, "", coding, /*body=*/""), "") << coding;
  }
}

TEST(Bind, RefusesABodyWhereTheRuleHasNone) {
  Check(R"(get: "/v1/{s}")", {{"GET /v1/a {}", "error: test.S.M0 takes no body"}});
  Check(R"(post: "/v1/{s}")", {{"POST /v1/a x", "error: test.S.M0 takes no body"}, {"POST /v1/a", R"(s: "a")"}});
}

TEST(Bind, KeepsLimits) {
  TranscodingOptions options;
  options.max_body_bytes = 100;
  options.max_target_bytes = 40;
  Check(R"(post: "/v1/{name=**}" body: "*")",
        {
            {"POST /v1/a " + std::string(100, '['), "error: nested deeper than 64 objects and arrays, at byte 64"},
            {R"(POST /v1/a {"s":"[[[[[[{{{{\"[[["})", R"(name: "a" s: "[[[[[[{{{{\"[[[")"},
            {"POST /v1/a " + std::string(101, ' '), "error: the body is longer than 100 bytes"},
            {"POST /v1/" + std::string(40, 'a'), "error: path and query are longer than 40 bytes"},
        },
        options);
}

}  // namespace
}  // namespace cqbench::transcoding
