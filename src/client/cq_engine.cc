// The event-driven client: a few threads, each with a completion queue of its own, drive any number of slots over any
// number of channels. The tag of an event is the slot itself; there is one kind of slot per engine, so nothing is
// looked up or dispatched on the way. In an open loop pacers send, and these threads see the ends.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "src/channel/poll.h"
#include "src/client/gated_threads.h"
#include "src/client/pacer.h"
#include "src/client/slot_engine.h"
#include "src/client/stub.h"

namespace cqbench {
namespace {

// What a thread that sends calls has to itself.
template <typename Stub>
struct Sender {
  Sender(const RunWindow* window, bool open_loop, const RunConfig& config)
      : recorder(window, open_loop), requests(config) {}
  Recorder recorder;
  Requests<Stub> requests;
};

// A completion queue, its thread's things, and the slots whose calls end there.
template <typename Stub>
struct CqThread : Sender<Stub> {
  using Sender<Stub>::Sender;
  grpc::CompletionQueue queue;
  std::vector<CallSlot*> slots;
};

template <typename Stub>
struct CqSlot : CallSlot {
  CqThread<Stub>* thread = nullptr;
  Stub* stub = nullptr;
  std::optional<grpc::ClientContext> context;
  std::optional<Holder<typename Stub::Response>> responses;
  grpc::Status status;
};

// Threads, queues, pacers and the distribution of slots over them. `Derived` has
//   bool Open(Slot&)             makes a slot ready to send; true when it is at once, otherwise Next() follows
//   void Send(Slot&, requests)   issues the call (bidi: the message) whose due_ns and sent are set
//   void OnEvent(Slot&, CqThread&, bool ok)   takes the slot's events: record, then Next()
//   void Close(Slot&)            ends a slot that is not in a call
template <typename Derived, typename Slot, typename Stub>
class CqEngine : public SlotEngine<Slot> {
 public:
  void Start() override {
    this->Begin();
    threads_->Release();
    if (pacers_) pacers_->Release();
  }
  void Join() override {
    for (CqThread<Stub>& thread : cq_threads_) thread.queue.Shutdown();
    threads_->Join();
    if (pacers_) pacers_->Join();
    this->Joined();
  }
  int threads() const override { return static_cast<int>(cq_threads_.size()); }
  std::vector<std::vector<int>> ChannelsOfThread() const override {
    std::vector<std::vector<int>> channels;
    for (const CqThread<Stub>& thread : cq_threads_) {
      std::set<int> mine;
      for (const CallSlot* slot : thread.slots) mine.insert(slot->index % stubs_.size());
      channels.emplace_back(mine.begin(), mine.end());
    }
    return channels;
  }
  uint64_t Completed() const override {
    uint64_t total = 0;
    for (const CqThread<Stub>& thread : cq_threads_) total += thread.recorder.Completed();
    return total;
  }
  void Collect(Measurement& total) const override {
    for (const CqThread<Stub>& thread : cq_threads_) thread.recorder.MergeInto(total);
    for (const Sender<Stub>& sender : senders_) sender.recorder.MergeInto(total);
    runner_.recorder.MergeInto(total);
    this->CollectSlots(total);
    if (total.pacing) total.pacing->pacers = static_cast<int>(senders_.size());
  }

 protected:
  explicit CqEngine(const EngineContext& context) : SlotEngine<Slot>(context), stubs_(context.pool) {
    const int count = std::clamp(context.threads, 1, context.load.slots);
    for (int i = 0; i < count; ++i) cq_threads_.emplace_back(&this->window(), this->open_loop(), this->config());
    for (size_t i = 0; i < this->lanes().size(); ++i) senders_.emplace_back(&this->window(), true, this->config());
    for (Slot& slot : this->slots()) {
      slot.thread = &cq_threads_[static_cast<size_t>(ThreadOfSlot(slot.index, stubs_.size(), count))];
      slot.thread->slots.push_back(&slot);
      slot.stub = stubs_.ForSlot(slot.index);
      slot.responses.emplace(this->config().messages);
    }
  }
  // Last in the constructor of Derived: the threads may touch everything from Start() on.
  void MakeThreads() {
    threads_.emplace(threads(), "cq-", [this](int i) { Run(cq_threads_[static_cast<size_t>(i)]); });
    if (!this->open_loop()) return;
    pacers_.emplace(static_cast<int>(senders_.size()), "pacer-", [this](int i) { Pace(static_cast<size_t>(i)); });
  }

