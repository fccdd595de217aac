// Every warning about the load: throughput over time, time outside of calls, the schedule of an open loop. Each appears
// at its threshold and not just below.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/observe/checks/self_check.h"
#include "tests/unit/point_check.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Steadiness : public PointCheck {
 protected:
  void HaveFewCalls() {
    point_.completed = 2500;  // chance is five, or ten, times a fiftieth
    point_.latency->mean_ns = 20e6;
    point_.figures.Set("server_rpcs", 2500);
  }
  // Throughput of the first tenth, of the rest of the first half and of the second half.
  std::vector<Notice> CheckTimeBuckets(double first, double rest_of_first_half, double second_half) {
    std::vector<double> time_buckets(10, 1000 * second_half);
    for (size_t i = 0; i < 5; ++i) time_buckets[i] = 1000 * rest_of_first_half;
    time_buckets[0] = 1000 * first;
    SetTimeBuckets(time_buckets);
    return Warnings();
  }
};

TEST_F(Steadiness, DriftOfMoreThanATwentieth) {
  EXPECT_THAT(CheckTimeBuckets(100, 100, 104.9), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(100, 100, 105.1),
              ElementsAre(Notice{"drift", "throughput drifts: +5 % from the first to the second half of the window"}));
  EXPECT_THAT(CheckTimeBuckets(105.2, 105.2, 100), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(120, 120, 100), ElementsAre(Is("drift", "throughput drifts: -17 %")));
}

TEST_F(Steadiness, FewCallsDriftByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckTimeBuckets(100, 100, 109.9), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(100, 100, 111), ElementsAre(Is("drift", "drifts: +11 %")));
}

TEST_F(Steadiness, FirstTenthThatIsNotLikeTheRest) {
  EXPECT_THAT(CheckTimeBuckets(90.1, 100, 100), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(89, 100, 100),
              ElementsAre(Notice{"not-warmed-up",
                                 "not warmed up: throughput of the first 1s of the window is -11 % off the rest"}));
  EXPECT_THAT(CheckTimeBuckets(109.9, 100, 100), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(150, 100, 100),
              ElementsAre(Is("not-warmed-up", "not warmed up: throughput of the first 1s of the window is +50 %")))
      << "and it is not drift as well";
}

TEST_F(Steadiness, FirstTenthMayDifferAsTheOthersDo) {
  SetTimeBuckets({75, 90, 110, 90, 110, 90, 110, 90, 110, 90});
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.time_buckets[0].completed = 65;
  EXPECT_THAT(Warnings(), ElementsAre(Is("not-warmed-up", "not warmed up")));
}

TEST_F(Steadiness, FirstTenthOfFewCallsDiffersByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckTimeBuckets(81, 100, 100), IsEmpty());
  EXPECT_THAT(CheckTimeBuckets(79, 100, 100), ElementsAre(Is("not-warmed-up", "not warmed up")));
}

TEST_F(Steadiness, StandstillAfterTheFirstTenthHasAFiniteNumber) {
  EXPECT_THAT(
      CheckTimeBuckets(100, 0, 0),
      ElementsAre(Notice{"drift", "throughput drifts: -100 % from the first to the second half of the window"}));
}

