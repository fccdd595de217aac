// Taking events from a completion queue, the same way in the client and the server.
#pragma once

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/completion_queue.h>

#include "src/base/clock.h"
#include "src/config/client_api.h"

namespace cqbench {

// How far GPR_CLOCK_MONOTONIC is ahead of NowNs(). Both tick with CLOCK_MONOTONIC, but from different epochs on some
// releases: gRPC 1.83 adds five seconds, and a deadline without them would already be over. Taken once: no clock is
// read per call.
inline const Nanos kLibraryClockAhead = [] {
  const gpr_timespec library = gpr_now(GPR_CLOCK_MONOTONIC);
  return library.tv_sec * kNanosPerSecond + library.tv_nsec - NowNs();
}();

inline gpr_timespec ToTimespec(Nanos t) {
  const Nanos library = t + kLibraryClockAhead;
  return {library / kNanosPerSecond, static_cast<int32_t>(library % kNanosPerSecond), GPR_CLOCK_MONOTONIC};
}

// A client's queue. The C++ constructor makes one that polls; the C API's attributes are the public way to another.
inline grpc_completion_queue* MakeQueue(PollMode poll) {
  const grpc_completion_queue_attributes attributes{
      GRPC_CQ_CURRENT_VERSION, GRPC_CQ_NEXT,
      poll == PollMode::kNonPolling ? GRPC_CQ_NON_POLLING : GRPC_CQ_DEFAULT_POLLING, nullptr};
  return grpc_completion_queue_create(grpc_completion_queue_factory_lookup(&attributes), &attributes, nullptr);
}

// Calls `step(tag, ok)` for every event until the queue has been shut down and is empty. kSpin asks without waiting, so
// that the thread never sleeps: it costs a core and saves the wake-up.
template <typename Step>
void DrainQueue(grpc::CompletionQueue& queue, PollMode poll, Step&& step) {
  void* tag = nullptr;
  bool ok = false;
  if (poll != PollMode::kSpin) {
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