  // The slot is ready, or has ended a call: what follows by the schedule.
  [[gnu::always_inline]] void Next(Slot& slot, CqThread<Stub>& thread, Nanos done, bool ok) {
    switch (this->schedule().After(slot, done, ok, thread.recorder)) {
      case SlotSchedule::Next::kSend:
        slot.Sent(done);
        thread.recorder.Sent(slot.due_ns);
        derived().Send(slot, thread.requests);
        // The end of the call is seen by this thread too, so it cannot come in between.
        if (this->IsTimed(slot)) [[unlikely]]
          slot.issued_ns = NowNs();
        return;
      case SlotSchedule::Next::kWait:
        return;
      case SlotSchedule::Next::kEnd:
        return derived().Close(slot);
    }
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  void Run(CqThread<Stub>& thread) {
    for (CallSlot* slot : thread.slots) {
      slot->due_ns = NowNs();  // of a stream's first message, should the stream break before
      if (derived().Open(static_cast<Slot&>(*slot))) Next(static_cast<Slot&>(*slot), thread, NowNs(), /*ok=*/true);
    }
    DrainQueue(thread.queue, this->config().poll,
               [&](void* tag, bool ok) { derived().OnEvent(*static_cast<Slot*>(tag), thread, ok); });
  }

  // A call that a pacer sends belongs to the queue's thread from then on: only what issuing took can be told.
  void Pace(size_t i) {
    Lane& lane = this->lanes()[i];
    Sender<Stub>& sender = senders_[i];
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    PaceLane(lane, clock, this->config().schedule.at_limit, this->window(), sender.recorder,
             [&](FreeNode* node, Nanos due, Nanos now) {
               Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
               slot.due_ns = due;
               slot.Sent(now);
               sender.recorder.Sent(due);
               const bool timed = this->IsTimed(slot);
               derived().Send(slot, sender.requests);
               if (timed) [[unlikely]]
                 sender.recorder.Parts(due, NowNs() - now, -1);
             });
    this->CloseIdle(lane, [&](Slot& slot) { derived().Close(slot); });
  }

  // Its events go to its own thread. Calls in an open loop do not rest.
  void Resume(Slot& slot) override {
    if (!derived().Open(slot)) return;
    slot.Sent(slot.due_ns);
    runner_.recorder.Sent(slot.due_ns);
    derived().Send(slot, runner_.requests);
  }

  Stubs<Stub> stubs_;
  std::deque<CqThread<Stub>> cq_threads_;
  std::deque<Sender<Stub>> senders_;                                         // the pacers
  Sender<Stub> runner_{&this->window(), this->open_loop(), this->config()};  // for calls after a rest
  std::optional<GatedThreads> threads_;
  std::optional<GatedThreads> pacers_;
};

template <typename Stub>
struct UnarySlot : CqSlot<Stub> {
  std::unique_ptr<grpc::ClientAsyncResponseReader<typename Stub::Response>> call;
};

template <typename Stub>
class CqUnaryEngine final : public CqEngine<CqUnaryEngine<Stub>, UnarySlot<Stub>, Stub> {
  using Slot = UnarySlot<Stub>;

 public:
  explicit CqUnaryEngine(const EngineContext& context) : CqEngine<CqUnaryEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqUnaryEngine() override { this->Stop(); }

  bool Open(Slot& /*slot*/) { return true; }
  void Close(Slot& /*slot*/) { this->Retire(); }

  void Send(Slot& slot, Requests<Stub>& requests) {
    slot.context.emplace();  // gRPC has no way to use a context twice
    slot.context->set_deadline(ToTimespec(slot.sent() + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    slot.call = slot.stub->Prepare(&*slot.context, requests.Next(), &slot.thread->queue);
    slot.call->StartCall();
    slot.call->Finish(&slot.responses->Next(), &slot.status, static_cast<CallSlot*>(&slot));
  }

  // Record, next.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool /*ok: always true for the end of a call, the status tells*/) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    const absl::string_view wrong = Stub::Check(slot.responses->Current(), this->config().message);
    this->Next(slot, thread, done, this->RecordEnd(thread.recorder, slot, done, slot.status, wrong));
  }
};

// The call object of a client- or server-streaming method, prepared.
template <typename Stub>
auto PrepareTransfer(CqSlot<Stub>& slot, [[maybe_unused]] Requests<Stub>& requests) {
  if constexpr (Stub::kStream == Shape::kClientStreaming) {
    return slot.stub->Prepare(&*slot.context, &slot.responses->Next(), &slot.thread->queue);
  } else if constexpr (Stub::kStream == Shape::kServerStreaming) {
    return slot.stub->Prepare(&*slot.context, requests.Next(), &slot.thread->queue);
  } else {
    return slot.stub->Prepare(&*slot.context, &slot.thread->queue);
  }
}

template <typename Stub>
struct TransferSlot : CqSlot<Stub> {
  enum class Phase { kStarting, kWriting, kReading, kFinishing };

