// The histogram's percentiles compared with exact nearest-rank percentiles of the same samples, sorted.
#include "src/stats/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Samples = std::vector<Nanos>;

// Percentiles in tenths of a percent, so that the exact rank is integer arithmetic: 99.9 % has no binary fraction.
constexpr int kPermille[] = {10, 100, 500, 900, 950, 990, 999, 1000};

Histogram Recorded(const Samples& samples) {
  Histogram h;
  for (Nanos value : samples) h.Record(value);
  return h;
}

Nanos ExactPercentile(const Samples& sorted, int permille) {
  const size_t rank = (static_cast<size_t>(permille) * sorted.size() + 999) / 1000;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double ExactMean(const Samples& samples) {
  double sum = 0;
  for (Nanos value : samples) sum += static_cast<double>(value);
  return sum / static_cast<double>(samples.size());
}

double ExactStdDev(const Samples& samples) {
  const double mean = ExactMean(samples);
  double squares = 0;
  for (Nanos value : samples) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return std::sqrt(squares / static_cast<double>(samples.size()));
}

// Draws samples of a distribution with a fixed seed.
Samples Draw(size_t n, const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(20260131);
  Samples samples;
  for (size_t i = 0; i < n; ++i) samples.push_back(static_cast<Nanos>(draw(random)));
  return samples;
}

Samples Uniform() {
  std::uniform_real_distribution<double> d(20e3, 900e3);
  return Draw(50'000, [&](auto& random) { return d(random); });
}

Samples Exponential() {
  std::exponential_distribution<double> d(1 / 150e3);
  return Draw(50'000, [&](auto& random) { return d(random); });
}

Samples HeavyTail() {
  std::lognormal_distribution<double> d(11, 1.5);
  return Draw(50'000, [&](auto& random) { return std::min(d(random), 100e9); });
}

Samples Bimodal() {
  std::bernoulli_distribution slow(0.02);
  std::normal_distribution<double> fast_time(40e3, 2e3);
  std::normal_distribution<double> slow_time(5e6, 2e5);
  return Draw(50'000, [&](auto& random) { return slow(random) ? slow_time(random) : fast_time(random); });
}

Samples Tiny() {
  std::uniform_int_distribution<int> d(0, 3000);
  return Draw(5'000, [&](auto& random) { return static_cast<double>(d(random)); });
}

Samples PowersOfTwo() {
  Samples samples;
  for (int bit = 0; bit < 37; ++bit) {
    for (Nanos off : {-1, 0, 1}) samples.push_back(std::min((Nanos{1} << bit) + off, Histogram::kMaxTrackableNs));
  }
  return samples;
}

struct Distribution {
  const char* name;
  Samples samples;
};

void PrintTo(const Distribution& d, std::ostream* os) {
  *os << d.name;
}

class HistogramOn : public testing::TestWithParam<Distribution> {
 protected:
  const Samples& samples() const { return GetParam().samples; }
};

TEST_P(HistogramOn, PercentilesAreExactOrUpToAThousandthAbove) {
  Samples sorted = samples();
  std::sort(sorted.begin(), sorted.end());
  const Histogram h = Recorded(sorted);
  for (int permille : kPermille) {
    const Nanos exact = ExactPercentile(sorted, permille);
    const Nanos reported = h.ValueAtPercentile(permille / 10.0);
    EXPECT_GE(reported, exact) << permille / 10.0 << " %";
    EXPECT_LE(reported - exact, exact / 1000) << permille / 10.0 << " %";
  }
}

TEST_P(HistogramOn, ExtremesCountAndMeanAreExact) {
  const Histogram h = Recorded(samples());
  EXPECT_EQ(h.Count(), samples().size());
  EXPECT_EQ(h.Min(), *std::min_element(samples().begin(), samples().end()));
  EXPECT_EQ(h.Max(), *std::max_element(samples().begin(), samples().end()));
  EXPECT_EQ(h.ValueAtPercentile(100), h.Max());
  EXPECT_DOUBLE_EQ(h.Mean(), ExactMean(samples()));
}

TEST_P(HistogramOn, StandardDeviationIsWithinTwoThousandths) {
  const double exact = ExactStdDev(samples());
  EXPECT_NEAR(Recorded(samples()).StdDev(), exact, exact * 0.002);
}

TEST_P(HistogramOn, MergedPartsEqualOneThatRecordedEverything) {
  Histogram parts[3];
  for (size_t i = 0; i < samples().size(); ++i) parts[i * i % 3].Record(samples()[i]);
  Histogram merged;
  for (const Histogram& part : parts) merged.Merge(part);

  const Histogram whole = Recorded(samples());
  EXPECT_EQ(merged.Count(), whole.Count());
  EXPECT_EQ(merged.Min(), whole.Min());
  EXPECT_EQ(merged.Max(), whole.Max());
  EXPECT_DOUBLE_EQ(merged.Mean(), whole.Mean());
  EXPECT_DOUBLE_EQ(merged.StdDev(), whole.StdDev());
  for (int permille = 1; permille <= 1000; ++permille) {
    EXPECT_EQ(merged.ValueAtPercentile(permille / 10.0), whole.ValueAtPercentile(permille / 10.0)) << permille;
  }
}

INSTANTIATE_TEST_SUITE_P(Distributions, HistogramOn,
                         testing::Values(Distribution{"Constant", Samples(1000, 5'000'123)},
                                         Distribution{"SingleSample", {77'777}}, Distribution{"Uniform", Uniform()},
                                         Distribution{"Exponential", Exponential()},
                                         Distribution{"HeavyTail", HeavyTail()}, Distribution{"Bimodal", Bimodal()},
                                         Distribution{"Tiny", Tiny()}, Distribution{"PowersOfTwo", PowersOfTwo()}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Histogram, EveryPowerOfTwoAndItsNeighboursIsReportedWithinAThousandth) {
  for (Nanos value : PowersOfTwo()) {
    // A larger value prevents that the percentile is cut to Max().
    const Nanos reported = Recorded({value, Histogram::kMaxTrackableNs}).ValueAtPercentile(50);
    EXPECT_GE(reported, value);
    EXPECT_LE(reported - value, value / 1000) << value;
  }
}

TEST(Histogram, ValuesBelow2048AreReportedExactly) {
  for (Nanos value = 0; value < 2048; ++value) {
    EXPECT_EQ(Recorded({value, 1'000'000}).ValueAtPercentile(50), value);
  }
}

TEST(Histogram, ThreeNinesOfAThousandSamplesIsTheLastButOne) {
  Histogram h;
  for (Nanos value = 1; value <= 1000; ++value) h.Record(value);
  EXPECT_EQ(h.ValueAtPercentile(99.9), 999);
  EXPECT_EQ(h.ValueAtPercentile(99.91), 1000);
  EXPECT_EQ(h.ValueAtPercentile(50), 500);
  EXPECT_EQ(h.ValueAtPercentile(0.1), 1);
}

TEST(Histogram, PercentileOfTwoSamplesIsNearestRankWithoutInterpolation) {
  const Histogram h = Recorded({10, 20});
  EXPECT_EQ(h.ValueAtPercentile(50), 10);
  EXPECT_EQ(h.ValueAtPercentile(50.1), 20);
}

TEST(Histogram, ValuesPastTheTrackableRangeKeepAnExactMaximum) {
  const Nanos past = Histogram::kMaxTrackableNs + 1;
  const Histogram h = Recorded({1000, past, 3 * past});
  EXPECT_EQ(h.Max(), 3 * past);
  EXPECT_EQ(h.ValueAtPercentile(100), 3 * past);
  EXPECT_GE(h.ValueAtPercentile(60), past);
  EXPECT_EQ(h.ValueAtPercentile(30), 1000);
  EXPECT_DOUBLE_EQ(h.Mean(), (1000.0 + 4 * static_cast<double>(past)) / 3);

  Histogram merged = Recorded({5});
  merged.Merge(h);
  EXPECT_EQ(merged.Count(), 4u);
  EXPECT_EQ(merged.Max(), 3 * past);
  EXPECT_EQ(merged.ValueAtPercentile(50), 1000);
}

TEST(Histogram, NegativeValuesCountAsZero) {
  const Histogram h = Recorded({-1, INT64_MIN, 4});
  EXPECT_EQ(h.Count(), 3u);
  EXPECT_EQ(h.Min(), 0);
  EXPECT_EQ(h.ValueAtPercentile(50), 0);
  EXPECT_EQ(h.Max(), 4);
  EXPECT_DOUBLE_EQ(h.Mean(), 4.0 / 3);
}

TEST(Histogram, EmptyReportsZeros) {
  const Histogram h;
  EXPECT_EQ(h.Count(), 0u);
  EXPECT_EQ(h.Min(), 0);
  EXPECT_EQ(h.Max(), 0);
  EXPECT_EQ(h.Mean(), 0);
  EXPECT_EQ(h.StdDev(), 0);
  for (int permille : kPermille) EXPECT_EQ(h.ValueAtPercentile(permille / 10.0), 0);
}

TEST(Histogram, MergingWithAnEmptyOneChangesNothing) {
  Histogram h = Recorded({100, 200});
  h.Merge(Histogram());
  EXPECT_EQ(h.Count(), 2u);
  EXPECT_EQ(h.Min(), 100);
  EXPECT_EQ(h.Max(), 200);

  Histogram from_empty;
  from_empty.Merge(h);
  EXPECT_EQ(from_empty.Count(), 2u);
  EXPECT_EQ(from_empty.Min(), 100);
  EXPECT_EQ(from_empty.ValueAtPercentile(50), 100);
  EXPECT_EQ(from_empty.Max(), 200);

  Histogram both;
  both.Merge(Histogram());
  EXPECT_EQ(both.Count(), 0u);
  EXPECT_EQ(both.Min(), 0);
}

using Bucket = std::pair<Nanos, uint64_t>;

std::vector<Bucket> BucketsOf(const Histogram& h) {
  std::vector<Bucket> buckets;
  h.ForEach([&](Nanos value, uint64_t count) { buckets.emplace_back(value, count); });
  return buckets;
}

TEST(Histogram, ValueRecordedManyTimesAtOnceEqualsOneByOne) {
  Histogram at_once;
  at_once.Record(70, 3);
  at_once.Record(5'000'123, 2);
  at_once.Record(-4, 1);
  const Histogram one_by_one = Recorded({70, 70, 70, 5'000'123, 5'000'123, -4});
  EXPECT_EQ(at_once.Count(), 6u);
  EXPECT_EQ(at_once.Min(), 0);
  EXPECT_EQ(at_once.Max(), 5'000'123);
  EXPECT_EQ(at_once.Mean(), one_by_one.Mean());
  EXPECT_EQ(at_once.StdDev(), one_by_one.StdDev());
  EXPECT_EQ(BucketsOf(at_once), BucketsOf(one_by_one));
}

TEST(Histogram, ForEachVisitsWhatIsThereAscendingByTheBucketsUpperEnds) {
  EXPECT_THAT(BucketsOf(Histogram()), IsEmpty());
  // From 4096 on a bucket holds four values, from 8192 on eight.
  EXPECT_THAT(
      BucketsOf(Recorded({8192, 4097, 9, 0, 4096, 9, 4100, 8200})),
      ElementsAre(Bucket(0, 1), Bucket(9, 2), Bucket(4099, 2), Bucket(4103, 1), Bucket(8199, 1), Bucket(8207, 1)));
}

TEST(Histogram, ForEachShowsValuesPastTheTrackableRangeAtItsEnd) {
  EXPECT_THAT(BucketsOf(Recorded({1, 2 * Histogram::kMaxTrackableNs, Histogram::kMaxTrackableNs})),
              ElementsAre(Bucket(1, 1), Bucket(Histogram::kMaxTrackableNs, 2)));
}

TEST_P(HistogramOn, ForEachCountsEverything) {
  uint64_t total = 0;
  Nanos last = -1;
  Recorded(samples()).ForEach([&](Nanos value, uint64_t count) {
    EXPECT_GT(value, last);
    EXPECT_GT(count, 0u);
    last = value;
    total += count;
  });
  EXPECT_EQ(total, samples().size());
}

TEST_P(HistogramOn, SnapshotOfASharedOneHasTheSameBuckets) {
  SharedHistogram shared;
  for (Nanos value : samples()) shared.Record(value);
  const Histogram snapshot = shared.Snapshot();
  const Histogram plain = Recorded(samples());
  EXPECT_EQ(BucketsOf(snapshot), BucketsOf(plain));
  EXPECT_EQ(snapshot.Count(), plain.Count());
  EXPECT_NEAR(snapshot.Mean(), plain.Mean(), plain.Mean() / 1000);
  for (int permille : kPermille) {
    const Nanos exact = plain.ValueAtPercentile(permille / 10.0);
    EXPECT_GE(snapshot.ValueAtPercentile(permille / 10.0), exact) << permille;
    EXPECT_LE(snapshot.ValueAtPercentile(permille / 10.0) - exact, exact / 1000) << permille;
  }
}

TEST(Histogram, TakesOverWhatAnotherSaysOfItself) {
  Histogram histogram;
  ASSERT_TRUE(histogram.Assign({{5, 2}, {2047, 1}, {2048, 3}}, 99, 5, 2049));
  EXPECT_EQ(histogram.Count(), 6u);
  EXPECT_EQ(histogram.Sum(), 99u);
  EXPECT_EQ(histogram.Max(), 2049);
  EXPECT_THAT(BucketsOf(histogram), ElementsAre(Bucket(5, 2), Bucket(2047, 1), Bucket(2049, 3)));
}

TEST(Histogram, RefusesWhatNoHistogramSays) {
  Histogram histogram;
  EXPECT_FALSE(histogram.Assign({}, 0, 0, 0));
  EXPECT_FALSE(histogram.Assign({{5, 1}}, 5, 6, 6)) << "the least is not in the first bucket";
  EXPECT_FALSE(histogram.Assign({{5, 1}, {6, 1}}, 11, 5, 7)) << "the greatest is not in the last";
  EXPECT_FALSE(histogram.Assign({{5, 1}, {5, 1}}, 10, 5, 5)) << "not ascending";
  EXPECT_FALSE(histogram.Assign({{5, 0}}, 5, 5, 5)) << "an empty bucket";
  EXPECT_FALSE(histogram.Assign({{5, 1}}, 5, -5, 5));
  EXPECT_EQ(histogram.Count(), 0u);
}

TEST(SharedHistogram, IsEmptyAtFirstAndWhenCleared) {
  SharedHistogram shared;
  EXPECT_EQ(shared.Snapshot().Count(), 0u);
  shared.Record(0);
  shared.Record(12'345);
  shared.Record(2 * Histogram::kMaxTrackableNs);
  EXPECT_EQ(shared.Snapshot().Count(), 3u);
  EXPECT_EQ(shared.Snapshot().Count(), 3u) << "looking changes nothing";
  shared.Clear();
  EXPECT_EQ(shared.Snapshot().Count(), 0u);
  shared.Record(-5);
  EXPECT_THAT(BucketsOf(shared.Snapshot()), ElementsAre(Bucket(0, 1)));
}

TEST(SharedHistogram, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kValues = 50'000;
  SharedHistogram shared;
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&shared] {
      for (int value = 0; value < kValues; ++value) shared.Record(value % 10);
    });
  }
  for (int i = 0; i < 3; ++i) EXPECT_LE(shared.Snapshot().Count(), uint64_t{kWriters * kValues});
  for (std::thread& writer : writers) writer.join();
  std::vector<Bucket> expected;
  for (Nanos value = 0; value < 10; ++value) expected.emplace_back(value, kWriters * kValues / 10);
  EXPECT_EQ(BucketsOf(shared.Snapshot()), expected);
}

}  // namespace
}  // namespace cqbench
