// HTTP/1 from memory: what a request is, what the server refuses, the order of responses, and late responses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/http_hostile.h"
#include "tests/unit/http_memory.h"

namespace cqbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kGet = "GET /a?b=%20c HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nAccept: */*\r\n\r\n";
constexpr const char* kPost = "POST /p HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello";
constexpr const char* kChunked =
    "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "5;ext=\"a;b\"\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: content-length\r\nContent-Type: late/trailer\r\n\r\n";

HttpOptions SmallLimits() {
  HttpOptions options;
  options.max_header_bytes = 512;
  options.max_body_bytes = 1000;
  return options;
}

int Status(const std::string& answer) {
  return answer.size() > 12 ? std::atoi(answer.substr(9, 3).c_str()) : 0;
}

TEST(Http1Session, ARequestIsWhatWasSent) {
  MemoryConnection connection;
  connection.Feed(absl::StrCat(kGet, kPost, kChunked));
  ASSERT_EQ(connection.seen.size(), 3u);
  EXPECT_EQ(connection.seen[0].method, "GET");
  EXPECT_EQ(connection.seen[0].target, "/a?b=%20c");
  EXPECT_EQ(connection.seen[0].accept, "text/html");
  EXPECT_EQ(connection.seen[0].body, "");
  EXPECT_EQ(connection.seen[1].content_type, "a/b");
  EXPECT_EQ(connection.seen[1].body, "hello");
  EXPECT_EQ(connection.seen[2].content_type, "") << "a trailer is no header";
  EXPECT_EQ(connection.seen[2].body, "hello!");
  EXPECT_FALSE(connection.ended());
}

// Proxies send the target in this form (RFC 9112, 3.2.2).
TEST(Http1Session, ATargetInAbsoluteFormIsItsPath) {
  for (const auto& [target, path] : {std::pair("http://x/a/b?c=d", "/a/b?c=d"),
                                     {"HTTP://user@[::1]:80/a", "/a"},
                                     {"http://x", "/"},
                                     {"http://x/", "/"},
                                     {"http://x?a=/b", "/?a=/b"},
                                     {"http://x//a", "//a"},
                                     {"/http://x/a", "/http://x/a"},
                                     {"*", "*"},
                                     {"http:/x", "http:/x"}}) {
    MemoryConnection connection;
    const std::string length = "Content-Length: 5\r\n\r\n";
    const std::string head = absl::StrCat("POST ", target, " HTTP/1.1\r\nHost: other\r\n", length);
    connection.Feed(head + "hello");
    connection.Feed(head);  // the body comes separately
    connection.Feed("hello");
    ASSERT_EQ(connection.seen.size(), 2u) << target;
    EXPECT_EQ(connection.seen[0].target, path);
    EXPECT_EQ(connection.seen[1].target, path);
  }
}

TEST(Http1Session, ACompressedBodyIsSaidToBe) {
  MemoryConnection connection;
  connection.Feed(Head("Content-Encoding: gzip\r\nContent-Encoding: br\r\nContent-Length: 5\r\n") + "hello");
  ASSERT_EQ(connection.seen.size(), 1u);
  EXPECT_EQ(connection.seen[0].content_encoding, "gzip");
  EXPECT_EQ(connection.seen[0].body, "hello");
}

