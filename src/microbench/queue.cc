// queue/…: the cost of an event that passes through a completion queue, without a call.

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include "absl/strings/str_cat.h"
#include "cqbench/run_config.h"
#include "src/microbench/suite.h"

namespace cqbench::microbench {
namespace {

// Takes an event that is in the queue or will be soon.
bool Take(grpc::CompletionQueue& queue, PollMode poll) {
  void* tag = nullptr;
  bool ok = false;
  if (poll == PollMode::kBlock) return queue.Next(&tag, &ok) && ok;
  const gpr_timespec no_wait = gpr_inf_past(GPR_CLOCK_MONOTONIC);
  auto got = grpc::CompletionQueue::TIMEOUT;
  while (got == grpc::CompletionQueue::TIMEOUT) got = queue.AsyncNext(&tag, &ok, no_wait);
  return got == grpc::CompletionQueue::GOT_EVENT && ok;
}

void Drain(grpc::CompletionQueue& queue) {
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
  }
}

// An alarm is the library's only public way to put an event into a queue. With gRPC 1.51.1 an expired alarm enters the
// queue at once. gRPC 1.83 sends it through a thread of its EventEngine, which takes nearly all of the time.
void PassThrough(benchmark::State& state, PollMode poll) {
  grpc::CompletionQueue queue;
  bool ok = true;
  Measure(state, [&] {
    grpc::Alarm alarm;
    alarm.Set(&queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), nullptr);
    ok &= Take(queue, poll);
  });
  Drain(queue);
  if (!ok) Fail(state, "the queue gave no event");
}

// Polls an empty queue once: a thread that spins does this all the time.
void LookAtEmpty(benchmark::State& state) {
  grpc::CompletionQueue queue;
  const gpr_timespec no_wait = gpr_inf_past(GPR_CLOCK_MONOTONIC);
  bool empty = true;
  Measure(state, [&] {
    void* tag = nullptr;
    bool ok = false;
    empty &= queue.AsyncNext(&tag, &ok, no_wait) == grpc::CompletionQueue::TIMEOUT;
  });
  Drain(queue);
  if (!empty) Fail(state, "the queue was not empty");
}

}  // namespace

void RegisterQueue() {
  for (const PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    Add(absl::StrCat("queue/pass-through/", ToString(poll)),
        [=](benchmark::State& state) { PassThrough(state, poll); });
  }
  Add("queue/look-at-empty", LookAtEmpty);
}

}  // namespace cqbench::microbench
