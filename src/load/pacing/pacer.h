// The thread that sends calls when they are due. `Clock` is PacerClock (schedule.h), or a test's own.
#pragma once

#include "cqbench/recorder.h"
#include "cqbench/schedule.h"
#include "src/base/clock.h"
#include "src/load/pacing/lane.h"

namespace cqbench {

// Waits until that time, at most some tens of milliseconds at a time, so that an end is noticed. False when the call is
// not to be sent any more: the window closed before it was due, or the lane was abandoned.
template <typename Clock>
bool AwaitDue(const Clock& clock, Nanos due, const RunWindow& window, const Lane& lane) {
  constexpr Nanos kLook = 20 * kNanosPerMilli;
  for (Nanos now = clock.Now(); !window.IsOver(due) && !lane.abandoned();) {
    if (due - now <= kLook) {
      clock.WaitUntil(due);
      return true;
    }
    now = clock.WaitUntil(now + kLook);
  }
  return false;
}

// Sends what is due of the lane's calls, from `next` on, which moves: send(slot, due, now), after which the slot
// belongs to whoever sees the end of the call.
template <typename Clock, typename Send>
void SendDue(Lane& lane, size_t& next, const Clock& clock, AtLimit at_limit, const RunWindow& window,
             Recorder& recorder, Send&& send) {
  if (next == lane.size()) return;
  uint64_t burst = 0;
  Nanos now = clock.Now();
  for (Nanos due = lane.DueAt(next); due <= now && !window.IsOver(due) && !lane.abandoned(); due = lane.DueAt(next)) {
    ++burst;
    const bool free = at_limit == AtLimit::kQueue ? lane.Announce() : lane.AnnounceUnlessFull();
    recorder.Looked(due, now, lane.Outstanding());
    recorder.Arrival(due, now);
    if (free) {
      due = lane.TakeDue();
      recorder.GotSlot(due, 0);
      send(lane.TakeSlot(), due, now);
      now = clock.Now();
    } else if (at_limit == AtLimit::kDrop) {
      lane.Skip();
      recorder.Dropped(due);
    }
    if (++next == lane.size()) break;
  }
  if (burst > 0) recorder.Burst(now, burst);
}

// Sends the lane's calls in order, each when it is due or, when the pacer has fallen behind, at once. Until the
// schedule or the window is over.
template <typename Clock, typename Send>
void PaceLane(Lane& lane, const Clock& clock, AtLimit at_limit, const RunWindow& window, Recorder& recorder,
              Send&& send) {
  size_t next = 0;
  while (next < lane.size() && AwaitDue(clock, lane.DueAt(next), window, lane)) {
    SendDue(lane, next, clock, at_limit, window, recorder, send);
  }
}

}  // namespace cqbench
