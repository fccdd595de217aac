#include "src/server/services/service_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace cqbench {
namespace {

class ServiceTimesTest : public testing::Test {
 protected:
  // Returns the indexes of the timed calls among `n`.
  std::vector<uint32_t> Timed(uint32_t n) {
    std::vector<uint32_t> timed;
    for (uint32_t i = 0; i < n; ++i) {
      if (times_.Accepted(calls_) != 0) timed.push_back(i);
    }
    return timed;
  }
  void Call() { times_.Finished(times_.Handled(times_.Accepted(calls_))); }

  ServiceTimes times_;
  uint32_t calls_ = 0;
};

TEST_F(ServiceTimesTest, OffTimesNothing) {
  EXPECT_FALSE(times_.on());
  EXPECT_TRUE(Timed(100).empty());
  EXPECT_EQ(calls_, 0u) << "not even counted";
  EXPECT_EQ(times_.Handled(0), 0);
  times_.Finished(0);
  EXPECT_EQ(times_.handling().Snapshot().Count(), 0u);
  EXPECT_EQ(times_.finishing().Snapshot().Count(), 0u);
}

TEST_F(ServiceTimesTest, OnTimesEverySixteenthFromTheFirst) {
  times_.Switch(true);
  EXPECT_TRUE(times_.on());
  EXPECT_EQ(Timed(49), (std::vector<uint32_t>{0, 16, 32, 48}));
}

TEST_F(ServiceTimesTest, RecordsTimedCallsAlone) {
  times_.Switch(true);
  for (int i = 0; i < 160; ++i) Call();
  EXPECT_EQ(times_.handling().Snapshot().Count(), 10u);
  EXPECT_EQ(times_.finishing().Snapshot().Count(), 10u);
}

TEST_F(ServiceTimesTest, HandlingEndsWhereFinishingBegins) {
  times_.Switch(true);
  const Nanos start = NowNs();
  const Nanos accepted = times_.Accepted(calls_);
  EXPECT_GE(accepted, start);
  const Nanos handled = times_.Handled(accepted - kNanosPerSecond);
  EXPECT_GE(handled, accepted);
  EXPECT_LE(handled, NowNs());
  times_.Finished(handled - 2 * kNanosPerSecond);
  const auto seconds = [](const SharedHistogram& h) { return ToSeconds(h.Snapshot().Max()); };
  EXPECT_NEAR(seconds(times_.handling()), 1, 0.1);
  EXPECT_NEAR(seconds(times_.finishing()), 2, 0.1);
}

TEST_F(ServiceTimesTest, SomeApisHaveNoEventForTheEnd) {
  times_.Switch(true);
  times_.Handled(times_.Accepted(calls_));
  EXPECT_EQ(times_.handling().Snapshot().Count(), 1u);
  EXPECT_EQ(times_.finishing().Snapshot().Count(), 0u);
}

TEST_F(ServiceTimesTest, SwitchingOnForgetsTheTimesSoFar) {
  times_.Switch(true);
  Call();
  times_.Switch(false);
  EXPECT_EQ(times_.handling().Snapshot().Count(), 1u) << "off: they can still be read";
  times_.Switch(true);
  EXPECT_EQ(times_.handling().Snapshot().Count(), 0u);
  EXPECT_EQ(times_.finishing().Snapshot().Count(), 0u);
}

TEST_F(ServiceTimesTest, SwitchingOnWhatIsOnForgetsToo) {
  times_.Switch(true);
  Call();
  times_.Switch(true);
  EXPECT_EQ(times_.handling().Snapshot().Count(), 0u);
}

TEST_F(ServiceTimesTest, CallsUnderWayWhenItIsSwitchedOffAreStillRecorded) {
  times_.Switch(true);
  const Nanos accepted = times_.Accepted(calls_);
  times_.Switch(false);
  times_.Finished(times_.Handled(accepted));
  EXPECT_EQ(times_.handling().Snapshot().Count(), 1u);
  EXPECT_EQ(times_.finishing().Snapshot().Count(), 1u);
}

}  // namespace
}  // namespace cqbench
