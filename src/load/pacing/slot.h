// A slot: one concurrent call, whatever the engine.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/clock.h"
#include "src/load/pacing/arrival_queue.h"

namespace cqbench {

// On cache lines of its own: neighbours are driven by other threads.
struct alignas(64) CallSlot : FreeNode {
  int index = 0;
  uint32_t issues = 0;               // --breakdown: counts towards the next call that is timed
  ArrivalQueue* arrivals = nullptr;  // whose calls it sends; nullptr: a closed loop
  // When the call (bidi: the message) in flight was due; written by whoever issues it.
  Nanos due_ns = 0;
  // 0 between calls. The thread that checks message deadlines reads it, too.
  std::atomic<Nanos> sent_ns{0};
  uint64_t completed = 0;  // successful completions inside the window
  // --breakdown: when the API returned from issuing the call in flight; 0: it is not timed.
  Nanos issued_ns = 0;

  void Sent(Nanos now) { sent_ns.store(now, std::memory_order_relaxed); }
  Nanos sent() const { return sent_ns.load(std::memory_order_relaxed); }
};

}  // namespace cqbench
