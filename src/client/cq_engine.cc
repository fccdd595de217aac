// The event-driven client: a few threads, each with a completion queue of its own, drive any number of in-flight calls
// over any number of channels. The tag of an event is the slot itself; there is one kind of slot per engine, so nothing
// is looked up or dispatched on the way.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "src/channel/poll.h"
#include "src/client/slot_engine.h"
#include "src/client/worker_threads.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

// A thread's own things. Slots point to the one that drives them.
struct CqWorker {
  explicit CqWorker(const RunWindow* window) : recorder(window) {}
  grpc::CompletionQueue queue;
  Recorder recorder;
  std::vector<CallSlot*> slots;
};

// Threads, queues and the distribution of slots over them. `Derived` has Issue(Slot&), IssueHere(Slot&), which is the
// same on the slot's own thread, and OnEvent(void* tag, bool ok).
template <typename Derived, typename Slot>
class CqEngine : public SlotEngine<Slot> {
 public:
  void Start() override { threads_->Release(); }
  void Join() override {
    for (CqWorker& worker : workers_) worker.queue.Shutdown();
    threads_->Join();
  }
  int threads() const override { return static_cast<int>(workers_.size()); }
  uint64_t Completed() const override {
    uint64_t total = 0;
    for (const CqWorker& worker : workers_) total += worker.recorder.Completed();
    return total;
  }
  void Collect(Recorder& total, std::vector<uint64_t>& completed_per_slot) const override {
    for (const CqWorker& worker : workers_) total.Merge(worker.recorder);
    this->CollectSlots(completed_per_slot);
  }

 protected:
  explicit CqEngine(const EngineContext& context) : SlotEngine<Slot>(context) {
    const int count = std::clamp(context.threads, 1, context.inflight);
    for (int i = 0; i < count; ++i) workers_.emplace_back(&this->window());
    for (Slot& slot : this->slots()) {
      slot.worker = &workers_[static_cast<size_t>(slot.index % count)];
      slot.worker->slots.push_back(&slot);
    }
  }
  // Last in the constructor of Derived: the threads may touch everything from Start() on.
  void MakeThreads() {
    threads_.emplace(threads(), "cq-", [this](int i) { Run(workers_[static_cast<size_t>(i)]); });
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
  void Run(CqWorker& worker) {
    for (CallSlot* slot : worker.slots) derived().IssueHere(static_cast<Slot&>(*slot));
    DrainQueue(worker.queue, this->config().poll, [this](void* tag, bool ok) { derived().OnEvent(tag, ok); });
  }
  void WakeUp(Slot& slot) override { derived().Issue(slot); }

  std::deque<CqWorker> workers_;
  std::optional<WorkerThreads> threads_;
};

template <typename Workload>
struct UnarySlot : CallSlot {
  CqWorker* worker = nullptr;
  typename Workload::Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncResponseReader<typename Workload::Response>> call;
  typename Workload::Response response;
  grpc::Status status;
};

template <typename Workload>
class CqUnaryEngine final : public CqEngine<CqUnaryEngine<Workload>, UnarySlot<Workload>> {
  using Slot = UnarySlot<Workload>;

 public:
  explicit CqUnaryEngine(const EngineContext& context)
      : CqEngine<CqUnaryEngine, Slot>(context), request_(Workload::MakeRequest(context.config)), stubs_(context.pool) {
    for (Slot& slot : this->slots()) slot.stub = stubs_.ForSlot(slot.index);
    this->MakeThreads();
  }

