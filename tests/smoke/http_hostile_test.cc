// Malicious or slow clients over real sockets: each gets an error or the end of its connection, memory stays bounded,
// and the server lives on.
#include "tests/unit/http_hostile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/smoke/http_front_end.h"

namespace cqbench::smoke {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The limit for memory beyond that of a server in normal use.
constexpr size_t kBounded = kSanitized ? 256u << 20 : 24u << 20;

TEST(HttpHostile, Http1) {
  HttpFrontEnd front_end({"--max-body-bytes", "1000", "--max-header-bytes", "512"});
  for (const Refused& refused : Hostile()) {
    SCOPED_TRACE(refused.what);
    HttpSocket socket(front_end.port());
    socket.Send(refused.bytes);
    bool ended = false;
    EXPECT_THAT(socket.ReadAll(&ended), StartsWith("HTTP/1.1 " + std::to_string(refused.status)));
    EXPECT_TRUE(ended);
    ASSERT_TRUE(Serves(front_end));
  }
}

TEST(HttpHostile, Http2) {
  HttpFrontEnd front_end({"--max-header-bytes", "512", "--max-streams", "10"});
  for (const Attack& attack : Attacks()) {
    SCOPED_TRACE(attack.what);
    HttpSocket socket(front_end.port());
    socket.Send(attack.bytes);
    if (attack.ends) {
      bool ended = false;
      socket.ReadAll(&ended);
      EXPECT_TRUE(ended);
    }
    ASSERT_TRUE(Serves(front_end));
  }
}

TEST(HttpHostile, ARequestCutOffAnywhereCostsNothing) {
  HttpFrontEnd front_end;
  const std::string all = Head("Content-Length: 5\r\n") + "hello";
  for (size_t cut = 0; cut < all.size(); ++cut) {
    HttpSocket socket(front_end.port());
    ASSERT_TRUE(socket.Send(all.substr(0, cut)));
    socket.EndSending();
    bool ended = false;
    EXPECT_EQ(socket.ReadAll(&ended), "");
    EXPECT_TRUE(ended);
  }
  EXPECT_TRUE(Serves(front_end));
}

TEST(HttpHostile, WhoeverHasSentAllMayStillListen) {
  HttpFrontEnd front_end;
  HttpSocket socket(front_end.port());
  ASSERT_TRUE(socket.Send("GET /later?50 HTTP/1.1\r\nHost: x\r\n\r\n"));
  socket.EndSending();
  bool ended = false;
  EXPECT_THAT(socket.ReadAll(&ended), HasSubstr("later:"));
  EXPECT_TRUE(ended);
}

TEST(HttpHostile, SlowClientsAreEnded) {
  HttpFrontEnd front_end({"--request-ms", "200", "--idle-ms", "300"});
  HttpSocket slow(front_end.port());
  ASSERT_TRUE(slow.Send("GET / HTTP/1.1\r\nHo"));
  HttpSocket silent(front_end.port());
  HttpSocket nearly(front_end.port());
  ASSERT_TRUE(nearly.Send("PRI * HTTP/2.0\r\n"));
  HttpSocket idle2(front_end.port());
  ASSERT_TRUE(idle2.Send(Start()));
  bool ended = false;
  EXPECT_THAT(slow.ReadAll(&ended), StartsWith("HTTP/1.1 408 "));
  for (HttpSocket* socket : {&silent, &nearly, &idle2}) {
    socket->ReadAll(&ended);
    EXPECT_TRUE(ended);
  }
  EXPECT_THAT(front_end.Stop(), HasSubstr("timed_out=4"));
}

// Requests a response without an end; over HTTP/2 with windows that limit nothing.
std::string Endless(bool http2) {
  if (!http2) return "GET /lines?1000000000 HTTP/1.1\r\nHost: x\r\n\r\n";
  return Start() + Frame(kWindow, 0, 0, Number(0x7ffe0000)) +
         Frame(kSettings, 0, 0, std::string("\0\x04\x7f\xff\xff\xff", 6)) +
         Frame(kHeaders, kEndHeaders | kEndStream, 1, RequestFields("GET", "/lines?1000000000"));
}

// Requests of clients that do not read the responses, for each protocol.
std::vector<std::string> Greedy() {
  std::string pipelined;
  for (int i = 0; i < 10'000; ++i) pipelined += "GET /bytes?100000 HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string streams = Start() + Frame(kWindow, 0, 0, Number(0x7ffe0000));
  std::string pings = Start();
  for (uint32_t id = 1; id < 2000; id += 2) {
    streams += Frame(kHeaders, kEndHeaders | kEndStream, id, RequestFields("GET", "/bytes?100000"));
  }
  for (int i = 0; i < 200'000; ++i) pings += Frame(kPing, 0, 0, "12345678");
  return {pipelined, streams, pings, Endless(false), Endless(true)};
}

TEST(HttpHostile, ReadersThatStandStillAreBoundedAndEnded) {
  HttpFrontEnd front_end({"--write-ms", "1500"});
  ASSERT_TRUE(Serves(front_end));
  const size_t before = front_end.Resident();
  std::vector<HttpSocket> sockets;
  for (const std::string& asked : Greedy()) {
    sockets.emplace_back(front_end.port(), 4096);
    sockets.back().Send(asked, Seconds(0.2));
  }
  size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    most = std::max(most, front_end.Resident());
    ASSERT_TRUE(Serves(front_end)) << "others are served meanwhile";
  }
  EXPECT_LT(most, before + kBounded);
  // The test does not read until the server has given up all connections.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  for (HttpSocket& socket : sockets) {
    bool ended = false;
    socket.ReadAll(&ended);
    EXPECT_TRUE(ended);
  }
  EXPECT_TRUE(Serves(front_end));
}

TEST(HttpHostile, AReaderThatIsFastDoesNotKeepOthersWaiting) {
  for (const bool http2 : {false, true}) {
    HttpFrontEnd front_end;
    HttpSocket greedy(front_end.port());
    ASSERT_TRUE(greedy.Send(Endless(http2)));
    std::atomic<bool> enough = false;
    std::thread reader([&] { greedy.ReadWhile([&enough] { return !enough; }); });
    for (int i = 0; i < 20; ++i) {
      HttpSocket other(front_end.port());
      other.Send(kGetConstant);
      EXPECT_TRUE(other.Readable(Seconds(10))) << "no response while somebody else reads an endless one";
    }
    enough = true;
    reader.join();
  }
}

TEST(HttpHostile, ConnectionsAboveTheLimitAreClosed) {
  HttpFrontEnd front_end({"--max-connections", "2"});
  std::optional<HttpSocket> first(front_end.port());
  HttpSocket second(front_end.port());
  for (HttpSocket* socket : {&*first, &second}) {
    ASSERT_TRUE(socket->Send(kGetConstant));
    EXPECT_THAT(socket->ReadUntil("true}"), HasSubstr(" 200 "));
  }
  HttpSocket third(front_end.port());
  bool ended = false;
  EXPECT_EQ(third.ReadAll(&ended), "");
  EXPECT_TRUE(ended);
  first.reset();
  // A new connection is possible once the server has noticed the end of another.
  bool serves = false;
  for (int i = 0; i < 200 && !serves; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    serves = Serves(front_end);
  }
  EXPECT_TRUE(serves);
}

}  // namespace
}  // namespace cqbench::smoke
