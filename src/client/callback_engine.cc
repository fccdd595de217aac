// The callback API: a reactor per slot, run by the library's own threads. In an open loop pacers send.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "src/channel/poll.h"
#include "src/client/gated_threads.h"
#include "src/client/pacer.h"
#include "src/client/slot_engine.h"
#include "src/client/stub.h"

namespace cqbench {
namespace {

// Recorders for threads that we neither start nor count: each gets one when it first has something to record.
class ThreadRecorders {
 public:
  ThreadRecorders(const RunWindow* window, bool open_loop)
      : window_(window), open_loop_(open_loop), id_(next_id_.fetch_add(1)) {}

  Recorder& Mine() {
    thread_local uint64_t owner = 0;
    thread_local Recorder* recorder = nullptr;
    if (owner != id_) [[unlikely]] {
      const std::lock_guard lock(mutex_);
      recorder = &recorders_.emplace_back(window_, open_loop_);
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
  void MergeInto(Measurement& total) const {
    const std::lock_guard lock(mutex_);
    for (const Recorder& recorder : recorders_) recorder.MergeInto(total);
  }

 private:
  static inline std::atomic<uint64_t> next_id_{1};
  const RunWindow* const window_;
  const bool open_loop_;
  const uint64_t id_;
  mutable std::mutex mutex_;
  std::deque<Recorder> recorders_;  // guarded by mutex_; the elements belong to their threads
};

// The API keeps a request until its end, so each slot has its own.
template <typename Stub>
struct ReactorSlot : CallSlot {
  Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  std::optional<Requests<Stub>> requests;
  std::optional<Holder<typename Stub::Response>> responses;
};

// `Derived` has
//   bool Open(Slot&)   makes a slot ready to send; true when it is at once, otherwise Next() follows
//   void Send(Slot&)   issues the call (bidi: the message) whose due_ns and sent are set
//   void Close(Slot&)  ends a slot that is not in a call
template <typename Derived, typename Slot, typename Stub>
class CallbackEngine : public SlotEngine<Slot> {
 public:
  void Start() override {
    this->Begin();
    if (pacers_) pacers_->Release();
    for (Slot& slot : this->slots()) {
      if (derived().Open(slot)) Next(slot, NowNs(), /*ok=*/true);
    }
  }
  void Join() override {
    if (pacers_) pacers_->Join();
    this->Joined();
  }
  int threads() const override { return 0; }
  uint64_t Completed() const override { return recorders_.Completed(); }
  TimingCost MeasureTimingCost() override {
    CallSlot slot;
    RunWindow always;
    always.Set(0, INT64_MAX);
    ThreadRecorders recorders(&always, /*open_loop=*/false);
    const auto call = [&](uint32_t issues) {
      return [&, issues](Nanos now) {
        slot.issues = issues;
        Issue(recorders, slot, now, [] {});
      };
    };
    return CompareTiming(this->kTimedEvery, call(0), call(1));
  }
  void Collect(Measurement& total) const override {
    recorders_.MergeInto(total);
    this->CollectSlots(total);
    if (total.pacing) total.pacing->pacers = pacers_->size();
  }

  // The slot is ready, or has ended a call: what follows by the schedule. On any thread.
  [[gnu::always_inline]] void Next(Slot& slot, Nanos done, bool ok) {
    switch (this->schedule().After(slot, done, ok, recorder())) {
      case SlotSchedule::Next::kSend:
        return SendTimed(slot, done);
      case SlotSchedule::Next::kWait:
        return;
      case SlotSchedule::Next::kEnd:
        return derived().Close(slot);
    }
  }

 protected:
  explicit CallbackEngine(const EngineContext& context)
      : SlotEngine<Slot>(context), stubs_(context.pool), recorders_(&this->window(), this->open_loop()) {
    for (Slot& slot : this->slots()) {
      slot.stub = stubs_.ForSlot(slot.index);
      slot.requests.emplace(this->config());
      slot.responses.emplace(this->config().messages);
    }
  }
  // Last in the constructor of Derived, which there is none of before.
  void MakeReady() {
    for (Slot& slot : this->slots()) slot.engine = &derived();
    if (!this->open_loop()) return;
    pacers_.emplace(static_cast<int>(this->lanes().size()), "pacer-", [this](int i) { Pace(static_cast<size_t>(i)); });
  }
  Recorder& recorder() { return recorders_.Mine(); }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  void SendTimed(Slot& slot, Nanos now) {
    slot.Sent(now);
    recorder().Sent(slot.due_ns);
    Issue(recorders_, slot, now, [&] { derived().Send(slot); });
  }
  // Once issued the slot belongs to the thread that sees the end of the call. So of a call that is timed only what
  // issuing took can be told, not what follows.
  template <typename Send>
  void Issue(ThreadRecorders& recorders, CallSlot& slot, Nanos now, Send send) {
    if (!this->IsTimed(slot)) [[likely]]
      return send();
    const Nanos due = slot.due_ns;
    this->Hold();
    send();
    recorders.Mine().Parts(due, NowNs() - now, -1);
    this->Unhold();
  }

  void Pace(size_t i) {
    Lane& lane = this->lanes()[i];
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    PaceLane(lane, clock, this->config().schedule.at_limit, this->window(), recorder(),
             [&](FreeNode* node, Nanos due, Nanos now) {
               Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
               slot.due_ns = due;
               SendTimed(slot, now);
             });
    this->CloseIdle(lane, [&](Slot& slot) { derived().Close(slot); });
  }

  // In an open loop only streams rest, and what they send next is the schedule's to say.
  void Resume(Slot& slot) override {
    if (!derived().Open(slot)) return;
    if (this->open_loop()) return Next(slot, NowNs(), /*ok=*/true);
    SendTimed(slot, slot.due_ns);
  }

  Stubs<Stub> stubs_;
  ThreadRecorders recorders_;
  std::optional<GatedThreads> pacers_;
};

template <typename Stub>
class CallbackUnaryEngine;

// The reactor is free for the next call once OnDone has been entered.
template <typename Stub>
struct UnarySlot final : ReactorSlot<Stub>, grpc::ClientUnaryReactor {
  CallbackUnaryEngine<Stub>* engine = nullptr;

  void OnDone(const grpc::Status& status) override { engine->CallEnded(*this, status); }
};

template <typename Stub>
class CallbackUnaryEngine final : public CallbackEngine<CallbackUnaryEngine<Stub>, UnarySlot<Stub>, Stub> {
  using Slot = UnarySlot<Stub>;

 public:
  explicit CallbackUnaryEngine(const EngineContext& context)
      : CallbackEngine<CallbackUnaryEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackUnaryEngine() override { this->Stop(); }

  bool Open(Slot& /*slot*/) { return true; }
  void Close(Slot& /*slot*/) { this->Retire(); }

  void Send(Slot& slot) {
    slot.context.emplace();
    slot.context->set_deadline(ToTimespec(slot.sent() + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    slot.stub->Start(&*slot.context, &slot.requests->Next(), &slot.responses->Next(), &slot);
    slot.StartCall();
  }

  // Record, next.
  void CallEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = Stub::Check(slot.responses->Current(), this->config().message);
    this->Next(slot, done, this->RecordEnd(this->recorder(), slot, done, status, wrong));
  }
};

template <typename Stub>
class CallbackTransferEngine;

// Of the shape of the stub's streams.
template <typename Stub>
using ReactorOf = std::conditional_t<
    Stub::kStream == Shape::kClientStreaming, grpc::ClientWriteReactor<typename Stub::Request>,
    std::conditional_t<Stub::kStream == Shape::kServerStreaming, grpc::ClientReadReactor<typename Stub::Response>,
                       grpc::ClientBidiReactor<typename Stub::Request, typename Stub::Response>>>;

// Not every reactor has both of OnWriteDone() and OnReadDone(): where it has, they override.
template <typename Stub>
struct TransferSlot final : ReactorSlot<Stub>, ReactorOf<Stub> {
  CallbackTransferEngine<Stub>* engine = nullptr;
  int to_write = 0;
  int answers = 0;  // that have come
  absl::string_view wrong;

  void OnWriteDone(bool ok) {  // NOLINT(modernize-use-override)
    if (ok) engine->Write(*this);
  }
  void OnReadDone(bool ok) {  // NOLINT(modernize-use-override)
    if (ok) engine->Took(*this);
  }
  void OnDone(const grpc::Status& status) override { engine->CallEnded(*this, status); }
};

// Client- and server-streaming calls, whole. An operation that fails starts no other; OnDone() follows.
template <typename Stub>
class CallbackTransferEngine final : public CallbackEngine<CallbackTransferEngine<Stub>, TransferSlot<Stub>, Stub> {
  using Slot = TransferSlot<Stub>;

 public:
  explicit CallbackTransferEngine(const EngineContext& context)
      : CallbackEngine<CallbackTransferEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackTransferEngine() override { this->Stop(); }

  bool Open(Slot& /*slot*/) { return true; }
  void Close(Slot& /*slot*/) { this->Retire(); }

  void Send(Slot& slot) {
    slot.context.emplace();
    slot.context->set_deadline(ToTimespec(slot.sent() + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    slot.to_write = Stub::kShape == Shape::kClientStreaming ? this->config().message.stream_messages : 1;
    slot.answers = kReads<Stub> ? 0 : 1;
    slot.wrong = {};
    if constexpr (Stub::kStream == Shape::kClientStreaming) {
      slot.stub->Start(&*slot.context, &slot.responses->Next(), &slot);
    } else if constexpr (Stub::kStream == Shape::kServerStreaming) {
      slot.stub->Start(&*slot.context, &slot.requests->Next(), &slot);
    } else {
      slot.stub->Start(&*slot.context, &slot);
    }
    if constexpr (kReads<Stub>) slot.StartRead(&slot.responses->Next());
    if constexpr (kWrites<Stub>) Write(slot);
    slot.StartCall();
  }

  void Write([[maybe_unused]] Slot& slot) {
    if constexpr (kWrites<Stub>) {
      if (slot.to_write == 0) return;
      if (--slot.to_write > 0) return slot.StartWrite(&slot.requests->Next());
      slot.StartWriteLast(&slot.requests->Next(), grpc::WriteOptions());
    }
  }
  void Took([[maybe_unused]] Slot& slot) {
    if constexpr (kReads<Stub>) {
      ++slot.answers;
      if (slot.wrong.empty()) slot.wrong = Stub::Check(slot.responses->Current(), this->config().message);
      slot.StartRead(&slot.responses->Next());
    }
  }

  // Record, next.
  void CallEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (slot.wrong.empty())
      slot.wrong = WrongAtEnd<Stub>(slot.answers, slot.responses->Current(), this->config().message);
    this->Next(slot, done, this->RecordEnd(this->recorder(), slot, done, status, slot.wrong));
  }
};

template <typename Stub>
class CallbackBidiEngine;

template <typename Stub>
struct BidiSlot final : ReactorSlot<Stub>, grpc::ClientBidiReactor<typename Stub::Request, typename Stub::Response> {
  CallbackBidiEngine<Stub>* engine = nullptr;
  // Write and read of a message may end on two threads at once; whoever is second goes on.
  std::atomic<int> pending{0};
  std::atomic<bool> broken{false};
  bool in_message = false;

  void OnWriteDone(bool ok) override { OperationDone(ok); }
  void OnReadDone(bool ok) override { OperationDone(ok); }
  void OnDone(const grpc::Status& status) override { engine->StreamEnded(*this, status); }

 private:
  void OperationDone(bool ok) {
    if (!ok) broken.store(true, std::memory_order_relaxed);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!broken.load(std::memory_order_relaxed)) return engine->MessageDone(*this);
    this->RemoveHold();  // OnDone follows
  }
};

// The stream is held from its opening until it breaks or is closed: between two messages of an open loop no operation
// is under way, and the next may be started by a thread that is not in a reaction.
template <typename Stub>
class CallbackBidiEngine final : public CallbackEngine<CallbackBidiEngine<Stub>, BidiSlot<Stub>, Stub> {
  using Slot = BidiSlot<Stub>;

 public:
  explicit CallbackBidiEngine(const EngineContext& context) : CallbackEngine<CallbackBidiEngine, Slot, Stub>(context) {
    this->MakeReady();
  }
  ~CallbackBidiEngine() override { this->Stop(); }

  // Operations wait in the library until the stream is open, so it is ready at once.
  bool Open(Slot& slot) {
    slot.timed_out.store(false, std::memory_order_relaxed);
    slot.broken.store(false, std::memory_order_relaxed);
    slot.in_message = false;
    slot.context.emplace();
    slot.gate.Enter(&*slot.context);
    slot.stub->Start(&*slot.context, &slot);
    slot.AddHold();
    slot.StartCall();
    return true;
  }
  void Close(Slot& slot) {
    slot.Sent(NowNs());  // a stream that does not close is late, too
    slot.StartWritesDone();
    slot.RemoveHold();
  }

  void Send(Slot& slot) {
    slot.in_message = true;
    slot.pending.store(2, std::memory_order_relaxed);
    slot.StartRead(&slot.responses->Next());
    slot.StartWrite(&slot.requests->Next());
  }

  // Record, next.
  void MessageDone(Slot& slot) {
    const Nanos done = NowNs();
    slot.in_message = false;
    const absl::string_view wrong = Stub::Check(slot.responses->Current(), this->config().message);
    this->Next(slot, done, this->RecordEnd(this->recorder(), slot, done, grpc::Status::OK, wrong));
  }

  void StreamEnded(Slot& slot, const grpc::Status& status) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (slot.in_message) this->RecordFailure(this->recorder(), slot, done, status);
    if (this->schedule().Over(done)) {
      this->Retire();
    } else {
      this->schedule().Rest(slot, done);
    }
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCallbackEngine(const EngineContext& context) {
  return WithStub(context.config, [&]<typename Stub>() -> std::unique_ptr<Engine> {
    if constexpr (Stub::kShape == Shape::kUnary) {
      return std::make_unique<CallbackUnaryEngine<Stub>>(context);
    } else if constexpr (Stub::kShape == Shape::kBidi) {
      return std::make_unique<CallbackBidiEngine<Stub>>(context);
    } else {
      return std::make_unique<CallbackTransferEngine<Stub>>(context);
    }
  });
}

}  // namespace cqbench
