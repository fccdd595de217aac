// Figures derived from what was measured, and the rows of the table: medians over repetitions.
#include "cqbench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

LatencyStats Latency(Nanos p50) {
  LatencyStats stats;
  stats.count = 100;
  stats.mean_ns = static_cast<double>(p50) + 1;
  stats.stddev_ns = 2;
  stats.min_ns = p50 / 2;
  stats.p50_ns = p50;
  stats.p90_ns = p50 * 2;
  stats.p95_ns = p50 * 3;
  stats.p99_ns = p50 * 4;
  stats.p999_ns = p50 * 5;
  stats.max_ns = p50 * 6;
  return stats;
}

PointResult Measured(int inflight, int repetition, uint64_t completed, Nanos p50) {
  PointResult point;
  point.load.slots = inflight;
  point.repetition = repetition;
  point.window_ns = kNanosPerSecond;
  point.completed = completed;
  point.latency = Latency(p50);
  point.figures.Set("client_cpu_user_ns", static_cast<double>(completed) * 1000);
  point.figures.Set("client_cpu_system_ns", static_cast<double>(completed) * 2000);
  return point;
}

PointResult Unmeasured(int inflight, int repetition) {
  PointResult point;
  point.load.slots = inflight;
  point.repetition = repetition;
  point.failure = "cannot connect";
  return point;
}

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
  at_least.Record(600);  // it may have taken 2,000 in the end
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

// Whatever calls without an end would have taken, a percentile that is known does not change.
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

std::vector<std::string> Names(const Figures& figures) {
  std::vector<std::string> names;
  for (const auto& [name, value] : figures) names.push_back(name);
  return names;
}

TEST(AllFigures, AreThroughputLatenciesAndEvidence) {
  PointResult point = Measured(1, 0, 3000, 10);
  point.latency->count = 10'000;
  point.window_ns = 1'500 * kNanosPerMilli;
  const Figures all = AllFigures(point);
  EXPECT_THAT(Names(all),
              ElementsAre("throughput_per_second", "latency_mean_ns", "latency_stddev_ns", "latency_min_ns",
                          "latency_p50_ns", "latency_p90_ns", "latency_p95_ns", "latency_p99_ns", "latency_p99_9_ns",
                          "latency_max_ns", "client_cpu_user_ns", "client_cpu_system_ns"));
  EXPECT_EQ(all.Get("throughput_per_second"), 2000);
  EXPECT_EQ(all.Get("latency_mean_ns"), 11);
  EXPECT_EQ(all.Get("latency_stddev_ns"), 2);
  EXPECT_EQ(all.Get("latency_min_ns"), 5);
  EXPECT_EQ(all.Get("latency_p50_ns"), 10);
  EXPECT_EQ(all.Get("latency_p90_ns"), 20);
  EXPECT_EQ(all.Get("latency_p95_ns"), 30);
  EXPECT_EQ(all.Get("latency_p99_ns"), 40);
  EXPECT_EQ(all.Get("latency_p99_9_ns"), 50);
  EXPECT_EQ(all.Get("latency_max_ns"), 60);
  EXPECT_EQ(all.Get("client_cpu_user_ns"), 3'000'000);
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

TEST(MedianOverRepetitions, OneRepetitionIsItself) {
  std::vector<PointResult> points = {Measured(1, 0, 100, 10), Measured(2, 0, 190, 11)};
  points[0].warnings = {"odd"};
  points[1].partial = true;
  points[1].counts.unfinished = 3;
  const std::vector<PointResult> rows = MedianOverRepetitions(points);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].load.slots, 1);
  EXPECT_EQ(rows[0].completed, 100u);
  EXPECT_EQ(rows[0].latency->p50_ns, 10);
  EXPECT_THAT(rows[0].warnings, ElementsAre("odd"));
  EXPECT_EQ(rows[1].completed, 190u);
  EXPECT_EQ(rows[1].counts.unfinished, 3u);
  EXPECT_TRUE(rows[1].partial);
}

