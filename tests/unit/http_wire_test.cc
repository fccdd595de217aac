// The client side of HTTP connections, from memory: the bytes sent for a call, and the bytes that are a response.
#include "src/http/client/http_wire.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cqbench {
namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

class Http1WireTest : public testing::Test {
 protected:
  explicit Http1WireTest(const HttpCall& call = {"GET", "/x", "", ""})
      : message_(call, "host:1", {}), wire_(message_) {}

  // Sends a call and gives the wire its response in pieces of that size. Returns the statuses of the responses, or the
  // error.
  std::vector<int> Answer(std::string_view bytes, size_t piece) {
    std::string out;
    wire_.Submit(slot_, out);
    std::vector<HttpEnded> ended;
    for (; !bytes.empty() && error_.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      error_ = wire_.Feed(bytes.substr(0, piece), ended);
    }
    std::vector<int> statuses;
    for (const HttpEnded& one : ended) {
      EXPECT_EQ(one.slot, &slot_);
      statuses.push_back(one.status);
    }
    return statuses;
  }

  HttpSlot slot_;
  HttpMessage message_;
  Http1Wire wire_;
  std::string error_;
};

TEST_F(Http1WireTest, AnAnswerIsWholeHoweverItComes) {
  const std::string chunked = "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (size_t piece : {1, 2, 3, 7, 100}) {
    SCOPED_TRACE(piece);
    EXPECT_EQ(Answer(kOk, piece), std::vector<int>{200}) << error_;
    EXPECT_EQ(Answer(chunked, piece), std::vector<int>{404}) << error_;
    EXPECT_EQ(Answer("HTTP/1.1 204 None\r\n\r\n", piece), std::vector<int>{204}) << error_;
    EXPECT_EQ(Answer(std::string("HTTP/1.1 100 Continue\r\n\r\n") + std::string(kOk), piece), std::vector<int>{200});
    EXPECT_FALSE(wire_.closing());
  }
}

TEST_F(Http1WireTest, WhatIsNoAnswerIsSaid) {
  for (std::string_view bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}) {
    SCOPED_TRACE(bytes);
    wire_.Reset();
    error_.clear();
    EXPECT_TRUE(Answer(bytes, 100).empty());
    EXPECT_NE(error_.find("no HTTP/1.1"), std::string::npos) << error_;
  }
}

TEST_F(Http1WireTest, BytesAfterTheAnswerAreSaid) {
  EXPECT_EQ(Answer(std::string(kOk) + "more", 1000), std::vector<int>{200});
  EXPECT_EQ(error_, "the server sent bytes that nobody asked for");
}

TEST_F(Http1WireTest, AHeadWithoutEndIsGivenUp) {
  std::string endless = "HTTP/1.1 200 OK\r\nX: ";
  endless.append(1 << 20, 'x');
  EXPECT_TRUE(Answer(endless, 4096).empty());
  EXPECT_FALSE(error_.empty());
}

TEST_F(Http1WireTest, AServerThatClosesIsNoticed) {
  Answer("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 1000);
  EXPECT_TRUE(wire_.closing());
  wire_.Reset();
  EXPECT_FALSE(wire_.closing());
}

constexpr std::string_view kBook = R"({"title":"a \"b\" [c]: d","pages":12,"tags":["x y",-1.5e3],"read":true})";

class ExpectedBodyTest : public Http1WireTest {
 protected:
  ExpectedBodyTest() : Http1WireTest({"GET", "/x", "", std::string(kBook)}) {}

  bool Right(std::string_view body, size_t piece, bool chunked) {
    const std::string length = std::to_string(body.size());
    std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + std::string(body);
    if (chunked) {
      bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      for (char c : body) bytes += std::string("1\r\n") + c + "\r\n";
      bytes += "0\r\n\r\n";
    }
    EXPECT_EQ(Answer(bytes, piece), std::vector<int>{200}) << error_;
    return slot_.body.Right(kBook);
  }
};

TEST_F(ExpectedBodyTest, IsComparedHoweverItComes) {
  const std::string blanks = R"( { "title" : "a \"b\" [c]: d", "pages": 12 ,"tags":["x y", -1.5e3 ], "read":true } )";
  std::string other(kBook);
  other[10] = '!';
  for (bool chunked : {false, true}) {
    for (size_t piece = 1; piece < 2 * kBook.size(); ++piece) {
      SCOPED_TRACE(piece);
      EXPECT_TRUE(Right(kBook, piece, chunked));
      EXPECT_FALSE(Right(other, piece, chunked)) << "and the response after it is judged by itself:";
      EXPECT_TRUE(Right(blanks, piece, chunked));
      EXPECT_FALSE(Right(kBook.substr(0, kBook.size() - 1), piece, chunked));
      EXPECT_FALSE(Right(std::string(kBook) + "}", piece, chunked));
    }
  }
}

class HeadTest : public Http1WireTest {
 protected:
  HeadTest() : Http1WireTest({"HEAD", "/x", "", ""}) {}
};

