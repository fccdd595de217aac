#include "src/load/run/drain.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cqbench {

bool DrainEngine(Engine& engine, Interrupt& interrupt, Nanos close, Nanos cancel_at, Nanos patience) {
  while (!engine.Finished()) {
    const Nanos now = NowNs();
    engine.Tick(now);
    // A signal while draining cuts the waiting short, not the window, which is over.
    if (interrupt.Pending()) {
      cancel_at = std::min(cancel_at, std::max(now, close + kDrainAfterSignal));
      patience = std::min(patience, kPatienceAfterSignal);
    }
    // Again and again: a slot may have been between two calls.
    if (now > cancel_at) engine.CancelAll();
    if (now > cancel_at + patience) return false;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNanosPerMilli));
  }
  engine.Join();
  return true;
}

}  // namespace cqbench
