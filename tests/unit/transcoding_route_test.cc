// The method of a request: matching of paths, as google/api/http.proto defines it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Routed {
  const char* request;
  const char* outcome;  // "M0 capture capture", "404", "405 POST"
};

std::string OutcomeOf(const Transcoder& transcoder, const char* line) {
  Call call;
  const HttpRequest request = RequestOf(line);
  const Found found = transcoder.Find(request, call);
  if (found != Found::kYes) {
    const HttpError error = transcoder.ErrorOf(found, request);
    return absl::StrCat(error.http_status, error.header_value.empty() ? "" : " ", error.header_value);
  }
  std::string outcome(call.rpc->method->name());
  for (const absl::string_view capture : call.captures) absl::StrAppend(&outcome, " ", capture);
  return outcome;
}

void Check(const std::vector<std::string>& rules, const std::vector<Routed>& cases) {
  TestService service(rules);
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  for (const Routed& each : cases) EXPECT_EQ(OutcomeOf(**transcoder, each.request), each.outcome) << each.request;
}

TEST(Route, FindsLiterals) {
  Check({R"(get: "/v1/a")", R"(get: "/v1/b")", R"(get: "/v1/a/b")", R"(get: "/a%20b/%2F")"},
        {
            {"GET /v1/a", "M0"},
            {"GET /v1/b", "M1"},
            {"GET /v1/a/b", "M2"},
            {"GET /v1", "404"},
            {"GET /v1/", "404"},
            {"GET /v1/a/", "404"},
            {"GET //v1/a", "404"},
            {"GET /v1//a", "404"},
            {"GET /", "404"},
            {"GET v1/a", "404"},
            {"GET  ", "404"},
            {"GET *", "404"},
            {"GET /V1/a", "404"},
            {"GET /v1/%61", "M0"},
            {"GET /%76%31/a", "M0"},
            {"GET /v1%2Fa", "404"},
            {"GET /a%20b/%2F", "M3"},
            {"GET /a%20b/%2f", "M3"},
            {"GET /a%20b//", "404"},
            {"GET /a+b/%2F", "404"},
            {"GET /v1/a/../b", "404"},
            {"GET /v1/./a", "404"},
            {"GET /v1/a?x=/v1/b", "M0"},
            {"GET /v1/%6", "404"},
        });
}

