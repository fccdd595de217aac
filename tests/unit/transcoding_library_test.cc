// The library's rules by descriptors and by hand: both transcoders are right and agree.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/library.pb.h"
#include "src/http/json/json.h"
#include "src/http/routes/library.h"
#include "tests/unit/transcoding_encoder.h"
#include "tests/unit/transcoding_samples.h"

namespace cqbench::transcoding {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::util::MessageDifferencer;

class Library : public ::testing::Test {
 protected:
  Library() : by_hand_(options_) {
    auto made = DescriptorTranscoder::Make(*DescriptorPool::generated_pool(), *MessageFactory::generated_factory(),
                                           {"cqbench.library.v1.LibraryService"}, options_);
    EXPECT_TRUE(made.ok()) << made.status();
    by_descriptors_ = *std::move(made);
  }

  // Runs both transcoders and expects that they agree.
  Outcome Both(const std::string& line) {
    Outcome outcome = Transcode(*by_descriptors_, line);
    const Outcome other = Transcode(by_hand_, line);
    EXPECT_EQ(outcome.refusal, other.refusal) << line;
    EXPECT_EQ(outcome.method, other.method) << line;
    EXPECT_EQ(outcome.status.code(), other.status.code()) << line << ": " << outcome.status << ", " << other.status;
    if (outcome.status.ok() && other.status.ok() && outcome.message != nullptr && other.message != nullptr) {
      EXPECT_TRUE(MessageDifferencer::Equals(*outcome.message, *other.message)) << line;
    }
    return outcome;
  }

  void Check(const std::string& line, const std::string& method, const std::string& fields) {
    const Outcome outcome = Both(line);
    ASSERT_EQ(outcome.method, method) << line << ": " << outcome.refusal;
    ASSERT_TRUE(outcome.status.ok()) << line << ": " << outcome.status;
    EXPECT_TRUE(MessageDifferencer::Equals(*outcome.message, *FromText(*outcome.message, fields)))
        << line << ": " << outcome.message->DebugString();
  }

  // Expects that each transcoder decodes the request to what was encoded.
  void CheckRoundTrip(const std::string& line, const std::string& method, const Message& sent) {
    const Outcome outcome = Both(line);
    ASSERT_EQ(outcome.method, method) << line << ": " << outcome.refusal;
    ASSERT_TRUE(outcome.status.ok()) << line << ": " << outcome.status;
    ASSERT_TRUE(MessageDifferencer::Equals(*outcome.message, sent))
        << line << ": " << outcome.message->DebugString() << sent.DebugString();
  }

  std::string JsonOf(const Message& message) {
    std::string text;
    EXPECT_TRUE(PrintJson(message, text).ok());
    return text;
  }

