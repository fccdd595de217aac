// A share of an open loop's schedule, and the calls and slots that wait for each other. Knows no gRPC.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cqbench/schedule.h"
#include "src/base/clock.h"

namespace cqbench {

// Base of the objects that a FreeStack holds.
struct FreeNode {
  FreeNode* next_free = nullptr;
};

// Any thread pushes, one pops. Nodes come out in about the order in which they went in, so that calls go round all
// slots (and connections) even when one would do.
class FreeStack {
 public:
  void Push(FreeNode* node) {
    node->next_free = top_.load(std::memory_order_relaxed);
    while (!top_.compare_exchange_weak(node->next_free, node, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  // nullptr when there is none.
  FreeNode* Pop() {
    if (taken_ == nullptr) TakeAll();
    if (taken_ == nullptr) return nullptr;
    return std::exchange(taken_, taken_->next_free);
  }

 private:
  void TakeAll() {
    for (FreeNode* node = top_.exchange(nullptr, std::memory_order_acquire); node != nullptr;) {
      FreeNode* next = std::exchange(node->next_free, taken_);
      taken_ = node;
      node = next;
    }
  }
  alignas(64) std::atomic<FreeNode*> top_{nullptr};
  alignas(64) FreeNode* taken_ = nullptr;  // the popping thread's own
};

// One pacer, who announces calls when they are due, and any number of threads that end calls. A call that finds no free
// slot waits; then the thread that ends the next call sends it, at once and without asking the pacer. All that the
// two sides share are two counters: one read-modify-write of each per call, no lock.
class ArrivalQueue {
 public:
  static constexpr Nanos kNone = -1;

  // Due times count from Start().
  explicit ArrivalQueue(DueTimes due, int slots = 0) : due_(std::move(due)), slots_(slots) {}

  // Before any of the following. One more slot sends calls of this queue.
  void AddSlot() { ++slots_; }
  void Start(Nanos start) { start_ = start; }

  size_t size() const { return due_.size(); }
  Nanos DueAt(size_t i) const { return start_ + due_[i]; }
  // How many are due before that time.
  size_t DueBefore(Nanos t) const {
    return static_cast<size_t>(std::lower_bound(due_.begin(), due_.end(), t - start_) - due_.begin());
  }

  // --- the pacer ---

  // The next call is due. True: there is a slot for it; get it with TakeSlot() and send the call of TakeDue(). False:
  // it waits and somebody else sends it.
  bool Announce() { return credits_.fetch_sub(1, std::memory_order_acq_rel) > 0; }
  // The same when a call without a slot is not to wait; then it is nobody's: Skip() it.
  bool AnnounceUnlessFull() {
    int64_t free = credits_.load(std::memory_order_acquire);
    while (free > 0) {
      if (credits_.compare_exchange_weak(free, free - 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  void Skip() { sent_.fetch_add(1, std::memory_order_relaxed); }
  // After Announce() has said so: whoever freed the slot may be about to push it.
  FreeNode* TakeSlot() {
    for (;;) {
      if (FreeNode* slot = free_.Pop()) return slot;
    }
  }
  // Without announcing anything: slots that are left when all calls have been sent. nullptr: none at the moment.
  FreeNode* TakeIdleSlot() { return free_.Pop(); }

  // --- whoever ends calls, and the pacer ---

  // The slot can send. The due time of a call that waits for it, which it is to send now; kNone: there is none, and the
  // slot is with the pacer.
  Nanos Free(FreeNode* slot) {
    if (!abandoned_.load(std::memory_order_relaxed)) {
      if (credits_.fetch_add(1, std::memory_order_acq_rel) < 0) return TakeDue();
    }
    free_.Push(slot);
    return kNone;
  }
  // The due time of the next call to be sent, in order.
  Nanos TakeDue() { return DueAt(TakeIndex()); }
  // The same by its place in the schedule, which may be past the end: for threads that send and wait by themselves.
  size_t TakeIndex() { return sent_.fetch_add(1, std::memory_order_relaxed); }

  // --- any thread ---

  // Nothing that waits is sent any more.
  void Abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  // Calls that are due and have not ended.
  int64_t Outstanding() const { return slots_ - credits_.load(std::memory_order_relaxed); }
  // Calls that were sent or skipped: a place in the schedule.
  size_t Sent() const { return std::min(sent_.load(std::memory_order_relaxed), due_.size()); }

 private:
  const DueTimes due_;
  int64_t slots_;  // constant from Start() on
  Nanos start_ = 0;
  std::atomic<bool> abandoned_{false};
  alignas(64) std::atomic<size_t> sent_{0};
  alignas(64) std::atomic<int64_t> credits_{0};  // free slots; below 0: calls that wait
  FreeStack free_;
};

}  // namespace cqbench
