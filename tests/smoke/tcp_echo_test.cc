// The server of the raw TCP ping-pong over loopback, with sockets that speak its protocol by hand.
#include "src/observe/tcp_echo/tcp_echo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/config/messages.h"
#include "tests/smoke/tcp_echo.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

TEST_F(TcpEcho, EachRequestGetsItsResponseAndNothingElseComes) {
  Socket client = ConnectWith(HelloOf(100, 5000));
  EXPECT_FALSE(client.Readable(20)) << "nothing answers the hello";
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.SendBytes(99));
    EXPECT_FALSE(client.Readable(5)) << "a request that is not complete";
    ExpectEcho(client, 1, 5000);
  }
  EXPECT_FALSE(client.Readable(20));
}

TEST_F(TcpEcho, RequestsThatComeTogetherAreAllAnswered) {
  Socket client = ConnectWith(HelloOf(3, 7));
  ExpectEcho(client, 3 * 50, 7 * 50);
  EXPECT_FALSE(client.Readable(20));
}

TEST_F(TcpEcho, HelloMayComeByteByByte) {
  Socket client = Connect();
  const Words hello = HelloOf(2, 3);
  for (size_t i = 0; i < sizeof(hello); ++i) {
    ASSERT_TRUE(client.SendAll(reinterpret_cast<const char*>(hello.data()) + i, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ExpectEcho(client, 2, 3);
}

TEST_F(TcpEcho, HelloAndFirstRequestMayComeTogether) {
  Socket client = Connect();
  const Words hello = HelloOf(4, 6);
  std::string bytes(reinterpret_cast<const char*>(hello.data()), sizeof(hello));
  bytes += "four";
  ASSERT_TRUE(client.SendAll(bytes.data(), bytes.size()));
  EXPECT_TRUE(client.ReceiveBytes(6));
}

TEST_F(TcpEcho, LargestMessagesFit) {
  Socket client = ConnectWith(HelloOf(kMaxPayloadBytes, kMaxPayloadBytes));
  ExpectEcho(client, kMaxPayloadBytes, kMaxPayloadBytes);
}

TEST_F(TcpEcho, WrongHellosAreClosedAndHarmNobody) {
  Socket good = ConnectWith(HelloOf(1, 1));
  ExpectEcho(good, 1, 1);
  const std::vector<Words> wrong = {
      HelloOf(1, 1, 0, kMagic + 1),
      HelloOf(1, 1, 0, htonl(kMagic)),
      HelloOf(0, 1),
      HelloOf(1, 0),
      HelloOf(kMaxPayloadBytes + 1, 1),
      HelloOf(1, kMaxPayloadBytes + 1),
      HelloOf(UINT32_MAX, 1),
      HelloOf(1, UINT32_MAX, 1),
  };
  for (size_t i = 0; i < wrong.size(); ++i) {
    Socket client = ConnectWith(wrong[i]);
    EXPECT_TRUE(client.IsClosedByPeer()) << i;
    ExpectEcho(good, 1, 1);
  }
}

TEST_F(TcpEcho, ClientsThatStandStillHarmNobody) {
  const Socket silent = Connect();
  Socket half_hello = Connect();
  ASSERT_TRUE(half_hello.SendAll("cqbe", 4));
  Socket takes_nothing = ConnectWith(HelloOf(1, kMaxPayloadBytes));
  ASSERT_TRUE(takes_nothing.SendBytes(100));
  { const Socket gone_at_once = Connect(); }
  {
    Socket gone_in_a_response = ConnectWith(HelloOf(1, kMaxPayloadBytes));
    ASSERT_TRUE(gone_in_a_response.SendBytes(1));
    ASSERT_TRUE(gone_in_a_response.ReceiveBytes(1));
  }
  Socket good = ConnectWith(HelloOf(10, 10));
  for (int i = 0; i < 100; ++i) ExpectEcho(good, 10, 10);
}

TEST_F(TcpEcho, ClosesConnectionsAboveTheLimitAndTakesNewOnesLater) {
  std::vector<Socket> clients;
  for (int i = 0; i < TcpEchoServer::kMaxConnections; ++i) clients.push_back(ConnectWith(HelloOf(1, 2)));
  for (Socket& client : clients) ExpectEcho(client, 1, 2);
  EXPECT_TRUE(Connect().IsClosedByPeer());
  for (Socket& client : clients) ExpectEcho(client, 1, 2);

  clients.pop_back();
  // The server notices the end of a connection after an unknown time.
  bool served = false;
  for (const Nanos patience = NowNs() + kPatienceMs * kNanosPerMilli; !served && NowNs() < patience;) {
    Socket client = Connect();
    const Words hello = HelloOf(1, 2);
    served = client.SendAll(hello.data(), sizeof(hello)) && client.SendBytes(1) && client.ReceiveBytes(2);
  }
  EXPECT_TRUE(served);
}

// Returns the CPU time of the process while this thread sleeps. Returns early once the time is that of a spinning
// thread.
Nanos CpuUsed(Nanos at_most_for) {
  const Nanos before = CpuTimeOf(CLOCK_PROCESS_CPUTIME_ID);
  const Nanos end = NowNs() + at_most_for;
  Nanos used = 0;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    used = CpuTimeOf(CLOCK_PROCESS_CPUTIME_ID) - before;
  } while (used < kSpinningCpu && NowNs() < end);
  return used;
}

TEST_F(TcpEcho, ServerSpinsOnlyWhileAConnectionAsksForIt) {
  Socket blocks = ConnectWith(HelloOf(1, 1));
  ExpectEcho(blocks, 1, 1);
  EXPECT_LT(CpuUsed(100 * kNanosPerMilli), kSpinningCpu);
  {
    Socket spins = ConnectWith(HelloOf(1, 1, 1));
    ExpectEcho(spins, 1, 1);
    EXPECT_GE(CpuUsed(kSpinningWithin), kSpinningCpu);
    ExpectEcho(blocks, 1, 1);
  }
  ExpectEcho(blocks, 1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the server must notice the end
  EXPECT_LT(CpuUsed(100 * kNanosPerMilli), kSpinningCpu);
}

// Server and test share the descriptors of one process.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &usual_);
    const int next = dup(STDERR_FILENO);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), usual_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &usual_); }

 private:
  rlimit usual_{};
};

