// Random inputs, made from meaningful parts and from mutations of valid ones; the same in each run.
// CQBENCH_FUZZ_INPUTS=10000000 CQBENCH_FUZZ_SEED=2 cqbench_transcoding_test --gtest_filter='Fuzz.*' makes more, with
// the asan preset.
#include "tests/unit/transcoding_fuzz.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/clean_text.h"
#include "src/http/json/json.h"
#include "src/http/json/percent.h"
#include "src/http/routes/library.h"
#include "tests/unit/transcoding_encoder.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::util::MessageDifferencer;

// Converts a template to text.
std::string Unparsed(const PathTemplate& path) {
  std::string text;
  const auto append_segment = [&](const TemplateSegment& segment) {
    if (segment.kind == TemplateSegment::Kind::kLiteral) {
      text += PercentEncode(segment.literal);
    } else {
      text += segment.kind == TemplateSegment::Kind::kOne ? "*" : "**";
    }
  };
  size_t variable = 0;
  for (size_t i = 0; i < path.segments.size(); ++i) {
    text += "/";
    const bool in = variable < path.variables.size();
    if (in && path.variables[variable].begin == i)
      absl::StrAppend(&text, "{", path.variables[variable].field_path, "=");
    append_segment(path.segments[i]);
    if (in && path.variables[variable].end == i + 1) {
      text += "}";
      ++variable;
    }
  }
  if (!path.verb.empty()) absl::StrAppend(&text, ":", PercentEncode(path.verb));
  return text;
}

TEST_F(Fuzz, PathTemplate) {
  const std::vector<std::string> kParts = {"/",   "/",     "/",      "*",        "**",   "{",   "}",
                                           "=",   ".",     ":",      "a",        "name", "%2F", "%",
                                           "v1",  "{a=*}", "/{b.c}", "{d=x/**}", "/*",   "/**", std::string(1, '\0'),
                                           "\xFF"};
  uint64_t good = 0;
  Run(
      100'000, [&] { return (Below(random_, 8) == 0 ? "" : "/") + FromParts(kParts, 12); },
      [&](const std::string& text) {
        const auto path = ParsePathTemplate(text);
        if (!path.ok()) return;
        ++good;
        ASSERT_LE(path->segments.size(), kMaxTemplateSegments);
        const auto again = ParsePathTemplate(Unparsed(*path));
        ASSERT_TRUE(again.ok()) << Unparsed(*path) << ": " << again.status();
        EXPECT_EQ(again->segments, path->segments);
        EXPECT_EQ(again->verb, path->verb);
        EXPECT_EQ(Unparsed(*again), Unparsed(*path));
      });
  EXPECT_GT(good, 0u);
}

// Matches a rule's path with a request's by the words of the grammar, without a table.
bool Matches(const PathTemplate& path, const std::vector<std::string>& segments) {
  const auto found = std::find_if(path.segments.begin(), path.segments.end(),
                                  [](const auto& each) { return each.kind == TemplateSegment::Kind::kRest; });
  const bool has_rest = found != path.segments.end();
  const auto rest = static_cast<size_t>(found - path.segments.begin());
  const size_t fixed = path.segments.size() - (has_rest ? 1 : 0);
  if (has_rest ? segments.size() < fixed : segments.size() != fixed) return false;
  for (size_t i = 0; i < path.segments.size(); ++i) {
    const TemplateSegment& segment = path.segments[i];
    if (segment.kind == TemplateSegment::Kind::kRest) continue;
    // Segments after "**" count from the end.
    const std::string& text = segments[i < rest ? i : segments.size() - (path.segments.size() - i)];
    if (text.empty()) return false;
    if (segment.kind == TemplateSegment::Kind::kOne) continue;
    std::string buffer;
    absl::string_view decoded;
    if (!PercentDecode(text, Slashes::kDecode, buffer, decoded) || decoded != segment.literal) return false;
  }
  return true;
}

bool MatchesWithVerb(const PathTemplate& path, const std::string& text) {
  std::string segments = text.substr(1);
  if (!path.verb.empty()) {
    const size_t colon = segments.rfind(':');
    if (colon == std::string::npos || segments.find('/', colon) != std::string::npos) return false;
    std::string buffer;
    absl::string_view verb;
    if (!PercentDecode(absl::string_view(segments).substr(colon + 1), Slashes::kDecode, buffer, verb)) return false;
    if (verb != path.verb) return false;
    segments.resize(colon);
  }
  return Matches(path, absl::StrSplit(segments, '/'));
}

