// When a rank's window was really open, in the clock of all.
#include "src/client/rank_part.h"

#include <gtest/gtest.h>

namespace cqbench {
namespace {

constexpr Nanos kAhead = 1'000'000;
constexpr RankWindow kAnnounced = {100, 1'000, 2'000};

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

TEST_F(RankPartTest, WhoeverWasAwakeFirstSaysWhenItOpened) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.SawOpen(1'700);
  part_.SawClose(2'050);
  measurement_.first_end_ns = 1'020;
  measurement_.first_end_after_ns = 2'300;
  part_.Compare();
  const auto timing = part_.DescribeTiming(window_, measurement_);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->offset_ns, kAhead);
  EXPECT_EQ(timing->offset_bound_ns, 30);
  EXPECT_EQ(timing->drift_ns_per_s, 1.5);
  EXPECT_EQ(timing->announced_open_ns, 1'000 + kAhead);
  EXPECT_EQ(timing->announced_close_ns, 2'000 + kAhead);
  EXPECT_EQ(timing->window_open_ns, 1'020 + kAhead);
  EXPECT_EQ(timing->window_close_ns, 2'050 + kAhead);
}

TEST_F(RankPartTest, ARankThatSleptThroughTheOpeningIsLate) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.SawOpen(1'700);
  part_.SawClose(2'000);
  measurement_.first_end_ns = 1'710;
  part_.Compare();
  EXPECT_EQ(part_.DescribeTiming(window_, measurement_)->window_open_ns, 1'700 + kAhead);
}

TEST_F(RankPartTest, AnInterruptedWindowClosesEarly) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  part_.SawOpen(1'000);
  part_.SawClose(1'500);
  window_.CloseAt(1'501);
  part_.Compare();
  const auto timing = part_.DescribeTiming(window_, measurement_);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->announced_close_ns, 2'000 + kAhead);
  EXPECT_EQ(timing->window_close_ns, 1'501 + kAhead);
}

TEST_F(RankPartTest, NoTimesOfAWindowThatNeverOpened) {
  ASSERT_TRUE(part_.Agree({}, interrupt_).ok());
  EXPECT_FALSE(part_.DescribeTiming(window_, measurement_).has_value());
  part_.SawOpen(1'000);
  window_.CloseAt(900);
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
