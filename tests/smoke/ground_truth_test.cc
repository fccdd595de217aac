// The client's figures for a server that stalls, is saturated or hangs are those that arithmetic predicts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "tests/smoke/measured.h"
#include "tests/smoke/queueing.h"

namespace cqbench::smoke {
namespace {

constexpr Nanos k100ms = 100 * kNanosPerMilli;
// This is longer than a busy machine delays a call, and shorter than the stall, which takes half a second.
constexpr Nanos k300ms = 300 * kNanosPerMilli;

// --- a server that stands still for half a second ---

// The stall is well inside the window: the client needs some 0.2 s to begin.
const Flags kAroundTheStall = {"--warmup", "300ms", "--interval",   "3", "--deadline", "10",
                               "--api",    "cq",    "--no-evidence"};

struct Stalled {
  Json point;
  double seconds = 0;  // duration of the stall
};

class StallTest : public testing::Test {
 protected:
  void SetUp() override {}

  Stalled MeasureWithStall(const Flags& flags) {
    Process client(MeasuredCommand(server_, kAroundTheStall + flags));
    std::this_thread::sleep_for(Seconds(1.5));
    const Nanos begin = NowNs();
    server_.process().Signal(SIGSTOP);
    std::this_thread::sleep_for(Seconds(0.5));
    server_.process().Signal(SIGCONT);
    const double seconds = ToSeconds(NowNs() - begin);
    return {PointOf(Finish(client)), seconds};
  }

  // With 2,000 calls a second, 800 calls are scheduled in all but the last 100 ms of the stall. Working off the backlog
  // makes more calls late: those for which the backlog and the remaining stall add up to 100 ms, that is, rate x (stall
  // - 100 ms) / (1 - rate / capacity). The 90 are 3.2 standard deviations of a Poisson count of 800. The schedule of
  // this seed has 762 to 851 calls in any 400 ms of the time in question.
  void ExpectAllLateOnesSeen(const Stalled& stalled) {
    const Json busy = Measure(server_, {"--inflight", "8", "--api", "cq", "--warmup", "200ms", "--interval", "500ms"});
    const double capacity = busy.at("throughput_per_second");
    const double at_least = 2000 * (stalled.seconds - 0.1);
    const double at_most = at_least / (1 - 2000 / capacity);
    const uint64_t late = CallsAbove(stalled.point, "latency_histogram", k100ms);
    std::printf("stall %.3f s, capacity %.0f/s: %lu calls above 100 ms, expected %.0f to %.0f, +- 90\n",
                stalled.seconds, capacity, static_cast<unsigned long>(late), at_least, at_most);
    EXPECT_GE(late, at_least - 90);
    EXPECT_LE(late, at_most + 90);
  }

