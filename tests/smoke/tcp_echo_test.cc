// The plain TCP ping-pong over loopback: the server against sockets that speak its protocol by hand, the client against
// a server that does, and both together.
#include "cqbench/tcp_echo.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cqbench/allocations.h"
#include "cqbench/clock.h"

namespace cqbench {
namespace {

Measurement Of(const Recorder& recorder) {
  Measurement measurement;
  recorder.MergeInto(measurement);
  return measurement;
}

using testing::HasSubstr;

// A bound for hangs.
constexpr int kPatienceMs = 20'000;
// Long enough for a thread that spins on a busy machine to get kSpinningCpu, too short for one that wakes every 10 ms.
constexpr Nanos kSpinningWithin = 4 * kNanosPerSecond;
constexpr Nanos kSpinningCpu = 50 * kNanosPerMilli;
constexpr uint32_t kMagic = 0x63716265;

// A blocking socket. Pieces of a message go out as they are sent.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  bool SendAll(const void* data, size_t bytes) {
    const char* next = static_cast<const char*>(data);
    for (ssize_t sent = 0; bytes > 0; next += sent, bytes -= static_cast<size_t>(sent)) {
      sent = send(fd_, next, bytes, MSG_NOSIGNAL);
      if (sent <= 0) return false;
    }
    return true;
  }
  bool SendBytes(size_t bytes) { return SendAll(std::string(bytes, 'x').data(), bytes); }

