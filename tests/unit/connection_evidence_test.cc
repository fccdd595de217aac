// Figures of connections, computed by hand from pairs of made-up samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/observe/sampling/sample_figures.h"
#include "tests/unit/evidence_samples.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

// A connection as it is at kBegin, and as it is 2 s later.
struct Ends {
  ConnectionSample begin;
  ConnectionSample end;
};
Ends Connection(uint64_t id) {
  Ends c{FromText<ConnectionSample>(
             R"(bytes_sent: 1000000 bytes_received: 5 segments_sent: 70 segments_received: 90 busy_ns: 1000000000
                retransmissions: 1 rtt_smoothed_ns: 999 rtt_min_ns: 999)"),
         FromText<ConnectionSample>(
             R"(bytes_sent: 1200000 bytes_received: 400005 segments_sent: 1070 segments_received: 590
                busy_ns: 1500000000 retransmissions: 3 rtt_smoothed_ns: 30000 rtt_min_ns: 20000)")};
  c.begin.set_id(id);
  c.begin.set_taken_at_ns(kBegin);
  c.end.set_id(id);
  c.end.set_taken_at_ns(kEnd);
  return c;
}

class ConnectionFigures : public Evidence {
 protected:
  void Have(const Ends& c) {
    *begin_.add_connections() = c.begin;
    *end_.add_connections() = c.end;
  }
  std::string Add(Measured measured = kMeasured) {
    return AddConnectionFigures(Side::kClient, begin_, end_, measured, figures_);
  }
};

TEST_F(ConnectionFigures, OfOneConnectionAreItsDifferencesScaledToTheWindow) {
  Have(Connection(7));
  EXPECT_EQ(Add(), "");
  EXPECT_EQ(Get("client_connections"), 1);
  for (const char* which : {"_min", "_median", "_max"}) {
    const auto get = [&](const char* name) { return Get(std::string(name) + which); };
    EXPECT_EQ(get("client_bytes_sent_per_connection"), 100'000);
    EXPECT_EQ(get("client_bytes_received_per_connection"), 200'000);
    EXPECT_EQ(get("client_segments_sent_per_connection"), 500);
    EXPECT_EQ(get("client_segments_received_per_connection"), 250);
    EXPECT_EQ(get("client_connection_busy_share"), 0.25);
    EXPECT_EQ(get("client_connection_idle_per_segment_ns"), 1'500'000) << "0.75 s over 500 segments";
    EXPECT_EQ(get("client_rtt_smoothed_ns"), 30'000);
    EXPECT_EQ(get("client_rtt_min_ns"), 20'000);
  }
  EXPECT_EQ(Get("client_rpcs_per_segment_sent"), 2);
  EXPECT_EQ(Get("client_retransmissions"), 1);
  EXPECT_EQ(Get("client_connections_with_tcp_nodelay"), 0);
}

TEST_F(ConnectionFigures, OfSeveralAreDistributionsAndSums) {
  Ends slow = Connection(1), idle = Connection(2), fast = Connection(3);
  slow.end.set_segments_sent(slow.begin.segments_sent() + 500);
  idle.end.set_segments_sent(idle.begin.segments_sent());
  idle.end.set_busy_ns(idle.begin.busy_ns());
  idle.end.set_rtt_min_ns(10'000);
  fast.end.set_segments_sent(fast.begin.segments_sent() + 1500);
  fast.end.set_no_delay(true);
  slow.end.set_no_delay(true);
  Have(slow);
  Have(fast);
  Have(idle);
  EXPECT_EQ(Add(), "");
  EXPECT_EQ(Get("client_connections"), 3);
  EXPECT_EQ(Get("client_bytes_sent"), 300'000);
  EXPECT_EQ(Get("client_bytes_received"), 600'000);
  EXPECT_EQ(Get("client_segments_sent_per_connection_min"), 0);
  EXPECT_EQ(Get("client_segments_sent_per_connection_median"), 250);
  EXPECT_EQ(Get("client_segments_sent_per_connection_max"), 750);
  EXPECT_EQ(Get("client_rpcs_per_segment_sent"), 1);
  EXPECT_EQ(Get("client_connection_busy_share_min"), 0);
  EXPECT_EQ(Get("client_connection_busy_share_max"), 0.25);
  EXPECT_EQ(Get("client_connection_idle_per_segment_ns_min"), 1'000'000) << "0.75 s over 750";
  EXPECT_EQ(Get("client_connection_idle_per_segment_ns_median"), 2'000'000) << "of the two that sent";
  EXPECT_EQ(Get("client_connection_idle_per_segment_ns_max"), 3'000'000);
  EXPECT_EQ(Get("client_rtt_min_ns_min"), 10'000);
  EXPECT_EQ(Get("client_retransmissions"), 3);
  EXPECT_EQ(Get("client_connections_with_tcp_nodelay"), 2);
}

TEST_F(ConnectionFigures, EachConnectionIsScaledByItsOwnTimes) {
  Ends late = Connection(7);
  late.end.set_taken_at_ns(kEnd + 2 * kNanosPerSecond);
  Have(late);
  Add();
  EXPECT_EQ(Get("client_segments_sent_per_connection_max"), 250);
  EXPECT_EQ(Get("client_connection_busy_share_max"), 0.125);
}

TEST_F(ConnectionFigures, BusyShareStaysBetweenNothingAndAll) {
  Ends more = Connection(1), less = Connection(2);
  more.end.set_busy_ns(more.begin.busy_ns() + 2 * kNanosPerSecond + 10 * kNanosPerMilli);
  less.end.set_busy_ns(less.begin.busy_ns() - 1);
  Have(more);
  Have(less);
  Add();
  EXPECT_EQ(Get("client_connection_busy_share_max"), 1);
  EXPECT_EQ(Get("client_connection_busy_share_min"), 0);
  EXPECT_EQ(Get("client_connection_idle_per_segment_ns_min"), 0);
}

TEST_F(ConnectionFigures, ConnectionsInOneSampleOnlyAreLeftOut) {
  Have(Connection(7));
  *begin_.add_connections() = Connection(8).begin;
  *end_.add_connections() = Connection(9).end;
  EXPECT_EQ(Add(), "");
  EXPECT_EQ(Get("client_connections"), 1);
  EXPECT_EQ(Get("client_segments_sent_per_connection_max"), 500);
}

TEST_F(ConnectionFigures, OfConnectionsThatNeverLivedInBothSamplesAreNoneForAReason) {
  *begin_.add_connections() = Connection(8).begin;
  *end_.add_connections() = Connection(9).end;
  EXPECT_EQ(Add(), "no TCP connection lived from the begin of the window to its end");
  EXPECT_TRUE(figures_.empty());
}

TEST_F(ConnectionFigures, OfUnixSocketsAreNoneForAReason) {
  Evidence::Have("unix_connections: 2", "unix_connections: 2");
  EXPECT_THAT(Add(), HasSubstr("Unix sockets"));
  EXPECT_TRUE(figures_.empty());
  Have(Connection(7));
  EXPECT_EQ(Add(), "") << "some are TCP";
}

TEST_F(ConnectionFigures, WithoutCallsSegmentsCarriedNone) {
  Have(Connection(7));
  EXPECT_EQ(Add({kNanosPerSecond, 0}), "");
  EXPECT_EQ(Get("client_rpcs_per_segment_sent"), 0);
}

TEST_F(ConnectionFigures, WithoutSegmentsNothingIsPerSegment) {
  Ends idle = Connection(7);
  idle.end.set_segments_sent(idle.begin.segments_sent());
  Have(idle);
  EXPECT_EQ(Add(), "");
  EXPECT_EQ(Get("client_segments_sent_per_connection_max"), 0);
  EXPECT_EQ(Get("client_rpcs_per_segment_sent"), std::nullopt);
  EXPECT_EQ(Get("client_connection_idle_per_segment_ns_median"), std::nullopt);
}

}  // namespace
}  // namespace cqbench