  decltype(PrepareTransfer(std::declval<CqSlot<Stub>&>(), std::declval<Requests<Stub>&>())) call;
  Phase phase = Phase::kStarting;
  int to_write = 0;
  int answers = 0;  // that have come
  absl::string_view wrong;
};

// Client- and server-streaming calls, whole: one operation at a time. Writes are of the sender's request, so only its
// first is made by the sender; the others by the thread that sees events.
template <typename Stub>
class CqTransferEngine final : public CqEngine<CqTransferEngine<Stub>, TransferSlot<Stub>, Stub> {
  using Slot = TransferSlot<Stub>;
  using Phase = typename Slot::Phase;

 public:
  explicit CqTransferEngine(const EngineContext& context) : CqEngine<CqTransferEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqTransferEngine() override { this->Stop(); }

  bool Open(Slot& /*slot*/) { return true; }
  void Close(Slot& /*slot*/) { this->Retire(); }

  void Send(Slot& slot, Requests<Stub>& requests) {
    slot.call.reset();  // lives in the memory of its call, which the context holds
    slot.context.emplace();
    slot.context->set_deadline(ToTimespec(slot.sent() + this->config().deadline_ns));
    slot.gate.Enter(&*slot.context);
    slot.phase = Phase::kStarting;
    slot.to_write = Stub::kShape == Shape::kClientStreaming ? this->config().message.stream_messages : 1;
    slot.answers = kReads<Stub> ? 0 : 1;
    slot.wrong = {};
    slot.call = PrepareTransfer<Stub>(slot, requests);
    slot.call->StartCall(static_cast<CallSlot*>(&slot));
  }

  // Issue the next operation, or record and next.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool ok) {
    if (slot.phase == Phase::kFinishing) return Ended(slot, thread);
    if (slot.phase == Phase::kReading && ok) {
      ++slot.answers;
      if (slot.wrong.empty()) slot.wrong = Stub::Check(slot.responses->Current(), this->config().message);
    }
    if constexpr (kWrites<Stub>) {
      if (ok && slot.to_write > 0) return Write(slot, thread.requests);
    }
    if constexpr (kReads<Stub>) {
      if (ok) return Read(slot);
    }
    slot.phase = Phase::kFinishing;
    slot.call->Finish(&slot.status, static_cast<CallSlot*>(&slot));
  }

 private:
  void Write(Slot& slot, Requests<Stub>& requests) {
    slot.phase = Phase::kWriting;
    if (--slot.to_write > 0) return slot.call->Write(requests.Next(), static_cast<CallSlot*>(&slot));
    slot.call->WriteLast(requests.Next(), grpc::WriteOptions(), static_cast<CallSlot*>(&slot));
  }
  void Read(Slot& slot) {
    slot.phase = Phase::kReading;
    slot.call->Read(&slot.responses->Next(), static_cast<CallSlot*>(&slot));
  }
  void Ended(Slot& slot, CqThread<Stub>& thread) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (slot.wrong.empty())
      slot.wrong = WrongAtEnd<Stub>(slot.answers, slot.responses->Current(), this->config().message);
    this->Next(slot, thread, done, this->RecordEnd(thread.recorder, slot, done, slot.status, slot.wrong));
  }
};

template <typename Stub>
struct BidiSlot : CqSlot<Stub> {
  enum class Phase { kOpening, kPinging, kClosing, kBroken };