TEST(Http1Session, WhatTheServerSaysByItselfIsAsItsUserWantsIt) {
  MemoryConnection plain(SmallLimits());
  plain.Feed("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(plain.Take(), AllOf(HasSubstr("Content-Type: text/plain\r\n"), EndsWith("\r\n\r\nBad Request\n")));

  HttpOptions options = SmallLimits();
  options.own_response = InBrackets;
  MemoryConnection refused(options);
  refused.Feed(Head("Content-Length: 1001\r\n"));
  EXPECT_THAT(refused.Take(), AllOf(HasSubstr("Content-Type: a/b\r\n"), EndsWith("\r\n\r\n[413 Content Too Large]")));
  MemoryConnection dropped(options);
  dropped.handle = [](const HttpRequest&, HttpReply) {};
  dropped.Feed(kGet);
  EXPECT_THAT(dropped.Take(), EndsWith("\r\n\r\n[500 Internal Server Error]"));
}

TEST(Http1Session, RefusedHeadsHaveNoBody) {
  for (const std::string& bytes :
       {"HEAD /" + std::string(600, 'a'), std::string("HEAD / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n"),
        "HEAD / HTTP/1.1\r\nHost: x\r\nX: " + std::string(600, 'a')}) {
    MemoryConnection connection(SmallLimits());
    connection.Feed(bytes);
    EXPECT_THAT(connection.Take(), AllOf(HasSubstr("Content-Length: "), EndsWith("\r\n\r\n"))) << bytes;
  }
}

TEST(Http1Session, HowTheBytesAreCutMakesNoDifference) {
  const std::string all = absl::StrCat(kGet, kChunked, kPost, "\r\n", kGet);
  MemoryConnection whole;
  whole.Feed(all);
  const std::string expected = whole.Take();
  ASSERT_EQ(whole.seen.size(), 4u);
  for (size_t piece = 1; piece < 40; ++piece) {
    MemoryConnection connection;
    connection.loop().date = whole.loop().date;
    for (size_t at = 0; at < all.size(); at += piece) connection.Feed(std::string_view(all).substr(at, piece));
    EXPECT_EQ(connection.Take(), expected) << piece;
    ASSERT_EQ(connection.seen.size(), 4u);
    EXPECT_EQ(connection.seen[1].body, "hello!");
    EXPECT_EQ(connection.seen[2].body, "hello");
  }
}

TEST(Http1Session, AnswersOfOneReadGoOutTogether) {
  MemoryConnection connection;
  connection.Feed(absl::StrCat(kPost, kPost));
  const std::string answer = connection.Take();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
  EXPECT_THAT(answer, HasSubstr("GMT\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK"));
}

TEST(Http1Session, WhatIsNoRequestIsRefusedAndEndsTheConnection) {
  for (const Refused& refused : Hostile()) {
    SCOPED_TRACE(refused.what);
    for (const bool byte_by_byte : {false, true}) {
      MemoryConnection connection(SmallLimits());
      connection.Feed(kGet);
      ASSERT_EQ(Status(connection.Take()), 200);
      if (byte_by_byte) {
        for (const char byte : refused.bytes) connection.Feed({&byte, 1});
      } else {
        connection.Feed(refused.bytes);
      }
      const std::string answer = connection.Take();
      EXPECT_EQ(Status(answer), refused.status) << answer;
      EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
      EXPECT_TRUE(connection.ended());
      connection.Feed(kGet);
      EXPECT_EQ(connection.Take(), "");
      EXPECT_EQ(connection.seen.size(), 1u) << "what follows is nobody's request";
    }
  }
}

TEST(Http1Session, LimitsAreTakenToTheByte) {
  MemoryConnection connection(SmallLimits());
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  connection.Feed(head + std::string(512 - head.size() - 4, 'a') + "\r\n\r\n");
  EXPECT_EQ(Status(connection.Take()), 200);
  connection.Feed(Head("Content-Length: 1000\r\n") + std::string(1000, 'x'));
  EXPECT_EQ(Status(connection.Take()), 200);
  connection.Feed(Head("Transfer-Encoding: chunked\r\n") + "3e8\r\n" + std::string(1000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(Status(connection.Take()), 200);
  EXPECT_EQ(connection.seen.back().body.size(), 1000u);
}

TEST(Http1Session, ContinueIsSaidOnceAndOnlyWhereTheBodyIsAwaited) {
  MemoryConnection connection;
  const std::string head = Head("Expect: 100-Continue\r\nContent-Length: 5\r\n");
  connection.Feed(head);
  EXPECT_EQ(connection.Take(), "HTTP/1.1 100 Continue\r\n\r\n");
  connection.Feed("he");
  EXPECT_EQ(connection.Take(), "");
  connection.Feed("llo" + head + "hello");
  const std::string answers = connection.Take();
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answers, Not(HasSubstr("100 Continue")));
  EXPECT_EQ(connection.seen.size(), 2u);
}

TEST(Http1Session, TheConnectionStaysAsLongAsBothWant) {
  struct Case {
    std::string head;
    bool stays;
    const char* said;
  };
  for (const Case& c : {Case{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", true, "Content-Length"},
                        Case{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false, "Connection: close"},
                        Case{"GET / HTTP/1.0\r\n\r\n", false, "Connection: close"},
                        Case{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true, "Connection: keep-alive"}}) {
    MemoryConnection connection;
    connection.Feed(c.head);
    EXPECT_THAT(connection.Take(), HasSubstr(c.said)) << c.head;
    EXPECT_EQ(connection.ended(), !c.stays) << c.head;
  }
}

TEST(Http1Session, HeadAnswersHaveNoBody) {
  MemoryConnection connection;
  connection.handle = [](const HttpRequest&, HttpReply reply) { reply.Send(200, "", "four"); };
  connection.Feed("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(connection.Take(), EndsWith("Content-Length: 4\r\n\r\n"));
  connection.handle = [](const HttpRequest&, HttpReply reply) { reply.Send(204, "", ""); };
  connection.Feed(kGet);
  EXPECT_THAT(connection.Take(), AllOf(EndsWith("GMT\r\n\r\n"), Not(HasSubstr("Content-Length"))));
  EXPECT_FALSE(connection.ended());
}

TEST(Http1Session, LateAnswersKeepTheOrderAndTheRequestsBytes) {
  MemoryConnection connection;
  std::optional<HttpReply> held;
  std::string_view body;
  connection.handle = [&](const HttpRequest& request, HttpReply reply) {
    held.emplace(std::move(reply));
    body = request.body;
  };
  connection.Feed(absl::StrCat(kGet, kPost, kGet));
  EXPECT_EQ(connection.seen.size(), 1u) << "the next one waits for the response";
  std::thread([&] { held->Send(200, "text/plain", "one"); }).join();
  EXPECT_EQ(connection.Take(), "");
  connection.Deliver();
  EXPECT_THAT(connection.Take(), EndsWith("one"));
  ASSERT_EQ(connection.seen.size(), 2u);
  EXPECT_EQ(body, "hello");
  std::thread([&] { held->Send(201, "text/plain", body); }).join();
  connection.Deliver();
  EXPECT_THAT(connection.Take(), AllOf(StartsWith("HTTP/1.1 201 Created"), EndsWith("hello")));
  EXPECT_EQ(connection.seen.size(), 3u);
  held.reset();
  connection.Deliver();
  EXPECT_THAT(connection.Take(), StartsWith("HTTP/1.1 500 ")) << "a reply that was dropped";
}

TEST(Http1Session, RepliesMayOutliveTheirConnectionAndTheServer) {
  for (const bool server_too : {false, true}) {
    std::optional<HttpReply> held;
    std::optional<HttpStream> stream;
    MemoryConnection connection;
    connection.handle = [&](const HttpRequest&, HttpReply reply) { held.emplace(std::move(reply)); };
    MemoryConnection streaming;
    streaming.handle = [&](const HttpRequest&, HttpReply reply) { stream.emplace(reply.Begin(200, "")); };
    connection.Feed(kGet);
    streaming.Feed(kGet);
    streaming.Deliver();
    for (MemoryConnection* each : {&connection, &streaming}) server_too ? each->CloseMailbox() : each->Disconnect();
    held->Send(200, "", "to nobody");
    EXPECT_EQ(stream->Write("to nobody"), HttpStream::Result::kGone);
    stream->End();
    connection.Deliver();
    streaming.Deliver();
    EXPECT_EQ(connection.Take(), "");
  }
}

TEST(Http1Session, StreamsAreChunksWithABound) {
  HttpOptions options;
  options.stream_buffer_bytes = 10;
  MemoryConnection connection(options);
  std::optional<HttpStream> stream;
  int room = 0;
  connection.handle = [&](const HttpRequest&, HttpReply reply) {
    stream.emplace(reply.Begin(200, "text/plain", [&room] { ++room; }));
  };
  connection.Feed(absl::StrCat(kGet, kGet));
  EXPECT_EQ(stream->Write("12345"), HttpStream::Result::kTaken);
  EXPECT_EQ(stream->Write("67890"), HttpStream::Result::kTaken);
  EXPECT_EQ(stream->Write("x"), HttpStream::Result::kFull);
  EXPECT_EQ(room, 0);
  connection.Deliver();
  EXPECT_EQ(room, 1);
  EXPECT_THAT(connection.Take(), EndsWith("Transfer-Encoding: chunked\r\n\r\na\r\n1234567890\r\n"));
  EXPECT_EQ(stream->Write("x"), HttpStream::Result::kTaken);
  std::optional<HttpStream> first = std::move(stream);
  first->End();
  connection.Deliver();
  EXPECT_THAT(connection.Take(), StartsWith("1\r\nx\r\n0\r\n\r\n")) << "and then the next request's head";
  EXPECT_EQ(connection.seen.size(), 2u);
  stream->Write("y");
  stream->Break();
  connection.Deliver();
  EXPECT_THAT(connection.Take(), EndsWith("1\r\ny\r\n")) << "no last chunk";
  EXPECT_TRUE(connection.broken());
}

TEST(Http1Session, OlderClientsGetStreamsUntilTheEnd) {
  MemoryConnection connection;
  connection.handle = [](const HttpRequest&, HttpReply reply) {
    HttpStream stream = reply.Begin(200, "");
    stream.Write("abc");
    stream.End();
  };
  connection.Feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  connection.Deliver();
  EXPECT_THAT(connection.Take(), EndsWith("Connection: close\r\n\r\nabc"));
  EXPECT_TRUE(connection.ended());
}

TEST(Http1Session, AStreamForHeadIsItsHead) {
  MemoryConnection connection;
  std::optional<HttpStream> stream;
  connection.handle = [&](const HttpRequest&, HttpReply reply) { stream.emplace(reply.Begin(200, "")); };
  connection.Feed("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  connection.Deliver();
  EXPECT_THAT(connection.Take(), EndsWith("chunked\r\n\r\n"));
  EXPECT_EQ(stream->Write("abc"), HttpStream::Result::kGone);
  stream->End();
  connection.Deliver();
  connection.handle = nullptr;
  connection.Feed(kGet);
  EXPECT_EQ(Status(connection.Take()), 200) << "the connection goes on";
}

TEST(Http1Session, SlowRequestsAndIdleConnectionsEnd) {
  const HttpOptions options;
  MemoryConnection slow;
  slow.Feed("GET / HT");
  slow.Pass(options.request_ns - 1);
  EXPECT_EQ(slow.Take(), "");
  slow.Feed("T");
  slow.Pass(1);
  EXPECT_THAT(slow.Take(), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(slow.ended());

  MemoryConnection slow_body;
  slow_body.Feed(Head("Content-Length: 5\r\n") + "hell");
  slow_body.Pass(options.request_ns);
  EXPECT_EQ(Status(slow_body.Take()), 408);

  MemoryConnection idle;
  idle.Feed(kGet);
  idle.Pass(options.idle_ns - 1);
  EXPECT_EQ(Status(idle.Take()), 200);
  EXPECT_FALSE(idle.ended());
  idle.Pass(1);
  EXPECT_EQ(idle.Take(), "");
  EXPECT_TRUE(idle.ended());
}

TEST(Http1Session, AClientThatDoesNotReadIsNotServedOn) {
  MemoryConnection connection;
  connection.handle = [](const HttpRequest&, HttpReply reply) { reply.Send(200, "", std::string(30'000, 'x')); };
  connection.stuck = true;
  for (int i = 0; i < 100; ++i) connection.Feed(kGet);
  std::string input;
  for (int i = 0; i < 100; ++i) input += kGet;
  connection.session().Receive(input);
  EXPECT_LT(connection.session().output().size(), kOutputBytes + 31'000);
  EXPECT_LT(connection.seen.size(), 5u);
  EXPECT_FALSE(connection.session().WantsBytes());
}

TEST(Http1Session, DrainingEndsBehindTheRequestThatIsHandled) {
  MemoryConnection idle;
  idle.Feed(kGet);
  idle.session().Drain();
  EXPECT_TRUE(idle.ended());

  MemoryConnection busy;
  std::optional<HttpReply> held;
  busy.handle = [&](const HttpRequest&, HttpReply reply) { held.emplace(std::move(reply)); };
  busy.Feed(absl::StrCat(kGet, kGet));
  busy.session().Drain();
  EXPECT_FALSE(busy.ended());
  held->Send(200, "", "");
  busy.Deliver();
  EXPECT_THAT(busy.Take(), HasSubstr("Connection: close"));
  EXPECT_TRUE(busy.ended());
  EXPECT_EQ(busy.seen.size(), 1u);
}

}  // namespace
}  // namespace cqbench
