// Taking events from a completion queue, the same way in the client and the server.
#pragma once

#include <grpcpp/completion_queue.h>

#include "cqbench/clock.h"
#include "cqbench/run_config.h"

namespace cqbench {

// CLOCK_MONOTONIC is what both NowNs() and GPR_CLOCK_MONOTONIC read, so no conversion is needed per call.
inline gpr_timespec ToTimespec(Nanos t) {
  return {t / kNanosPerSecond, static_cast<int32_t>(t % kNanosPerSecond), GPR_CLOCK_MONOTONIC};
}

// Calls `step(tag, ok)` for every event until the queue has been shut down and is empty. kSpin asks without waiting, so
// that the thread never sleeps: it costs a core and saves the wake-up.
template <typename Step>
void DrainQueue(grpc::CompletionQueue& queue, PollMode poll, Step&& step) {
  void* tag = nullptr;
  bool ok = false;
  if (poll == PollMode::kBlock) {
    while (queue.Next(&tag, &ok)) step(tag, ok);
    return;
  }
  const gpr_timespec no_wait = gpr_inf_past(GPR_CLOCK_MONOTONIC);
  for (;;) {
    switch (queue.AsyncNext(&tag, &ok, no_wait)) {
      case grpc::CompletionQueue::GOT_EVENT:
        step(tag, ok);
        break;
      case grpc::CompletionQueue::TIMEOUT:
        break;
      case grpc::CompletionQueue::SHUTDOWN:
        return;
    }
  }
}

}  // namespace cqbench
