// The seam that decides when a slot sends its next call, in a closed loop and in an open one.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cqbench/recorder.h"
#include "cqbench/run_config.h"
#include "cqbench/schedule.h"
#include "src/base/clock.h"
#include "src/load/pacing/slot.h"

namespace cqbench {

// Every next call has a due time. In a closed loop that is when the last one ended, or kRestAfterFailure later when it
// failed, so that a dead server is not asked a hundred thousand times a second. In an open loop it was drawn before
// (a dead server gets the rate that was asked for, not more).
class SlotSchedule {
 public:
  static constexpr Nanos kRestAfterFailure = 10 * kNanosPerMilli;

  enum class Next {
    kSend,  // now; slot.due_ns is set
    kWait,  // somebody else will send from this slot, or has already begun to: do not touch it any more
    kEnd,   // nothing: the window is over
  };

  // `window` and `lanes` must outlive it; the lanes may be made later. Not `open`: a closed loop, without any.
  SlotSchedule(const RunWindow& window, std::deque<Lane>& lanes, bool open)
      : window_(window), lanes_(lanes), open_(open) {}

  Lane& LaneOf(const CallSlot& slot) { return lanes_[static_cast<size_t>(slot.index) % lanes_.size()]; }

  // The slot's call has ended, on the thread that saw it. Once per call, and a third of it is saved by being inlined.
  [[gnu::always_inline]] Next After(CallSlot& slot, Nanos done, bool ok, Recorder& recorder) {
    if (open_) [[unlikely]]
      return AfterInOpenLoop(slot, done, recorder);
    if (Over(done)) [[unlikely]] {
      slot.Sent(0);
      return Next::kEnd;
    }
    if (!ok) [[unlikely]] {
      Rest(slot, done);
      return Next::kWait;
    }
    slot.due_ns = done;
    return Next::kSend;
  }

  bool Over(Nanos now) const { return window_.IsOver(now) || ended_.load(std::memory_order_relaxed); }
  // Any thread: no call follows another any more, though the window may be open.
  void End() { ended_.store(true, std::memory_order_relaxed); }

  // The slot begins again when it has rested: sends, or opens its stream. Slow path: takes a lock.
  void Rest(CallSlot& slot, Nanos now) {
    slot.Sent(0);
    const std::lock_guard lock(mutex_);
    resting_.emplace_back(now + kRestAfterFailure, &slot);
  }
  // Those whose rest is over, or all when the window is. In order of time, as all rest for equally long.
  std::vector<CallSlot*> TakeRested(Nanos now) {
    std::vector<CallSlot*> rested;
    const std::lock_guard lock(mutex_);
    while (!resting_.empty() && (resting_.front().first <= now || Over(now))) {
      resting_.front().second->due_ns = now;
      rested.push_back(resting_.front().second);
      resting_.pop_front();
    }
    return rested;
  }

 private:
  [[gnu::noinline]] Next AfterInOpenLoop(CallSlot& slot, Nanos done, Recorder& recorder) {
    slot.Sent(0);
    const Nanos due = LaneOf(slot).Free(&slot);
    if (due == Lane::kNone) return Next::kWait;
    slot.due_ns = due;
    recorder.GotSlot(due, done - due);
    return Next::kSend;
  }

  const RunWindow& window_;
  std::deque<Lane>& lanes_;
  const bool open_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::deque<std::pair<Nanos, CallSlot*>> resting_;  // guarded by mutex_
};

}  // namespace cqbench
