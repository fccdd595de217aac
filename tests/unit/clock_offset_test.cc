// Estimates how far another clock is ahead, from a distance: the error is within the bound for any delays.
#include "src/ranks/clock_offset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace cqbench {
namespace {

constexpr Nanos kThousandSeconds = 1000 * kNanosPerSecond;

// Makes a sample of a clock that is `ahead` of ours; `there` and `back` are the delays of request and response.
ClockProbe Probe(Nanos at, Nanos ahead, Nanos there, Nanos back) {
  return {at, at + there + ahead, at + there + back};
}

TEST(ClockOffset, NothingWithoutALook) {
  EXPECT_FALSE(EstimateOffset({}).has_value());
  const std::vector<ClockProbe> backwards = {{100, 50, 99}};
  EXPECT_FALSE(EstimateOffset(backwards).has_value());
}

TEST(ClockOffset, ExactWhereBothWaysTakeEquallyLong) {
  const std::vector<ClockProbe> probes = {Probe(5'000, 777, 400, 400)};
  const auto offset = EstimateOffset(probes);
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(offset->offset_ns, 777);
  EXPECT_EQ(offset->bound_ns, 400);
  EXPECT_EQ(offset->at_ns, 5'400);
}

TEST(ClockOffset, TheShortestWayCounts) {
  const std::vector<ClockProbe> probes = {Probe(0, 50, 90'000, 100), Probe(1'000'000, 50, 200, 200),
                                          Probe(2'000'000, 50, 100, 90'000)};
  const auto offset = EstimateOffset(probes);
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(offset->offset_ns, 50);
  EXPECT_EQ(offset->at_ns, 1'000'200);
}

// All of the delay is one way: the error is half of the delay, which is exactly the bound.
TEST(ClockOffset, OneSidedDelaysReachTheBound) {
  for (const auto& [there, back] : {std::pair<Nanos, Nanos>{10'001, 0}, {0, 10'001}}) {
    const std::vector<ClockProbe> probes = {Probe(0, kThousandSeconds, there, back)};
    const auto offset = EstimateOffset(probes);
    ASSERT_TRUE(offset.has_value());
    const Nanos error = std::abs(offset->offset_ns - kThousandSeconds);
    EXPECT_GE(error, 5'000);
    EXPECT_LE(error, offset->bound_ns);
    EXPECT_EQ(offset->bound_ns, 5'001);
  }
}

TEST(ClockOffset, WithinTheBoundWhateverTheDelays) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const auto ahead = static_cast<Nanos>(random() % (4 * kThousandSeconds)) - 2 * kThousandSeconds;
    std::vector<ClockProbe> probes;
    for (int i = 0; i < kClockProbes; ++i) {
      probes.push_back(Probe(i * kNanosPerMilli, ahead, static_cast<Nanos>(500 + random() % 400'000),
                             static_cast<Nanos>(500 + random() % 3'000)));
    }
    const auto offset = EstimateOffset(probes);
    ASSERT_TRUE(offset.has_value());
    EXPECT_LE(std::abs(offset->offset_ns - ahead), offset->bound_ns);
  }
}

// The clocks drift by 20 parts in a million, as quartz crystals do, over a minute.
TEST(ClockOffset, Drift) {
  const ClockOffset before{kThousandSeconds, 500, 0};
  const ClockOffset after{kThousandSeconds + 60 * 20'000, 500, 60 * kNanosPerSecond};
  EXPECT_DOUBLE_EQ(DriftPerSecond(before, after), 20'000);
  EXPECT_DOUBLE_EQ(DriftPerSecond(after, before), 20'000);
  EXPECT_EQ(DriftPerSecond(before, before), 0);
}

}  // namespace
}  // namespace cqbench
