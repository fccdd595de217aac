// The seam that decides when a slot sends its next call, in a closed loop and in an open one.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cqbench/recorder.h"
#include "cqbench/schedule.h"
#include "src/base/clock.h"
#include "src/load/pacing/slot.h"

namespace cqbench {

// Every next call has a due time. In a closed loop that is when the last one ended, or kBackOffAfterFailure later when
// it failed. In an open loop it was drawn before.
class SlotSchedule {
 public:
  enum class Next {
    kSend,  // now; slot.due_ns is set
    kWait,  // somebody else will send from this slot, or has already begun to: do not touch it any more
    kEnd,   // nothing: the window is over
  };

  // `window` must outlive it. `open`: every slot has an arrival queue.
  SlotSchedule(const RunWindow& window, bool open) : window_(window), open_(open) {}

  // The slot's call has ended, on the thread that saw it. Once per call, and a third of it is saved by being inlined.
  [[gnu::always_inline]] Next After(CallSlot& slot, Nanos done, bool ok, Recorder& recorder) {
    if (open_) [[unlikely]]
      return AfterInOpenLoop(slot, done, recorder);
    if (Over(done)) [[unlikely]] {
      slot.Sent(0);
      return Next::kEnd;
    }
    if (!ok) [[unlikely]] {
      BackOff(slot, done);
      return Next::kWait;
    }
    slot.due_ns = done;
    return Next::kSend;
  }

  bool Over(Nanos now) const { return window_.IsOver(now) || ended_.load(std::memory_order_relaxed); }
  // Any thread: no call follows another any more, though the window may be open.
  void End() { ended_.store(true, std::memory_order_relaxed); }

  // The slot begins again after kBackOffAfterFailure: sends, or opens its stream. Slow path: takes a lock.
  void BackOff(CallSlot& slot, Nanos now) {
    slot.Sent(0);
    const std::lock_guard lock(mutex_);
    backing_off_.emplace_back(now + kBackOffAfterFailure, &slot);
  }
  // Returns the slots whose back-off is over, or all when the window is. In order of time, as all wait equally long.
  std::vector<CallSlot*> TakeReady(Nanos now) {
    std::vector<CallSlot*> ready;
    const std::lock_guard lock(mutex_);
    while (!backing_off_.empty() && (backing_off_.front().first <= now || Over(now))) {
      backing_off_.front().second->due_ns = now;
      ready.push_back(backing_off_.front().second);
      backing_off_.pop_front();
    }
    return ready;
  }

 private:
  [[gnu::noinline]] Next AfterInOpenLoop(CallSlot& slot, Nanos done, Recorder& recorder) {
    slot.Sent(0);
    const Nanos due = slot.arrivals->Free(&slot);
    if (due == ArrivalQueue::kNone) return Next::kWait;
    slot.due_ns = due;
    recorder.GotSlot(due, done - due);
    return Next::kSend;
  }

  const RunWindow& window_;
  const bool open_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::deque<std::pair<Nanos, CallSlot*>> backing_off_;  // guarded by mutex_
};

}  // namespace cqbench