 private:
  Server server_{{}, OnServerCpus()};
};

const Flags k2000PerSecond = {"--rate", "2000", "--seed", "11"};

TEST_F(StallTest, EveryCallThatWasDueMeanwhileIsLateAndTheTimeSeriesShowsWhen) {
  const Stalled stalled = MeasureWithStall(k2000PerSecond + Flags{"--max-outstanding", "2000"});
  ASSERT_TRUE(stalled.point.is_object());
  EXPECT_EQ(stalled.point.at("calls_unsent"), 0);
  ExpectAllLateOnesSeen(stalled);
  // At least four time buckets of 100 ms lie within the stall, or three and parts of two.
  int silent = 0;
  for (uint64_t completed : stalled.point.at("bucket_completed")) silent += completed == 0 ? 1 : 0;
  EXPECT_GE(silent, 3) << stalled.point;
  EXPECT_LE(silent, 6) << stalled.point;
  Nanos longest = 0;
  for (Nanos bucket : stalled.point.at("bucket_latency_max_ns")) longest = std::max(longest, bucket);
  EXPECT_GT(longest, 450 * kNanosPerMilli) << stalled.point;
}

// With few slots, latency from sent includes only the calls in flight; latency from due includes all that had to wait.
TEST_F(StallTest, LatencyFromSentShowsOnlyThoseInFlight) {
  const Stalled stalled = MeasureWithStall(k2000PerSecond + Flags{"--max-outstanding", "8"});
  ASSERT_TRUE(stalled.point.is_object());
  ExpectAllLateOnesSeen(stalled);
  EXPECT_EQ(CallsAbove(stalled.point, "latency_from_sent_histogram", k300ms), 8u);
  EXPECT_GT(stalled.point.at("latency_p99_ns"), k100ms);
  EXPECT_GT(stalled.point.at("slot_wait_max_ns"), 400 * kNanosPerMilli);
}

// An open loop avoids this mistake: a sixth of the window is a stall, and the closed loop's P99 does not show it.
TEST_F(StallTest, AClosedLoopHidesIt) {
  const Stalled stalled = MeasureWithStall({"--inflight", "8"});
  ASSERT_TRUE(stalled.point.is_object());
  std::printf("P99 %.3f ms of %lu calls\n", stalled.point.at("latency_p99_ns").get<double>() / 1e6,
              stalled.point.at("calls_ok").get<unsigned long>());
  EXPECT_LT(stalled.point.at("latency_p99_ns"), k100ms);
  EXPECT_GT(stalled.point.at("latency_max_ns"), 450 * kNanosPerMilli);
  EXPECT_EQ(CallsAbove(stalled.point, "latency_histogram", k300ms), 8u);
}

// --- a server that is full ---

class LossTest : public testing::TestWithParam<std::string> {};

// M/G/8/8: Erlang's loss formula holds for any distribution of the service time, which here is 10 ms plus the call's
// other costs. 8 servers lose 62.7 % of 20 erlangs. The standard deviation of the share follows from the number of
// scheduled calls, 1 / sqrt(6000), of which the accepted 37 % are the complement: 0.5 points. The test knows the number
// of scheduled calls and takes it into account.
TEST_P(LossTest, AsManyCallsAreDroppedAsErlangSays) {
  const Server server({"--service-time", "10ms", "--service-time-mode", "wait", "--workers-per-cq", "16"},
                      OnServerCpus());
  const Json point = Measure(server, {"--api", GetParam(), "--rate", "2000", "--max-outstanding", "8", "--at-limit",
                                      "drop", "--warmup", "200ms", "--interval", "3", "--seed", "11"});
  ASSERT_TRUE(point.is_object());
  const double due = point.at("calls_due"), held = point.at("latency_from_sent_mean_ns").get<double>() / 1e9;
  const double rate = due / (point.at("window_ns").get<double>() / 1e9);
  const double dropped = point.at("calls_dropped").get<double>() / due;
  const double expected = ErlangB(rate * held, 8);
  std::printf("%.0f/s x %.3f ms: %.1f %% dropped, Erlang B says %.1f %%\n", rate, held * 1e3, 100 * dropped,
              100 * expected);
  EXPECT_NEAR(held, 0.010, 0.002);
  EXPECT_NEAR(dropped, expected, 0.02);
  EXPECT_EQ(point.at("calls_unsent"), 0);
}

INSTANTIATE_TEST_SUITE_P(All, LossTest, testing::Values("sync", "cq", "callback"),
                         [](const auto& test) { return test.param; });

// --- a server that never answers again ---

// Expects a percentile exactly if enough calls have ended, when `hanging` calls will take an unknown time.
void ExpectNoPercentileOfHangingCalls(const Json& point, uint64_t hanging) {
  const double ok = point.at("calls_ok"), all = ok + static_cast<double>(hanging);
  const std::pair<const char*, double> percentiles[] = {{"latency_p50_ns", 50},
                                                        {"latency_p90_ns", 90},
                                                        {"latency_p95_ns", 95},
                                                        {"latency_p99_ns", 99},
                                                        {"latency_p99_9_ns", 99.9}};
  for (const auto& [key, percent] : percentiles) {
    if (percent / 100 * all > ok) {
      EXPECT_FALSE(point.contains(key)) << key << " in " << point;
    }
  }
  EXPECT_FALSE(point.contains("latency_max_ns")) << point;
  EXPECT_FALSE(point.contains("latency_mean_ns")) << point;
  EXPECT_EQ(point.at("latency_censored"), hanging) << point;
  EXPECT_THAT(point.at("warnings").dump(), testing::HasSubstr("unfinished-calls"));
}

// Client and server are tested together: each would wait 10 s for hanging calls.
TEST(HangingServerTest, NoPercentileOfCallsThatNeverEndedAndExitStatusOne) {
  // The server is slow enough for 64 hanging calls to be more than a hundredth, and fast enough for a P99.
  Server slow({"--service-time", "20ms", "--service-time-mode", "wait", "--workers-per-cq", "80"}, OnServerCpus());
  Server fast({}, OnServerCpus());
  const Flags common = {"--api", "cq", "--warmup", "100ms", "--interval", "2", "--deadline", "30", "--no-evidence"};
  Process eight(MeasuredCommand(slow, common + ClosedLoop(8)));
  Process many(MeasuredCommand(slow, common + ClosedLoop(64)));
  Process open(MeasuredCommand(fast, common + k2000PerSecond + Flags{"--max-outstanding", "8"}));
  std::this_thread::sleep_for(Seconds(1.2));
  slow.process().Signal(SIGSTOP);
  fast.process().Signal(SIGSTOP);

  const Json of_eight = PointOf(Finish(eight), 1), of_many = PointOf(Finish(many), 1);
  const Json of_open = PointOf(Finish(open), 1);
  ASSERT_TRUE(of_eight.is_object() && of_many.is_object() && of_open.is_object());
  EXPECT_EQ(of_eight.at("unfinished"), 8);
  ExpectNoPercentileOfHangingCalls(of_eight, 8);
  EXPECT_EQ(of_many.at("unfinished"), 64);
  ExpectNoPercentileOfHangingCalls(of_many, 64);
  EXPECT_GT(of_many.at("calls_ok"), 1000) << "enough for P99";
  EXPECT_TRUE(of_many.contains("latency_p50_ns"));
  // Nearly half of all calls hang: 8 in flight, and those without a slot.
  EXPECT_EQ(of_open.at("unfinished"), 8);
  const uint64_t unsent = of_open.at("calls_unsent");
  EXPECT_GT(unsent, 1000u);
  ExpectNoPercentileOfHangingCalls(of_open, 8 + unsent);
  EXPECT_FALSE(of_open.contains("latency_p90_ns"));
  EXPECT_EQ(of_open.at("latency_from_sent_censored"), 8);
  std::printf("8 slots: %s ok; 64 slots: %s ok; open: %s ok, %lu unsent\n", of_eight.at("calls_ok").dump().c_str(),
              of_many.at("calls_ok").dump().c_str(), of_open.at("calls_ok").dump().c_str(),
              static_cast<unsigned long>(unsent));
}

}  // namespace
}  // namespace cqbench::smoke