  // False when the other side ends before, or takes too long.
  bool ReceiveBytes(size_t bytes) {
    std::vector<char> buffer(64 << 10);
    while (bytes > 0) {
      if (!Readable(kPatienceMs)) return false;
      const ssize_t got = recv(fd_, buffer.data(), std::min(bytes, buffer.size()), 0);
      if (got <= 0) return false;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  bool Readable(int timeout_ms) const {
    pollfd waiting{fd_, POLLIN, 0};
    return poll(&waiting, 1, timeout_ms) == 1;
  }
  // Waits for the other side to end the connection without another byte.
  bool IsClosedByPeer() {
    char byte = 0;
    return Readable(kPatienceMs) && recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  int fd_;
};

using Words = std::array<uint32_t, 4>;

Words HelloOf(uint32_t request_bytes, uint32_t response_bytes, uint32_t flags = 0, uint32_t magic = kMagic) {
  return {htonl(magic), htonl(request_bytes), htonl(response_bytes), htonl(flags)};
}

Endpoint EndpointOf(const std::string& host, int port) {
  return ResolveTargets({Target{host, port, ""}})->front();
}

Socket ConnectTo(const Endpoint& endpoint) {
  Socket client(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(client.fd(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length), 0)
      << std::strerror(errno);
  return client;
}

RunWindow& Forever() {
  static RunWindow window;
  window.Set(0, INT64_MAX);
  return window;
}

bool Never() {
  return false;
}

class TcpEcho : public testing::Test {
 protected:
  static std::unique_ptr<TcpEchoServer> StartServer() {
    auto server = TcpEchoServer::Start(Target{"127.0.0.1", 0, ""});
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  Endpoint endpoint() const { return EndpointOf("127.0.0.1", server_->port()); }
  Socket Connect() const { return ConnectTo(endpoint()); }
  Socket ConnectWith(const Words& hello) const {
    Socket client = Connect();
    EXPECT_TRUE(client.SendAll(hello.data(), sizeof(hello)));
    return client;
  }
  static void ExpectEcho(Socket& client, size_t request_bytes, size_t response_bytes) {
    ASSERT_TRUE(client.SendBytes(request_bytes));
    ASSERT_TRUE(client.ReceiveBytes(response_bytes));
  }

  std::unique_ptr<TcpEchoServer> server_ = StartServer();
};

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
  // The server learns of the end at some time.
  bool served = false;
  for (const Nanos patience = NowNs() + kPatienceMs * kNanosPerMilli; !served && NowNs() < patience;) {
    Socket client = Connect();
    const Words hello = HelloOf(1, 2);
    served = client.SendAll(hello.data(), sizeof(hello)) && client.SendBytes(1) && client.ReceiveBytes(2);
  }
  EXPECT_TRUE(served);
}

Nanos CpuTimeOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

// CPU that the process uses while this thread sleeps, at the longest until it is that of one that spins.
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
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for the server to learn of the end
  EXPECT_LT(CpuUsed(100 * kNanosPerMilli), kSpinningCpu);
}

// --- Both together.

struct Sizes {
  uint32_t request_bytes;
  uint32_t response_bytes;
  PollMode poll;
};

class TcpPingPongSizes : public TcpEcho, public testing::WithParamInterface<Sizes> {};

TEST_P(TcpPingPongSizes, RunsUntilTheWindowIsOver) {
  const Sizes& sizes = GetParam();
  RunWindow window;
  const Nanos open = NowNs() + 50 * kNanosPerMilli;
  const Nanos close = open + 200 * kNanosPerMilli;
  window.Set(open, close);
  Recorder recorder(&window);
  const absl::Status status =
      RunTcpPingPong({endpoint(), sizes.request_bytes, sizes.response_bytes, sizes.poll}, window, Never, recorder);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(NowNs(), close);
  EXPECT_GT(recorder.Completed(), 0u);
  // Of the two messages that straddle an edge, one counts for either.
  EXPECT_NEAR(static_cast<double>(Of(recorder).latency.Count()), static_cast<double>(recorder.Completed()), 1);
  EXPECT_GT(Of(recorder).latency.Min(), 0);
  EXPECT_EQ(Of(recorder).failures.Total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, TcpPingPongSizes,
                         testing::Values(Sizes{1, 1, PollMode::kBlock}, Sizes{1, 1, PollMode::kSpin},
                                         Sizes{100, 5000, PollMode::kBlock}, Sizes{100, 5000, PollMode::kSpin},
                                         Sizes{1 << 20, 1, PollMode::kBlock}, Sizes{1 << 20, 1, PollMode::kSpin},
                                         Sizes{1, 1 << 20, PollMode::kBlock}),
                         [](const testing::TestParamInfo<Sizes>& test) {
                           return absl::StrCat(test.param.request_bytes, "_", test.param.response_bytes, "_",
                                               ToString(test.param.poll));
                         });

TEST_F(TcpEcho, StopEndsARun) {
  Recorder recorder(&Forever());
  const Nanos stop_at = NowNs() + 100 * kNanosPerMilli;
  int asked = 0;
  const absl::Status status = RunTcpPingPong(
      {endpoint(), 1, 1, PollMode::kBlock}, Forever(),
      [&] {
        ++asked;
        return NowNs() >= stop_at;
      },
      recorder);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(NowNs(), stop_at);
  EXPECT_LE(asked, 1 + (NowNs() - (stop_at - 100 * kNanosPerMilli)) / (10 * kNanosPerMilli));
  EXPECT_GT(recorder.Completed(), 0u);
}

TEST_F(TcpEcho, EndOfTheServerIsUnavailable) {
  Recorder recorder(&Forever());
  std::atomic<bool> running{false};
  std::thread stopper([&] {
    while (!running) std::this_thread::yield();
    server_.reset();
  });
  const std::string address = absl::StrCat("127.0.0.1:", server_->port());
  const absl::Status status = RunTcpPingPong(
      {endpoint(), 1, 1, PollMode::kBlock}, Forever(),
      [&] {
        running = recorder.Completed() > 0;
        return false;
      },
      recorder);
  stopper.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), absl::StrCat("connection to ", address, ": closed by the server"));
}

TEST_F(TcpEcho, ConnectionAboveTheLimitIsUnavailable) {
  std::vector<Socket> clients;
  for (int i = 0; i < TcpEchoServer::kMaxConnections; ++i) clients.push_back(ConnectWith(HelloOf(1, 1)));
  for (Socket& client : clients) ExpectEcho(client, 1, 1);
  Recorder recorder(&Forever());
  const absl::Status status = RunTcpPingPong({endpoint(), 1, 1, PollMode::kBlock}, Forever(), Never, recorder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("closed by the server"));
  EXPECT_EQ(recorder.Completed(), 0u);
}

TEST_F(TcpEcho, RoundTripsDoNotAllocate) {
  if (!CanCountAllocations()) GTEST_SKIP() << "sanitizers own malloc";
  for (PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    Recorder recorder(&Forever());
    const AllocationCounts before = CountedAllocations();
    uint64_t completed_before = 0;
    const auto stop = [&] {
      if (completed_before == 0) {
        completed_before = recorder.Completed();
        SetCountingAllocations(completed_before > 0);
      }
      return completed_before > 0 && recorder.Completed() >= completed_before + 100;
    };
    const absl::Status status = RunTcpPingPong({endpoint(), 200, 5000, poll}, Forever(), stop, recorder);
    SetCountingAllocations(false);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(CountedAllocations().allocations, before.allocations) << ToString(poll);
  }
}

// --- The client against a server that is played by the test.

class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_.fd(), raw, length), 0) << std::strerror(errno);
    EXPECT_EQ(getsockname(socket_.fd(), raw, &length), 0);
    port_ = ntohs(address.sin_port);
  }
  // Until then connections are refused, and nobody else gets the port meanwhile.
  void Listen(int backlog = 16) { EXPECT_EQ(listen(socket_.fd(), backlog), 0); }
  Socket Accept() { return Socket(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC)); }
  Endpoint endpoint() const { return EndpointOf("127.0.0.1", port_); }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  Socket socket_;
  int port_ = 0;
};

