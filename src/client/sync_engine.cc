// The source post's client: a thread per in-flight call that blocks in the synchronous API.

#include <grpcpp/grpcpp.h>

#include <optional>
#include <thread>

#include "src/channel/poll.h"
#include "src/client/slot_engine.h"
#include "src/client/worker_threads.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

struct SyncSlot : CallSlot {
  std::optional<Recorder> recorder;
};

template <typename Workload>
class SyncEngine final : public SlotEngine<SyncSlot> {
 public:
  explicit SyncEngine(const EngineContext& context)
      : SlotEngine(context), request_(Workload::MakeRequest(context.config)), stubs_(context.pool) {
    for (SyncSlot& slot : slots()) slot.recorder.emplace(&window());
    threads_.emplace(context.inflight, "sync-", [this](int i) { Run(slots()[static_cast<size_t>(i)]); });
  }

  void Start() override { threads_->Release(); }
  void Join() override { threads_->Join(); }
  int threads() const override { return threads_->size(); }
  uint64_t Completed() const override {
    uint64_t total = 0;
    for (const SyncSlot& slot : slots()) total += slot.recorder->Completed();
    return total;
  }
  void Collect(Recorder& total, std::vector<uint64_t>& completed_per_slot) const override {
    for (const SyncSlot& slot : slots()) total.Merge(*slot.recorder);
    CollectSlots(completed_per_slot);
  }

 private:
  void Run(SyncSlot& slot) {
    while (!window().IsOver(NowNs())) {
      const bool ok = config().mode == RpcMode::kUnary ? Unary(slot) : Stream(slot);
      if (!ok) std::this_thread::sleep_for(std::chrono::nanoseconds(kRestAfterFailure));
    }
    Retire(slot);
  }

  bool Unary(SyncSlot& slot) {
    typename Workload::Response response;
    grpc::ClientContext context;
    const Nanos sent = NowNs();
    slot.Sent(sent);
    context.set_deadline(ToTimespec(sent + config().deadline_ns));
    slot.gate.Enter(&context);
    const grpc::Status status = Workload::Unary(*stubs_.ForSlot(slot.index), &context, request_, &response);
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (!status.ok()) {
      RecordFailure(*slot.recorder, slot, done, status);
    } else {
      RecordAnswer(*slot.recorder, slot, done, Workload::IsValid(response, config()));
    }
    return status.ok();
  }

  // Ping-pong on one stream until the window is over or the stream breaks.
  bool Stream(SyncSlot& slot) {
    typename Workload::Response response;
    grpc::ClientContext context;
    slot.timed_out.store(false, std::memory_order_relaxed);
    slot.Sent(NowNs());
    slot.gate.Enter(&context);
    auto stream = Workload::Stream(*stubs_.ForSlot(slot.index), &context);
    bool broken = false;
    while (!broken) {
      const Nanos sent = NowNs();
      if (window().IsOver(sent)) break;
      slot.Sent(sent);
      broken = !stream->Write(request_);
      if (!broken && IsTimed(slot)) slot.issued_ns = NowNs();
      broken = broken || !stream->Read(&response);
      if (broken) break;
      const Nanos done = NowNs();
      RecordAnswer(*slot.recorder, slot, done, Workload::IsValid(response, config()));
    }
    if (!broken) stream->WritesDone();
    const grpc::Status status = stream->Finish();
    slot.gate.Leave();
    if (broken || !status.ok()) RecordFailure(*slot.recorder, slot, NowNs(), status);
    return !broken && status.ok();
  }

  void WakeUp(SyncSlot& /*slot*/) override {}  // its thread sleeps by itself

  const typename Workload::Request request_;
  Stubs<Workload> stubs_;
  std::optional<WorkerThreads> threads_;  // last: uses all the above
};

}  // namespace

std::unique_ptr<Engine> MakeSyncEngine(const EngineContext& context) {
  return WithWorkload(context.config.workload, [&]<typename W>(W) -> std::unique_ptr<Engine> {
    return std::make_unique<SyncEngine<W>>(context);
  });
}

}  // namespace cqbench
