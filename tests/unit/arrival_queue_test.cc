// An arrival queue: each scheduled call is sent exactly once and in order, by a thread that has a slot for it. No slot
// is lost.
#include "src/load/pacing/arrival_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cqbench {
namespace {

using testing::ElementsAre;

DueTimes UpTo(size_t calls) {
  DueTimes due(calls);
  for (size_t i = 0; i < calls; ++i) due[i] = static_cast<Nanos>(i);
  return due;
}

TEST(FreeStack, IsEmptyAtFirst) {
  FreeStack stack;
  EXPECT_EQ(stack.Pop(), nullptr);
}

TEST(FreeStack, NodesComeOutInTheOrderInWhichTheyWentIn) {
  FreeStack stack;
  FreeNode nodes[5];
  stack.Push(&nodes[0]);
  stack.Push(&nodes[1]);
  stack.Push(&nodes[2]);
  EXPECT_EQ(stack.Pop(), &nodes[0]);
  stack.Push(&nodes[3]);
  EXPECT_EQ(stack.Pop(), &nodes[1]);
  EXPECT_EQ(stack.Pop(), &nodes[2]);
  stack.Push(&nodes[4]);
  EXPECT_EQ(stack.Pop(), &nodes[3]);
  EXPECT_EQ(stack.Pop(), &nodes[4]);
  EXPECT_EQ(stack.Pop(), nullptr);
}

TEST(FreeStack, CallsGoRoundAllNodesThoughOneWouldDo) {
  FreeStack stack;
  FreeNode nodes[3];
  for (FreeNode& node : nodes) stack.Push(&node);
  for (int i = 0; i < 9; ++i) {
    FreeNode* const node = stack.Pop();
    EXPECT_EQ(node, &nodes[i % 3]);
    stack.Push(node);
  }
}

TEST(FreeStack, ManyPushersLoseNothingAndKeepTheirOrder) {
  constexpr size_t kPushers = 4, kEach = 50'000;
  struct Node : FreeNode {
    size_t pusher = 0, number = 0;
  };
  FreeStack stack;
  std::vector<std::vector<Node>> nodes(kPushers, std::vector<Node>(kEach));
  std::vector<std::thread> pushers;
  for (size_t p = 0; p < kPushers; ++p) {
    pushers.emplace_back([&, p] {
      for (size_t i = 0; i < kEach; ++i) {
        nodes[p][i].pusher = p;
        nodes[p][i].number = i;
        stack.Push(&nodes[p][i]);
      }
    });
  }
  std::vector<size_t> next(kPushers, 0);
  for (size_t popped = 0; popped < kPushers * kEach;) {
    auto* const node = static_cast<Node*>(stack.Pop());
    if (node == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(node->number, next[node->pusher]++);
    ++popped;
  }
  for (std::thread& pusher : pushers) pusher.join();
  EXPECT_EQ(stack.Pop(), nullptr);
}

TEST(ArrivalQueue, DueTimesCountFromTheStart) {
  ArrivalQueue queue({10, 20, 20, 30}, 1);
  queue.Start(1000);
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_EQ(queue.DueAt(0), 1010);
  EXPECT_EQ(queue.DueAt(3), 1030);
  EXPECT_EQ(queue.DueBefore(1010), 0u);
  EXPECT_EQ(queue.DueBefore(1011), 1u);
  EXPECT_EQ(queue.DueBefore(1020), 1u);
  EXPECT_EQ(queue.DueBefore(1021), 3u);
  EXPECT_EQ(queue.DueBefore(9999), 4u);
}

TEST(ArrivalQueue, ACallThatFindsAFreeSlotIsThePacersToSend) {
  ArrivalQueue queue({10, 20}, 2);
  queue.Start(0);
  FreeNode slots[2];
  for (FreeNode& slot : slots) EXPECT_EQ(queue.Free(&slot), ArrivalQueue::kNone);
  EXPECT_EQ(queue.Outstanding(), 0);
  ASSERT_TRUE(queue.Announce());
  EXPECT_EQ(queue.TakeDue(), 10);
  EXPECT_EQ(queue.TakeSlot(), &slots[0]);
  ASSERT_TRUE(queue.Announce());
  EXPECT_EQ(queue.TakeDue(), 20);
  EXPECT_EQ(queue.TakeSlot(), &slots[1]);
  EXPECT_EQ(queue.Outstanding(), 2);
  EXPECT_EQ(queue.Sent(), 2u);
}

TEST(ArrivalQueue, ACallThatFindsNoneIsSentByWhoeverEndsTheNextOne) {
  ArrivalQueue queue({10, 20, 30}, 1);
  queue.Start(0);
  FreeNode slot;
  queue.Free(&slot);
  ASSERT_TRUE(queue.Announce());
  EXPECT_EQ(queue.TakeDue(), 10);
  EXPECT_EQ(queue.TakeSlot(), &slot);
  EXPECT_FALSE(queue.Announce());
  EXPECT_FALSE(queue.Announce());
  EXPECT_EQ(queue.Outstanding(), 3);
  EXPECT_EQ(queue.Sent(), 1u);
  EXPECT_EQ(queue.Free(&slot), 20);
  EXPECT_EQ(queue.Free(&slot), 30);
  EXPECT_EQ(queue.TakeIdleSlot(), nullptr) << "the slot is in use";
  EXPECT_EQ(queue.Free(&slot), ArrivalQueue::kNone);
  EXPECT_EQ(queue.Outstanding(), 0);
  EXPECT_EQ(queue.TakeIdleSlot(), &slot);
}

TEST(ArrivalQueue, BeforeASlotIsReadyCallsWaitForIt) {
  ArrivalQueue queue({10, 20}, 1);
  queue.Start(0);
  EXPECT_FALSE(queue.Announce());
  FreeNode slot;
  EXPECT_EQ(queue.Free(&slot), 10);
  EXPECT_EQ(queue.Free(&slot), ArrivalQueue::kNone);
}

TEST(ArrivalQueue, ACallThatIsNotToWaitIsSkipped) {
  ArrivalQueue queue({10, 20, 30}, 1);
  queue.Start(0);
  FreeNode slot;
  queue.Free(&slot);
  ASSERT_TRUE(queue.AnnounceUnlessFull());
  EXPECT_EQ(queue.TakeDue(), 10);
  EXPECT_EQ(queue.TakeSlot(), &slot);
  EXPECT_FALSE(queue.AnnounceUnlessFull());
  queue.Skip();
  EXPECT_EQ(queue.Sent(), 2u) << "a place in the schedule";
  EXPECT_EQ(queue.Free(&slot), ArrivalQueue::kNone) << "nothing waits";
  ASSERT_TRUE(queue.AnnounceUnlessFull());
  EXPECT_EQ(queue.TakeDue(), 30);
}

TEST(ArrivalQueue, WhatWaitsIsNotSentOnceAbandoned) {
  ArrivalQueue queue({10, 20, 30}, 1);
  queue.Start(0);
  FreeNode slot;
  queue.Free(&slot);
  ASSERT_TRUE(queue.Announce());
  queue.TakeDue();
  queue.TakeSlot();
  EXPECT_FALSE(queue.Announce());
  EXPECT_FALSE(queue.abandoned());
  queue.Abandon();
  EXPECT_TRUE(queue.abandoned());
  EXPECT_EQ(queue.Free(&slot), ArrivalQueue::kNone);
  EXPECT_EQ(queue.TakeIdleSlot(), &slot);
  EXPECT_EQ(queue.Sent(), 1u);
}

TEST(ArrivalQueue, PlacesPastTheEndAreNoCalls) {
  ArrivalQueue queue({10, 20}, 1);
  queue.Start(0);
  EXPECT_EQ(queue.TakeIndex(), 0u);
  EXPECT_EQ(queue.TakeIndex(), 1u);
  EXPECT_GE(queue.TakeIndex(), queue.size());
  EXPECT_GE(queue.TakeIndex(), queue.size());
  EXPECT_EQ(queue.Sent(), 2u);
}

struct Slot : FreeNode {
  std::atomic<bool> busy{false};
};

// A server inside the test: any thread may send calls, and threads end them.
class Calls {
 public:
  void Begin(Slot* slot) {
    EXPECT_FALSE(slot->busy.exchange(true)) << "a slot has one call at a time";
    const std::lock_guard lock(mutex_);
    calls_.push_back(slot);
  }
  // Returns nullptr if there is none at the moment.
  Slot* End() {
    const std::lock_guard lock(mutex_);
    if (calls_.empty()) return nullptr;
    Slot* const slot = calls_.front();
    calls_.pop_front();
    slot->busy = false;
    return slot;
  }

 private:
  std::mutex mutex_;
  std::deque<Slot*> calls_;  // guarded by mutex_
};

constexpr size_t kCalls = 100'000;

class ArrivalQueueStress : public testing::TestWithParam<int> {
 protected:
  ArrivalQueueStress() : queue_(UpTo(kCalls), GetParam()), slots_(new Slot[static_cast<size_t>(GetParam())]) {
    queue_.Start(0);
    for (int i = 0; i < GetParam(); ++i) queue_.Free(&slots_[static_cast<size_t>(i)]);
  }

  // Sends a call on this thread, which has sent those in `mine` before.
  void Send(Slot* slot, Nanos due, std::vector<Nanos>& mine) {
    EXPECT_LT(due, announced_.load()) << "sent before it was due";
    if (!mine.empty()) {
      EXPECT_GT(due, mine.back());
    }
    mine.push_back(due);
    calls_.Begin(slot);
  }
  // Ends calls, and sends calls that wait, until `over()`. Returns what it sent.
  template <typename Over>
  std::vector<Nanos> EndCalls(Over over) {
    std::vector<Nanos> mine;
    while (!over()) {
      Slot* const slot = calls_.End();
      if (slot == nullptr) {
        std::this_thread::yield();
        continue;
      }
      const Nanos due = queue_.Free(slot);
      if (due != ArrivalQueue::kNone) Send(slot, due, mine);
      ended_.fetch_add(1);
    }
    return mine;
  }
  // Runs `pace` on this thread while three others end calls until over(). Returns how often each call was sent.
  template <typename Pace, typename Over>
  std::vector<int> Run(Pace pace, Over over) {
    std::vector<std::vector<Nanos>> sent(4);
    std::vector<std::thread> threads;
    for (size_t i = 1; i < sent.size(); ++i) threads.emplace_back([&, i] { sent[i] = EndCalls(over); });
    pace(sent[0]);
    paced_ = true;
    for (std::thread& thread : threads) thread.join();
    std::vector<int> times(kCalls, 0);
    for (const std::vector<Nanos>& some : sent) {
      for (Nanos due : some) ++times[static_cast<size_t>(due)];
    }
    return times;
  }
  int IdleSlots() {
    int idle = 0;
    while (queue_.TakeIdleSlot() != nullptr) ++idle;
    return idle;
  }
  // Keeps the pacer close to the calls' ends, on either side.
  void KeepNear() {
    while (queue_.Outstanding() > 2 * GetParam()) std::this_thread::yield();
  }

  ArrivalQueue queue_;
  const std::unique_ptr<Slot[]> slots_;
  Calls calls_;
  std::atomic<Nanos> announced_{0};
  std::atomic<size_t> ended_{0};
  std::atomic<bool> paced_{false};
};

TEST_P(ArrivalQueueStress, EveryDueTimeIsSentOnce) {
  size_t sent_by_pacer = 0;
  const std::vector<int> times = Run(
      [&](std::vector<Nanos>& mine) {
        for (size_t i = 0; i < kCalls; ++i) {
          KeepNear();
          ++announced_;
          if (!queue_.Announce()) continue;
          const Nanos due = queue_.TakeDue();
          Send(static_cast<Slot*>(queue_.TakeSlot()), due, mine);
        }
        sent_by_pacer = mine.size();
      },
      [&] { return ended_ == kCalls; });
  EXPECT_THAT(times, testing::Each(1));
  EXPECT_LT(sent_by_pacer, kCalls) << "no call waited: nothing was tested";
  EXPECT_EQ(queue_.Sent(), kCalls);
  EXPECT_EQ(queue_.Outstanding(), 0);
  EXPECT_EQ(IdleSlots(), GetParam());
}

TEST_P(ArrivalQueueStress, WithDropEveryDueTimeIsSentOrSkipped) {
  size_t skipped = 0;
  const std::vector<int> times = Run(
      [&](std::vector<Nanos>& mine) {
        for (size_t i = 0; i < kCalls; ++i) {
          ++announced_;
          if (!queue_.AnnounceUnlessFull()) {
            queue_.Skip();
            ++skipped;
            if (skipped % 8 == 0) std::this_thread::yield();
            continue;
          }
          const Nanos due = queue_.TakeDue();
          EXPECT_EQ(due, static_cast<Nanos>(i)) << "only the pacer sends";
          Send(static_cast<Slot*>(queue_.TakeSlot()), due, mine);
        }
      },
      [&] { return paced_ && ended_ == kCalls - skipped; });
  EXPECT_EQ(static_cast<size_t>(std::count(times.begin(), times.end(), 0)), skipped);
  EXPECT_THAT(times, testing::Each(testing::Le(1)));
  EXPECT_LT(skipped, kCalls);
  EXPECT_EQ(queue_.Sent(), kCalls);
  EXPECT_EQ(queue_.Outstanding(), 0);
  EXPECT_EQ(IdleSlots(), GetParam());
}

TEST_P(ArrivalQueueStress, AbandonedInTheMidstNoSlotIsLostAndNothingIsSentTwice) {
  const std::vector<int> times = Run(
      [&](std::vector<Nanos>& mine) {
        std::thread abandoner([&] {
          while (ended_ < kCalls / 10) std::this_thread::yield();
          queue_.Abandon();
        });
        for (size_t i = 0; i < kCalls && !queue_.abandoned(); ++i) {
          // The other thread may run late, but the interruption is always in the middle.
          while (i == kCalls / 2 && !queue_.abandoned()) std::this_thread::yield();
          ++announced_;
          if (!queue_.Announce()) continue;
          const Nanos due = queue_.TakeDue();
          Send(static_cast<Slot*>(queue_.TakeSlot()), due, mine);
        }
        abandoner.join();
      },
      [&] { return paced_ && queue_.abandoned() && ended_ == queue_.Sent(); });
  EXPECT_THAT(times, testing::Each(testing::Le(1)));
  EXPECT_EQ(static_cast<size_t>(std::count(times.begin(), times.end(), 1)), queue_.Sent());
  EXPECT_LT(queue_.Sent(), kCalls);
  EXPECT_EQ(IdleSlots(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Slots, ArrivalQueueStress, testing::Values(1, 3, 64), testing::PrintToStringParamName());

}  // namespace
}  // namespace cqbench
