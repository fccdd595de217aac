// Cancelling a slot's gRPC call from another thread.
#pragma once

#include <grpcpp/client_context.h>

#include <atomic>
#include <thread>

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
  // The same thread: takes the call in flight away for good, so that whoever sees its end waits in Leave(). Returns
  // nullptr if there is none. GiveBack() takes what Keep() returned.
  grpc::ClientContext* Keep() { return live_.exchange(nullptr, std::memory_order_acq_rel); }
  void GiveBack(grpc::ClientContext* context) { live_.store(context, std::memory_order_release); }

 private:
  std::atomic<grpc::ClientContext*> live_{nullptr};
  grpc::ClientContext* context_ = nullptr;  // the slot's own copy
};

}  // namespace cqbench