TEST_F(Steadiness, StandstillIsNoNoise) {
  SetTimeBuckets({300, 300, 300, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(Warnings(), ElementsAre(Is("not-warmed-up", "+350 %")));
  SetTimeBuckets({100, 100, 100, 100, 100, 100, 100, 0, 0, 0});
  EXPECT_THAT(Warnings(), ElementsAre(Is("drift", "-60 %")));
}

TEST_F(Steadiness, TimeBucketsAreJudgedInTenParts) {
  std::vector<double> time_buckets(95, 100);
  for (size_t i = 0; i < 9; ++i) time_buckets[i] = 80;
  SetTimeBuckets(time_buckets);
  EXPECT_THAT(Warnings(), ElementsAre(Is("not-warmed-up", "the first 9s of the window is -20 % off the rest")));
  for (size_t i = 1; i < 9; ++i) time_buckets[i] = 100;  // one bucket says little
  SetTimeBuckets(time_buckets);
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(Steadiness, TooFewTimeBucketsOrCallsSayNothing) {
  SetTimeBuckets({1, 100, 10'000, 1, 1, 1, 1});
  EXPECT_THAT(Warnings(), IsEmpty());
  SetTimeBuckets({1, 100, 10'000, 1, 1, 1, 1, 1});
  EXPECT_THAT(Warnings(), ElementsAre(Is("not-warmed-up")));
  point_.figures.Set("server_rpcs", 199);
  point_.completed = 199;  // 25 for each part
  point_.latency->mean_ns = 251e6;
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.time_buckets.clear();
  EXPECT_THAT(Warnings(), IsEmpty());
}

class LittlesLaw : public PointCheck {
 protected:
  // The arguments are for each of the 5 slots.
  std::vector<Notice> InCalls(double calls) {
    point_.latency->mean_ns = calls * 10'000;  // 10 s / 1,000,000
    return Warnings();
  }
};

TEST_F(LittlesLaw, TimeThatIsInNoCall) {
  EXPECT_THAT(InCalls(4.76), IsEmpty());
  EXPECT_THAT(InCalls(4.74),
              ElementsAre(Notice{"littles-law",
                                 "calls do not account for all time: throughput x mean latency is 4.74 calls "
                                 "in flight, not 5 (Little's law)"}));
  EXPECT_THAT(InCalls(5.24), IsEmpty());
  EXPECT_THAT(InCalls(5.26), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, OneLongestCallMayCrossTheEdges) {
  point_.latency->max_ns = 200 * kNanosPerMilli;  // 2 % of the window
  EXPECT_THAT(InCalls(4.66), IsEmpty());
  EXPECT_THAT(InCalls(4.64), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, FailedCallsAndTheirRestsTakeTime) {
  config_.deadline_ns = 90 * kNanosPerMilli;
  point_.errors = {{"DEADLINE_EXCEEDED", 25, ""}};  // 25 x (90 + 10) ms of 5 x 10 s: 5 %
  EXPECT_THAT(InCalls(4.51), IsEmpty());
  EXPECT_THAT(InCalls(4.49), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, IsNotAskedOfFewCalls) {
  point_.completed = 99;
  point_.figures.Set("server_rpcs", 99);
  point_.latency->mean_ns = 1e6;
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.completed = 100;
  EXPECT_THAT(Warnings(), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, IsNotAskedOfHangingCallsOrOpenLoops) {
  point_.counts.unfinished = 1;
  EXPECT_THAT(InCalls(4), ElementsAre(Is("unfinished-calls")));
  point_.counts.unfinished = 0;
  point_.load.rate = 1'000;
  point_.counts.sent = point_.counts.due = 10'000;
  point_.open_loop.emplace();
  EXPECT_THAT(InCalls(0.1), IsEmpty());
}

class OpenLoop : public PointCheck {
 protected:
  // 10,000 calls a second for 10 s, all sent in time, each with a response within a millisecond.
  OpenLoop() {
    point_.load = {100, 10'000};
    point_.completed = 100'000;
    point_.counts = {100'000, 100'000, 0, 0, 100'000, 0, 0};
    point_.latency->count = 100'000;
    point_.latency->p99_ns = kNanosPerMilli;
    point_.figures.Set("server_rpcs", 100'000);
    SetTimeBuckets(std::vector<double>(10, 10'000));
    open().pacers = 1;
    open().gap_cv = 1;
    open().gap_correlation = 0;
  }
  OpenLoopResult& open() { return point_.open_loop ? *point_.open_loop : point_.open_loop.emplace(); }
};

TEST_F(OpenLoop, FindsNothingInAGoodPoint) {
  EXPECT_THAT(Warnings(), IsEmpty());
  EXPECT_THAT(Notes(), IsEmpty());
}

// 3 / sqrt(100,000) is 0.95 %, so a percent exceeds the threshold.
TEST_F(OpenLoop, RateThatWasNotReached) {
  point_.counts.sent = 99'001;
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.counts.sent = 98'990;
  EXPECT_THAT(Warnings(), ElementsAre(Notice{"rate-not-reached",
                                             "the rate was not reached: 98990 calls sent, target 100000 (-1.0 %): the "
                                             "client was measured, not the server"}));
  point_.counts.sent = 101'010;
  EXPECT_THAT(Warnings(), ElementsAre(Is("rate-not-reached", "+1.0 %")));
}

TEST_F(OpenLoop, FewCallsMissTheRateByChance) {
  point_.load.rate = 100;  // 1,000 calls: 9.5 %
  point_.counts.due = point_.counts.sent = 906;
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.counts.sent = 904;
  EXPECT_THAT(Warnings(), ElementsAre(Is("rate-not-reached")));
}

TEST_F(OpenLoop, CallsThatFoundNoSlotAreALimit) {
  point_.counts.sent = 40'000;
  point_.counts.dropped = 60'000;
  EXPECT_THAT(Warnings(), IsEmpty()) << "the client was in time";
  EXPECT_THAT(Notes(), ElementsAre(Notice{"slots-saturated",
                                          "all 100 slots were taken at times (--max-outstanding): 60000 of "
                                          "100000 calls were dropped"}));
}

TEST_F(OpenLoop, CallsThatWaitedForASlotAreALimit) {
  open().slot_wait_mean_ns = 1'500;
  open().slot_wait_max_ns = 2'000'000;
  EXPECT_THAT(Warnings(), IsEmpty());
  EXPECT_THAT(Notes(), ElementsAre(Notice{"slots-saturated",
                                          "all 100 slots were taken at times (--max-outstanding): calls "
                                          "waited for one, 1.5 µs on average, 2000.0 µs at most"}));
}

TEST_F(OpenLoop, UnsentCallsAreTheSlotsFaultOnlyWhenTheyWereTaken) {
  point_.counts.sent = 90'000;
  point_.counts.unsent = 10'000;
  EXPECT_THAT(Warnings(), ElementsAre(Is("unfinished-calls"), Is("rate-not-reached")));
  open().slot_wait_max_ns = 1;
  EXPECT_THAT(Warnings(), ElementsAre(Is("unfinished-calls")));
}

TEST_F(OpenLoop, PacerThatWasLate) {
  open().lateness_p99_ns = 100'000;
  EXPECT_THAT(Warnings(), IsEmpty());
  open().lateness_p99_ns = 100'001;
  EXPECT_THAT(Warnings(), ElementsAre(Is("pacer-late", "100 µs at P99, of 1000 µs from scheduled to done")));
  point_.latency->p99_ns = 1'100'000;
  EXPECT_THAT(Warnings(), IsEmpty()) << "a tenth of it";
  point_.counts = {199, 199, 0, 0, 199, 0, 0};
  point_.load.rate = 19.9;
  open().lateness_p99_ns = kNanosPerSecond;
  EXPECT_THAT(Warnings(), IsEmpty()) << "of too few calls, P99 is the worst accident";
}

TEST_F(OpenLoop, ArrivalsThatAreNotPoisson) {
  for (double cv : {0.86, 1.14}) {
    open().gap_cv = cv;
    EXPECT_THAT(Warnings(), IsEmpty()) << cv;
  }
  for (double cv : {0.84, 1.16}) {
    open().gap_cv = cv;
    EXPECT_THAT(Warnings(), ElementsAre(Is("arrivals-shape", "not Poisson"))) << cv;
  }
  open().gap_cv = 1;
  for (double correlation : {-0.099, 0.099}) {
    open().gap_correlation = correlation;
    EXPECT_THAT(Warnings(), IsEmpty()) << correlation;
  }
  for (double correlation : {-0.101, 0.101}) {
    open().gap_correlation = correlation;
    EXPECT_THAT(Warnings(), ElementsAre(Is("arrivals-shape", "correlate"))) << correlation;
  }
  open().gap_cv.reset();
  EXPECT_THAT(Warnings(), IsEmpty()) << "not known";
}

TEST_F(OpenLoop, ArrivalsThatAreNotConstant) {
  config_.schedule.arrivals = Arrivals::kConstant;
  open().pacers = 3;  // a gap of 300 us each
  open().gap_cv = 0.2;
  EXPECT_THAT(Warnings(), IsEmpty());
  open().gap_cv = 0.21;
  EXPECT_THAT(Warnings(), ElementsAre(Is("arrivals-shape", "not constant")));
  open().pacers = 2;
  EXPECT_THAT(Warnings(), IsEmpty()) << "200 us: lateness within its limit does as much";
}

// 3 x sqrt(100,000) is 949, 1 % is 1,000.
TEST_F(OpenLoop, CallsThatPileUp) {
  open().outstanding_first_half = 2'000;
  open().outstanding_second_half = 3'000;
  EXPECT_THAT(Warnings(), IsEmpty());
  open().outstanding_second_half = 3'001;
  EXPECT_THAT(Warnings(), ElementsAre(Is("backlog-grows",
                                         "2000.0 were outstanding on average in the first half of the "
                                         "window, 3001.0 in the second")));
  open().outstanding_first_half = 10'000;
  open().outstanding_second_half = 12'000;
  EXPECT_THAT(Warnings(), IsEmpty()) << "1.2 times as many";
  open().outstanding_second_half = 12'001;
  EXPECT_THAT(Warnings(), ElementsAre(Is("backlog-grows")));
  std::swap(open().outstanding_first_half, open().outstanding_second_half);
  EXPECT_THAT(Warnings(), IsEmpty());
}

}  // namespace
}  // namespace cqbench
