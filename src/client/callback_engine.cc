// The callback API: a reactor per slot, run by the library's own threads.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "src/channel/poll.h"
#include "src/client/slot_engine.h"
#include "src/workload/workloads.h"

namespace cqbench {
namespace {

// Recorders for threads that we neither start nor count: each gets one when it first has something to record.
class ThreadRecorders {
 public:
  explicit ThreadRecorders(const RunWindow* window) : window_(window), id_(next_id_.fetch_add(1)) {}

  Recorder& Mine() {
    thread_local uint64_t owner = 0;
    thread_local Recorder* recorder = nullptr;
    if (owner != id_) [[unlikely]] {
      const std::lock_guard lock(mutex_);
      recorder = &recorders_.emplace_back(window_);
      owner = id_;
    }
    return *recorder;
  }
  uint64_t Completed() const {
    const std::lock_guard lock(mutex_);
    uint64_t total = 0;
    for (const Recorder& recorder : recorders_) total += recorder.Completed();
    return total;
  }
  void MergeInto(Recorder& total) const {
    const std::lock_guard lock(mutex_);
    for (const Recorder& recorder : recorders_) total.Merge(recorder);
  }

 private:
  static inline std::atomic<uint64_t> next_id_{1};
  const RunWindow* const window_;
  const uint64_t id_;
  mutable std::mutex mutex_;
  std::deque<Recorder> recorders_;  // guarded by mutex_; the elements belong to their threads
};

// `Derived` has Issue(Slot&).
template <typename Derived, typename Slot>
class CallbackEngine : public SlotEngine<Slot> {
 public:
  void Start() override {
    for (Slot& slot : this->slots()) static_cast<Derived*>(this)->Issue(slot);
  }
  void Join() override {}
  int threads() const override { return 0; }
  uint64_t Completed() const override { return recorders_.Completed(); }
  void Collect(Recorder& total, std::vector<uint64_t>& completed_per_slot) const override {
    recorders_.MergeInto(total);
    this->CollectSlots(completed_per_slot);
  }

 protected:
  explicit CallbackEngine(const EngineContext& context) : SlotEngine<Slot>(context), recorders_(&this->window()) {}
  Recorder& recorder() { return recorders_.Mine(); }

  // Runs `start`, after which the slot belongs to the thread that sees the end of the call. So for a call that is timed
  // only the time that issuing took can be told, not what follows.
  template <typename Start>
  void StartTimed(Slot& slot, Nanos sent, Start start) {
    if (!this->IsTimed(slot)) [[likely]]
      return start();
    this->Hold();
    start();
    recorder().Parts(sent, NowNs() - sent, -1);
    this->Unhold();
  }

 private:
  void WakeUp(Slot& slot) override { static_cast<Derived*>(this)->Issue(slot); }

  ThreadRecorders recorders_;
};

template <typename Workload>
class CallbackUnaryEngine;

// The reactor is free for the next call once OnDone has been entered.
template <typename Workload>
struct UnarySlot final : CallSlot, grpc::ClientUnaryReactor {
  CallbackUnaryEngine<Workload>* engine = nullptr;
  typename Workload::Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  typename Workload::Response response;

  void OnDone(const grpc::Status& status) override { engine->CallEnded(*this, status); }
};

template <typename Workload>
class CallbackUnaryEngine final : public CallbackEngine<CallbackUnaryEngine<Workload>, UnarySlot<Workload>> {
  using Slot = UnarySlot<Workload>;

 public:
  explicit CallbackUnaryEngine(const EngineContext& context)
      : CallbackEngine<CallbackUnaryEngine, Slot>(context),
        request_(Workload::MakeRequest(context.config)),
        stubs_(context.pool) {
    for (Slot& slot : this->slots()) {
      slot.engine = this;
      slot.stub = stubs_.ForSlot(slot.index);
    }
  }

  void Issue(Slot& slot) {
    slot.context.emplace();
    const Nanos now = NowNs();
    slot.Sent(now);
    slot.context->set_deadline(ToTimespec(now + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    this->StartTimed(slot, now, [&] {
      Workload::CallbackUnary(*slot.stub, &*slot.context, &request_, &slot.response, &slot);
      slot.StartCall();
    });
  }

  void CallEnded(Slot& slot, const grpc::Status& status) {
    const bool valid = Workload::IsValid(slot.response, this->config());
    if (this->UnaryEnded(this->recorder(), slot, status, valid)) Issue(slot);
  }

 private:
  const typename Workload::Request request_;
  Stubs<Workload> stubs_;
};

template <typename Workload>
class CallbackStreamEngine;

template <typename Workload>
struct StreamSlot final : CallSlot, grpc::ClientBidiReactor<typename Workload::Request, typename Workload::Response> {
  CallbackStreamEngine<Workload>* engine = nullptr;
  typename Workload::Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  typename Workload::Response response;
  // Write and read of a message may end on two threads at once; whoever is second goes on.
  std::atomic<int> pending{0};
  std::atomic<bool> broken{false};

  void OnWriteDone(bool ok) override { OperationDone(ok); }
  void OnReadDone(bool ok) override { OperationDone(ok); }
  void OnDone(const grpc::Status& status) override { engine->CallEnded(*this, status); }

 private:
  void OperationDone(bool ok) {
    if (!ok) broken.store(true, std::memory_order_relaxed);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!broken.load(std::memory_order_relaxed)) engine->MessageDone(*this);  // otherwise OnDone follows
  }
};

template <typename Workload>
class CallbackStreamEngine final : public CallbackEngine<CallbackStreamEngine<Workload>, StreamSlot<Workload>> {
  using Slot = StreamSlot<Workload>;

 public:
  explicit CallbackStreamEngine(const EngineContext& context)
      : CallbackEngine<CallbackStreamEngine, Slot>(context),
        request_(Workload::MakeRequest(context.config)),
        stubs_(context.pool) {
    for (Slot& slot : this->slots()) {
      slot.engine = this;
      slot.stub = stubs_.ForSlot(slot.index);
    }
  }

  void Issue(Slot& slot) {
    slot.timed_out.store(false, std::memory_order_relaxed);
    slot.broken.store(false, std::memory_order_relaxed);
    slot.context.emplace();
    slot.gate.Enter(&*slot.context);
    Workload::CallbackStream(*slot.stub, &*slot.context, &slot);
    Send(slot, NowNs());
    slot.StartCall();
  }

  void MessageDone(Slot& slot) {
    const Nanos done = NowNs();
    this->RecordAnswer(this->recorder(), slot, done, Workload::IsValid(slot.response, this->config()));
    if (!this->window().IsOver(done)) return Send(slot, done);
    slot.Sent(done);
    slot.StartWritesDone();
  }

  void CallEnded(Slot& slot, const grpc::Status& status) {
    slot.gate.Leave();
    this->StreamEnded(this->recorder(), slot, slot.broken.load(std::memory_order_relaxed), status);
  }

 private:
  void Send(Slot& slot, Nanos now) {
    slot.Sent(now);
    slot.pending.store(2, std::memory_order_relaxed);
    this->StartTimed(slot, now, [&] {
      slot.StartRead(&slot.response);
      slot.StartWrite(&request_);
    });
  }

  const typename Workload::Request request_;
  Stubs<Workload> stubs_;
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackEngine(const EngineContext& context) {
  return WithWorkload(context.config.workload, [&]<typename W>(W) -> std::unique_ptr<Engine> {
    if (context.config.mode == RpcMode::kStreaming) return std::make_unique<CallbackStreamEngine<W>>(context);
    return std::make_unique<CallbackUnaryEngine<W>>(context);
  });
}

}  // namespace cqbench
