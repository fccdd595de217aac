// The pacer on a simulated clock: when it sends calls, what it does when it is late, and what ends it.
#include "src/load/pacing/pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A clock that moves only when a thread waits, and for tasks that take time.
class FakeClock {
 public:
  Nanos Now() const { return now_; }
  Nanos WaitUntil(Nanos due) const {
    now_ = std::max(now_, due + wakes_late);
    longest_wait = std::max(longest_wait, due);
    while_waiting();
    return now_;
  }
  void Take(Nanos ns) { now_ += ns; }

  Nanos wakes_late = 0;
  mutable Nanos longest_wait = 0;
  std::function<void()> while_waiting = [] {};

 private:
  mutable Nanos now_ = 0;
};

class PacerTest : public testing::Test {
 protected:
  static constexpr Nanos kClose = kNanosPerSecond;
  PacerTest() { window_.Set(0, kClose); }

  // Every call keeps its slot: there are as many calls as slots; the other calls wait or are dropped.
  void Pace(DueTimes due, int slots, AtLimit at_limit = AtLimit::kQueue) {
    queue_.emplace(std::move(due), slots);
    queue_->Start(0);
    slots_.resize(static_cast<size_t>(slots));
    for (FreeNode& slot : slots_) queue_->Free(&slot);
    PaceCalls(*queue_, clock_, at_limit, window_, recorder_, [this](FreeNode* slot, Nanos due_ns, Nanos now) {
      EXPECT_NE(slot, nullptr);
      sent_.emplace_back(due_ns, now);
      clock_.Take(send_takes_);
      send_takes_ = 0;
    });
    recorder_.MergeInto(seen_);
  }
  const Pacing& pacing() const { return *seen_.pacing; }

  FakeClock clock_;
  RunWindow window_;
  Recorder recorder_{&window_, /*open_loop=*/true};
  std::optional<ArrivalQueue> queue_;
  std::vector<FreeNode> slots_;
  Nanos send_takes_ = 0;  // duration of the first send
  std::vector<std::pair<Nanos, Nanos>> sent_;
  Measurement seen_;
};

TEST_F(PacerTest, SendsEachCallWhenItIsDue) {
  Pace({100, 250, 300}, 3);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100), Pair(250, 250), Pair(300, 300)));
  EXPECT_EQ(pacing().largest_burst, 1u);
  EXPECT_EQ(pacing().lateness.Max(), 0);
  EXPECT_EQ(pacing().slot_wait.Count(), 3u);
  EXPECT_EQ(pacing().slot_wait.Max(), 0);
}

TEST_F(PacerTest, HowLateItWokeIsLateness) {
  clock_.wakes_late = 7;
  Pace({100, 250}, 2);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 107), Pair(250, 257)));
  EXPECT_EQ(pacing().lateness.Count(), 2u);
  EXPECT_EQ(pacing().lateness.Min(), 7);
}

TEST_F(PacerTest, SendsAllThatIsDueWhenBehindAndCountsTheBurst) {
  send_takes_ = 200;
  Pace({100, 150, 200, 300, 400, 500}, 6);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100), Pair(150, 300), Pair(200, 300), Pair(300, 300), Pair(400, 400),
                                 Pair(500, 500)));
  EXPECT_EQ(pacing().largest_burst, 4u);
  EXPECT_EQ(pacing().lateness.Max(), 150);
}

TEST_F(PacerTest, WhatFindsNoSlotIsAnnouncedAndLeftToWhoeverEndsACall) {
  Pace({100, 200, 300}, 1);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100)));
  EXPECT_EQ(queue_->Free(slots_.data()), 200);
  EXPECT_EQ(queue_->Free(slots_.data()), 300);
  EXPECT_EQ(queue_->Free(slots_.data()), ArrivalQueue::kNone);
  EXPECT_EQ(seen_.counts.dropped, 0u);
  EXPECT_EQ(pacing().lateness.Count(), 3u) << "the pacer was in time for all of them";
  EXPECT_EQ(pacing().slot_wait.Count(), 1u) << "of the others it is not known yet";
}

TEST_F(PacerTest, CountsWhatIsOutstandingAtEachLook) {
  Pace({100, 200, kClose / 2, kClose / 2 + 1}, 2);
  EXPECT_EQ(pacing().outstanding[0].Mean(), 1.5);
  EXPECT_EQ(pacing().outstanding[1].Mean(), 3.5);
}

TEST_F(PacerTest, DropsWhatFindsNoSlotWhenAskedTo) {
  Pace({100, 200, 300}, 1, AtLimit::kDrop);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100)));
  EXPECT_EQ(seen_.counts.dropped, 2u);
  EXPECT_EQ(queue_->Sent(), 3u);
  EXPECT_EQ(queue_->Free(slots_.data()), ArrivalQueue::kNone);
}

TEST_F(PacerTest, NothingIsSentThatIsDueAfterTheWindowNorWaitedFor) {
  Pace({100, kClose - 1, kClose, kClose + 100}, 4);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100), Pair(kClose - 1, kClose - 1)));
  EXPECT_EQ(clock_.longest_wait, kClose - 1);
}

TEST_F(PacerTest, WhatWasDueInTheWindowIsSentThoughItIsOver) {
  send_takes_ = 2 * kClose;
  Pace({100, 200, kClose}, 3);
  EXPECT_THAT(sent_, ElementsAre(Pair(100, 100), Pair(200, 2 * kClose + 100)));
}

TEST_F(PacerTest, ALongWaitNoticesThatTheWindowWasClosed) {
  clock_.while_waiting = [this] { window_.CloseAt(clock_.Now() + kNanosPerMilli); };
  Pace({kClose - 1}, 1);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_LE(clock_.Now(), 50 * kNanosPerMilli);
}

TEST_F(PacerTest, ALongWaitNoticesThatTheQueueWasAbandoned) {
  clock_.while_waiting = [this] { queue_->Abandon(); };
  Pace({kClose - 1}, 1);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_LE(clock_.Now(), 50 * kNanosPerMilli);
  EXPECT_EQ(queue_->Sent(), 0u);
}

TEST_F(PacerTest, NothingIsSentOnceAbandonedHoweverFarBehind) {
  clock_.while_waiting = [this] {
    clock_.Take(1000);
    queue_->Abandon();
  };
  Pace({100, 200, 300}, 3);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(PacerTest, AnEmptyScheduleIsOverAtOnce) {
  Pace({}, 1);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_EQ(clock_.Now(), 0);
}

// Checks only that the pacer on the real clock keeps its contract, not its speed.
TEST(Pacer, OnTheRealClockNothingIsSentEarly) {
  for (Pace pace : {Pace::kSleep, Pace::kHybrid, Pace::kSpin}) {
    RunWindow window;
    Recorder recorder(&window, /*open_loop=*/true);
    ArrivalQueue queue({0, 200'000, 400'000, 400'000, 1'000'000}, 5);
    std::vector<FreeNode> slots(5);
    for (FreeNode& slot : slots) queue.Free(&slot);
    const PacerClock clock(pace, 50 * kNanosPerMicro);
    queue.Start(clock.Now());
    window.Set(queue.DueAt(0), queue.DueAt(0) + kNanosPerSecond);
    int sent = 0;
    PaceCalls(queue, clock, AtLimit::kQueue, window, recorder, [&](FreeNode*, Nanos due, Nanos now) {
      EXPECT_EQ(due, queue.DueAt(static_cast<size_t>(sent++)));
      EXPECT_GE(now, due);
    });
    EXPECT_EQ(sent, 5) << ToString(pace);
  }
}

}  // namespace
}  // namespace cqbench
