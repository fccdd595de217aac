// When a slot sends its next call: at once, after a back-off, at the scheduled time, or never again.
#include "src/load/pacing/slot_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Next = SlotSchedule::Next;

constexpr Nanos kOpen = kNanosPerSecond;
constexpr Nanos kClose = 2 * kNanosPerSecond;
constexpr Nanos kInside = kOpen + 500 * kNanosPerMilli;
constexpr Nanos kBackOff = 10 * kNanosPerMilli;

class ClosedLoopTest : public testing::Test {
 protected:
  ClosedLoopTest() { window_.Set(kOpen, kClose); }

  RunWindow window_;
  SlotSchedule schedule_{window_, /*open=*/false};
  Recorder recorder_{&window_};
  CallSlot slot_, other_;
};

TEST_F(ClosedLoopTest, TheNextCallIsDueWhenTheLastOneEnded) {
  slot_.due_ns = kInside - 100;
  slot_.Sent(kInside - 90);
  EXPECT_EQ(schedule_.After(slot_, kInside, /*ok=*/true, recorder_), Next::kSend);
  EXPECT_EQ(slot_.due_ns, kInside);
}

TEST_F(ClosedLoopTest, AfterAFailureTheSlotBacksOff) {
  slot_.Sent(kInside - 90);
  EXPECT_EQ(schedule_.After(slot_, kInside, /*ok=*/false, recorder_), Next::kWait);
  EXPECT_EQ(slot_.sent(), 0);
  EXPECT_THAT(schedule_.TakeReady(kInside + kBackOff - 1), IsEmpty());
  EXPECT_THAT(schedule_.TakeReady(kInside + kBackOff), ElementsAre(&slot_));
  EXPECT_EQ(slot_.due_ns, kInside + kBackOff);
  EXPECT_THAT(schedule_.TakeReady(kInside + 2 * kBackOff), IsEmpty()) << "it has been taken";
}

TEST_F(ClosedLoopTest, SlotsComeBackInTheOrderInWhichTheyFailed) {
  schedule_.After(slot_, kInside, /*ok=*/false, recorder_);
  schedule_.After(other_, kInside + 1, /*ok=*/false, recorder_);
  EXPECT_THAT(schedule_.TakeReady(kInside + kBackOff), ElementsAre(&slot_));
  schedule_.After(slot_, kInside + kBackOff, /*ok=*/false, recorder_);
  EXPECT_THAT(schedule_.TakeReady(kClose - 1), ElementsAre(&other_, &slot_));
}

TEST_F(ClosedLoopTest, ACallThatIsTakenLateIsDueThen) {
  schedule_.After(slot_, kInside, /*ok=*/false, recorder_);
  schedule_.TakeReady(kInside + 3 * kBackOff);
  EXPECT_EQ(slot_.due_ns, kInside + 3 * kBackOff) << "what the client itself delays is not the server's latency";
}

TEST_F(ClosedLoopTest, NothingFollowsOnceTheWindowIsOver) {
  EXPECT_EQ(schedule_.After(slot_, kClose - 1, /*ok=*/true, recorder_), Next::kSend);
  slot_.Sent(kClose - 1);
  EXPECT_EQ(schedule_.After(slot_, kClose, /*ok=*/true, recorder_), Next::kEnd);
  EXPECT_EQ(slot_.sent(), 0) << "no call is in flight that could be late";
  EXPECT_EQ(schedule_.After(slot_, kClose, /*ok=*/false, recorder_), Next::kEnd) << "no back-off either";
  EXPECT_THAT(schedule_.TakeReady(kClose + kBackOff), IsEmpty());
  EXPECT_FALSE(schedule_.Over(kClose - 1));
  EXPECT_TRUE(schedule_.Over(kClose));
}

TEST_F(ClosedLoopTest, TheEndOfTheWindowEndsAllBackOffs) {
  schedule_.After(slot_, kClose - 2, /*ok=*/false, recorder_);
  schedule_.After(other_, kClose - 1, /*ok=*/false, recorder_);
  EXPECT_THAT(schedule_.TakeReady(kClose - 1), IsEmpty());
  EXPECT_THAT(schedule_.TakeReady(kClose), ElementsAre(&slot_, &other_));
}

