// Intervals compared with ranks from tables of the sign test, and with the truth.
#include "src/result/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Values = std::vector<double>;

Values OneTo(size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Returns the share of `runs` samples of a normal distribution around 100 whose interval contains 100.
double Coverage(size_t n, int runs) {
  std::mt19937 random(20260131);
  std::normal_distribution<double> draw(100, 5);
  int inside = 0;
  for (int i = 0; i < runs; ++i) {
    Values values(n);
    for (double& value : values) value = draw(random);
    const Interval interval = Describe(values).ci95.value();
    if (interval.low <= 100 && 100 <= interval.high) ++inside;
  }
  return static_cast<double>(inside) / runs;
}

PointResult Point(int inflight, double throughput) {
  PointResult point;
  point.load.slots = inflight;
  point.window_ns = kNanosPerSecond;
  point.completed = static_cast<uint64_t>(throughput);
  return point;
}

std::vector<PointResult> Points(int inflight, const Values& throughputs) {
  std::vector<PointResult> points;
  for (double throughput : throughputs) points.push_back(Point(inflight, throughput));
  return points;
}

TEST(Describe, MedianIsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(Describe({5}).median, 5);
  EXPECT_EQ(Describe({9, 1, 4}).median, 4);
  EXPECT_EQ(Describe({9, 1, 4, 5}).median, 4.5);
  EXPECT_EQ(Describe({-3, -1}).median, -2);
}

TEST(Describe, CountsAndFindsTheExtremes) {
  const Summary summary = Describe({3, 7, -2, 5});
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.min, -2);
  EXPECT_EQ(summary.max, 7);
}

TEST(Describe, StandardDeviationIsThatOfASample) {
  EXPECT_EQ(Describe({7}).stddev, 0);
  EXPECT_DOUBLE_EQ(Describe({1, 3}).stddev, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(Describe({2, 4, 4, 4, 5, 5, 7, 9}).stddev, std::sqrt(32.0 / 7));
  EXPECT_EQ(Describe({4, 4, 4}).stddev, 0);
}

TEST(Describe, FewerThanSixValuesGiveNoInterval) {
  for (size_t n = 1; n < kMinForInterval; ++n) {
    EXPECT_FALSE(Describe(OneTo(n)).ci95.has_value()) << n;
    EXPECT_FALSE(Describe(OneTo(n)).RelativeError().has_value()) << n;
  }
  EXPECT_EQ(kMinForInterval, 6u);
  EXPECT_TRUE(Describe(OneTo(6)).ci95.has_value());
}

TEST(Describe, IntervalOfSixValuesIsTheirRange) {
  const Interval interval = Describe({8, 1, 5, 4, 9, 2}).ci95.value();
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 9);
}

// The critical values of the two-sided sign test at 5 %, plus one.
TEST(Describe, IntervalsEndAtTheRanksOfTheSignTest) {
  const struct {
    size_t n;
    double low;
  } expected[] = {{6, 1},  {7, 1},  {8, 1},  {9, 2},  {11, 2},  {12, 3},  {14, 3},   {15, 4},
                  {17, 5}, {20, 6}, {23, 7}, {25, 8}, {30, 10}, {50, 18}, {100, 40}, {1000, 469}};
  for (const auto& [n, low] : expected) {
    const Interval interval = Describe(OneTo(n)).ci95.value();
    EXPECT_EQ(interval.low, low) << n;
    EXPECT_EQ(interval.high, static_cast<double>(n) + 1 - low) << n;
  }
}

TEST(Describe, SameValuesInAnyOrderGiveTheSameInterval) {
  Values values = {12, 5, 5, 80, 33, 41, 7, 19};
  const Interval first = Describe(values).ci95.value();
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    const Interval again = Describe(values).ci95.value();
    EXPECT_EQ(again.low, first.low);
    EXPECT_EQ(again.high, first.high);
  }
}

TEST(Describe, IntervalOfEqualValuesIsThatValue) {
  const Interval interval = Describe(Values(9, 2.5)).ci95.value();
  EXPECT_EQ(interval.low, 2.5);
  EXPECT_EQ(interval.high, 2.5);
}

TEST(Describe, IntervalsHoldTheTrueMedianAsOftenAsTheySay) {
  for (size_t n : {6u, 7u, 8u, 9u, 10u, 11u, 12u, 14u, 15u, 16u, 20u, 30u, 50u}) {
    EXPECT_GE(Coverage(n, 2000), 0.94) << n << ": 95 %, and what chance leaves of it";
  }
  EXPECT_LE(Coverage(30, 2000), 0.985) << "an interval of everything would be right, too";
}

TEST(RelativeError, IsTheLongerSideOfTheIntervalAsAFractionOfTheMedian) {
  Summary summary;
  summary.median = 200;
  EXPECT_EQ(summary.RelativeError(), std::nullopt);
  summary.ci95 = {190, 230};
  EXPECT_EQ(summary.RelativeError(), 0.15);
  summary.ci95 = {150, 210};
  EXPECT_EQ(summary.RelativeError(), 0.25);
}

TEST(RelativeError, IsPositiveForNegativeMediansAndAbsentForZero) {
  Summary summary;
  summary.median = -200;
  summary.ci95 = {-230, -190};
  EXPECT_EQ(summary.RelativeError(), 0.15);
  summary.median = 0;
  EXPECT_EQ(summary.RelativeError(), std::nullopt);
}