TEST(MedianOverRepetitions, RowsKeepTheOrderOfTheSweep) {
  const std::vector<PointResult> points = {Measured(48, 0, 1, 1), Measured(1, 0, 1, 1), Measured(48, 1, 1, 1),
                                           Measured(1, 1, 1, 1)};
  const std::vector<PointResult> rows = MedianOverRepetitions(points);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].load.slots, 48);
  EXPECT_EQ(rows[1].load.slots, 1);
}

TEST(MedianOverRepetitions, OddNumbersTakeTheMiddleOfEachFigureByItself) {
  std::vector<PointResult> points = {Measured(4, 0, 300, 20), Measured(4, 1, 100, 30), Measured(4, 2, 200, 10)};
  points[0].window_ns = 3;
  points[1].window_ns = 1;
  points[2].window_ns = 2;
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.completed, 200u);
  EXPECT_EQ(row.window_ns, 2);
  EXPECT_EQ(row.latency->min_ns, 10);
  EXPECT_EQ(row.latency->p50_ns, 20);
  EXPECT_EQ(row.latency->p90_ns, 40);
  EXPECT_EQ(row.latency->p95_ns, 60);
  EXPECT_EQ(row.latency->p99_ns, 80);
  EXPECT_EQ(row.latency->p999_ns, 100);
  EXPECT_EQ(row.latency->max_ns, 120);
  EXPECT_DOUBLE_EQ(row.latency->mean_ns, 21);
}

TEST(MedianOverRepetitions, EvenNumbersTakeTheMeanOfTheMiddleTwo) {
  const PointResult row = MedianOverRepetitions({Measured(4, 0, 400, 40), Measured(4, 1, 100, 10),
                                                 Measured(4, 2, 300, 30), Measured(4, 3, 200, 20)})
                              .at(0);
  EXPECT_EQ(row.completed, 250u);
  EXPECT_EQ(row.latency->p50_ns, 25);
  EXPECT_DOUBLE_EQ(row.latency->mean_ns, 26);
}

TEST(MedianOverRepetitions, CpuTimesAreMediansToo) {
  std::vector<PointResult> points = {Measured(4, 0, 300, 20), Measured(4, 1, 100, 30), Measured(4, 2, 200, 10)};
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.figures.Get("client_cpu_user_ns"), 200'000);
  EXPECT_EQ(row.figures.Get("client_cpu_system_ns"), 400'000);
  points[0].figures = Figures();
  EXPECT_EQ(MedianOverRepetitions(points).at(0).figures.Get("client_cpu_user_ns"), 150'000) << "of those that know it";
}

TEST(MedianOverRepetitions, RepetitionsThatMeasuredNothingAreLeftOut) {
  for (const auto& points :
       {std::vector<PointResult>{Unmeasured(4, 0), Measured(4, 1, 100, 10), Measured(4, 2, 200, 20)},
        std::vector<PointResult>{Measured(4, 0, 100, 10), Measured(4, 1, 200, 20), Unmeasured(4, 2)}}) {
    const PointResult row = MedianOverRepetitions(points).at(0);
    EXPECT_EQ(row.completed, 150u);
    EXPECT_EQ(row.latency->p50_ns, 15);
    EXPECT_EQ(row.failure, "");
  }
}

TEST(MedianOverRepetitions, RepetitionsThatWereCutShortAreLeftOut) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 200, 20), Measured(4, 2, 1, 999)};
  points[2].partial = true;
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.completed, 150u);
  EXPECT_EQ(row.latency->p50_ns, 15);
  EXPECT_FALSE(row.partial);
}

TEST(MedianOverRepetitions, RowFromACutRepetitionAloneSaysSo) {
  std::vector<PointResult> points = {Unmeasured(4, 0), Measured(4, 1, 7, 10)};
  points[1].partial = true;
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.completed, 7u);
  EXPECT_EQ(row.failure, "");
  EXPECT_TRUE(row.partial);
}

TEST(MedianOverRepetitions, NothingMeasuredAtAllKeepsTheReason) {
  const PointResult row = MedianOverRepetitions({Unmeasured(4, 0), Unmeasured(4, 1)}).at(0);
  EXPECT_EQ(row.failure, "cannot connect");
  EXPECT_FALSE(row.latency.has_value());
  EXPECT_EQ(row.ThroughputPerSecond(), 0);
}