  void Issue(Slot& slot) {
    slot.context.emplace();  // gRPC has no way to use a context twice
    const Nanos now = NowNs();
    slot.Sent(now);
    slot.context->set_deadline(ToTimespec(now + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    slot.call = Workload::PrepareUnary(*slot.stub, &*slot.context, request_, &slot.worker->queue);
    slot.call->StartCall();
    slot.call->Finish(&slot.response, &slot.status, &slot);
  }
  // The end of the call is seen by this thread too, so it cannot come in between.
  void IssueHere(Slot& slot) {
    Issue(slot);
    if (this->IsTimed(slot)) [[unlikely]]
      slot.issued_ns = NowNs();
  }

  void OnEvent(void* tag, bool /*ok: always true for the end of a call, the status tells*/) {
    Slot& slot = *static_cast<Slot*>(tag);
    const bool valid = Workload::IsValid(slot.response, this->config());
    if (this->UnaryEnded(slot.worker->recorder, slot, slot.status, valid)) IssueHere(slot);
  }

 private:
  const typename Workload::Request request_;
  Stubs<Workload> stubs_;
};

template <typename Workload>
struct StreamSlot : CallSlot {
  enum class Phase { kOpening, kPinging, kClosing, kBroken };

  CqWorker* worker = nullptr;
  typename Workload::Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<typename Workload::Request, typename Workload::Response>> stream;
  typename Workload::Response response;
  grpc::Status status;
  Phase phase = Phase::kOpening;
  int pending = 0;  // operations whose event has not come yet
  bool finishing = false;
};

// Ping-pong: the write of a message and the read of its answer are issued together, so the answer finds a reader
// waiting. A message is done when both events have come.
template <typename Workload>
class CqStreamEngine final : public CqEngine<CqStreamEngine<Workload>, StreamSlot<Workload>> {
  using Slot = StreamSlot<Workload>;
  using Phase = typename Slot::Phase;

 public:
  explicit CqStreamEngine(const EngineContext& context)
      : CqEngine<CqStreamEngine, Slot>(context), request_(Workload::MakeRequest(context.config)), stubs_(context.pool) {
    for (Slot& slot : this->slots()) slot.stub = stubs_.ForSlot(slot.index);
    this->MakeThreads();
  }

  // Opens the stream; the first message follows when it is open.
  void Issue(Slot& slot) {
    slot.phase = Phase::kOpening;
    slot.finishing = false;
    slot.timed_out.store(false, std::memory_order_relaxed);
    slot.stream.reset();  // lives in the memory of its call, which the context holds
    slot.context.emplace();
    slot.Sent(NowNs());
    slot.gate.Enter(&*slot.context);
    slot.stream = Workload::PrepareStream(*slot.stub, &*slot.context, &slot.worker->queue);
    slot.pending = 1;
    slot.stream->StartCall(&slot);
  }
  void IssueHere(Slot& slot) { Issue(slot); }

  void OnEvent(void* tag, bool ok) {
    Slot& slot = *static_cast<Slot*>(tag);
    if (!ok) slot.phase = Phase::kBroken;
    if (--slot.pending > 0) return;
    if (slot.finishing) {
      slot.gate.Leave();
      return this->StreamEnded(slot.worker->recorder, slot, slot.phase == Phase::kBroken, slot.status);
    }
    switch (slot.phase) {
      case Phase::kPinging:
        return MessageDone(slot);
      case Phase::kOpening:
        slot.phase = Phase::kPinging;
        return Send(slot, NowNs());
      case Phase::kClosing:
      case Phase::kBroken:
        slot.finishing = true;
        slot.pending = 1;
        slot.stream->Finish(&slot.status, &slot);
    }
  }

 private:
  void Send(Slot& slot, Nanos now) {
    slot.Sent(now);
    slot.pending = 2;
    slot.stream->Read(&slot.response, &slot);
    slot.stream->Write(request_, &slot);
    if (this->IsTimed(slot)) [[unlikely]]
      slot.issued_ns = NowNs();
  }

  void MessageDone(Slot& slot) {
    const Nanos done = NowNs();
    this->RecordAnswer(slot.worker->recorder, slot, done, Workload::IsValid(slot.response, this->config()));
    if (!this->window().IsOver(done)) return Send(slot, done);
    slot.phase = Phase::kClosing;
    slot.Sent(done);
    slot.pending = 1;
    slot.stream->WritesDone(&slot);
  }

  const typename Workload::Request request_;
  Stubs<Workload> stubs_;
};

}  // namespace

std::unique_ptr<Engine> MakeCqEngine(const EngineContext& context) {
  return WithWorkload(context.config.workload, [&]<typename W>(W) -> std::unique_ptr<Engine> {
    if (context.config.mode == RpcMode::kStreaming) return std::make_unique<CqStreamEngine<W>>(context);
    return std::make_unique<CqUnaryEngine<W>>(context);
  });
}

}  // namespace cqbench