TEST(TcpPingPong, SendsTheHelloAndOneRequestForEachResponseAndRecordsEach) {
  constexpr uint64_t kResponses = 25;
  for (PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    Listener listener;
    listener.Listen();
    std::thread server([&] {
      Socket connection = listener.Accept();
      Words hello{};
      ASSERT_EQ(recv(connection.fd(), hello.data(), sizeof(hello), MSG_WAITALL), 16);
      EXPECT_EQ(hello, HelloOf(300, 20, poll == PollMode::kSpin ? 1 : 0));
      for (uint64_t i = 0; i < kResponses; ++i) {
        ASSERT_TRUE(connection.ReceiveBytes(300));
        EXPECT_FALSE(connection.Readable(1)) << "one message in flight";
        // In two pieces, and only the second ends the round trip.
        ASSERT_TRUE(connection.SendBytes(19));
        EXPECT_FALSE(connection.Readable(1));
        ASSERT_TRUE(connection.SendBytes(1));
      }
      ASSERT_TRUE(connection.ReceiveBytes(300));
    });
    Recorder recorder(&Forever());
    const absl::Status status = RunTcpPingPong({listener.endpoint(), 300, 20, poll}, Forever(), Never, recorder);
    server.join();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), absl::StrCat("connection to ", listener.address(), ": closed by the server"));
    EXPECT_EQ(recorder.Completed(), kResponses);
    EXPECT_EQ(Of(recorder).latency.Count(), kResponses);
    EXPECT_GE(Of(recorder).latency.Min(), 2 * kNanosPerMilli) << "the server waits twice for a millisecond";
  }
}

TEST(TcpPingPong, StopEndsAClientThatWaitsAndSpinningIsWhatSpinDoes) {
  for (PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    Listener listener;
    listener.Listen();
    const Nanos end = NowNs() + (poll == PollMode::kBlock ? 150 * kNanosPerMilli : kSpinningWithin);
    const Nanos cpu_before = CpuTimeOf(CLOCK_THREAD_CPUTIME_ID);
    Nanos cpu = 0;
    Nanos said = 0;
    const auto stop = [&] {
      said = NowNs();
      cpu = CpuTimeOf(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
      return said >= end || cpu >= kSpinningCpu;
    };
    Recorder recorder(&Forever());
    EXPECT_TRUE(RunTcpPingPong({listener.endpoint(), 1, 1, poll}, Forever(), stop, recorder).ok());
    EXPECT_LT(NowNs() - said, kNanosPerSecond);
    EXPECT_EQ(cpu >= kSpinningCpu, poll == PollMode::kSpin) << ToString(poll) << ": " << cpu << " ns of CPU";
    EXPECT_EQ(recorder.Completed(), 0u);
  }
}

TEST(TcpPingPong, StopEndsAClientWhoseRequestIsNotTaken) {
  Listener listener;
  listener.Listen();
  const Nanos stop_at = NowNs() + 50 * kNanosPerMilli;
  Recorder recorder(&Forever());
  EXPECT_TRUE(RunTcpPingPong(
                  {listener.endpoint(), kMaxPayloadBytes, 1, PollMode::kBlock}, Forever(),
                  [&] { return NowNs() >= stop_at; }, recorder)
                  .ok());
  EXPECT_LT(NowNs() - stop_at, kNanosPerSecond);
}

// The kernel drops what asks for a connection while the queue of those that nobody accepts is full.
TEST(TcpPingPong, ConnectingTimesOutAndStopEndsItBefore) {
  Listener listener;
  listener.Listen(0);
  const Socket fills_the_queue = ConnectTo(listener.endpoint());
  Recorder recorder(&Forever());
  const Nanos stop_at = NowNs() + 50 * kNanosPerMilli;
  EXPECT_TRUE(
      RunTcpPingPong(
          {listener.endpoint(), 1, 1, PollMode::kBlock}, Forever(), [&] { return NowNs() >= stop_at; }, recorder)
          .ok());
  EXPECT_LT(NowNs() - stop_at, kNanosPerSecond);

  const Nanos start = NowNs();
  const absl::Status status = RunTcpPingPong({listener.endpoint(), 1, 1, PollMode::kBlock}, Forever(), Never, recorder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", listener.address(), ": Connection timed out"));
  EXPECT_GE(NowNs() - start, 5 * kNanosPerSecond);
}

TEST(TcpPingPong, RefusedConnectionIsUnavailable) {
  const Listener listener;
  Recorder recorder(&Forever());
  const absl::Status status = RunTcpPingPong({listener.endpoint(), 1, 1, PollMode::kBlock}, Forever(), Never, recorder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", listener.address(), ": Connection refused"));
}

TEST(TcpPingPong, SizesOutsideTheLimitsAreInvalid) {
  const Listener listener;
  Recorder recorder(&Forever());
  const std::vector<std::pair<uint32_t, uint32_t>> wrong = {
      {0, 1}, {1, 0}, {kMaxPayloadBytes + 1, 1}, {1, kMaxPayloadBytes + 1}};
  for (const auto& [request, response] : wrong) {
    const absl::Status status =
        RunTcpPingPong({listener.endpoint(), request, response, PollMode::kBlock}, Forever(), Never, recorder);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

// --- Where the server listens.

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
    // The port has the same place in both families.
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
  // 192.0.2.0/24 is for documentation: nobody has an address of it.
  const auto foreign = TcpEchoServer::Start(Target{"192.0.2.1", 4711, ""});
  EXPECT_EQ(foreign.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(foreign.status().message()), HasSubstr("cannot listen on 192.0.2.1:4711: "));
  EXPECT_EQ(TcpEchoServer::Start(Target{"", 0, "/tmp/x"}).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace cqbench
