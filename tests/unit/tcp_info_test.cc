// The kernel's figures of a connection, for exchanges with a known number of bytes. Both ends are the test's.
#include "src/observe/sampling/tcp_info.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "src/observe/sampling/sample_figures.h"
#include "src/observe/sampling/take_sample.h"
#include "tests/tcp_pair.h"

namespace cqbench {
namespace {

constexpr size_t kMessage = 100;

class TcpInfo : public testing::Test {
 protected:
  void PingPong(int times) const { fds_.PingPong(times, kMessage, kMessage); }
  // The acknowledgement of the last message is delayed, as no other message follows.
  void WaitUntilAcknowledged(size_t end, uint64_t bytes) {
    for (int i = 0; i < 200 && Read(end).bytes_sent() < bytes; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void FillBuffers() {
    ASSERT_EQ(fcntl(fds_[0], F_SETFL, O_NONBLOCK), 0);
    const std::vector<char> bytes(1 << 16);
    // The receiving end's buffer grows while it fills.
    for (int quiet = 0; quiet < 5; ++quiet) {
      while (write(fds_[0], bytes.data(), bytes.size()) > 0) quiet = 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ConnectionSample Read(size_t end) const { return ReadTcpInfo(fds_[end]).value(); }
  std::vector<OpenConnection> Open(size_t end) const {
    OpenConnection connection;
    connection.fd = fds_[end];
    connection.id = Read(end).id();
    return {connection};
  }
  double BusyShareOverHalfASecond() const {
    const Sample begin = TakeSample(Open(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const Sample end = TakeSample(Open(0));
    Figures figures;
    EXPECT_EQ(AddConnectionFigures(Side::kClient, begin, end, {end.taken_at_ns() - begin.taken_at_ns(), 0}, figures),
              "");
    return figures.Get("client_connection_busy_share_max").value_or(-1);
  }

  TcpPair fds_;
};

TEST_F(TcpInfo, CountsTheBytesAndSegmentsOfAPingPong) {
  constexpr int kTimes = 1000;
  const ConnectionSample before[2] = {Read(0), Read(1)};
  PingPong(kTimes);
  for (size_t end : {0u, 1u}) WaitUntilAcknowledged(end, before[end].bytes_sent() + kTimes * kMessage);
  for (size_t end : {0u, 1u}) {
    const ConnectionSample after = Read(end);
    EXPECT_EQ(after.id(), before[end].id());
    EXPECT_GT(after.taken_at_ns(), before[end].taken_at_ns());
    EXPECT_EQ(after.bytes_sent() - before[end].bytes_sent(), kTimes * kMessage);
    EXPECT_EQ(after.bytes_received() - before[end].bytes_received(), kTimes * kMessage);
    EXPECT_EQ(after.segments_sent() - before[end].segments_sent(), kTimes + after.retransmissions());
    EXPECT_EQ(after.segments_received() - before[end].segments_received(), kTimes + Read(1 - end).retransmissions());
  }
}

TEST_F(TcpInfo, FiguresOfAPingPongAreOneCallPerSegment) {
  constexpr int kTimes = 1000;
  const Sample begin = TakeSample(Open(0));
  PingPong(kTimes);
  const Sample end = TakeSample(Open(0));
  Figures figures;
  // As long as the connection's own two readings are apart, so that nothing is scaled.
  const Nanos window = end.connections(0).taken_at_ns() - begin.connections(0).taken_at_ns();
  ASSERT_EQ(AddConnectionFigures(Side::kClient, begin, end, {window, kTimes}, figures), "");
  EXPECT_EQ(figures.Get("client_connections"), 1);
  EXPECT_EQ(figures.Get("client_connections_with_tcp_nodelay"), 1);
  if (figures.Get("client_retransmissions") == 0) {
    EXPECT_EQ(figures.Get("client_segments_sent_per_connection_median"), kTimes);
    EXPECT_EQ(figures.Get("client_rpcs_per_segment_sent"), 1);
  }
}

TEST_F(TcpInfo, MessagesWrittenTogetherAreOneSegment) {
  const ConnectionSample before = Read(0);
  const char messages[10 * kMessage] = {};
  char received[10 * kMessage];
  ASSERT_EQ(write(fds_[0], messages, sizeof(messages)), static_cast<ssize_t>(sizeof(messages)));
  ASSERT_EQ(recv(fds_[1], received, sizeof(received), MSG_WAITALL), static_cast<ssize_t>(sizeof(received)));
  EXPECT_EQ(Read(0).segments_sent() - before.segments_sent(), 1u + Read(0).retransmissions());
}

TEST_F(TcpInfo, RoundTripTimesAreThereAfterTraffic) {
  PingPong(20);
  EXPECT_GT(Read(0).rtt_smoothed_ns(), 0);
  EXPECT_GT(Read(0).rtt_min_ns(), 0);
  EXPECT_LT(Read(0).rtt_min_ns(), kNanosPerSecond);
  EXPECT_LE(Read(0).rtt_min_ns(), Read(0).rtt_smoothed_ns());
  EXPECT_EQ(Read(0).rtt_min_ns() % kNanosPerMicro, 0) << "the kernel has microseconds";
}

TEST_F(TcpInfo, OptionsAreThoseOfTheSocket) {
  EXPECT_TRUE(Read(0).no_delay());
  const int off = 0;
  ASSERT_EQ(setsockopt(fds_[0], IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off)), 0);
  EXPECT_FALSE(Read(0).no_delay());
  char name[16] = {};
  socklen_t length = sizeof(name);
  ASSERT_EQ(getsockopt(fds_[0], IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
  EXPECT_EQ(Read(0).congestion_control(), name);
  EXPECT_NE(Read(0).congestion_control(), "");
}

// The kernel counts busy time in ticks of its timer.
TEST_F(TcpInfo, IdleConnectionIsNotBusy) {
  PingPong(10);
  WaitUntilAcknowledged(1, 10 * kMessage);
  const double share = BusyShareOverHalfASecond();
  EXPECT_GE(share, 0);
  EXPECT_LT(share, 0.02);
}

TEST_F(TcpInfo, ConnectionWithDataThatThePeerDoesNotTakeIsBusy) {
  FillBuffers();
  EXPECT_GT(BusyShareOverHalfASecond(), 0.9);
}

TEST_F(TcpInfo, DescriptorThatBecameAnotherSocketIsAbsent) {
  const uint64_t id = Read(0).id();
  struct stat file {};
  ASSERT_EQ(fstat(fds_[0], &file), 0);
  EXPECT_EQ(id, file.st_ino);
  EXPECT_TRUE(ReadTcpInfo(fds_[0], id).has_value());
  ASSERT_EQ(dup2(fds_[1], fds_[0]), fds_[0]);
  EXPECT_FALSE(ReadTcpInfo(fds_[0], id).has_value());
  EXPECT_EQ(ReadTcpInfo(fds_[0]).value().id(), Read(1).id()) << "any socket will do when none is asked for";
}

TEST_F(TcpInfo, OtherDescriptorsAreAbsent) {
  int pipe_fds[2], unix_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds), 0);
  const int udp = socket(AF_INET, SOCK_DGRAM, 0);
  for (int fd : {-1, pipe_fds[0], unix_fds[0], udp}) {
    EXPECT_FALSE(ReadTcpInfo(fd).has_value()) << fd;
    EXPECT_FALSE(IsTcpEstablished(fd)) << fd;
  }
  for (int fd : {pipe_fds[0], pipe_fds[1], unix_fds[0], unix_fds[1], udp}) close(fd);
  const int closed = fds_[0];
  fds_.Close(0);
  EXPECT_FALSE(ReadTcpInfo(closed).has_value());
}

TEST_F(TcpInfo, EstablishedUntilEitherEndCloses) {
  EXPECT_TRUE(IsTcpEstablished(fds_[0]));
  EXPECT_TRUE(IsTcpEstablished(fds_[1]));
  ASSERT_EQ(shutdown(fds_[0], SHUT_WR), 0);
  EXPECT_FALSE(IsTcpEstablished(fds_[0]));
}

TEST_F(TcpInfo, SampleHasTheTcpConnectionsThatStillLiveAndTheNumberOfUnixOnes) {
  std::vector<OpenConnection> connections = {Open(0)[0], Open(1)[0], OpenConnection(), OpenConnection()};
  connections[1].id += 1;  // now another connection
  connections[2].is_tcp = connections[3].is_tcp = false;
  const Nanos before = NowNs();
  const Sample sample = TakeSample(connections);
  ASSERT_EQ(sample.connections_size(), 1);
  EXPECT_EQ(sample.connections(0).id(), connections[0].id);
  EXPECT_EQ(sample.unix_connections(), 2u);
  EXPECT_GE(sample.taken_at_ns(), before);
  EXPECT_LE(sample.taken_at_ns(), NowNs());
  EXPECT_GT(sample.process().user_ns() + sample.process().system_ns(), 0);
  EXPECT_FALSE(sample.threads().empty());
  EXPECT_FALSE(sample.cpus().empty());
  EXPECT_FALSE(sample.has_allocations()) << "they are read where the sample's own do not count";
}

}  // namespace
}  // namespace cqbench
