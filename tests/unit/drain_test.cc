// The end of a point: remaining calls get the drain time, are then cancelled, and are given up if cancelling does not
// end them.
#include "src/load/run/drain.h"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <vector>

namespace cqbench {
namespace {

constexpr Nanos kHour = 3600 * kNanosPerSecond;

// Finishes when `finished` returns true.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::function<bool(const FakeEngine&)> finished) : finished_(std::move(finished)) {}

  void Start() override {}
  void Tick(Nanos now) override {
    EXPECT_FALSE(joined);
    if (!ticks.empty()) {
      EXPECT_GE(now, ticks.back());
    }
    ticks.push_back(now);
  }
  bool Finished() const override { return finished_(*this); }
  void CancelAll() override { cancels.push_back(NowNs()); }
  bool GiveUp() override { return false; }
  void Join() override {
    EXPECT_TRUE(Finished()) << "joining would hang";
    joined = true;
  }
  uint64_t Completed() const override { return 0; }
  uint64_t CompletedBefore() const override { return 0; }
  uint64_t Failed() const override { return 0; }
  ScheduleProgress Progress(Nanos /*now*/) const override { return {}; }
  bool LacksMethod() const override { return false; }
  TimingCost MeasureTimingCost() override { return {}; }
  void Collect(Measurement& /*total*/) const override {}
  int threads() const override { return 1; }
  std::vector<std::vector<int>> ChannelsOfThread() const override { return {}; }

  std::vector<Nanos> ticks;
  std::vector<Nanos> cancels;
  bool joined = false;

 private:
  const std::function<bool(const FakeEngine&)> finished_;
};

class DrainTest : public testing::Test {
 protected:
  Interrupt interrupt_;
  const Nanos now_ = NowNs();
};

TEST_F(DrainTest, AnEngineThatIsFinishedIsJoinedAtOnce) {
  FakeEngine engine([](const FakeEngine&) { return true; });
  EXPECT_TRUE(DrainEngine(engine, interrupt_, now_, now_ + kHour, kHour));
  EXPECT_TRUE(engine.joined);
  EXPECT_TRUE(engine.ticks.empty());
  EXPECT_TRUE(engine.cancels.empty());
}

TEST_F(DrainTest, CallsThatEndByThemselvesAreNotCancelled) {
  FakeEngine engine([](const FakeEngine& self) { return self.ticks.size() >= 5; });
  EXPECT_TRUE(DrainEngine(engine, interrupt_, now_, now_ + kHour, kHour));
  EXPECT_TRUE(engine.joined);
  EXPECT_EQ(engine.ticks.size(), 5u);
  EXPECT_TRUE(engine.cancels.empty());
}

TEST_F(DrainTest, WhatIsLeftIsCancelledThenAndNotBefore) {
  const Nanos cancel_at = now_ + 20 * kNanosPerMilli;
  FakeEngine engine([](const FakeEngine& self) { return !self.cancels.empty(); });
  EXPECT_TRUE(DrainEngine(engine, interrupt_, now_, cancel_at, kHour));
  EXPECT_TRUE(engine.joined);
  ASSERT_EQ(engine.cancels.size(), 1u);
  EXPECT_GT(engine.cancels[0], cancel_at);
  EXPECT_GT(engine.ticks.size(), 1u);
}

TEST_F(DrainTest, CancelsAgainAndAgainAsASlotMayHaveBeenBetweenTwoCalls) {
  FakeEngine engine([](const FakeEngine& self) { return self.cancels.size() >= 3; });
  EXPECT_TRUE(DrainEngine(engine, interrupt_, now_, now_ - 1, kHour));
  EXPECT_TRUE(engine.joined);
}

TEST_F(DrainTest, WhatNeverEndsIsGivenUpAndNotJoined) {
  constexpr Nanos kPatience = 30 * kNanosPerMilli;
  const Nanos cancel_at = now_ + 10 * kNanosPerMilli;
  FakeEngine engine([](const FakeEngine&) { return false; });
  EXPECT_FALSE(DrainEngine(engine, interrupt_, now_, cancel_at, kPatience));
  EXPECT_GE(NowNs(), cancel_at + kPatience);
  EXPECT_FALSE(engine.joined);
  EXPECT_FALSE(engine.cancels.empty());
}

// Signals this thread only: other threads may have been started before signals were blocked.
TEST_F(DrainTest, ASignalShortensTheWaitToASecondAfterTheWindow) {
  FakeEngine engine([](const FakeEngine& self) { return !self.cancels.empty(); });
  ASSERT_EQ(raise(SIGINT), 0);
  EXPECT_TRUE(DrainEngine(engine, interrupt_, /*close=*/now_, /*cancel_at=*/now_ + kHour, kHour));
  ASSERT_EQ(engine.cancels.size(), 1u);
  EXPECT_GT(engine.cancels[0], now_ + kNanosPerSecond);
  EXPECT_EQ(interrupt_.signal(), SIGINT);
}

// Without the signal it would wait for an hour.
TEST_F(DrainTest, AfterASignalNobodyWaitsLongForWhatWasCancelled) {
  FakeEngine engine([](const FakeEngine& self) {
    if (self.cancels.size() == 3) {
      EXPECT_EQ(raise(SIGINT), 0);
    }
    return false;
  });
  EXPECT_FALSE(DrainEngine(engine, interrupt_, /*close=*/now_, /*cancel_at=*/now_, kHour));
  EXPECT_FALSE(engine.joined);
}

TEST_F(DrainTest, ASignalDoesNotPutOffTheCancelling) {
  FakeEngine engine([](const FakeEngine& self) { return !self.cancels.empty(); });
  ASSERT_EQ(raise(SIGTERM), 0);
  EXPECT_TRUE(DrainEngine(engine, interrupt_, /*close=*/now_ + kHour, /*cancel_at=*/now_, kHour));
  EXPECT_EQ(engine.cancels.size(), 1u);
}

TEST_F(DrainTest, PatienceBeginsWithTheCancellingAfterASignalToo) {
  constexpr Nanos kPatience = 30 * kNanosPerMilli;
  FakeEngine engine([](const FakeEngine&) { return false; });
  ASSERT_EQ(raise(SIGINT), 0);
  EXPECT_FALSE(DrainEngine(engine, interrupt_, /*close=*/now_ - kHour, /*cancel_at=*/now_ + kHour, kPatience));
  EXPECT_FALSE(engine.cancels.empty());
  EXPECT_GE(NowNs() - now_, kPatience) << "counted from the signal, at the earliest";
  EXPECT_FALSE(engine.joined);
}

}  // namespace
}  // namespace cqbench
