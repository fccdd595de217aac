// The real boundaries of a rank's window, in the common clock.
#include "src/load/run/rank_part.h"

#include <gtest/gtest.h>

namespace cqbench {
namespace {

constexpr Nanos kAhead = 1'000'000;
// The boundaries are further apart than the longest delay of a rank.
constexpr Nanos kLong = RankPart::kHeldUp;
constexpr Nanos kOpen = 10 * kLong;
constexpr Nanos kClose = 20 * kLong;
constexpr RankWindow kAnnounced = {kLong, kOpen, kClose};

class OneOfThree : public Ranks {
 public:
  RankId id() const override { return {1, 3}; }
  absl::StatusOr<RankWindow> Agree(const RankPlan& /*plan*/, Interrupt& /*interrupt*/) override {
    if (refuses) return absl::FailedPreconditionError("no");
    return kAnnounced;
  }
  void Miss(absl::string_view /*why*/) override { ++missed; }
  RankClock Compare() override { return {kAhead, 30, 1.5}; }
  void Leave() override {}

  bool refuses = false;
  int missed = 0;
};

class RankPartTest : public testing::Test {
 protected:
  RankPartTest() { window_.Set(kAnnounced.open_ns, kAnnounced.close_ns); }

  OneOfThree ranks_;
  RankPart part_{&ranks_};
  RunWindow window_;
  Interrupt interrupt_;
  Measurement measurement_;
};

TEST_F(RankPartTest, AloneThereIsNothingToSay) {
  RankPart alone(nullptr);
  EXPECT_TRUE(alone.alone());
  alone.Compare();
  alone.Fail("no connection");
  EXPECT_FALSE(alone.Describe().has_value());
  EXPECT_FALSE(alone.DescribeTiming(window_, measurement_).has_value());
}

TEST_F(RankPartTest, AWindowIsWhatWasAnnouncedWhereTheRankWasThere) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.Awake(kOpen - 5);
  part_.SawOpen(kOpen + 700);
  part_.Awake(kClose - 5);
  part_.SawClose(kClose + 50);
  measurement_.first_end_ns = kOpen + 20;
  measurement_.first_end_after_ns = kClose + 300;
  part_.Compare();
  const auto timing = part_.DescribeTiming(window_, measurement_);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->offset_ns, kAhead);
  EXPECT_EQ(timing->offset_bound_ns, 30);
  EXPECT_EQ(timing->drift_ns_per_s, 1.5);
  EXPECT_EQ(timing->announced_open_ns, kOpen + kAhead);
  EXPECT_EQ(timing->announced_close_ns, kClose + kAhead);
  EXPECT_EQ(timing->window_open_ns, kOpen + kAhead);
  EXPECT_EQ(timing->window_close_ns, kClose + kAhead);
  EXPECT_EQ(timing->awake_open_ns, kOpen + 20 + kAhead) << "whoever was awake first";
  EXPECT_EQ(timing->awake_close_ns, kClose + 50 + kAhead);
}

TEST_F(RankPartTest, ARankThatSleptThroughAnEdgeIsLate) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.Awake(kOpen - 5);
  part_.SawOpen(kOpen + kLong);
  measurement_.first_end_ns = kOpen + kLong + 10;
  part_.Awake(kClose - kLong);
  part_.SawClose(kClose + 1);
  part_.Compare();
  const auto timing = part_.DescribeTiming(window_, measurement_);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->window_open_ns, kOpen + kLong + kAhead);
  EXPECT_EQ(timing->window_close_ns, kClose + 1 + kAhead);
}

TEST_F(RankPartTest, WithoutAWarmUpNobodyWasAwakeBefore) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.SawOpen(kOpen + 7);
  part_.Awake(kClose - 5);
  part_.SawClose(kClose);
  EXPECT_EQ(part_.DescribeTiming(window_, measurement_)->window_open_ns, kOpen + 7);
}

TEST_F(RankPartTest, AnInterruptedWindowClosesEarly) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.Awake(kOpen - 5);
  part_.SawOpen(kOpen);
  part_.Awake(kOpen + 400);
  part_.SawClose(kOpen + 500);
  window_.CloseAt(kOpen + 501);
  part_.Compare();
  const auto timing = part_.DescribeTiming(window_, measurement_);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->announced_close_ns, kClose + kAhead);
  EXPECT_EQ(timing->window_close_ns, kOpen + 501 + kAhead);
}

TEST_F(RankPartTest, NoTimesOfAWindowThatNeverOpened) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  EXPECT_FALSE(part_.DescribeTiming(window_, measurement_).has_value());
  part_.SawOpen(kOpen);
  window_.CloseAt(kOpen - 1);
  EXPECT_FALSE(part_.DescribeTiming(window_, measurement_).has_value());
}

TEST_F(RankPartTest, TheOthersAreToldUnlessTheyHaveSeenItBegin) {
  part_.Fail("no connection");
  EXPECT_EQ(ranks_.missed, 1);
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.Fail("the server has no such method");
  EXPECT_EQ(ranks_.missed, 1);
}

}  // namespace
}  // namespace cqbench