TEST_F(HeadTest, TheAnswerHasNoBody) {
  EXPECT_EQ(Answer("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", 5), std::vector<int>{200});
  EXPECT_TRUE(error_.empty());
}

TEST(HttpMessageTest, SaysWhatItCarries) {
  const HttpMessage post({"POST", "/v1/a?b=c", "{}", ""}, "h:2", {{"x-a", "1"}});
  EXPECT_EQ(post.http1(),
            "POST /v1/a?b=c HTTP/1.1\r\nHost: h:2\r\nx-a: 1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n"
            "\r\n{}");
  ASSERT_EQ(post.fields().size(), 7u);
  EXPECT_EQ(post.fields()[3], std::pair(std::string(":path"), std::string("/v1/a?b=c")));
  const HttpMessage text({"POST", "/", "x", ""}, "h", {{"content-type", "text/plain"}});
  EXPECT_EQ(text.http1().find("application/json"), std::string::npos);
  EXPECT_EQ(HttpMessage({"GET", "/", "", ""}, "h", {}).http1(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
}

TEST(Http2WireTest, BeginsWithThePrefaceAndRefusesWhatIsNoHttp2) {
  const HttpMessage message({"GET", "/", "", ""}, "h", {});
  Http2Wire wire(message);
  HttpSlot slot;
  std::string out;
  std::vector<HttpEnded> ended;
  wire.Submit(slot, out);
  wire.Pull(out, ended);
  EXPECT_EQ(out.substr(0, 14), "PRI * HTTP/2.0");
  EXPECT_EQ(wire.Feed(kOk, ended), "") << "the library has something to say first";
  EXPECT_FALSE(wire.closing());
  wire.Pull(out, ended);
  EXPECT_TRUE(wire.closing());
  EXPECT_TRUE(ended.empty());
}

// Makes a frame of the server: length, type, flags, stream, payload.
std::string Frame(char type, char flags, char stream, std::string_view payload) {
  return std::string{0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream} + std::string(payload);
}

TEST(Http2WireTest, StreamsEndInAnyOrder) {
  const HttpMessage message({"GET", "/", "", ""}, "h", {});
  Http2Wire wire(message);
  HttpSlot slots[3];
  std::string out;
  std::vector<HttpEnded> ended;
  for (HttpSlot& slot : slots) wire.Submit(slot, out);
  wire.Pull(out, ended);
  const std::string settings = Frame(4, 0, 0, ""), ok = "\x88", not_found = "\x8d";  // :status 200, 404 (RFC 7541)
  const std::string bytes = settings + Frame(1, 5, 3, not_found) + Frame(1, 4, 1, ok) + Frame(0, 1, 1, "body") +
                            Frame(3, 0, 5, std::string_view("\0\0\0\x02", 4));
  for (char byte : bytes) ASSERT_EQ(wire.Feed({&byte, 1}, ended), "");
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].slot, &slots[1]);
  EXPECT_EQ(ended[0].status, 404);
  EXPECT_EQ(ended[1].slot, &slots[0]);
  EXPECT_EQ(ended[1].status, 200);
  EXPECT_EQ(ended[2].slot, &slots[2]);
  EXPECT_EQ(ended[2].status, 0) << "reset";
}

TEST(Http2WireTest, BodiesOfStreamsThatTakeTurnsAreCompared) {
  const HttpMessage message({"GET", "/", "", R"({"a":1})"}, "h", {});
  Http2Wire wire(message);
  HttpSlot slots[3];
  std::string out;
  std::vector<HttpEnded> ended;
  for (HttpSlot& slot : slots) wire.Submit(slot, out);
  wire.Pull(out, ended);
  const std::string ok = "\x88";
  const std::string bytes = Frame(4, 0, 0, "") + Frame(1, 4, 1, ok) + Frame(1, 4, 3, ok) + Frame(1, 4, 5, ok) +
                            Frame(0, 0, 1, R"({"a)") + Frame(0, 0, 3, R"({ "a)") + Frame(0, 0, 5, R"({"b)") +
                            Frame(0, 1, 5, R"(":1})") + Frame(0, 1, 3, R"(": 1})") + Frame(0, 1, 1, R"(":1})");
  for (char byte : bytes) ASSERT_EQ(wire.Feed({&byte, 1}, ended), "");
  EXPECT_EQ(ended.size(), 3u);
  EXPECT_TRUE(slots[0].body.Right(message.expected()));
  EXPECT_TRUE(slots[1].body.Right(message.expected()));
  EXPECT_FALSE(slots[2].body.Right(message.expected()));
  wire.Submit(slots[2], out);
  EXPECT_EQ(slots[2].body.Fault(message.expected()), "the response's body ends after 0 of 7 bytes") << "it begins anew";
}