TEST_F(ClosedLoopTest, EndedNothingFollowsThoughTheWindowIsOpen) {
  schedule_.After(slot_, kInside, /*ok=*/false, recorder_);
  schedule_.End();
  EXPECT_TRUE(schedule_.Over(kInside));
  EXPECT_EQ(schedule_.After(other_, kInside, /*ok=*/true, recorder_), Next::kEnd);
  EXPECT_THAT(schedule_.TakeReady(kInside), ElementsAre(&slot_));
}

class OpenLoopTest : public testing::Test {
 protected:
  OpenLoopTest() {
    window_.Set(kOpen, kClose);
    for (int i = 0; i < 2; ++i) {
      arrivals_.emplace_back(DueTimes{100, 200}, /*slots=*/1);
      arrivals_.back().Start(kInside);
    }
    for (int i = 0; i < 2; ++i) slots_[i].arrivals = &arrivals_[static_cast<size_t>(i)];
  }
  Measurement Seen() const {
    Measurement total;
    recorder_.MergeInto(total);
    return total;
  }

  RunWindow window_;
  std::deque<ArrivalQueue> arrivals_;
  SlotSchedule schedule_{window_, /*open=*/true};
  Recorder recorder_{&window_, /*open_loop=*/true};
  CallSlot slots_[2];
};

TEST_F(OpenLoopTest, ASlotForWhichNothingWaitsGoesToItsPacer) {
  slots_[1].Sent(kInside);
  EXPECT_EQ(schedule_.After(slots_[1], kInside + 50, /*ok=*/true, recorder_), Next::kWait);
  EXPECT_EQ(slots_[1].sent(), 0);
  EXPECT_EQ(arrivals_[0].TakeIdleSlot(), nullptr);
  EXPECT_EQ(arrivals_[1].TakeIdleSlot(), &slots_[1]);
}

TEST_F(OpenLoopTest, ASlotSendsWhatWaitsWithTheDueTimeItHadAndSaysHowLongItWaited) {
  ASSERT_FALSE(arrivals_[0].Announce());
  EXPECT_EQ(schedule_.After(slots_[0], kInside + 150, /*ok=*/true, recorder_), Next::kSend);
  EXPECT_EQ(slots_[0].due_ns, kInside + 100);
  EXPECT_EQ(Seen().pacing->slot_wait.Count(), 1u);
  EXPECT_EQ(Seen().pacing->slot_wait.Max(), 50);
}

TEST_F(OpenLoopTest, AFailureIsFollowedByWhatIsDueWithoutABackOff) {
  ASSERT_FALSE(arrivals_[0].Announce());
  EXPECT_EQ(schedule_.After(slots_[0], kInside + 150, /*ok=*/false, recorder_), Next::kSend);
  EXPECT_EQ(schedule_.After(slots_[0], kInside + 160, /*ok=*/false, recorder_), Next::kWait);
  EXPECT_THAT(schedule_.TakeReady(kClose), IsEmpty());
  EXPECT_EQ(arrivals_[0].TakeIdleSlot(), &slots_[0]);
}

TEST_F(OpenLoopTest, WhatWasDueInTheWindowIsSentThoughItIsOver) {
  ASSERT_FALSE(arrivals_[0].Announce());
  EXPECT_EQ(schedule_.After(slots_[0], kClose + 5, /*ok=*/true, recorder_), Next::kSend);
  EXPECT_EQ(slots_[0].due_ns, kInside + 100);
}

TEST_F(OpenLoopTest, NothingThatWaitsIsSentOnceItsQueueIsAbandoned) {
  ASSERT_FALSE(arrivals_[0].Announce());
  arrivals_[0].Abandon();
  EXPECT_EQ(schedule_.After(slots_[0], kInside + 150, /*ok=*/true, recorder_), Next::kWait);
  EXPECT_EQ(arrivals_[0].TakeIdleSlot(), &slots_[0]);
}

}  // namespace
}  // namespace cqbench
