// Figures derived from measured values.
#include "cqbench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/measured_point.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Summarize, IsAbsentForAnEmptyHistogram) {
  EXPECT_FALSE(Summarize(Histogram()).has_value());
}

TEST(Summarize, TakesEveryFigureFromTheHistogram) {
  Histogram h;
  for (Nanos value = 1; value <= 1000; ++value) h.Record(value);
  const LatencyStats stats = Summarize(h).value();
  EXPECT_EQ(stats.count, 1000u);
  EXPECT_DOUBLE_EQ(stats.mean_ns, 500.5);
  EXPECT_NEAR(stats.stddev_ns, 288.675, 0.001);
  EXPECT_EQ(stats.min_ns, 1);
  EXPECT_EQ(stats.p50_ns, 500);
  EXPECT_EQ(stats.p90_ns, 900);
  EXPECT_EQ(stats.p95_ns, 950);
  EXPECT_EQ(stats.p99_ns, 990);
  EXPECT_EQ(stats.p999_ns, 999);
  EXPECT_EQ(stats.max_ns, 1000);
}

TEST(Summarize, CallsThatNeverEndedCountWithTheirAge) {
  Histogram ended, at_least;
  ended.Record(100, 1'980);
  at_least.Record(1'500);
  at_least.Record(1'200, 19);
  const LatencyStats stats = Summarize(ended, &at_least).value();
  EXPECT_EQ(stats.count, 2'000u);
  EXPECT_EQ(stats.at_least, 20u);
  EXPECT_EQ(stats.least_age_ns, 1'200);
  EXPECT_EQ(stats.p99_ns, 100) << "1,980 of 2,000";
  EXPECT_TRUE(stats.Knows(&LatencyStats::p99_ns));
  EXPECT_EQ(stats.max_ns, 1'500);
  EXPECT_FALSE(stats.Knows(&LatencyStats::max_ns));
  EXPECT_FALSE(stats.KnowsMean());
  ended.Record(100);
  EXPECT_TRUE(Summarize(ended)->KnowsMean());
}

TEST(Summarize, OneMoreOfThemAndThePercentileIsNotKnown) {
  Histogram ended, at_least;
  ended.Record(100, 1'979);
  at_least.Record(1'200, 21);
  const LatencyStats stats = Summarize(ended, &at_least).value();
  EXPECT_FALSE(stats.Knows(&LatencyStats::p99_ns));
  EXPECT_TRUE(stats.Knows(&LatencyStats::p95_ns));
}

TEST(Summarize, ACallYoungerThanThePercentileHidesItToo) {
  Histogram ended, at_least;
  for (Nanos value = 1; value <= 1'000; ++value) ended.Record(value);
  at_least.Record(600);  // it may take 2,000 in the end
  const LatencyStats stats = Summarize(ended, &at_least).value();
  EXPECT_TRUE(stats.Knows(&LatencyStats::p50_ns));
  EXPECT_FALSE(stats.Knows(&LatencyStats::p90_ns));
}

TEST(Summarize, OfCallsThatAllHangNothingIsKnown) {
  Histogram at_least;
  at_least.Record(7 * kNanosPerSecond, 8);
  const LatencyStats stats = Summarize(Histogram(), &at_least).value();
  EXPECT_EQ(stats.count, 8u);
  for (auto field : {&LatencyStats::min_ns, &LatencyStats::p50_ns, &LatencyStats::max_ns}) {
    EXPECT_FALSE(stats.Knows(field));
  }
}

TEST(Summarize, NoAgesAreAsGoodAsNone) {
  Histogram ended;
  ended.Record(5);
  const Histogram none;
  EXPECT_EQ(Summarize(ended, &none)->least_age_ns, std::nullopt);
  EXPECT_FALSE(Summarize(Histogram(), &none).has_value());
}

// A known percentile stays the same for any durations of the calls without an end.
TEST(Summarize, WhatIsKnownHoldsWhateverTheCallsWouldHaveTaken) {
  std::mt19937 random(9);
  const auto below = [&](Nanos n) { return static_cast<Nanos>(random() % static_cast<uint64_t>(n)); };
  int known = 0, hidden = 0;
  for (int run = 0; run < 200; ++run) {
    Histogram ended, at_least, truth;
    const Nanos slowest = 100 + below(2'000);
    for (int i = 0; i < 1'500; ++i) {
      const Nanos value = below(1'000);
      ended.Record(value);
      truth.Record(value);
    }
    for (Nanos i = 0, n = 1 + below(40); i < n; ++i) {
      const Nanos age = below(slowest);
      at_least.Record(age);
      truth.Record(age + below(100'000));
    }
    const LatencyStats stats = Summarize(ended, &at_least).value(), full = Summarize(truth).value();
    for (auto field : {&LatencyStats::min_ns, &LatencyStats::p50_ns, &LatencyStats::p90_ns, &LatencyStats::p95_ns,
                       &LatencyStats::p99_ns, &LatencyStats::max_ns}) {
      if (stats.Knows(field)) {
        ++known;
        EXPECT_EQ(stats.*field, full.*field);
      } else {
        ++hidden;
      }
    }
  }
  EXPECT_GT(known, 100);
  EXPECT_GT(hidden, 100);
}

TEST(LatencyStats, PercentileIsKnownWhenTenCallsAreSlower) {
  const struct {
    const char* name;
    Nanos LatencyStats::*field;
    uint64_t needs;
  } percentiles[] = {{"P50", &LatencyStats::p50_ns, 20},
                     {"P90", &LatencyStats::p90_ns, 100},
                     {"P95", &LatencyStats::p95_ns, 200},
                     {"P99", &LatencyStats::p99_ns, 1'000},
                     {"P99.9", &LatencyStats::p999_ns, 10'000}};
  for (const auto& [name, field, needs] : percentiles) {
    LatencyStats stats;
    stats.count = needs - 1;
    EXPECT_FALSE(stats.Knows(field)) << name;
    stats.count = needs;
    EXPECT_TRUE(stats.Knows(field)) << name;
  }
}

TEST(LatencyStats, ExtremesAreKnownFromTheFirstCallOn) {
  LatencyStats stats;
  EXPECT_FALSE(stats.Knows(&LatencyStats::max_ns));
  stats.count = 1;
  EXPECT_TRUE(stats.Knows(&LatencyStats::min_ns));
  EXPECT_TRUE(stats.Knows(&LatencyStats::max_ns));
}

TEST(AllFigures, AreThroughputLatenciesAndEvidence) {
  PointResult point = Measured(1, 0, 3000, 10);
  point.latency->count = 10'000;
  point.window_ns = 1'500 * kNanosPerMilli;
  const Figures all = AllFigures(point);
  EXPECT_THAT(std::vector<Figures::Entry>(all.begin(), all.end()),
              ElementsAre(Pair("throughput_per_second", 2000), Pair("latency_mean_ns", 11),
                          Pair("latency_stddev_ns", 2), Pair("latency_min_ns", 5), Pair("latency_p50_ns", 10),
                          Pair("latency_p90_ns", 20), Pair("latency_p95_ns", 30), Pair("latency_p99_ns", 40),
                          Pair("latency_p99_9_ns", 50), Pair("latency_max_ns", 60),
                          Pair("client_cpu_user_ns", 3'000'000), Pair("client_cpu_system_ns", 6'000'000)));
}

TEST(AllFigures, LeavePercentilesOfTooFewCallsOut) {
  PointResult point = Measured(1, 0, 3000, 10);
  point.latency->count = 199;
  EXPECT_NE(AllFigures(point).Get("latency_p90_ns"), std::nullopt);
  EXPECT_EQ(AllFigures(point).Get("latency_p95_ns"), std::nullopt);
  EXPECT_NE(AllFigures(point).Get("latency_max_ns"), std::nullopt);
}

TEST(AllFigures, LeaveOutWhatCallsWithoutAnEndCouldChange) {
  PointResult point = Measured(1, 0, 3000, 10);
  point.latency->count = 10'000;
  point.latency->at_least = 1;
  point.latency->least_age_ns = 40;  // the P99
  const Figures all = AllFigures(point);
  EXPECT_EQ(all.Get("latency_p95_ns"), 30);
  for (const char* name :
       {"latency_p99_ns", "latency_p99_9_ns", "latency_max_ns", "latency_mean_ns", "latency_stddev_ns"}) {
    EXPECT_EQ(all.Get(name), std::nullopt) << name;
  }
}

TEST(AllFigures, OfAnOpenLoopHaveLatenciesFromSentAndPacing) {
  PointResult point = Measured(1, 0, 3000, 10);
  OpenLoopResult& open = point.open_loop.emplace();
  open.from_sent = Latency(7);
  open.lateness_p50_ns = 1;
  open.lateness_p99_ns = 2;
  open.lateness_max_ns = 3;
  open.slot_wait_mean_ns = 4;
  open.slot_wait_p99_ns = 5;
  open.slot_wait_max_ns = 6;
  const Figures all = AllFigures(point);
  EXPECT_EQ(all.Get("latency_p50_ns"), 10);
  EXPECT_EQ(all.Get("latency_from_sent_p50_ns"), 7);
  EXPECT_EQ(all.Get("latency_from_sent_mean_ns"), 8);
  EXPECT_EQ(all.Get("latency_from_sent_p99_ns"), std::nullopt) << "of 100 calls";
  EXPECT_EQ(all.Get("pacer_lateness_p50_ns"), 1);
  EXPECT_EQ(all.Get("pacer_lateness_p99_ns"), 2);
  EXPECT_EQ(all.Get("pacer_lateness_max_ns"), 3);
  EXPECT_EQ(all.Get("slot_wait_mean_ns"), 4);
  EXPECT_EQ(all.Get("slot_wait_p99_ns"), 5);
  EXPECT_EQ(all.Get("slot_wait_max_ns"), 6);
}

TEST(AllFigures, OfNothingMeasuredAreNone) {
  EXPECT_TRUE(AllFigures(Unmeasured(1, 0)).empty());
}

TEST(PointResult, ThroughputDividesByTheMeasuredWindow) {
  PointResult point = Measured(1, 0, 3000, 10);
  point.window_ns = 1'500 * kNanosPerMilli;
  EXPECT_DOUBLE_EQ(point.ThroughputPerSecond(), 2000);
  EXPECT_EQ(Unmeasured(1, 0).ThroughputPerSecond(), 0);
}

TEST(PointResult, ErrorRateIsTheShareOfFailedCalls) {
  PointResult point = Measured(1, 0, 75, 10);
  EXPECT_EQ(point.ErrorRate(), 0);
  point.errors = {{"UNAVAILABLE", 20, ""}, {"DEADLINE_EXCEEDED", 5, ""}};
  EXPECT_EQ(point.Failed(), 25u);
  EXPECT_DOUBLE_EQ(point.ErrorRate(), 0.25);
  point.completed = 0;
  EXPECT_DOUBLE_EQ(point.ErrorRate(), 1);
  EXPECT_EQ(PointResult().ErrorRate(), 0) << "nothing happened, so nothing failed";
}

TEST(PointResult, CallsWithoutAnEndAreErrors) {
  PointResult point = Measured(1, 0, 60, 10);
  point.errors = {{"UNAVAILABLE", 20, ""}};
  point.counts.unfinished = 15;
  point.counts.unsent = 5;
  EXPECT_DOUBLE_EQ(point.ErrorRate(), 0.4);
  point.errors.clear();
  point.completed = 0;
  EXPECT_DOUBLE_EQ(point.ErrorRate(), 1);
}

TEST(PointResult, CpuPerRpcIsAbsentWithoutRpcsOrWithoutCpuTimes) {
  PointResult point = Measured(1, 0, 100, 10);
  point.figures.Set("client_cpu_user_ns", 400);
  point.figures.Set("client_cpu_system_ns", 600);
  EXPECT_DOUBLE_EQ(point.CpuPerRpcNs().value(), 10);
  point.completed = 0;
  EXPECT_FALSE(point.CpuPerRpcNs().has_value());
  point.completed = 100;
  point.figures = Figures();
  EXPECT_FALSE(point.CpuPerRpcNs().has_value());
}

}  // namespace
}  // namespace cqbench
