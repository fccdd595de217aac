#include "cqbench/schedule.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "src/stats/gap_meter.h"

namespace cqbench {
namespace {

std::vector<DueTimes> Draw(Arrivals arrivals, double rate, Nanos length_ns, int pacers, uint64_t seed = 1) {
  ScheduleConfig config;
  config.arrivals = arrivals;
  config.seed = seed;
  auto schedule = DrawSchedule(config, rate, length_ns, pacers);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

DueTimes InOrder(const std::vector<DueTimes>& schedule) {
  DueTimes all;
  for (const DueTimes& stream : schedule) all.insert(all.end(), stream.begin(), stream.end());
  std::sort(all.begin(), all.end());
  return all;
}

GapShape ShapeOf(const DueTimes& times) {
  GapMeter meter;
  for (Nanos time : times) meter.Add(time);
  return meter.Shape().value();
}

// Returns the greatest distance between the distribution of the gaps and the exponential one with that mean.
double DistanceFromExponential(const DueTimes& times, double mean_ns) {
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
  std::sort(gaps.begin(), gaps.end());
  const auto n = static_cast<double>(gaps.size());
  double distance = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    const double expected = -std::expm1(-gaps[i] / mean_ns);
    distance = std::max({distance, std::abs(expected - static_cast<double>(i) / n),
                         std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return distance;
}

TEST(Schedule, ConstantArrivalsAreTheExactGridHoweverManyPacersShareIt) {
  for (int pacers : {1, 2, 7}) {
    const std::vector<DueTimes> schedule = Draw(Arrivals::kConstant, 30'000, kNanosPerSecond, pacers);
    ASSERT_EQ(schedule.size(), static_cast<size_t>(pacers));
    const DueTimes all = InOrder(schedule);
    ASSERT_EQ(all.size(), 30'000u);
    for (size_t k = 0; k < all.size(); ++k) ASSERT_EQ(all[k], std::llround(static_cast<double>(k) * 1e9 / 30'000));
    const auto [least, most] =
        std::minmax_element(schedule.begin(), schedule.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
    EXPECT_LE(most->size() - least->size(), 1u);
  }
}

TEST(Schedule, NothingIsDueAtItsEndOrLater) {
  EXPECT_EQ(Draw(Arrivals::kConstant, 10, kNanosPerSecond, 1),
            (std::vector<DueTimes>{{0, 100'000'000, 200'000'000, 300'000'000, 400'000'000, 500'000'000, 600'000'000,
                                    700'000'000, 800'000'000, 900'000'000}}));
  EXPECT_LT(InOrder(Draw(Arrivals::kPoisson, 1e5, kNanosPerSecond, 4)).back(), kNanosPerSecond);
}

class PoissonSchedule : public testing::TestWithParam<int> {};

TEST_P(PoissonSchedule, SuperposesToAPoissonProcess) {
  constexpr double kRate = 90'000;
  const std::vector<DueTimes> schedule = Draw(Arrivals::kPoisson, kRate, 4 * kNanosPerSecond, GetParam());
  for (const DueTimes& stream : schedule) EXPECT_TRUE(std::is_sorted(stream.begin(), stream.end()));
  const DueTimes all = InOrder(schedule);
  const double expected = kRate * 4;
  EXPECT_NEAR(static_cast<double>(all.size()), expected, 4 * std::sqrt(expected));
  const GapShape shape = ShapeOf(all);
  EXPECT_NEAR(shape.variation, 1, 4 / std::sqrt(expected));
  EXPECT_NEAR(shape.correlation, 0, 4 / std::sqrt(expected));
  EXPECT_LT(DistanceFromExponential(all, 1e9 / kRate), 2.0 / std::sqrt(expected));  // Kolmogorov: p = 0.0007
}

TEST_P(PoissonSchedule, CountsOfLongerStretchesVaryAsTheirMean) {
  const DueTimes all = InOrder(Draw(Arrivals::kPoisson, 50'000, 10 * kNanosPerSecond, GetParam()));
  std::vector<double> counts(1000, 0);
  for (Nanos time : all) ++counts[static_cast<size_t>(time / (10 * kNanosPerMilli))];
  double variance = 0;
  for (double count : counts) variance += (count - 500) * (count - 500) / 1000;
  EXPECT_NEAR(variance / 500, 1, 4 * std::sqrt(2.0 / 1000));
}

INSTANTIATE_TEST_SUITE_P(Pacers, PoissonSchedule, testing::Values(1, 2, 3, 16));

TEST(Schedule, PacersOfNeighbouringSeedsHaveNothingInCommon) {
  DueTimes all;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (const DueTimes& stream : Draw(Arrivals::kPoisson, 1000, kNanosPerSecond, 8, seed)) {
      all.insert(all.end(), stream.begin(), stream.begin() + 50);
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Schedule, MoreThanItHoldsIsRefused) {
  const auto schedule = DrawSchedule(ScheduleConfig(), 10e6, 11 * kNanosPerSecond, 1);
  EXPECT_EQ(schedule.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(schedule.status().message(),
            "10000000 calls a second for 11 s would be 110000000 calls; a schedule holds at most 100000000: lower the "
            "rate or the interval");
}

TEST(ScheduleHash, IsTheSameEveryTime) {
  // A separate program in Python calculated these numbers. If they change, results of different builds seem to have
  // different schedules.
  EXPECT_EQ(HashSchedule(Draw(Arrivals::kConstant, 2000, kNanosPerSecond, 1)), 0x77693e5e9c3da82bu);
  EXPECT_EQ(HashSchedule(Draw(Arrivals::kPoisson, 2000, kNanosPerSecond, 1, 7)), 0x7b1d636289578f7bu);
}

TEST(ScheduleHash, IsOfTheTimesInOrderAndNotOfWhoSendsThem) {
  EXPECT_EQ(HashSchedule(Draw(Arrivals::kConstant, 2000, kNanosPerSecond, 5)),
            HashSchedule(Draw(Arrivals::kConstant, 2000, kNanosPerSecond, 1)));
  const std::vector<DueTimes> poisson = Draw(Arrivals::kPoisson, 2000, kNanosPerSecond, 5);
  EXPECT_EQ(HashSchedule(poisson), HashSchedule({InOrder(poisson)}));
}

TEST(ScheduleHash, DiffersWithTheSeedAndWithOneTime) {
  std::vector<DueTimes> schedule = Draw(Arrivals::kPoisson, 2000, kNanosPerSecond, 1, 1);
  const uint64_t hash = HashSchedule(schedule);
  EXPECT_NE(hash, HashSchedule(Draw(Arrivals::kPoisson, 2000, kNanosPerSecond, 1, 2)));
  schedule[0].back() += 1;
  EXPECT_NE(hash, HashSchedule(schedule));
}

TEST(ScheduleHash, IsFnv1a) {
  EXPECT_EQ(HashSchedule({}), 0xcbf29ce484222325u);
  EXPECT_EQ(HashSchedule({{'a'}}), 0x6926124a7b1433c4u);
}

TEST(Pacers, OneForEvery30000CallsASecond) {
  EXPECT_EQ(PacersFor(0.1), 1);
  EXPECT_EQ(PacersFor(30'000), 1);
  EXPECT_EQ(PacersFor(30'001), 2);
  EXPECT_EQ(PacersFor(10e6), 334);
}

Nanos ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

TEST(PacerClock, IsNeverEarlyAndSaysWhenItIs) {
  for (Pace pace : {Pace::kSleep, Pace::kHybrid, Pace::kSpin}) {
    const PacerClock clock(pace, 30 * kNanosPerMicro);
    for (Nanos wait : {Nanos{0}, Nanos{1'000}, Nanos{50'000}, Nanos{2'000'000}}) {
      const Nanos due = NowNs() + wait;
      const Nanos then = clock.WaitUntil(due);
      EXPECT_GE(then, due);
      EXPECT_LE(then, NowNs());
    }
  }
}

TEST(PacerClock, ReturnsAtOnceWhenTheTimeHasPassed) {
  for (Pace pace : {Pace::kSleep, Pace::kHybrid, Pace::kSpin}) {
    const PacerClock clock(pace, 30 * kNanosPerMicro);
    const Nanos cpu = ThreadCpuNs();
    for (int i = 0; i < 1000; ++i) clock.WaitUntil(NowNs() - kNanosPerSecond);
    EXPECT_LT(ThreadCpuNs() - cpu, 20 * kNanosPerMilli);
  }
}

TEST(PacerClock, OnlySpinningTakesTheCpuForTheWholeWait) {
  const auto cpu_of_a_wait = [](Pace pace) {
    const PacerClock clock(pace, kMaxMargin);
    const Nanos cpu = ThreadCpuNs();
    clock.WaitUntil(NowNs() + 100 * kNanosPerMilli);
    return ThreadCpuNs() - cpu;
  };
  EXPECT_LT(cpu_of_a_wait(Pace::kSleep), 5 * kNanosPerMilli);
  EXPECT_LT(cpu_of_a_wait(Pace::kHybrid), 5 * kNanosPerMilli);
  EXPECT_GT(cpu_of_a_wait(Pace::kSpin), 10 * kNanosPerMilli);  // less than 100, because the machine may be busy
}

TEST(PacerClock, AsksForExactTimers) {
  std::thread([] {
    ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 50'000), 0);  // the kernel's own choice; threads inherit it
    const PacerClock clock(Pace::kSleep, 0);
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1);
  }).join();
}

TEST(CalibrateMargin, IsBetweenNothingAndTheMost) {
  const Nanos margin = CalibrateMargin(100);
  EXPECT_GT(margin, 0);
  EXPECT_LE(margin, kMaxMargin);
  EXPECT_LE(CalibrateMargin(1e-9, 1), kMaxMargin);
  EXPECT_LE(CalibrateMargin(100'000), 2500);  // a quarter of the gap
}

// Calculates in two passes and with more digits.
GapShape Reference(const DueTimes& times) {
  std::vector<long double> gaps;
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(static_cast<long double>(times[i] - times[i - 1]));
  long double mean = 0, squares = 0, products = 0;
  for (long double gap : gaps) mean += gap / static_cast<long double>(gaps.size());
  for (size_t i = 0; i < gaps.size(); ++i) {
    squares += (gaps[i] - mean) * (gaps[i] - mean);
    if (i > 0) products += (gaps[i] - mean) * (gaps[i - 1] - mean);
  }
  const long double variance = squares / static_cast<long double>(gaps.size());
  return {static_cast<double>(std::sqrt(variance) / mean),
          static_cast<double>(products / static_cast<long double>(gaps.size() - 1) / variance)};
}

TEST(GapMeter, AgreesWithADirectCalculation) {
  std::mt19937_64 random(1);
  DueTimes times = {1'000'000'000'000'000};
  Nanos wave = 0;
  for (int i = 0; i < 100'000; ++i) {
    wave = wave / 2 + static_cast<Nanos>(random() % 10'000);  // each gap has to do with the one before
    times.push_back(times.back() + 20'000 + wave);
  }
  const GapShape shape = ShapeOf(times), expected = Reference(times);
  EXPECT_NEAR(shape.variation, expected.variation, 1e-9);
  EXPECT_NEAR(shape.correlation, expected.correlation, 1e-9);
  EXPECT_NEAR(shape.correlation, 0.5, 0.02);
}

TEST(GapMeter, LosesNothingWhenTheMeanIsFarAboveTheSpread) {
  DueTimes times = {0};
  for (int i = 0; i < 1'000; ++i) times.push_back(times.back() + 80 * kNanosPerSecond + (i % 2 == 0 ? 2 : -2));
  const GapShape shape = ShapeOf(times);
  EXPECT_NEAR(shape.variation * 80e9, 2, 1e-6);
  EXPECT_NEAR(shape.correlation, -1, 1e-6);
}

TEST(GapMeter, OfConstantArrivalsIsZero) {
  const GapShape shape = ShapeOf(InOrder(Draw(Arrivals::kConstant, 30'000, kNanosPerSecond, 1)));
  EXPECT_LT(shape.variation, 1e-4);
  EXPECT_EQ(shape.correlation, 0);
}

TEST(GapMeter, SaysNothingOfLessThan100Gaps) {
  GapMeter meter;
  for (Nanos i = 0; i < 100; ++i) meter.Add(i * i);
  EXPECT_FALSE(meter.Shape());
  meter.Add(100 * 100);
  EXPECT_TRUE(meter.Shape());
}

TEST(GapMeter, MergesWithoutAGapBetween) {
  DueTimes times = {0};
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) times.push_back(times.back() + static_cast<Nanos>(random() % 1000));
  GapMeter once, twice, elsewhere;
  for (Nanos time : times) {
    once.Add(time);
    twice.Add(time);
    elsewhere.Add(time + kNanosPerSecond * 3600);
  }
  twice.Merge(elsewhere);
  twice.Merge(GapMeter());
  EXPECT_DOUBLE_EQ(twice.Shape()->variation, once.Shape()->variation);
  EXPECT_DOUBLE_EQ(twice.Shape()->correlation, once.Shape()->correlation);
}

}  // namespace
}  // namespace cqbench