TEST(MedianOverRepetitions, ErrorsOfAllRepetitionsAreAddedUpByCode) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Unmeasured(4, 1), Measured(4, 2, 100, 10)};
  points[0].errors = {{"UNAVAILABLE", 2, "reset"}};
  points[1].errors = {{"DEADLINE_EXCEEDED", 1, "late"}};
  points[2].errors = {{"UNAVAILABLE", 3, "refused"}};
  points[0].counts.unfinished = 1;
  points[1].counts.unfinished = 4;
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.Failed(), 6u);
  EXPECT_EQ(row.counts.unfinished, 5u);
  ASSERT_EQ(row.errors.size(), 2u);
  EXPECT_EQ(row.errors[0].code, "UNAVAILABLE");
  EXPECT_EQ(row.errors[0].count, 5u);
  EXPECT_EQ(row.errors[0].first_message, "reset");
  EXPECT_EQ(row.errors[1].first_message, "late");
}

TEST(MedianOverRepetitions, ErrorsStayMostFrequentFirst) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 100, 10)};
  points[0].errors = {{"UNAVAILABLE", 2, ""}};
  points[1].errors = {{"DEADLINE_EXCEEDED", 9, ""}, {"UNAVAILABLE", 1, ""}};
  EXPECT_EQ(MedianOverRepetitions(points).at(0).errors.at(0).code, "DEADLINE_EXCEEDED");
}

TEST(MedianOverRepetitions, EachWarningIsThereOnce) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 100, 10), Measured(4, 2, 100, 10)};
  points[0].warnings = {"a"};
  points[1].warnings = {"b", "a"};
  points[2].warnings = {"b"};
  EXPECT_THAT(MedianOverRepetitions(points).at(0).warnings, UnorderedElementsAre("a", "b"));
}

TEST(MedianOverRepetitions, EachNoteAndEachDoubtIsThereOnce) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 100, 10), Unmeasured(4, 2)};
  points[0].notes = {"no TCP_INFO"};
  points[1].notes = {"no TCP_INFO", "no control service"};
  points[2].notes = {"no TCP_INFO"};
  points[0].suspect = {{"drift", "throughput drifts: +7 %"}, {"steal", "of the client"}};
  points[1].suspect = {{"drift", "throughput drifts: -12.5 %"}, {"steal", "of the server"}};
  points[0].limits = {{"client-cpu", "full"}};
  points[2].limits = {{"client-cpu", "full"}};
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_THAT(row.notes, ElementsAre("no TCP_INFO", "no control service"));
  EXPECT_THAT(row.suspect, ElementsAre(Finding{"drift", "throughput drifts: +7 % (in 2 of 3 repetitions)"},
                                       Finding{"steal", "of the client (in 1 of 3 repetitions)"},
                                       Finding{"steal", "of the server (in 1 of 3 repetitions)"}))
      << "numbers do not make two of one, the ends do";
  EXPECT_THAT(row.limits, ElementsAre(Finding{"client-cpu", "full (in 2 of 3 repetitions)"}));
}

TEST(MedianOverRepetitions, FiguresAreMediansOverTheRepetitionsThatHaveThem) {
  std::vector<PointResult> points = {Measured(4, 0, 1, 10), Measured(4, 1, 1, 10), Measured(4, 2, 1, 10),
                                     Measured(4, 3, 1, 10)};
  points[3].partial = true;
  for (int i : {0, 1, 2, 3}) points[static_cast<size_t>(i)].figures.Set("client_cores_used", i * i);
  points[1].figures.Set("server_rpcs", 10);
  points[2].figures.Set("server_rpcs", 30);
  points[3].figures.Set("server_rpcs", 1000);
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(row.figures.Get("client_cores_used"), 1);
  EXPECT_EQ(row.figures.Get("server_rpcs"), 20);
}

