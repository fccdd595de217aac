// The rows of the table: medians over repetitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "tests/unit/measured_point.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(MedianOverRepetitions, OneRepetitionIsItself) {
  std::vector<PointResult> points = {Measured(1, 0, 100, 10), Measured(2, 0, 190, 11)};
  points[0].warnings = {{"drift", "odd"}};
  points[1].partial = true;
  points[1].counts.unfinished = 3;
  const std::vector<PointResult> rows = MedianOverRepetitions(points);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].load.slots, 1);
  EXPECT_EQ(rows[0].completed, 100u);
  EXPECT_EQ(rows[0].latency->p50_ns, 10);
  EXPECT_THAT(rows[0].warnings, ElementsAre(Notice{"drift", "odd"}));
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

TEST(MedianOverRepetitions, EachWarningAndEachNoteIsThereOnce) {
  std::vector<PointResult> points = {Measured(4, 0, 100, 10), Measured(4, 1, 100, 10), Unmeasured(4, 2)};
  points[0].notes = {{"not-measured", "no TCP_INFO"}, {"client-cpu-saturated", "full"}};
  points[1].notes = {{"not-measured", "no TCP_INFO"}, {"not-measured", "no control service"}};
  points[2].notes = {{"not-measured", "no TCP_INFO"}, {"client-cpu-saturated", "full"}};
  points[0].warnings = {{"drift", "throughput drifts: +7 %"}, {"steal", "of the client"}};
  points[1].warnings = {{"drift", "throughput drifts: -12.5 %"}, {"steal", "of the server"}};
  const PointResult row = MedianOverRepetitions(points).at(0);
  EXPECT_THAT(row.notes, ElementsAre(Notice{"not-measured", "no TCP_INFO"},
                                     Notice{"client-cpu-saturated", "full (in 2 of 3 repetitions)"},
                                     Notice{"not-measured", "no control service (in 1 of 3 repetitions)"}));
  EXPECT_THAT(row.warnings, ElementsAre(Notice{"drift", "throughput drifts: +7 % (in 2 of 3 repetitions)"},
                                        Notice{"steal", "of the client (in 1 of 3 repetitions)"},
                                        Notice{"steal", "of the server (in 1 of 3 repetitions)"},
                                        testing::Field(&Notice::code, "missing-repetitions")))
      << "numbers do not make two of one, the ends do";
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

// The P50s are 10, 20 and at least 30: the median of three is 20, whatever the third is. The median of two is unknown.
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