TEST(Route, FindsVariables) {
  Check(
      {R"(get: "/v1/{s}")", R"(get: "/v1/{name=x/*}/y")", R"(get: "/v2/{s=*}/{name=**}")", R"(get: "/v3/{name=a/b}")"},
      {
          {"GET /v1/1", "M0 1"},
          {"GET /v1/%20", "M0 %20"},
          {"GET /v1/a%2Fb", "M0 a%2Fb"},
          {"GET /v1/..", "M0 .."},
          {"GET /v1/", "404"},
          {"GET /v1/a/b", "404"},
          {"GET /v1/x/1/y", "M1 x/1"},
          {"GET /v1/x//y", "404"},
          {"GET /v2/a/b/c", "M2 a b/c"},
          {"GET /v2/a/b//c/", "M2 a b//c/"},
          {"GET /v2/a", "M2 a "},
          {"GET /v2/a/", "M2 a "},
          {"GET /v2", "404"},
          {"GET /v2/", "404"},
          {"GET /v3/a/b", "M3 a/b"},
          {"GET /v3/a/c", "404"},
      });
}

TEST(Route, TwoStarsAreZeroOrMoreSegments) {
  Check({R"(get: "/v1/**")", R"(get: "/{name=w/**}")", R"(get: "/v3/{s}/**:v")", R"(get: "/v4/{name=**}:v")"},
        {
            {"GET /v1", "M0"},
            {"GET /v1/", "M0"},
            {"GET /v1/a", "M0"},
            {"GET /v1/a/b/c/d/e/f/g", "M0"},
            {"GET /w", "M1 w"},
            {"GET /w/", "M1 w/"},
            {"GET /w/a//b", "M1 w/a//b"},
            {"GET /v3/a:v", "M2 a"},
            {"GET /v3/a/b:v", "M2 a"},
            {"GET /v3/a/b", "404"},
            {"GET /v4:v", "M3 "},
            {"GET /v4/a/b:v", "M3 a/b"},
            {"GET /v4/:v", "M3 "},
        });
}

// Firestore's rules have this form.
TEST(Route, TwoStarsMayHaveSegmentsAfterThem) {
  Check({R"(get: "/v1/{name=docs/**}/{s}")", R"(get: "/v1/{name=docs/**}/all")", R"(get: "/v2/{name=**}/b/{s}:v")",
         R"(get: "/v2/{name=**}/c")", R"(get: "/v2/{name=**}")", R"(get: "/v3/a/{name=x/**/y}/{s}")",
         R"(get: "/v3/**/{name=y/*}")", R"(get: "/v4/{s}/**/e/f")", R"(get: "/v4/**/f")", R"(get: "/**/z")"},
        {
            {"GET /v1/docs/a/b/c", "M0 docs/a/b c"},
            {"GET /v1/docs/c", "M0 docs c"},
            {"GET /v1/docs/a/all", "M1 docs/a"},
            {"GET /v1/docs/all", "M1 docs"},
            {"GET /v1/docs", "404"},
            {"GET /v1/docs/", "404"},
            {"GET /v1/docs/a//", "404"},
            {"GET /v1/docs//a", "M0 docs/ a"},
            {"GET /v2/1/2/b/3:v", "M2 1/2 3"},
            {"GET /v2/b/3:v", "M2  3"},
            {"GET /v2/1/2/b/3", "M4 1/2/b/3"},
            {"GET /v2/1/c", "M3 1"},
            {"GET /v2/c", "M3 "},
            {"GET /v2/c/d", "M4 c/d"},
            {"GET /v3/a/x/1/2/y/3", "M5 x/1/2/y 3"},
            {"GET /v3/a/x/y/3", "M5 x/y 3"},
            {"GET /v3/a/x/3", "404"},
            {"GET /v3/b/y/3", "M6 y/3"},
            {"GET /v3/y/3", "M6 y/3"},
            // The rule with more segments after "**" comes first.
            {"GET /v4/1/2/3/e/f", "M7 1"},
            {"GET /v4/1/e/f", "M7 1"},
            {"GET /v4/e/f", "M8"},
            {"GET /v4/f", "M8"},
            {"GET /v4/1/2/f", "M8"},
            {"GET /z", "M9"},
            {"GET /v4/1/2/z", "M9"},
            {"GET /v4/1/2/y", "404"},
        });
}

TEST(Route, GoesLiteralThenStarThenTwoStars) {
  Check({R"(get: "/v1/a/b")", R"(get: "/v1/a/*")", R"(get: "/v1/*/b")", R"(get: "/v1/*/*")", R"(get: "/v1/a/**")",
         R"(get: "/v1/**")", R"(get: "/v1/a/c/d")", R"(get: "/v1/*/e/f")", R"(get: "/v1")"},
        {
            {"GET /v1/a/b", "M0"},
            {"GET /v1/a/x", "M1"},
            {"GET /v1/x/b", "M2"},
            {"GET /v1/x/y", "M3"},
            {"GET /v1/a", "M4"},
            {"GET /v1/a/x/y", "M4"},
            {"GET /v1/x", "M5"},
            {"GET /v1/x/y/z", "M5"},
            {"GET /v1/a/c/d", "M6"},
            // Matching goes back from "/v1/a/c/..." to "/v1/a/**", whose rule comes first.
            {"GET /v1/a/c/e", "M4"},
            {"GET /v1/x/e/f", "M7"},
            {"GET /v1/a/e/f", "M4"},
            {"GET /v1/x/e/g", "M5"},
            {"GET /v1", "M8"},
        });
}

TEST(Route, GoesBackToWhatMatches) {
  Check({R"(get: "/a/b/c/1")", R"(get: "/a/b/*/2")", R"(get: "/a/*/c/3")", R"(get: "/*/b/c/4")", R"(get: "/a/*/*/5")",
         R"(get: "/*/*/*/6")", R"(get: "/{name=**}:end")"},
        {
            {"GET /a/b/c/1", "M0"},
            {"GET /a/b/c/2", "M1"},
            {"GET /a/b/c/3", "M2"},
            {"GET /a/b/c/4", "M3"},
            {"GET /a/b/c/5", "M4"},
            {"GET /a/b/c/6", "M5"},
            {"GET /a/b/c/7", "404"},
            {"GET /a/b/c/7:end", "M6 a/b/c/7"},
        });
}

TEST(Route, TakesVerbs) {
  Check({R"(get: "/v1/{s}:cancel")", R"(get: "/v1/{s}")", R"(get: "/v1/jobs:list")", R"(post: "/v1/{s}:cancel")",
         R"(get: "/v2/{name=a/**}:x")", R"(get: "/v2/{name=a/**}")", R"(get: "/v1/{s}:a%3Ab")"},
        {
            {"GET /v1/7:cancel", "M0 7"},
            {"POST /v1/7:cancel", "M3 7"},
            {"POST /v1/7:other", "405 GET, HEAD"},
            {"POST /v1/7", "405 GET, HEAD"},
            {"GET /v1/7", "M1 7"},
            // A verb without a rule is text.
            {"GET /v1/7:other", "M1 7:other"},
            {"GET /v1/7:", "M1 7:"},
            {"GET /v1/7:cancel:cancel", "M0 7:cancel"},
            {"GET /v1/:cancel", "M1 :cancel"},
            // An encoded colon is text, too.
            {"GET /v1/7%3Acancel", "M1 7%3Acancel"},
            {"GET /v1/7:%63ancel", "M0 7"},
            {"GET /v1/7:a%3Ab", "M6 7"},
            {"GET /v1/jobs:list", "M2"},
            {"GET /v1/tasks:list", "M1 tasks:list"},
            {"GET /v1/jobs", "M1 jobs"},
            {"GET /v2/a/b:x", "M4 a/b"},
            {"GET /v2/a/b:x/c", "M5 a/b:x/c"},
            {"GET /v2/a/b:y", "M5 a/b:y"},
        });
}

TEST(Route, KnowsMethods) {
  Check({R"(get: "/x" additional_bindings { post: "/x" body: "*" } additional_bindings { get: "/y/{s}" })",
         R"(put: "/x")", R"(delete: "/z")", R"(patch: "/z")", R"(custom { kind: "HEAD" path: "/z" })",
         R"(custom { kind: "*" path: "/any" })", R"(get: "/any")", R"(custom { kind: "*" path: "/any/{s}" })"},
        {
            {"GET /x", "M0"},
            {"POST /x", "M0"},
            {"PUT /x", "M1"},
            {"GET /y/1", "M0 1"},
            {"DELETE /x", "405 GET, HEAD, POST, PUT"},
            {"get /x", "405 GET, HEAD, POST, PUT"},
            // Every GET has a HEAD (RFC 9110, 9.3.2), and no other method.
            {"HEAD /x", "M0"},
            {"HEAD /y/1", "M0 1"},
            {"DELETE /z", "M2"},
            {"PATCH /z", "M3"},
            {"HEAD /z", "M4"},
            {"GET /z", "405 DELETE, HEAD, PATCH"},
            {"OPTIONS /any", "M5"},
            {"HEAD /any", "M5"},
            {"head /x", "405 GET, HEAD, POST, PUT"},
            {"HEAD /none", "404"},
            {"GET /any", "M6"},
            {"PROPFIND /any/1", "M7 1"},
            {"GET /any/1", "M7 1"},
            {"GET /none", "404"},
            {"GET /withoutRule", "404"},
        });
}

// 2^20 ways lead through the stars and literals for each path, but the search visits few nodes.
TEST(Route, IsBoundedByTheTable) {
  std::vector<std::string> rules;
  for (int i = 0; i < 20; ++i) {
    std::string path;
    for (int j = 0; j < 20; ++j) path += i == j ? "/*" : "/a";
    rules.push_back(absl::StrCat("get: \"", path, "/end\""));
    rules.push_back(absl::StrCat("get: \"/**", path, "/other\""));
  }
  TestService service(rules);
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  std::string path;
  for (int j = 0; j < 20; ++j) path += "/a";
  Call call;
  HttpRequest request;
  request.method = "GET";
  request.path = path;
  EXPECT_EQ((*transcoder)->Find(request, call), Found::kNoPath);
  path += "/end";
  request.path = path;
  EXPECT_EQ((*transcoder)->Find(request, call), Found::kYes);
  EXPECT_EQ(call.rpc->method->name(), "M38");
  const std::string longest = "/" + std::string(1 << 20, '/');
  request.path = longest;
  EXPECT_EQ((*transcoder)->Find(request, call), Found::kNoPath);
}

struct BadRule {
  const char* rule;
  const char* why;
};

TEST(Rule, IsRefusedWithItsNameAndReason) {
  const BadRule kRules[] = {
      {R"(body: "*")", "it has no pattern"},
      {R"(get: "v1")", "a template begins with '/'"},
      {R"(get: "/v1/{nothing}")", "test.Kinds has no field 'nothing'"},
      {R"(get: "/v1/{inner.nothing}")", "test.Inner has no field 'nothing'"},
      {R"(get: "/v1/{s.x}")", "test.Kinds.s is no single message, so it has no field x"},
      {R"(get: "/v1/{inners.text}")", "test.Kinds.inners is no single message"},
      {R"(get: "/v1/{strings}")", "the variable strings is no single field of a primitive type"},
      {R"(get: "/v1/{counts}")", "the variable counts is no single field of a primitive type"},
      {R"(get: "/v1/{inner}")", "the variable inner is no single field of a primitive type"},
      {R"(get: "/v1/{time}")", "the variable time is no single field of a primitive type"},
      {R"(get: "/v1/{inner.inner}")", "the variable inner.inner is no single field of a primitive type"},
      {R"(get: "/v1/{left}/{right}")", "two variables are of the oneof choice"},
      {R"(get: "/v1/{longFieldName}")", "has no field 'longFieldName'"},
      {R"(get: "/v1/{s}/{s}")", "the variable s is there twice"},
      {R"(post: "/v1" body: "nothing")", "body: test.Kinds has no field 'nothing' at its top"},
      {R"(post: "/v1" body: "inner.text")", "body: test.Kinds has no field 'inner.text' at its top"},
      {R"(post: "/v1/{s}" body: "s")", "the field s is in the path and the body"},
      {R"(get: "/v1" response_body: "x")", "response_body: test.Kinds has no field 'x' at its top"},
      {R"(get: "/v1" response_body: "inner.text")", "response_body: test.Kinds has no field"},
      {R"(custom { kind: "" path: "/v1" })", "'' is no HTTP method"},
      {R"(custom { kind: "A B" path: "/v1" })", "'A B' is no HTTP method"},
      {R"(get: "/v1" selector: "test.S.Other")", "its selector is another method, test.S.Other"},
      {R"(get: "/v1" additional_bindings { get: "/v1/{x}" })", "test.Kinds has no field 'x'"},
      {R"(get: "/v1" additional_bindings { })", "it has no pattern"},
      {R"(get: "/v1" additional_bindings { get: "/v2" additional_bindings { get: "/v3" } })",
       "an additional binding has additional bindings itself"},
      {R"(get: "/v1" additional_bindings { get: "/v1" })", "test.S.M0 has the same paths (/v1)"},
      {R"(get: "/v1/{s}" additional_bindings { get: "/v1/*" })", "has the same paths (/v1/{s})"},
      {R"(get: "/{s}/**" additional_bindings { get: "/*/{name=**}" })", "has the same paths"},
      {R"(get: "/a:v" additional_bindings { get: "/%61:v" })", "has the same paths"},
      {R"(custom { kind: "GET" path: "/a" } additional_bindings { get: "/a" })", "has the same paths"},
  };
  for (const BadRule& each : kRules) {
    TestService service({each.rule});
    const auto transcoder = service.Make();
    ASSERT_TRUE(transcoder.ok()) << transcoder.status();
    EXPECT_THAT((*transcoder)->refused(),
                ElementsAre(AllOf(StartsWith("the http rule of test.S.M0 ("), HasSubstr(each.why))))
        << each.rule;
  }
}

// Other methods of the service still work.
TEST(Rule, ThatIsRefusedIsTheOnlyOne) {
  TestService service({R"(get: "/v1" additional_bindings { get: "/v1/{x}" } additional_bindings { put: "/v2" })",
                       R"(get: "/**/**")", R"(put: "/v2")", R"(get: "/v3")"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  EXPECT_THAT((*transcoder)->refused(),
              ElementsAre("the http rule of test.S.M0 (GET /v1/{x}): test.Kinds has no field 'x'",
                          "the http rule of test.S.M1 (GET /**/**): '**' is there twice, at byte 4 of '/**/**'",
                          "the http rule of test.S.M2 (PUT /v2): test.S.M0 has the same paths (/v2)"));
  EXPECT_EQ(OutcomeOf(**transcoder, "GET /v1"), "M0");
  EXPECT_EQ(OutcomeOf(**transcoder, "PUT /v2"), "M0");
  EXPECT_EQ(OutcomeOf(**transcoder, "GET /v3"), "M3");
  EXPECT_EQ(OutcomeOf(**transcoder, "GET /v1/1"), "404");
}

TEST(Rule, OfTwoMethodsIsAmbiguousOnlyWithTheSamePaths) {
  TestService same({R"(get: "/v1/{name=a/*}")", R"(get: "/v1/a/{s}")"});
  EXPECT_THAT((*same.Make())->refused(),
              ElementsAre("the http rule of test.S.M1 (GET /v1/a/{s}): test.S.M0 has the same paths (/v1/{name=a/*})"));
  TestService tails({R"(get: "/{name=a/**}/b")", R"(get: "/a/**/{s=b}")", R"(get: "/a/**/b/c")", R"(get: "/a/**/c")"});
  EXPECT_THAT((*tails.Make())->refused(), ElementsAre(HasSubstr("test.S.M0 has the same paths (/{name=a/**}/b)")));
  TestService others({R"(get: "/v1/{name=a/*}")", R"(put: "/v1/a/{s}")", R"(get: "/v1/a/{s}:x")", R"(get: "/v1/*/b")"});
  EXPECT_THAT((*others.Make())->refused(), ElementsAre());
}

TEST(Rule, OfAnUnknownServiceIsAnError) {
  google::protobuf::DescriptorPool pool;
  google::protobuf::DynamicMessageFactory factory;
  const auto transcoder = DescriptorTranscoder::Make(pool, factory, {"no.Such"}, {});
  EXPECT_EQ(transcoder.status(), absl::NotFoundError("there is no service no.Such"));
}

}  // namespace
}  // namespace cqbench::transcoding