TEST(Http2WireTest, AbandonedCallsEndNoMore) {
  const HttpMessage message({"GET", "/", "", ""}, "h", {});
  Http2Wire wire(message);
  HttpSlot slot, other;
  std::string out;
  std::vector<HttpEnded> ended;
  wire.Submit(slot, out);
  wire.Submit(other, out);
  wire.Pull(out, ended);
  EXPECT_TRUE(wire.Abandon(slot));
  wire.Pull(out, ended);
  EXPECT_EQ(wire.Feed(Frame(4, 0, 0, "") + Frame(1, 5, 1, "\x88") + Frame(1, 5, 3, "\x88"), ended), "");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].slot, &other);
}

// RFC 9113, 6.8: streams up to the last one that the server names end as usual; later ones were not processed.
class GoAwayTest : public testing::Test {
 protected:
  explicit GoAwayTest(const HttpCall& call = {"GET", "/", "", ""}) : message_(call, "h", {}) {}

  void Send(int calls) {
    for (int i = 0; i < calls; ++i) wire_.Submit(slots_[i], out_);
    wire_.Pull(out_, ended_);
  }
  static std::string GoAway(char last_stream) { return Frame(7, 0, 0, std::string{0, 0, 0, last_stream, 0, 0, 0, 0}); }
  void Feed(const std::string& bytes) { ASSERT_EQ(wire_.Feed(bytes, ended_), ""); }

  const std::string settings_ = Frame(4, 0, 0, "");
  const HttpMessage message_;
  Http2Wire wire_{message_};
  HttpSlot slots_[3];
  std::string out_;
  std::vector<HttpEnded> ended_;
};

TEST_F(GoAwayTest, CallsThatTheServerHasTakenEndAsUsual) {
  Send(3);
  Feed(settings_ + GoAway(3));
  EXPECT_TRUE(wire_.takes_no_more());
  ASSERT_EQ(ended_.size(), 1u) << "the call above the last stream";
  EXPECT_EQ(ended_[0].slot, &slots_[2]);
  EXPECT_TRUE(ended_[0].refused);
  wire_.Pull(out_, ended_);
  EXPECT_FALSE(wire_.closing());
  Feed(Frame(1, 5, 3, "\x88"));
  Feed(Frame(1, 5, 1, "\x8d"));
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended_[1].slot, &slots_[1]);
  EXPECT_EQ(ended_[1].status, 200);
  EXPECT_FALSE(ended_[1].refused);
  EXPECT_EQ(ended_[2].status, 404);
  wire_.Pull(out_, ended_);
  EXPECT_TRUE(wire_.closing()) << "nothing is left to wait for";
  wire_.Reset();
  EXPECT_FALSE(wire_.takes_no_more());
}

TEST_F(GoAwayTest, AServerMayFirstSayThatItWill) {
  Send(2);
  Feed(settings_ + Frame(7, 0, 0, std::string("\x7f\xff\xff\xff\0\0\0\0", 8)));
  EXPECT_TRUE(ended_.empty());
  EXPECT_TRUE(wire_.takes_no_more());
  Feed(GoAway(1));
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].slot, &slots_[1]);
  EXPECT_TRUE(ended_[0].refused);
}

TEST_F(GoAwayTest, WithoutCallsTheConnectionIsOver) {
  Send(0);
  Feed(settings_ + GoAway(0));
  EXPECT_TRUE(wire_.takes_no_more());
  wire_.Pull(out_, ended_);
  EXPECT_TRUE(wire_.closing());
  EXPECT_TRUE(ended_.empty());
}

// The server takes one call at a time: the other calls wait in the client when the GOAWAY comes.
TEST_F(GoAwayTest, CallsThatWereNotSentYetAreRefused) {
  Send(0);
  Feed(Frame(4, 0, 0, std::string("\0\3\0\0\0\1", 6)));
  Send(3);
  Feed(GoAway(1));
  EXPECT_TRUE(ended_.empty());
  Feed(Frame(1, 5, 1, "\x88"));
  wire_.Pull(out_, ended_);
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended_[0].status, 200);
  EXPECT_FALSE(ended_[0].refused);
  EXPECT_TRUE(ended_[1].refused);
  EXPECT_TRUE(ended_[2].refused);
  EXPECT_TRUE(wire_.closing());
}

TEST_F(GoAwayTest, AResetMayRefuse) {
  Send(1);
  Feed(settings_ + Frame(3, 0, 1, std::string_view("\0\0\0\x07", 4)));
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status, 0);
  EXPECT_TRUE(ended_[0].refused);
}

class LargeRequestTest : public GoAwayTest {
 protected:
  LargeRequestTest() : GoAwayTest({"POST", "/", std::string(70'000, 'x'), ""}) {}  // more than a stream's window
};

// The call ends when the request has been sent, after the response: nothing else follows.
TEST_F(LargeRequestTest, TheResponseMayComeBeforeTheRequestIsOut) {
  Send(1);
  Feed(settings_ + Frame(1, 5, 1, "\x88"));
  EXPECT_TRUE(ended_.empty());
  const std::string window("\0\1\0\0", 4);
  Feed(Frame(8, 0, 0, window) + Frame(8, 0, 1, window));
  wire_.Pull(out_, ended_);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status, 200);
  EXPECT_FALSE(ended_[0].refused);
}

}  // namespace
}  // namespace cqbench
