// The completion-queue client: a few threads, each with a completion queue of its own, drive any number of slots over
// any number of channels. The tag of an event is the slot itself; there is one kind of slot per engine, so nothing is
// looked up or dispatched on the way. In an open loop pacers send, and these threads see the ends.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "src/channel/poll.h"
#include "src/load/engines/grpc_engine.h"
#include "src/load/engines/stub.h"
#include "src/load/pacing/gated_threads.h"
#include "src/load/pacing/pacer.h"

namespace cqbench {

// Data that one sending thread owns.
template <typename Stub>
struct Sender {
  Sender(const RunWindow* window, bool open_loop, const RunConfig& config, const BytesMethod* bytes, int index)
      : recorder(window, open_loop), requests(config, bytes, index) {}
  Recorder recorder;
  Requests<Stub> requests;
};

// A completion queue, its thread's things, and the slots whose calls end there.
template <typename Stub>
struct CqThread : Sender<Stub> {
  CqThread(const RunWindow* window, bool open_loop, const RunConfig& config, const BytesMethod* bytes, int index)
      : Sender<Stub>(window, open_loop, config, bytes, index), queue(MakeQueue(config.poll)) {}
  grpc::CompletionQueue queue;
  std::vector<CallSlot*> slots;
};

template <typename Stub>
struct CqSlot : GrpcSlot {
  CqThread<Stub>* thread = nullptr;
  Stub* stub = nullptr;
  std::optional<MessageSupply<typename Stub::Response>> responses;
  grpc::Status status;
};

// Threads, queues, pacers and the distribution of slots over them. `Derived` has
//   void Send(Slot&, Sender&, Nanos now)      issues the call (bidi: the message) whose due_ns is set
//   void OnEvent(Slot&, CqThread&, bool ok)   takes the slot's events: record, and Send() the next call if SendsNext()
template <typename Derived, typename Slot, typename Stub>
class CqEngine : public GrpcEngine<Slot> {
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
      for (const CallSlot* slot : thread.slots) mine.insert(stubs_.ChannelOf(slot->index));
      channels.emplace_back(mine.begin(), mine.end());
    }
    return channels;
  }
  void VisitRecorders(const RecorderVisitor& visit) const override {
    for (const CqThread<Stub>& thread : cq_threads_) visit(thread.recorder);
    for (const Sender<Stub>& sender : senders_) visit(sender.recorder);
    visit(runner_.recorder);
  }

 protected:
  explicit CqEngine(const EngineContext& context) : GrpcEngine<Slot>(context), stubs_(context) {
    const int count = std::clamp(context.threads, 1, context.load.slots);
    for (int i = 0; i < count; ++i) {
      cq_threads_.emplace_back(&this->window(), this->open_loop(), this->config(), this->bytes(), i);
    }
    const auto pacers = static_cast<int>(this->arrivals().size());
    for (int i = 0; i < pacers; ++i) senders_.emplace_back(&this->window(), true, this->config(), this->bytes(), i);
    for (Slot& slot : this->slots()) {
      slot.thread = &cq_threads_[static_cast<size_t>(ThreadOfSlot(slot.index, stubs_.size(), count))];
      slot.thread->slots.push_back(&slot);
      slot.stub = stubs_.ForSlot(slot.index);
      slot.responses.emplace(Stub::ResponsesFrom(this->config()));
    }
  }
  // Last in the constructor of Derived: the threads may touch everything from Start() on.
  void MakeThreads() {
    threads_.emplace(threads(), "cq-", [this](int i) { Run(cq_threads_[static_cast<size_t>(i)]); });
    if (!this->open_loop()) return;
    pacers_.emplace(static_cast<int>(senders_.size()), "pacer-", [this](int i) { Pace(static_cast<size_t>(i)); });
  }

  // --breakdown, on a queue's thread, which has sent the slot's call: it sees the end, too, so that cannot come before.
  void NoteIssued(Slot& slot) {
    if (this->IsTimed(slot)) [[unlikely]]
      slot.issued_ns = NowNs();
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  void Run(CqThread<Stub>& thread) {
    for (CallSlot* each : thread.slots) {
      Slot& slot = static_cast<Slot&>(*each);
      slot.due_ns = NowNs();  // of a stream's first message, should the stream break before
      if (!this->Open(slot)) continue;
      const Nanos now = NowNs();
      if (!this->SendsNext(slot, now, /*ok=*/true, thread.recorder)) continue;
      derived().Send(slot, thread, now);
      NoteIssued(slot);
    }
    DrainQueue(thread.queue, this->config().poll,
               [&](void* tag, bool ok) { derived().OnEvent(*static_cast<Slot*>(tag), thread, ok); });
  }

  // A call that a pacer sends belongs to the queue's thread from then on: only what issuing took is known.
  void Pace(size_t i) {
    ArrivalQueue& queue = this->arrivals()[i];
    Sender<Stub>& sender = senders_[i];
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    PaceCalls(queue, clock, this->config().schedule.at_limit, this->window(), sender.recorder,
              [&](FreeNode* node, Nanos due, Nanos now) {
                Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
                slot.due_ns = due;
                const bool timed = this->IsTimed(slot);
                derived().Send(slot, sender, now);
                if (timed) [[unlikely]]
                  sender.recorder.Parts(due, NowNs() - now, -1);
              });
    this->CloseIdle(queue);
  }

  // Its events go to its own thread. Calls in an open loop have no back-off.
  void Resume(Slot& slot) override {
    if (this->Open(slot)) derived().Send(slot, runner_, slot.due_ns);
  }

  Stubs<Stub> stubs_;
  std::deque<CqThread<Stub>> cq_threads_;
  std::deque<Sender<Stub>> senders_;  // the pacers
  // For calls after a back-off.
  Sender<Stub> runner_{&this->window(), this->open_loop(), this->config(), this->bytes(), 0};
  std::optional<GatedThreads> threads_;
  std::optional<GatedThreads> pacers_;
};

}  // namespace cqbench
