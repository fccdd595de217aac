// The thread that sends calls when they are due. `Clock` is PacerClock (schedule.h), or a test's own.
#pragma once

#include "cqbench/recorder.h"
#include "cqbench/schedule.h"
#include "src/base/clock.h"
#include "src/load/pacing/arrival_queue.h"

namespace cqbench {

// Waits until that time, at most some tens of milliseconds at a time, so that an end is noticed. False when the call is
// not to be sent any more: the window closed before it was due, or the queue was abandoned.
template <typename Clock>
bool AwaitDue(const Clock& clock, Nanos due, const RunWindow& window, const ArrivalQueue& queue) {
  constexpr Nanos kSampleEvery = 20 * kNanosPerMilli;
  for (Nanos now = clock.Now(); !window.IsOver(due) && !queue.abandoned();) {
    if (due - now <= kSampleEvery) {
      clock.WaitUntil(due);
      return true;
    }
    now = clock.WaitUntil(now + kSampleEvery);
  }
  return false;
}

// Sends what is due of the queue's calls, from `next` on, which moves: send(slot, due, now), after which the slot
// belongs to whoever sees the end of the call.
template <typename Clock, typename Send>
void SendDue(ArrivalQueue& queue, size_t& next, const Clock& clock, AtLimit at_limit, const RunWindow& window,
             Recorder& recorder, Send&& send) {
  if (next == queue.size()) return;
  uint64_t burst = 0;
  Nanos now = clock.Now();
  for (Nanos due = queue.DueAt(next); due <= now && !window.IsOver(due) && !queue.abandoned();
       due = queue.DueAt(next)) {
    ++burst;
    const bool free = at_limit == AtLimit::kQueue ? queue.Announce() : queue.AnnounceUnlessFull();
    recorder.SampledPacer(due, now, queue.Outstanding());
    recorder.Arrival(due, now);
    if (free) {
      due = queue.TakeDue();
      recorder.GotSlot(due, 0);
      send(queue.TakeSlot(), due, now);
      now = clock.Now();
    } else if (at_limit == AtLimit::kDrop) {
      queue.Skip();
      recorder.Dropped(due);
    }
    if (++next == queue.size()) break;
  }
  if (burst > 0) recorder.Burst(now, burst);
}

// Sends the queue's calls in order, each when it is due or, when the pacer has fallen behind, at once. Until the
// schedule or the window is over.
template <typename Clock, typename Send>
void PaceCalls(ArrivalQueue& queue, const Clock& clock, AtLimit at_limit, const RunWindow& window, Recorder& recorder,
               Send&& send) {
  size_t next = 0;
  while (next < queue.size() && AwaitDue(clock, queue.DueAt(next), window, queue)) {
    SendDue(queue, next, clock, at_limit, window, recorder, send);
  }
}

}  // namespace cqbench