TEST(MedianOverRepetitions, RatesAreLoadsOfTheirOwn) {
  std::vector<PointResult> points = {Measured(100, 0, 1, 10), Measured(100, 0, 2, 10), Measured(100, 1, 3, 10)};
  points[0].load.rate = points[2].load.rate = 1000;
  points[1].load.rate = 2000;
  const std::vector<PointResult> rows = MedianOverRepetitions(points);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].load.rate, 1000);
  EXPECT_EQ(rows[0].completed, 2u);
  EXPECT_EQ(rows[1].load.rate, 2000);
}

TEST(MedianOverRepetitions, CallsAreAddedUpSoThatTheyStillDo) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 90, 10)};
  points[0].counts = {110, 105, 4, 1, 100, 3, 2};
  points[1].counts = {90, 90, 0, 0, 90, 0, 0};
  const CallCounts counts = MedianOverRepetitions(points).at(0).counts;
  EXPECT_EQ(counts.due, 200u);
  EXPECT_EQ(counts.due, counts.sent + counts.dropped + counts.unsent);
  EXPECT_EQ(counts.sent, counts.ok + counts.failed + counts.unfinished);
}

TEST(MedianOverRepetitions, ObjectiveIsMetWhenEveryRepetitionMeetsIt) {
  std::vector<PointResult> points = {Measured(4, 0, 1, 10), Measured(4, 1, 1, 10)};
  EXPECT_TRUE(MedianOverRepetitions(points).at(0).objective_met);
  points[1].objective_met = false;
  EXPECT_FALSE(MedianOverRepetitions(points).at(0).objective_met);
}

// The P50s are 10, 20 and at least 30: whatever the third is, the middle is 20. Of two, there is no telling.
TEST(MedianOverRepetitions, PercentilesThatCallsWithoutAnEndCouldChangeAreNotKnown) {
  std::vector<PointResult> points = {Measured(4, 0, 1, 10), Measured(4, 1, 1, 20), Measured(4, 2, 1, 30)};
  points[2].latency->at_least = 5;
  points[2].latency->least_age_ns = 30;
  const PointResult three = MedianOverRepetitions(points).at(0);
  EXPECT_EQ(three.latency->p50_ns, 20);
  EXPECT_TRUE(three.latency->Knows(&LatencyStats::p50_ns));
  EXPECT_FALSE(three.latency->Knows(&LatencyStats::p90_ns)) << "20, 40, at least 60: above the least age";
  EXPECT_FALSE(three.latency->KnowsMean());
  points.erase(points.begin());
  EXPECT_FALSE(MedianOverRepetitions(points).at(0).latency->Knows(&LatencyStats::p50_ns));
}

TEST(MedianOverRepetitions, OpenLoopsHaveMediansToo) {
  std::vector<PointResult> points;
  for (int i : {1, 2, 9}) {
    PointResult& point = points.emplace_back(Measured(4, i, 1, 10));
    point.load.rate = 100;
    OpenLoopResult& open = point.open_loop.emplace();
    open.from_sent = Latency(i);
    open.lateness_p99_ns = 10 * i;
    open.slot_wait_mean_ns = 20 * i;
    open.outstanding_second_half = 0.5 * i;
    open.largest_burst = static_cast<uint64_t>(i);
    open.schedule_hash = 77;
    if (i != 2) open.gap_cv = i;
  }
  const OpenLoopResult row = MedianOverRepetitions(points).at(0).open_loop.value();
  EXPECT_EQ(row.from_sent->p50_ns, 2);
  EXPECT_EQ(row.lateness_p99_ns, 20);
  EXPECT_EQ(row.slot_wait_mean_ns, 40);
  EXPECT_EQ(row.outstanding_second_half, 1);
  EXPECT_EQ(row.largest_burst, 2u);
  EXPECT_EQ(row.gap_cv, 5) << "of those that know it";
  EXPECT_EQ(row.gap_correlation, std::nullopt);
  EXPECT_EQ(row.schedule_hash, 77u);
  points[1].open_loop->schedule_hash = 78;
  EXPECT_EQ(MedianOverRepetitions(points).at(0).open_loop->schedule_hash, 0u) << "not one schedule";
}

TEST(MedianOverRepetitions, NoPointsAreNoRows) {
  EXPECT_TRUE(MedianOverRepetitions({}).empty());
}

}  // namespace
}  // namespace cqbench
