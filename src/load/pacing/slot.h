// A slot: one in-flight call, whatever the engine, that the runner's thread can cancel.
#pragma once

#include <grpcpp/client_context.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "src/base/clock.h"
#include "src/load/pacing/lane.h"

namespace cqbench {

// Lets another thread cancel the call that a slot has in flight while the slot reuses its context for call after call.
// Instead of a lock per call, the slot pays one uncontended compare-and-swap; a cancelling thread borrows the context,
// and a slot that wants it back meanwhile waits for that.
class CancelGate {
 public:
  // The slot's side: before the call is issued, and after it has ended but before the context is touched again.
  void Enter(grpc::ClientContext* context) {
    context_ = context;
    live_.store(context, std::memory_order_release);
  }
  void Leave() {
    grpc::ClientContext* expected = context_;
    while (!live_.compare_exchange_weak(expected, nullptr, std::memory_order_acq_rel)) {
      expected = context_;
      std::this_thread::yield();
    }
  }

  // Any other thread, one at a time. True when there was a call to cancel.
  bool Cancel() {
    grpc::ClientContext* context = live_.exchange(nullptr, std::memory_order_acq_rel);
    if (context == nullptr) return false;
    context->TryCancel();
    live_.store(context, std::memory_order_release);
    return true;
  }
  // The same thread: takes the call in flight away for good, so that whoever sees its end waits in Leave(). nullptr:
  // there is none. GiveBack() takes what this returned.
  grpc::ClientContext* Keep() { return live_.exchange(nullptr, std::memory_order_acq_rel); }
  void GiveBack(grpc::ClientContext* context) { live_.store(context, std::memory_order_release); }

 private:
  std::atomic<grpc::ClientContext*> live_{nullptr};
  grpc::ClientContext* context_ = nullptr;  // the slot's own copy
};

// On cache lines of its own: neighbours are driven by other threads.
struct alignas(64) CallSlot : FreeNode {
  int index = 0;
  // Of the call (bidi: the message) in flight; written by whoever issues it.
  Nanos due_ns = 0;
  // 0 between calls. Read by the thread that looks for late messages, too.
  std::atomic<Nanos> sent_ns{0};
  std::atomic<bool> timed_out{false};  // bidi: cancelled because a message was late
  uint64_t completed = 0;              // successful completions inside the window
  // --breakdown, both written by whoever drives the slot:
  uint32_t issues = 0;  // counts towards the next call that is timed
  Nanos issued_ns = 0;  // when the API returned from issuing the call in flight; 0: it is not timed

  void Sent(Nanos now) { sent_ns.store(now, std::memory_order_relaxed); }
  Nanos sent() const { return sent_ns.load(std::memory_order_relaxed); }
};

// One whose calls are gRPC's.
struct GrpcSlot : CallSlot {
  CancelGate gate;
  std::optional<grpc::ClientContext> context;  // of the call or stream in flight
  grpc::ClientContext* kept = nullptr;         // of a call that was given up, by the runner's thread
};

}  // namespace cqbench
