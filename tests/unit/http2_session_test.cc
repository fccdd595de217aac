// HTTP/2 from memory: requests and responses, flow control, late responses, and attacks that the server must survive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/http2_bytes.h"
#include "tests/unit/http_hostile.h"
#include "tests/unit/http_memory.h"

namespace cqbench {
namespace {

// Exchanges bytes until neither side has any left. Also delivers what other threads have left.
void Talk(MemoryClient& client, MemoryConnection& server) {
  std::string sent, got;
  do {
    sent = client.Take();
    server.Feed(sent);
    server.Deliver();
    got = server.Take();
    ASSERT_TRUE(client.Feed(got));
  } while (!sent.empty() || !got.empty());
}

struct Pair {
  Pair() = default;
  explicit Pair(const HttpOptions& options) : server(options) {}
  void Run() { Talk(client, server); }
  MemoryConnection server;
  MemoryClient client;
};

HttpOptions Small() {
  HttpOptions options;
  options.max_header_bytes = 512;
  options.max_body_bytes = 100'000;
  options.max_streams = 10;
  return options;
}

TEST(Http2Session, ARequestIsWhatWasSent) {
  Pair pair;
  const std::string body(200'000, 'b');
  const int32_t get = pair.client.Request("GET", "/a?b", "", {{"accept", "c/d"}});
  const int32_t post = pair.client.Request("POST", "/p", body, {{"content-type", "a/b"}});
  pair.Run();
  ASSERT_EQ(pair.server.seen.size(), 2u);
  EXPECT_EQ(pair.server.seen[0].method, "GET");
  EXPECT_EQ(pair.server.seen[0].target, "/a?b");
  EXPECT_EQ(pair.server.seen[0].accept, "c/d");
  EXPECT_EQ(pair.server.seen[1].content_type, "a/b");
  EXPECT_EQ(pair.client.On(get).headers[":status"], "200");
  EXPECT_EQ(pair.client.On(get).headers["content-length"], "0");
  EXPECT_EQ(pair.client.On(post).headers["content-type"], "text/plain");
  EXPECT_TRUE(pair.client.On(post).body == body) << "through both windows";
  EXPECT_TRUE(pair.client.On(post).closed);
  EXPECT_FALSE(pair.server.session().Busy());
}

TEST(Http2Session, WhatTheServerSaysByItselfIsAsItsUserWantsIt) {
  HttpOptions options = Small();
  options.own_response = InBrackets;
  Pair pair(options);
  pair.server.handle = [](const HttpRequest&, HttpReply) {};
  const int32_t refused = pair.client.Request("POST", "/", "x", {{"expect", "tea"}});
  const int32_t dropped = pair.client.Request("GET", "/", "", {{"content-encoding", "gzip"}});
  pair.Run();
  EXPECT_EQ(pair.client.On(refused).body, "[417 Expectation Failed]");
  EXPECT_EQ(pair.client.On(refused).headers["content-type"], "a/b");
  EXPECT_EQ(pair.client.On(dropped).body, "[500 Internal Server Error]");
  ASSERT_EQ(pair.server.seen.size(), 1u);
  EXPECT_EQ(pair.server.seen[0].content_encoding, "gzip");
}

TEST(Http2Session, OneMoreHeaderIsSent) {
  Pair pair;
  std::optional<HttpReply> held;
  pair.server.handle = [&](const HttpRequest&, HttpReply reply) { held.emplace(std::move(reply)); };
  const int32_t id = pair.client.Request("GET", "/");
  pair.Run();
  std::thread([&] { held->Send({405, "", {"Allow", "GET, HEAD"}}, ""); }).join();
  pair.server.Deliver();
  pair.Run();
  EXPECT_EQ(pair.client.On(id).headers["allow"], "GET, HEAD");
}

TEST(Http2Session, BytesMayComeOneByOne) {
  MemoryConnection server;
  const std::string all = Start() + Frame(kHeaders, kEndHeaders | kEndStream, 1, RequestFields("GET", "/"));
  for (const char byte : all) server.Feed({&byte, 1});
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST(Http2Session, HeadAnswersHaveNoBody) {
  Pair pair;
  pair.server.handle = [](const HttpRequest&, HttpReply reply) { reply.Send(200, "", "four"); };
  const int32_t id = pair.client.Request("HEAD", "/");
  pair.Run();
  EXPECT_EQ(pair.client.On(id).headers["content-length"], "4");
  EXPECT_EQ(pair.client.On(id).body, "");
  EXPECT_TRUE(pair.client.On(id).closed);
}

TEST(Http2Session, LateAnswersComeInTheirOwnOrderAndInOneWrite) {
  Pair pair;
  std::deque<HttpReply> held;
  pair.server.handle = [&](const HttpRequest&, HttpReply reply) { held.push_back(std::move(reply)); };
  const int32_t first = pair.client.Request("GET", "/1");
  const int32_t second = pair.client.Request("GET", "/2");
  pair.Run();
  ASSERT_EQ(held.size(), 2u);
  std::thread([&] { held[1].Send(200, "", "two"); }).join();
  pair.server.Deliver();
  pair.Run();
  EXPECT_EQ(pair.client.On(second).body, "two");
  EXPECT_FALSE(pair.client.On(first).closed);
  held.clear();
  pair.Run();
  EXPECT_EQ(pair.client.On(first).headers[":status"], "500") << "a reply that was dropped";
}

TEST(Http2Session, StreamsHaveABoundAndMayBreak) {
  HttpOptions options;
  options.stream_buffer_bytes = 10;
  Pair pair(options);
  std::optional<HttpStream> stream;
  int room = 0;
  pair.server.handle = [&](const HttpRequest&, HttpReply reply) {
    stream.emplace(reply.Begin(200, "", [&] { ++room; }));
  };
  int32_t id = pair.client.Request("GET", "/");
  pair.Run();
  EXPECT_EQ(pair.client.On(id).headers[":status"], "200") << "before there is a body";
  EXPECT_EQ(stream->Write("1234567890"), HttpStream::Result::kTaken);
  EXPECT_EQ(stream->Write("x"), HttpStream::Result::kFull);
  EXPECT_EQ(room, 0);
  pair.Run();
  EXPECT_EQ(room, 1);
  EXPECT_EQ(pair.client.On(id).body, "1234567890");
  EXPECT_EQ(stream->Write("x"), HttpStream::Result::kTaken);
  stream->End();
  pair.server.Deliver();
  pair.Run();
  EXPECT_EQ(pair.client.On(id).body, "1234567890x");
  EXPECT_EQ(pair.client.On(id).error, NGHTTP2_NO_ERROR);

  id = pair.client.Request("GET", "/");
  pair.Run();
  stream->Write("cut");
  stream->Break();
  pair.server.Deliver();
  pair.Run();
  EXPECT_TRUE(pair.client.On(id).closed);
  EXPECT_EQ(pair.client.On(id).error, NGHTTP2_INTERNAL_ERROR);
}

TEST(Http2Session, AnswersThatBreakAreNotTheClientsFault) {
  HttpOptions options;
  options.max_resets = 5;
  Pair pair(options);
  pair.server.handle = [](const HttpRequest&, HttpReply reply) { HttpStream stream = reply.Begin(200, ""); };
  for (int i = 0; i < 20; ++i) {
    const int32_t id = pair.client.Request("GET", "/");
    pair.Run();
    EXPECT_EQ(pair.client.On(id).error, NGHTTP2_INTERNAL_ERROR);
  }
  EXPECT_FALSE(pair.server.ended());
}

TEST(Http2Session, WhoeverAnswersLearnsThatTheClientGaveUp) {
  Pair pair;
  std::optional<HttpStream> stream;
  pair.server.handle = [&](const HttpRequest&, HttpReply reply) { stream.emplace(reply.Begin(200, "")); };
  const int32_t id = pair.client.Request("GET", "/");
  pair.Run();
  nghttp2_submit_rst_stream(pair.client.session(), 0, id, NGHTTP2_CANCEL);
  pair.Run();
  EXPECT_EQ(stream->Write("x"), HttpStream::Result::kGone);
  stream->End();
  pair.server.Deliver();
  EXPECT_FALSE(pair.server.session().Busy());
}

TEST(Http2Session, WhatIsTooLargeIsRefused) {
  Pair pair(Small());
  const int32_t announced = pair.client.Request("POST", "/", std::string(100'001, 'x'), {{"content-length", "100001"}});
  const int32_t long_body = pair.client.Request("POST", "/", std::string(100'001, 'x'));
  const int32_t headers = pair.client.Request("GET", "/", "", {{"x", std::string(500, 'x')}});
  const int32_t fits = pair.client.Request("POST", "/", std::string(100'000, 'x'));
  const int32_t path = pair.client.Request("GET", "/" + std::string(512, 'x'));
  const int32_t expects = pair.client.Request("POST", "/", "x", {{"expect", "tea"}});
  pair.Run();
  EXPECT_EQ(pair.client.On(announced).headers[":status"], "413");
  EXPECT_EQ(pair.client.On(long_body).headers[":status"], "413");
  EXPECT_EQ(pair.client.On(headers).headers[":status"], "431");
  EXPECT_EQ(pair.client.On(path).headers[":status"], "414");
  EXPECT_EQ(pair.client.On(expects).headers[":status"], "417");
  EXPECT_EQ(pair.client.On(fits).headers[":status"], "200");
  EXPECT_EQ(pair.server.seen.size(), 1u);
}

TEST(Http2Session, SlowRequestsAndIdleConnectionsEnd) {
  const HttpOptions options = Small();
  MemoryConnection server(options);
  server.Feed(Start() + Frame(kHeaders, kEndHeaders, 1, RequestFields("POST", "/")));
  server.Pass(options.request_ns);
  EXPECT_TRUE(server.seen.empty());
  EXPECT_EQ(server.loop().counts.responses[3].value(), 1u) << "408";
  server.Pass(10 * kNanosPerSecond);
  EXPECT_FALSE(server.session().Busy());
  server.Pass(options.idle_ns);
  EXPECT_TRUE(server.ended());
}

TEST(Http2Session, AnAnswerThatNobodyTakesIsGivenUp) {
  MemoryConnection server;
  server.handle = [](const HttpRequest&, HttpReply reply) { reply.Send(200, "", std::string(100'000, 'x')); };
  const std::string no_window = Frame(kSettings, 0, 0, std::string("\0\x04\0\0\0\0", 6));
  server.Feed(std::string(kPreface) + no_window +
              Frame(kHeaders, kEndHeaders | kEndStream, 1, RequestFields("GET", "/")));
  EXPECT_TRUE(server.session().Busy());
  EXPECT_LT(server.Take().size(), 1000u);
  server.Pass(HttpOptions().write_ns);
  EXPECT_FALSE(server.session().Busy());
}

// --- hostile clients ---

TEST(Http2Session, WhatIsNoRequestIsNotHandled) {
  for (const Attack& attack : Attacks()) {
    SCOPED_TRACE(attack.what);
    MemoryConnection server(Small());
    server.Feed(attack.bytes);
    EXPECT_EQ(server.ended(), attack.ends);
    EXPECT_LE(server.seen.size(), 1u);
    EXPECT_LT(server.Take().size(), 100'000u);
    if (attack.ends) continue;
    EXPECT_TRUE(server.seen.empty());
    server.Feed(Frame(kHeaders, kEndHeaders | kEndStream, 101, RequestFields("GET", "/")));
    EXPECT_EQ(server.seen.size(), 1u) << "the connection goes on";
  }
}

TEST(Http2Session, AStreamThatWasSkippedIsClosed) {
  MemoryConnection server;
  const std::string fields = RequestFields("GET", "/");
  server.Feed(Start() + Frame(kHeaders, kEndHeaders | kEndStream, 5, fields) +
              Frame(kHeaders, kEndHeaders | kEndStream, 3, fields));
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST(Http2Session, AcknowledgementsThatNobodyReadsEndTheConnection) {
  for (const std::string& frame : {Frame(kPing, 0, 0, "12345678"), Frame(kSettings, 0, 0)}) {
    MemoryConnection server;
    server.Feed(Start());
    // The client sends this before the server writes again.
    server.session().Receive(Repeated(90, frame));
    EXPECT_FALSE(server.ended());
    server.session().Receive(Repeated(100, frame));
    EXPECT_TRUE(server.ended());
  }
}

TEST(Http2Session, RequestsThatWereResetAreBoundedWhileTheyAreHandled) {
  HttpOptions options = Small();
  options.max_resets = 1'000'000;
  MemoryConnection server(options);
  std::deque<HttpReply> held;
  server.handle = [&](const HttpRequest&, HttpReply reply) { held.push_back(std::move(reply)); };
  server.Feed(Start());
  for (uint32_t id = 1; id < 2000; id += 2) {
    server.Feed(Frame(kHeaders, kEndHeaders | kEndStream, id, RequestFields("GET", "/")) +
                Frame(kReset, 0, id, Number(8)));
  }
  EXPECT_GE(held.size(), options.max_streams);
  EXPECT_LE(held.size(), options.max_streams + 1);
  held.clear();
  server.Deliver();
  server.Feed(Frame(kHeaders, kEndHeaders | kEndStream, 2001, RequestFields("GET", "/")));
  EXPECT_EQ(held.size(), 1u) << "and there is room again";
  held.clear();
  server.Deliver();
}

TEST(Http2Session, BodiesOfManyStreamsAreBoundedTogether) {
  HttpOptions options = Small();
  options.max_body_bytes = 1000;
  MemoryConnection server(options);
  std::string bytes = Start();
  for (uint32_t id = 1; id <= 19; id += 2) {
    bytes += Frame(kHeaders, kEndHeaders, id, RequestFields("POST", "/")) + Frame(kData, 0, id, std::string(900, 'x'));
  }
  for (uint32_t id = 1; id <= 19; id += 2) bytes += Frame(kData, kEndStream, id);
  server.Feed(bytes);
  EXPECT_EQ(server.seen.size(), 4u);
}

TEST(Http2Session, DrainingAnswersWhatHasBegun) {
  Pair pair;
  std::optional<HttpReply> held;
  pair.server.handle = [&](const HttpRequest&, HttpReply reply) { held.emplace(std::move(reply)); };
  const int32_t id = pair.client.Request("GET", "/");
  pair.Run();
  pair.server.session().Drain();
  pair.server.Resume();
  EXPECT_FALSE(pair.server.ended());
  held->Send(200, "", "done");
  pair.server.Deliver();
  pair.Run();
  EXPECT_EQ(pair.client.On(id).body, "done");
  EXPECT_TRUE(pair.server.ended());
}

}  // namespace
}  // namespace cqbench