TEST_F(Fuzz, RequestPath) {
  const std::vector<std::string> kPaths = {
      "/a/b/c",        "/a/*/c",          "/*/b/{s}", "/a/**",        "/a/b:v",
      "/{name=a/*}:v", "/{name=b/**}",    "/*/*/*/*", "/{name=**}:w", "/b/*/c/{s}/{name=**}",
      "/a%2Fb/{s}",    "/{s}/{name=c/*}", "/c",       "/b/b/b:v",     "/c/{name=**}/a/{s}",
      "/c/**/b:w",     "/{name=c/**/b}/c"};
  std::vector<std::string> rules;
  std::vector<PathTemplate> templates;
  for (const std::string& path : kPaths) {
    rules.push_back(absl::StrCat("get: \"", path, "\""));
    templates.push_back(*ParsePathTemplate(path));
  }
  TestService service(rules);
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  const std::vector<std::string> kParts = {"/",      "/a", "/b", "/c", "/a", "/b", "/%61",
                                           "/a%2Fb", ":v", ":w", ":",  "%",  "..", "/x"};
  uint64_t found = 0;
  Run(
      100'000, [&] { return (Below(random_, 16) == 0 ? "" : "/") + FromParts(kParts, 8).erase(0, 1); },
      [&](const std::string& path) {
        HttpRequest request;
        request.method = "GET";
        request.path = path;
        Call call;
        const Found result = (*transcoder)->Find(request, call);
        const bool expected = !path.empty() && path[0] == '/' &&
                              std::any_of(templates.begin(), templates.end(),
                                          [&](const auto& each) { return MatchesWithVerb(each, path); });
        ASSERT_EQ(result == Found::kYes, expected);
        ASSERT_EQ((*transcoder)->AllowedMethods(path), expected ? "GET, HEAD" : "");
        if (result != Found::kYes) return;
        ++found;
        EXPECT_TRUE(MatchesWithVerb(call.binding->path, path)) << call.binding->text;
        ASSERT_EQ(call.captures.size(), call.binding->path.variables.size());
        for (const absl::string_view capture : call.captures) {
          EXPECT_GE(capture.data(), path.data());
          EXPECT_LE(capture.data() + capture.size(), path.data() + path.size());
        }
        const std::unique_ptr<Message> message(call.rpc->request->New());
        const absl::Status status = (*transcoder)->Bind(call, request, *message);
        EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
      });
  EXPECT_GT(found, 0u);
}