TEST_F(TcpEcho, ServerWithoutDescriptorsRestsAndTakesThoseWhoWaitLater) {
  Socket there_before = ConnectWith(HelloOf(1, 1));
  ExpectEcho(there_before, 1, 1);
  Socket waits(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const NoDescriptors none;
    const Endpoint to = endpoint();
    ASSERT_EQ(connect(waits.fd(), reinterpret_cast<const sockaddr*>(&to.address), to.length), 0);
    EXPECT_LT(CpuUsed(500 * kNanosPerMilli), kSpinningCpu);
    ExpectEcho(there_before, 1, 1);
  }
  const Words hello = HelloOf(1, 1);
  ASSERT_TRUE(waits.SendAll(hello.data(), sizeof(hello)));
  ExpectEcho(waits, 1, 1);
}

TEST(TcpEchoServerStart, TakenPortIsUnavailableAndNamesTheAddress) {
  const auto first = TcpEchoServer::Start(Target{"127.0.0.1", 0, ""});
  ASSERT_TRUE(first.ok()) << first.status();
  const Target taken{"127.0.0.1", (*first)->port(), ""};
  const auto second = TcpEchoServer::Start(taken);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(), absl::StrCat("cannot listen on ", taken.ToString(), ": Address already in use"));
}

TEST(TcpEchoServerStart, NameOfWhichOneAddressIsTakenIsUnavailable) {
  const auto first = TcpEchoServer::Start(Target{"127.0.0.1", 0, ""});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = TcpEchoServer::Start(Target{"localhost", (*first)->port(), ""});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

TEST(TcpEchoServerStart, PortIsFreeAgainAtOnce) {
  auto first = TcpEchoServer::Start(Target{"127.0.0.1", 0, ""});
  ASSERT_TRUE(first.ok()) << first.status();
  const int port = (*first)->port();
  Socket client = ConnectTo(EndpointOf("127.0.0.1", port));
  const Words hello = HelloOf(1, 1);
  ASSERT_TRUE(client.SendAll(hello.data(), sizeof(hello)) && client.SendBytes(1) && client.ReceiveBytes(1));
  first->reset();
  EXPECT_TRUE(client.IsClosedByPeer());
  EXPECT_TRUE(TcpEchoServer::Start(Target{"127.0.0.1", port, ""}).ok());
}

TEST(TcpEchoServerStart, LocalhostIsEveryAddressThatItHas) {
  const auto server = TcpEchoServer::Start(Target{"localhost", 0, ""});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
  int reached = 0;
  const auto endpoints = ResolveTargets({Target{"localhost", (*server)->port(), ""}});
  ASSERT_TRUE(endpoints.ok());
  for (const Endpoint& endpoint : *endpoints) {
    const Socket probe(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Endpoint any_port = endpoint;
    // The port has the same offset in both address families.
    reinterpret_cast<sockaddr_in&>(any_port.address).sin_port = 0;
    const auto* raw = reinterpret_cast<const sockaddr*>(&any_port.address);
    if (probe.fd() < 0 || bind(probe.fd(), raw, any_port.length) != 0) continue;  // this machine has no IPv6
    Socket client = ConnectTo(endpoint);
    const Words hello = HelloOf(1, 1);
    EXPECT_TRUE(client.SendAll(hello.data(), sizeof(hello)) && client.SendBytes(1) && client.ReceiveBytes(1));
    ++reached;
  }
  EXPECT_GE(reached, 1);
}

TEST(TcpEchoServerStart, OtherErrorsAreOneLine) {
  const auto unknown = TcpEchoServer::Start(Target{"no-such-host.invalid", 0, ""});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("'no-such-host.invalid' cannot be resolved"));
  // 192.0.2.0/24 is reserved for documentation: no machine has an address of it.
  const auto foreign = TcpEchoServer::Start(Target{"192.0.2.1", 4711, ""});
  EXPECT_EQ(foreign.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(foreign.status().message()), HasSubstr("cannot listen on 192.0.2.1:4711: "));
  EXPECT_EQ(TcpEchoServer::Start(Target{"", 0, "/tmp/x"}).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace cqbench