  const TranscodingOptions options_;
  LibraryTranscoder by_hand_;
  std::unique_ptr<DescriptorTranscoder> by_descriptors_;
  Random random_{20240131};
};

TEST_F(Library, HasItsMethods) {
  Check("GET /v1/shelves/s/books/b", "GetBook", R"(name: "shelves/s/books/b")");
  Check("GET /v1/shelves/a%20b/books/c%2Fd", "GetBook", R"(name: "shelves/a b/books/c%2Fd")");
  Check("GET /v1/shelves/s/books", "ListBooks", R"(parent: "shelves/s")");
  Check("GET /v1/shelves/s/books?page_size=5&pageToken=x%26", "ListBooks",
        R"(parent: "shelves/s" page_size: 5 page_token: "x&")");
  Check("GET /v1/shelves/s/books:stream?pageSize=2", "StreamBooks", R"(parent: "shelves/s" page_size: 2)");
  Check(R"(POST /v1/shelves/s/books?bookId=7 {"title":"T","publishTime":"1970-01-01T00:00:01Z"})", "CreateBook",
        R"(parent: "shelves/s" book_id: "7" book { title: "T" publish_time { seconds: 1 } })");
  Check(R"(PATCH /v1/shelves/s/books/b?updateMask=title,pageCount {"name":"other","title":"T"})", "UpdateBook",
        R"(book { name: "shelves/s/books/b" title: "T" } update_mask { paths: "title" paths: "page_count" })");
  Check(R"(PATCH /v1/shelves/s/books/b {"title":"T"})", "UpdateBook",
        R"(book { name: "shelves/s/books/b" title: "T" })");
  Check("DELETE /v1/shelves/s/books/b", "DeleteBook", R"(name: "shelves/s/books/b")");
  Check("GET /v1/shelves/s/books/b:stream", "GetBook", R"(name: "shelves/s/books/b:stream")");
  Check("GET /%761/shelve%73/s/%62ooks:strea%6D", "StreamBooks", R"(parent: "shelves/s")");
}

TEST_F(Library, RefusesTheSame) {
  const std::vector<std::string> kLines = {"GET /",
                                           "GET /v1",
                                           "GET /v1/",
                                           "GET /v1/shelves",
                                           "GET /v1/shelves/",
                                           "GET /v1/shelves/s",
                                           "GET /v1/shelves/s/",
                                           "GET /v1/shelves//books",
                                           "GET /v1/shelves/s/books/",
                                           "GET /v1/shelves/s/books/b/",
                                           "GET /v1/shelves/s/books/b/c",
                                           "GET //shelves/s/books",
                                           "GET /v2/shelves/s/books",
                                           "GET v1/shelves/s/books",
                                           "GET /v1/shelves/s/books:",
                                           "GET /v1/shelves/s/books:other",
                                           "GET /v1/shelves/s/books%3Astream",
                                           "GET /v1/shelves/s/books:stream:stream",
                                           "POST /v1/shelves/s/books:stream",
                                           "POST /v1/shelves/s/books/b",
                                           "PUT /v1/shelves/s/books/b",
                                           "DELETE /v1/shelves/s/books",
                                           "OPTIONS /v1/shelves/s/books",
                                           "get /v1/shelves/s/books",
                                           "GET /v1/../v1/shelves/s/books",
                                           "GET /v1/shelves/s/books/b?x=1",
                                           "GET /v1/shelves/s/books/b {}",
                                           "GET /v1/shelves/s/books?page_size=x",
                                           "GET /v1/shelves/s/books?page_size=1&pageSize=1",
                                           "GET /v1/shelves/s/books?page_token=%FF",
                                           "GET /v1/shelves/%FF/books",
                                           "GET /v1/shelves/s/books/%zz",
                                           "POST /v1/shelves/s/books?book.title=x {}",
                                           "POST /v1/shelves/s/books {\"x\":1}",
                                           "PATCH /v1/shelves/s/books/b?update_mask=a&update_mask=b",
                                           "PATCH /v1/shelves/s/books/b?book.title=x",
                                           "PATCH /v1/shelves/s/books/b [",
                                           "DELETE /v1/shelves/s/books/b?name=%",
                                           "GET /v1/shelves/s/books?" + std::string(20'000, 'a')};
  for (const std::string& line : kLines) {
    const Outcome outcome = Both(line);
    EXPECT_TRUE(!outcome.refusal.empty() || !outcome.status.ok()) << line;
  }
}

TEST_F(Library, PrintsTheSame) {
  library::v1::Book book;
  book.set_name("shelves/s/books/b");
  book.set_title("T");
  book.mutable_publish_time()->set_seconds(1);
  book.add_subjects("x");
  Call call;
  std::string by_descriptors, by_hand;
  ASSERT_EQ(by_descriptors_->Find(RequestOf("GET /v1/shelves/s/books/b"), call), Found::kYes);
  ASSERT_TRUE(by_descriptors_->Print(call, book, by_descriptors).ok());
  ASSERT_EQ(by_hand_.Find(RequestOf("GET /v1/shelves/s/books/b"), call), Found::kYes);
  ASSERT_TRUE(by_hand_.Print(call, book, by_hand).ok());
  EXPECT_EQ(by_descriptors, by_hand);
  EXPECT_EQ(by_hand,
            R"({"name":"shelves/s/books/b","title":"T","publishTime":"1970-01-01T00:00:01Z","subjects":["x"]})");
}

TEST_F(Library, NamesItsMethodsAsGrpcDoes) {
  for (const Transcoder* transcoder :
       {static_cast<Transcoder*>(by_descriptors_.get()), static_cast<Transcoder*>(&by_hand_)}) {
    Call call;
    ASSERT_EQ(transcoder->Find(RequestOf("GET /v1/shelves/s/books:stream"), call), Found::kYes);
    EXPECT_EQ(call.rpc->path, "/cqbench.library.v1.LibraryService/StreamBooks");
    EXPECT_TRUE(call.rpc->method->server_streaming());
    EXPECT_EQ(call.rpc->request, &library::v1::ListBooksRequest::default_instance());
    EXPECT_EQ(call.rpc->response, &library::v1::Book::default_instance());
  }
}

TEST_F(Library, TakesWhatAClientWrites) {
  for (int i = 0; i < 2000; ++i) {
    const std::string shelf = RandomName(random_, {"shelves", "*"});
    const std::string name = RandomName(random_, {"shelves", "*", "books", "*"});
    library::v1::GetBookRequest get;
    get.set_name(name);
    const std::string book_path = absl::StrCat("/v1/", PercentEncode(name, true));
    const std::string shelf_path = absl::StrCat("/v1/", PercentEncode(shelf, true), "/books");
    CheckRoundTrip("GET " + book_path, "GetBook", get);

    library::v1::ListBooksRequest list;
    FillParameters(random_, 1, list);
    list.clear_parent();
    const std::string list_query = EncodeQuery(random_, list);
    list.set_parent(shelf);
    CheckRoundTrip(absl::StrCat("GET ", shelf_path, "?", list_query), "ListBooks", list);
    CheckRoundTrip(absl::StrCat("GET ", shelf_path, ":stream?", list_query), "StreamBooks", list);

    library::v1::UpdateBookRequest update;
    FillParameters(random_, 1, update);
    update.clear_book();
    const std::string update_query = EncodeQuery(random_, update);
    FillParameters(random_, 1, *update.mutable_book());
    update.mutable_book()->clear_name();
    const std::string line = absl::StrCat("PATCH ", book_path, "?", update_query, " ", JsonOf(update.book()));
    update.mutable_book()->set_name(name);
    CheckRoundTrip(line, "UpdateBook", update);
  }
}

// One transcoder serves all threads of an HTTP front end.
TEST_F(Library, IsThreadSafe) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 200; ++j) {
        const std::string title = absl::StrCat(i, "-", j);
        const std::string line =
            absl::StrCat("PATCH /v1/shelves/s/books/b?updateMask=title {\"title\":\"", title, "\"}");
        for (const Transcoder* each :
             {static_cast<const Transcoder*>(by_descriptors_.get()), static_cast<const Transcoder*>(&by_hand_)}) {
          const Outcome outcome = Transcode(*each, line);
          std::string json;
          const bool ok = outcome.status.ok() && outcome.message != nullptr && PrintJson(*outcome.message, json).ok();
          if (!ok || json.find(title) == std::string::npos) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The same for a request that has fields of every kind, by three rules that divide it between path, query and body.
TEST(Transcoding, TakesWhatAClientWrites) {
  TestService service({R"(get: "/a/{inner.number}/{s}/{name=x/*/**}")", R"(post: "/b/{s}" body: "inner")",
                       R"(post: "/c/{name=**}" body: "*")"});
  TranscodingOptions options;
  options.max_target_bytes = 1 << 20;
  const auto transcoder = service.Make(options);
  ASSERT_TRUE(transcoder.ok()) << transcoder.status();
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto sent = service.NewKinds();
    const auto field = [&](const char* name) { return sent->GetDescriptor()->FindFieldByName(name); };
    const auto* reflection = sent->GetReflection();
    FillParameters(random, 2, *sent);
    for (const char* name : {"s", "name"}) reflection->ClearField(sent.get(), field(name));
    const std::string s = RandomText(random, 8, /*filled=*/true);
    const std::string name = RandomName(random, {"x", "*", "*", "*"});
    const auto number = static_cast<int32_t>(random());
    std::string line;
    const uint64_t rule = Below(random, 3);
    if (rule == 0) {
      Message* inner = reflection->MutableMessage(sent.get(), field("inner"));
      const auto* number_field = inner->GetDescriptor()->FindFieldByName("number");
      inner->GetReflection()->ClearField(inner, number_field);
      line = absl::StrCat("GET /a/", number, "/", PercentEncode(s), "/", PercentEncode(name, true), "?",
                          EncodeQuery(random, *sent));
      inner->GetReflection()->SetInt32(inner, number_field, number);
      reflection->SetString(sent.get(), field("s"), s);
      reflection->SetString(sent.get(), field("name"), name);
    } else if (rule == 1) {
      const std::unique_ptr<Message> rest(sent->New());
      rest->CopyFrom(*sent);
      reflection->ClearField(rest.get(), field("inner"));
      std::string body;
      ASSERT_TRUE(PrintJson(*reflection->MutableMessage(sent.get(), field("inner")), body).ok());
      line = absl::StrCat("POST /b/", PercentEncode(s), "?", EncodeQuery(random, *rest), " ", body);
      reflection->SetString(sent.get(), field("s"), s);
    } else {
      std::string body;
      ASSERT_TRUE(PrintJson(*sent, body).ok());
      line = absl::StrCat("POST /c/", PercentEncode(name, true), " ", body);
      reflection->SetString(sent.get(), field("name"), name);
    }
    const Outcome outcome = Transcode(**transcoder, line);
    ASSERT_EQ(outcome.method, absl::StrCat("M", rule)) << line << ": " << outcome.refusal;
    ASSERT_TRUE(outcome.status.ok()) << line << ": " << outcome.status;
    ASSERT_TRUE(MessageDifferencer::Equals(*outcome.message, *sent)) << line << "\n"
                                                                     << outcome.message->DebugString() << "\n"
                                                                     << sent->DebugString();
  }
}

}  // namespace
}  // namespace cqbench::transcoding