TEST_F(Fuzz, Query) {
  TestService service({R"(get: "/v1")"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok());
  std::vector<std::string> parts = {"&",
                                    "&",
                                    "=",
                                    "=",
                                    "%",
                                    "%20",
                                    "%FF",
                                    "+",
                                    "1",
                                    "-1",
                                    "true",
                                    "a",
                                    "inner.",
                                    ".",
                                    "RED",
                                    "1.5s",
                                    "2024-01-31T12:00:00Z",
                                    "99999999999999999999",
                                    "1e400",
                                    "NaN",
                                    "YQ==",
                                    ","};
  const auto kinds = service.NewKinds();
  for (int i = 0; i < kinds->GetDescriptor()->field_count(); ++i) {
    parts.push_back(absl::StrCat("&", std::string(kinds->GetDescriptor()->field(i)->name()), "="));
  }
  uint64_t good = 0;
  Run(
      50'000,
      [&] {
        if (Below(random_, 2) == 0) return FromParts(parts, 8);
        const auto message = service.NewKinds();
        FillParameters(random_, 2, *message);
        return Mutated(EncodeQuery(random_, *message));
      },
      [&](const std::string& query) {
        HttpRequest request;
        request.method = "GET";
        request.path = "/v1";
        request.query = query;
        Call call;
        ASSERT_EQ((*transcoder)->Find(request, call), Found::kYes);
        const auto message = service.NewKinds();
        const absl::Status status = (*transcoder)->Bind(call, request, *message);
        if (!status.ok()) {
          EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
          EXPECT_TRUE(IsUtf8(status.message())) << status;
          return;
        }
        ++good;
        // A message that was decoded can be encoded again.
        DropEmptyMessages(*message);
        const std::string again = EncodeQuery(random_, *message);
        request.query = again;
        const auto copy = service.NewKinds();
        const absl::Status second = (*transcoder)->Bind(call, request, *copy);
        EXPECT_TRUE(second.ok()) << again << ": " << second;
        EXPECT_EQ(copy->SerializeAsString(), message->SerializeAsString()) << again;
      });
  EXPECT_GT(good, 0u);
}

TEST_F(Fuzz, Body) {
  TestService service({R"(post: "/v1" body: "*")"});
  const auto transcoder = service.Make();
  ASSERT_TRUE(transcoder.ok());
  const std::vector<std::string> kParts = {
      "{",       "}",     "[",    "]",    ",",  ":",  "\"s\":", "\"inner\":",   "\"a\"",
      "1",       "1e400", "null", "true", "\\", "\"", "'",      "\"object\":{", "\"counts\":{",
      "\\u0000", "\xFF",  " "};
  uint64_t good = 0;
  Run(
      3'000,
      [&] {
        if (Below(random_, 3) == 0) return FromParts(kParts, 12);
        const auto message = service.NewKinds();
        FillParameters(random_, 2, *message);
        std::string json;
        EXPECT_TRUE(PrintJson(*message, json).ok());
        return Mutated(json);
      },
      [&](const std::string& body) {
        HttpRequest request = RequestOf("POST /v1");
        request.body = body;
        Call call;
        ASSERT_EQ((*transcoder)->Find(request, call), Found::kYes);
        const auto message = service.NewKinds();
        const absl::Status status = (*transcoder)->Bind(call, request, *message);
        if (!status.ok()) {
          EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
          return;
        }
        ++good;
        std::string json;
        if (!PrintJson(*message, json).ok()) return;
        request.body = json;
        const auto copy = service.NewKinds();
        if (body.empty() || json == "{}") return;
        EXPECT_TRUE((*transcoder)->Bind(call, request, *copy).ok()) << json;
        std::string again;
        EXPECT_TRUE(PrintJson(*copy, again).ok());
        EXPECT_EQ(again, json);
      });
  EXPECT_GT(good, 0u);
}

// Both transcoders, the one by descriptors and the hand-written one, agree on any input.
TEST_F(Fuzz, Library) {
  const auto by_descriptors =
      DescriptorTranscoder::Make(*DescriptorPool::generated_pool(), *MessageFactory::generated_factory(),
                                 {"cqbench.library.v1.LibraryService"}, {});
  ASSERT_TRUE(by_descriptors.ok());
  const LibraryTranscoder by_hand({});
  const std::vector<std::string> kParts = {"/v1",
                                           "/shelves",
                                           "/books",
                                           "/a",
                                           "/b",
                                           ":stream",
                                           ":",
                                           "/",
                                           "%2F",
                                           "%",
                                           "s",
                                           "%73",
                                           "/v1/shelves/s/books",
                                           "/v1/shelves/s/books/b",
                                           "/v1/shelves/s/books:stream"};
  const std::vector<std::string> kQuery = {
      "page_size=", "pageSize=",  "page_token=", "&",           "&",
      "=",          "1",          "x",           "%41",         "%",
      "name=",      "book.name=", "book.title=", "updateMask=", "update_mask.paths=",
      "bookId=",    "parent=",    ",",           "aB",          "%FF"};
  const std::vector<std::string> kMethods = {"GET", "POST", "PATCH", "DELETE", "PUT"};
  uint64_t good = 0;
  Run(
      100'000,
      [&] {
        std::string line = absl::StrCat(kMethods[Below(random_, kMethods.size())], " ", FromParts(kParts, 6), "?",
                                        FromParts(kQuery, 6));
        return Below(random_, 50) == 0 ? line + " {\"title\":\"x\"}" : line;
      },
      [&](const std::string& line) {
        if (line.find(' ') == std::string::npos) return;
        const Outcome outcome = Transcode(**by_descriptors, line);
        const Outcome other = Transcode(by_hand, line);
        ASSERT_EQ(outcome.refusal, other.refusal);
        ASSERT_EQ(outcome.method, other.method);
        ASSERT_EQ(outcome.status.code(), other.status.code()) << outcome.status << ", " << other.status;
        if (!outcome.status.ok() || outcome.message == nullptr) return;
        ++good;
        EXPECT_TRUE(MessageDifferencer::Equals(*outcome.message, *other.message));
      });
  EXPECT_GT(good, 0u);
}

}  // namespace
}  // namespace cqbench::transcoding