TEST(DescribePoints, DescribesEveryFigureOfEachInFlightCountInTheOrderOfTheSweep) {
  std::vector<PointResult> points = {Point(8, 300), Point(1, 50), Point(8, 100), Point(1, 70), Point(8, 200)};
  for (PointResult& point : points) point.figures.Set("client_threads", point.load.slots);
  const auto statistics = DescribePoints(points);
  ASSERT_EQ(statistics.size(), 2u);
  EXPECT_EQ(statistics[0].load.slots, 8);
  EXPECT_EQ(statistics[0].repetitions, 3u);
  ASSERT_EQ(statistics[0].figures.size(), 2u);
  EXPECT_EQ(statistics[0].figures[0].first, "throughput_per_second");
  EXPECT_EQ(statistics[0].figures[0].second.median, 200);
  EXPECT_EQ(statistics[0].figures[1].first, "client_threads");
  EXPECT_EQ(statistics[0].figures[1].second.median, 8);
  EXPECT_EQ(statistics[1].load.slots, 1);
  EXPECT_EQ(statistics[1].repetitions, 2u);
  EXPECT_EQ(statistics[1].Find("throughput_per_second")->median, 60);
  EXPECT_EQ(statistics[1].Find("client_processes"), nullptr);
}

TEST(DescribePoints, LeavesOutWhatWasCutShortOrMeasuredNothing) {
  std::vector<PointResult> points = Points(4, {100, 200, 1, 2, 0});
  points[2].partial = true;
  points[3].failure = "cannot connect";
  const auto statistics = DescribePoints(points);
  ASSERT_EQ(statistics.size(), 1u);
  EXPECT_EQ(statistics[0].repetitions, 2u);
  EXPECT_EQ(statistics[0].Find("throughput_per_second")->min, 100);
}

TEST(DescribePoints, CountWithNothingMeasuredIsThereWithoutFigures) {
  std::vector<PointResult> points = Points(4, {100});
  points[0].partial = true;
  const auto statistics = DescribePoints(points);
  ASSERT_EQ(statistics.size(), 1u);
  EXPECT_EQ(statistics[0].repetitions, 0u);
  EXPECT_THAT(statistics[0].figures, IsEmpty());
}

TEST(DescribePoints, FiguresThatSomeRepetitionsLackAreDescribedOverTheOthers) {
  std::vector<PointResult> points = Points(4, {100, 110, 120, 130});
  points[1].figures.Set("client_rtt_min_ns_median", 10);
  points[3].figures.Set("client_rtt_min_ns_median", 30);
  const PointStatistics statistics = DescribePoints(points).at(0);
  EXPECT_EQ(statistics.repetitions, 4u);
  EXPECT_EQ(statistics.Find("client_rtt_min_ns_median")->count, 2u);
  EXPECT_EQ(statistics.Find("client_rtt_min_ns_median")->median, 20);
}

TEST(DescribePoints, RatesAreLoadsOfTheirOwn) {
  std::vector<PointResult> points = Points(100, {10, 20, 30});
  points[0].load.rate = points[2].load.rate = 15;
  points[1].load.rate = 25;
  const auto statistics = DescribePoints(points);
  ASSERT_EQ(statistics.size(), 2u);
  EXPECT_EQ(statistics[0].load, (Load{100, 15}));
  EXPECT_EQ(statistics[0].repetitions, 2u);
  EXPECT_EQ(statistics[1].Find("throughput_per_second")->median, 20);
}

// Otherwise the worst repetition would not count.
TEST(DescribePoints, LatencyThatOneRepetitionWithholdsIsNotThatOfTheOthers) {
  std::vector<PointResult> points = Points(4, {100, 110});
  for (PointResult& point : points) {
    point.latency.emplace().count = 10'000;
    point.latency->p50_ns = 5;
    point.latency->max_ns = 50;
  }
  EXPECT_NE(DescribePoints(points).at(0).Find("latency_max_ns"), nullptr);
  points[1].latency->at_least = 1;
  points[1].latency->least_age_ns = 40;
  EXPECT_EQ(DescribePoints(points).at(0).Find("latency_max_ns"), nullptr);
  EXPECT_EQ(DescribePoints(points).at(0).Find("latency_mean_ns"), nullptr);
  EXPECT_EQ(DescribePoints(points).at(0).Find("latency_p50_ns")->count, 2u);
}

TEST(NotStable, NamesTheCountsWhoseThroughputIsWiderThanAskedOrNotKnown) {
  std::vector<PointResult> points = Points(1, {98, 99, 100, 100, 101, 103});  // the interval is the range: 3 %
  for (const PointResult& point : Points(2, {1000, 1000, 1000, 1000, 1000, 1000})) points.push_back(point);
  for (const PointResult& point : Points(3, {100, 100, 100, 100, 100}))
    points.push_back(point);  // too few for an interval
  EXPECT_THAT(NotStable(points, 3), ElementsAre(Load{3}));
  EXPECT_THAT(NotStable(points, 2.9), ElementsAre(Load{1}, Load{3}));
  points.push_back(Point(3, 100));
  EXPECT_THAT(NotStable(points, 3), IsEmpty());
}

TEST(NotStable, RepetitionsThatWereCutShortDoNotHelp) {
  std::vector<PointResult> points = Points(1, {100, 100, 100, 100, 100, 100});
  EXPECT_THAT(NotStable(points, 1), IsEmpty());
  points[4].partial = true;
  EXPECT_THAT(NotStable(points, 1), ElementsAre(Load{1}));
}

}  // namespace
}  // namespace cqbench
