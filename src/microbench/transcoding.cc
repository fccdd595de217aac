// transcode/match/RULES: finds the method of a path in a table of this number of rules.
// transcode/{find,bind}/METHOD/{descriptor,handwritten}: the requests of the books workload; bind is find and the
// conversion into a reused message, without JSON if the request has no body. transcode/{parse,print}/MESSAGE: JSON.

#include <google/protobuf/util/message_differencer.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/library.pb.h"
#include "src/http/json/json.h"
#include "src/http/routes/library.h"
#include "src/http/routes/transcoder.h"
#include "src/microbench/suite.h"

namespace cqbench::microbench {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::util::MessageDifferencer;
using namespace cqbench::transcoding;

constexpr char kService[] = "cqbench.library.v1.LibraryService";

// Makes collections r0, r1, ... with a rule each, as an API has them, and looks up the last.
void Match(benchmark::State& state, int rules) {
  RouteTable table;
  const auto* method = DescriptorPool::generated_pool()->FindServiceByName(kService)->FindMethodByName("GetBook");
  for (int i = 0; i < rules; ++i) {
    google::api::HttpRule rule;
    rule.set_get(absl::StrCat("/v1/{name=r", i, "/*/books/*}"));
    std::vector<std::string> refused;
    const std::vector<Binding> bindings = ResolveRule(*method, rule, refused);
    if (bindings.empty() || !table.Add(bindings.front()).ok()) return Fail(state, "the rule is none");
  }
  const std::string path = absl::StrCat("/v1/r", rules - 1, "/science/books/9780140449136");
  const Binding* binding = nullptr;
  Captures captures;
  bool ok = true;
  Measure(state, [&] { ok &= table.Find("GET", path, binding, captures) == Found::kYes; });
  if (!ok || captures.size() != 1 || captures[0] != path.substr(4)) Fail(state, "another path was found");
}

std::shared_ptr<const Transcoder> Made(bool by_hand) {
  if (by_hand) return std::make_shared<LibraryTranscoder>(TranscodingOptions());
  auto made = DescriptorTranscoder::Make(*DescriptorPool::generated_pool(), *MessageFactory::generated_factory(),
                                         {kService}, TranscodingOptions());
  if (!made.ok()) return nullptr;
  return *std::move(made);
}

struct Sample {
  const char* method;
  HttpRequest request;
};

const Sample kSamples[] = {
    {"GetBook", {"GET", "/v1/shelves/science/books/9780140449136", "", ""}},
    {"ListBooks", {"GET", "/v1/shelves/science/books", "pageSize=50&pageToken=Cg0KBQoDYm9v", ""}},
    {"DeleteBook", {"DELETE", "/v1/shelves/science/books/9780140449136", "", ""}},
    {"UpdateBook",
     {"PATCH", "/v1/shelves/science/books/9780140449136", "updateMask=title,read",
      R"({"title":"The Voyage of the Beagle","read":true})"}},
};

void Find(benchmark::State& state, const Sample& sample, bool by_hand) {
  const auto transcoder = Made(by_hand);
  if (transcoder == nullptr) return Fail(state, "no transcoder");
  Call call;
  bool ok = true;
  Measure(state, [&] { ok &= transcoder->Find(sample.request, call) == Found::kYes; });
  if (!ok || std::string(call.rpc->method->name()) != sample.method) Fail(state, "another method was found");
}

void Bind(benchmark::State& state, const Sample& sample, bool by_hand) {
  const auto transcoder = Made(by_hand);
  Call call;
  if (transcoder == nullptr || transcoder->Find(sample.request, call) != Found::kYes) return Fail(state, "no method");
  const std::unique_ptr<Message> message(call.rpc->request->New());
  bool ok = true;
  Measure(state, [&] {
    message->Clear();
    ok &=
        transcoder->Find(sample.request, call) == Found::kYes && transcoder->Bind(call, sample.request, *message).ok();
  });
  const auto other = Made(!by_hand);
  const std::unique_ptr<Message> expected(message->New());
  if (!ok || other->Find(sample.request, call) != Found::kYes || !other->Bind(call, sample.request, *expected).ok() ||
      !MessageDifferencer::Equals(*message, *expected)) {
    Fail(state, "the two transcoders differ");
  }
}

library::v1::Book ABook(int number) {
  library::v1::Book book;
  book.set_name(absl::StrCat("shelves/science/books/", 9780140449136 + number));
  book.set_author("Charles Darwin");
  book.set_title("The Voyage of the Beagle");
  book.set_read(true);
  book.set_page_count(432);
  book.mutable_publish_time()->set_seconds(1706702400);
  book.add_subjects("travel");
  book.add_subjects("geology");
  return book;
}

library::v1::ListBooksResponse APage(int books) {
  library::v1::ListBooksResponse page;
  for (int i = 0; i < books; ++i) *page.add_books() = ABook(i);
  page.set_next_page_token("Cg0KBQoDYm9v");
  return page;
}

void Parse(benchmark::State& state, const Message& expected) {
  std::string text;
  bool ok = PrintJson(expected, text).ok();
  const std::unique_ptr<Message> message(expected.New());
  Measure(state, [&] { ok &= ParseJson(text, *message).ok(); });
  if (!ok || !MessageDifferencer::Equals(*message, expected)) return Fail(state, "the message is not the one printed");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void Print(benchmark::State& state, const Message& message) {
  std::string text;
  bool ok = true;
  Measure(state, [&] {
    text.clear();
    ok &= PrintJson(message, text).ok();
  });
  const std::unique_ptr<Message> back(message.New());
  if (!ok || !ParseJson(text, *back).ok() || !MessageDifferencer::Equals(*back, message)) {
    return Fail(state, "the JSON is not the message's");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void RegisterJson(const std::string& name, const std::shared_ptr<const Message>& message) {
  Add("transcode/parse/" + name, [message](benchmark::State& state) { Parse(state, *message); });
  Add("transcode/print/" + name, [message](benchmark::State& state) { Print(state, *message); });
}

}  // namespace

void RegisterTranscoding() {
  for (const int rules : {1, 10, 1000}) {
    Add(absl::StrCat("transcode/match/", rules), [rules](benchmark::State& state) { Match(state, rules); });
  }
  for (const Sample& sample : kSamples) {
    for (const bool by_hand : {false, true}) {
      const std::string end = absl::StrCat("/", sample.method, by_hand ? "/handwritten" : "/descriptor");
      Add("transcode/find" + end, [&sample, by_hand](benchmark::State& state) { Find(state, sample, by_hand); });
      Add("transcode/bind" + end, [&sample, by_hand](benchmark::State& state) { Bind(state, sample, by_hand); });
    }
  }
  RegisterJson("empty", std::make_shared<library::v1::Book>());
  RegisterJson("book", std::make_shared<library::v1::Book>(ABook(0)));
  RegisterJson("page", std::make_shared<library::v1::ListBooksResponse>(APage(20)));
}

}  // namespace cqbench::microbench