  std::unique_ptr<grpc::ClientAsyncReaderWriter<typename Stub::Request, typename Stub::Response>> stream;
  Phase phase = Phase::kOpening;
  Phase broke_in = Phase::kOpening;
  int pending = 0;  // operations whose event has not come yet
  bool finishing = false;
};

// Ping-pong: the write of a message and the read of its answer are issued together, so the answer finds a reader
// waiting. A message is done when both events have come.
template <typename Stub>
class CqBidiEngine final : public CqEngine<CqBidiEngine<Stub>, BidiSlot<Stub>, Stub> {
  using Slot = BidiSlot<Stub>;
  using Phase = typename Slot::Phase;

 public:
  explicit CqBidiEngine(const EngineContext& context) : CqEngine<CqBidiEngine, Slot, Stub>(context) {
    this->MakeThreads();
  }
  ~CqBidiEngine() override { this->Stop(); }

  bool Open(Slot& slot) {
    slot.phase = Phase::kOpening;
    slot.finishing = false;
    slot.timed_out.store(false, std::memory_order_relaxed);
    slot.stream.reset();  // lives in the memory of its call, which the context holds
    slot.context.emplace();
    slot.Sent(NowNs());
    slot.gate.Enter(&*slot.context);
    slot.stream = slot.stub->Prepare(&*slot.context, &slot.thread->queue);
    slot.pending = 1;
    slot.stream->StartCall(static_cast<CallSlot*>(&slot));
    return false;
  }
  void Close(Slot& slot) {
    slot.phase = Phase::kClosing;
    slot.Sent(NowNs());  // a stream that does not close is late, too
    slot.pending = 1;
    slot.stream->WritesDone(static_cast<CallSlot*>(&slot));
  }

  void Send(Slot& slot, Requests<Stub>& requests) {
    slot.pending = 2;
    slot.stream->Read(&slot.responses->Next(), static_cast<CallSlot*>(&slot));
    slot.stream->Write(requests.Next(), static_cast<CallSlot*>(&slot));
  }

  // Record, next.
  void OnEvent(Slot& slot, CqThread<Stub>& thread, bool ok) {
    if (!ok && slot.phase != Phase::kBroken) {
      slot.broke_in = slot.phase;
      slot.phase = Phase::kBroken;
    }
    if (--slot.pending > 0) return;
    const Nanos done = NowNs();
    switch (slot.phase) {
      case Phase::kPinging: {
        const absl::string_view wrong = Stub::Check(slot.responses->Current(), this->config().message);
        const bool good = this->RecordEnd(thread.recorder, slot, done, grpc::Status::OK, wrong);
        return this->Next(slot, thread, done, good);
      }
      case Phase::kOpening:
        slot.phase = Phase::kPinging;
        return this->Next(slot, thread, done, /*ok=*/true);
      case Phase::kClosing:
      case Phase::kBroken:
        if (slot.finishing) return Ended(slot, thread, done);
        slot.finishing = true;
        slot.pending = 1;
        slot.stream->Finish(&slot.status, static_cast<CallSlot*>(&slot));
    }
  }

 private:
  void Ended(Slot& slot, CqThread<Stub>& thread, Nanos done) {
    slot.gate.Leave();
    if (slot.phase == Phase::kBroken) RecordBreak(this->open_loop(), slot, thread, done);
    if (this->schedule().Over(done)) {
      this->Retire();
    } else {
      this->schedule().Rest(slot, done);
    }
  }
  // In a closed loop a message is due as soon as the stream is to be opened; in an open one only Send() makes it this
  // slot's. A stream that breaks while it is being closed takes no message with it.
  void RecordBreak(bool open_loop, Slot& slot, CqThread<Stub>& thread, Nanos done) {
    if (slot.broke_in == Phase::kClosing || (slot.broke_in == Phase::kOpening && open_loop)) return;
    if (slot.broke_in == Phase::kOpening) thread.recorder.Sent(slot.due_ns);
    this->RecordFailure(thread.recorder, slot, done, slot.status);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeCqEngine(const EngineContext& context) {
  return WithStub(context.config, [&]<typename Stub>() -> std::unique_ptr<Engine> {
    if constexpr (Stub::kShape == Shape::kUnary) {
      return std::make_unique<CqUnaryEngine<Stub>>(context);
    } else if constexpr (Stub::kShape == Shape::kBidi) {
      return std::make_unique<CqBidiEngine<Stub>>(context);
    } else {
      return std::make_unique<CqTransferEngine<Stub>>(context);
    }
  });
}

}  // namespace cqbench
