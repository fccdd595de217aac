// The client of the raw TCP ping-pong over loopback, with our server and with one that the test plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/config/messages.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/tcp_echo/tcp_echo.h"
#include "tests/smoke/tcp_echo.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

Measurement Of(const Recorder& recorder) {
  Measurement measurement;
  recorder.MergeInto(measurement);
  return measurement;
}

// --- Both together.

struct Sizes {
  uint32_t request_bytes;
  uint32_t response_bytes;
  PollMode poll;
  bool sendfile = false;
};

class TcpPingPongSizes : public TcpEcho, public testing::WithParamInterface<Sizes> {};

TEST_P(TcpPingPongSizes, RunsUntilTheWindowIsOver) {
  const Sizes& sizes = GetParam();
  RunWindow window;
  const Nanos open = NowNs() + 50 * kNanosPerMilli;
  const Nanos close = open + 200 * kNanosPerMilli;
  window.Set(open, close);
  Recorder recorder(&window);
  const absl::Status status = RunTcpPingPong(
      {endpoint(), sizes.request_bytes, sizes.response_bytes, sizes.poll, sizes.sendfile}, window, Never, recorder);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(NowNs(), close);
  EXPECT_GT(recorder.Completed(), 0u);
  // Two messages cross a window boundary: each window counts one.
  EXPECT_NEAR(static_cast<double>(Of(recorder).latency.Count()), static_cast<double>(recorder.Completed()), 1);
  EXPECT_GT(Of(recorder).latency.Min(), 0);
  EXPECT_EQ(Of(recorder).failures.Total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, TcpPingPongSizes,
                         testing::Values(Sizes{1, 1, PollMode::kBlock}, Sizes{1, 1, PollMode::kSpin},
                                         Sizes{100, 5000, PollMode::kBlock}, Sizes{100, 5000, PollMode::kSpin},
                                         Sizes{1 << 20, 1, PollMode::kBlock}, Sizes{1 << 20, 1, PollMode::kSpin},
                                         Sizes{1, 1 << 20, PollMode::kBlock},
                                         Sizes{1, 5 << 20, PollMode::kBlock, true}),
                         [](const testing::TestParamInfo<Sizes>& test) {
                           return absl::StrCat(test.param.request_bytes, "_", test.param.response_bytes, "_",
                                               ToString(test.param.poll), test.param.sendfile ? "_sendfile" : "");
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
  // Once while it connects, once at the end, and every 10 ms in between.
  EXPECT_LE(asked, 2 + (NowNs() - (stop_at - 100 * kNanosPerMilli)) / (10 * kNanosPerMilli));
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

// --- The client with a server that the test plays.

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
  // Until then connections are refused, but no other process gets the port.
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
        // The response comes in two pieces, and only the second ends the round trip.
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
    EXPECT_LT(NowNs() - said, kAtOnce);
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
  EXPECT_LT(NowNs() - stop_at, kAtOnce);
}

// While the queue of connections to accept is full, the kernel drops further connection requests.
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
  EXPECT_LT(NowNs() - stop_at, kAtOnce);

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

}  // namespace
}  // namespace cqbench
