// Preloaded into ThreadSanitizer builds by scripts/sanitize.sh; no part of cqbench.
//
// The distribution's gRPC is not instrumented: ThreadSanitizer does not see that what a thread did before it handed a
// tag to the library happens before what another thread does once the library has handed the tag back. Everything that
// code (ours, and gRPC's templates compiled into it) keeps behind a tag then looks like a race. Suppressions would have
// to name gRPC's callback templates, which are on every stack of the callback engines, and would hide their real races
// too. So the missing edges are told to the sanitizer here, at C functions of the library: those that take and return
// tags, and the library's own mutexes, through which its executor threads get the work that ends in OnDone() and
// OnCancel(). Nothing else is told: data that is shared in any other way is checked as ever.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpc/support/sync.h>

#define CQBENCH_EXPORT extern "C" __attribute__((visibility("default")))

// The sanitizer's runtime is in the program; absent in programs that are not instrumented.
extern "C" __attribute__((weak)) void __tsan_acquire(void* address);
extern "C" __attribute__((weak)) void __tsan_release(void* address);

namespace {

void HandOver(void* tag) {
  if (__tsan_release != nullptr && tag != nullptr) __tsan_release(tag);
}

void TakeBack(void* tag) {
  if (__tsan_acquire != nullptr && tag != nullptr) __tsan_acquire(tag);
}

// The library's own function of that name and type.
template <typename Function>
Function* Next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CQBENCH_NEXT(function) static auto* const next = Next(&function, #function)

CQBENCH_EXPORT grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t nops, void* tag,
                                                     void* reserved) {
  CQBENCH_NEXT(grpc_call_start_batch);
  HandOver(tag);
  return next(call, ops, nops, tag, reserved);
}

CQBENCH_EXPORT grpc_call_error grpc_server_request_call(grpc_server* server, grpc_call** call,
                                                        grpc_call_details* details, grpc_metadata_array* metadata,
                                                        grpc_completion_queue* call_queue,
                                                        grpc_completion_queue* notification_queue, void* tag) {
  CQBENCH_NEXT(grpc_server_request_call);
  HandOver(tag);
  return next(server, call, details, metadata, call_queue, notification_queue, tag);
}

CQBENCH_EXPORT grpc_call_error grpc_server_request_registered_call(
    grpc_server* server, void* method, grpc_call** call, gpr_timespec* deadline, grpc_metadata_array* metadata,
    grpc_byte_buffer** payload, grpc_completion_queue* call_queue, grpc_completion_queue* notification_queue,
    void* tag) {
  CQBENCH_NEXT(grpc_server_request_registered_call);
  HandOver(tag);
  return next(server, method, call, deadline, metadata, payload, call_queue, notification_queue, tag);
}

CQBENCH_EXPORT void grpc_server_shutdown_and_notify(grpc_server* server, grpc_completion_queue* queue, void* tag) {
  CQBENCH_NEXT(grpc_server_shutdown_and_notify);
  HandOver(tag);
  next(server, queue, tag);
}

CQBENCH_EXPORT void grpc_completion_queue_shutdown(grpc_completion_queue* queue) {
  CQBENCH_NEXT(grpc_completion_queue_shutdown);
  HandOver(queue);
  next(queue);
}

CQBENCH_EXPORT grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                                     void* reserved) {
  CQBENCH_NEXT(grpc_completion_queue_next);
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) TakeBack(event.tag);
  if (event.type == GRPC_QUEUE_SHUTDOWN) TakeBack(queue);
  return event;
}

CQBENCH_EXPORT grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag, gpr_timespec deadline,
                                                      void* reserved) {
  CQBENCH_NEXT(grpc_completion_queue_pluck);
  const grpc_event event = next(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) TakeBack(tag);
  return event;
}

CQBENCH_EXPORT void gpr_mu_lock(gpr_mu* mutex) {
  CQBENCH_NEXT(gpr_mu_lock);
  next(mutex);
  TakeBack(mutex);
}

CQBENCH_EXPORT int gpr_mu_trylock(gpr_mu* mutex) {
  CQBENCH_NEXT(gpr_mu_trylock);
  const int locked = next(mutex);
  if (locked != 0) TakeBack(mutex);
  return locked;
}

CQBENCH_EXPORT void gpr_mu_unlock(gpr_mu* mutex) {
  CQBENCH_NEXT(gpr_mu_unlock);
  HandOver(mutex);
  next(mutex);
}

CQBENCH_EXPORT int gpr_cv_wait(gpr_cv* condition, gpr_mu* mutex, gpr_timespec deadline) {
  CQBENCH_NEXT(gpr_cv_wait);
  HandOver(mutex);
  const int timed_out = next(condition, mutex, deadline);
  TakeBack(mutex);
  return timed_out;
}
