// The event-driven client: a few threads, each with a completion queue of its own, drive any number of slots over any
// number of channels. The tag of an event is the slot itself; there is one kind of slot per engine, so nothing is
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

// What a thread that sends calls has to itself.
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
//   bool Open(Slot&)             makes a slot ready to send; true when it is at once, otherwise Next() follows
//   void Send(Slot&, requests)   issues the call (bidi: the message) whose due_ns and sent are set
//   void OnEvent(Slot&, CqThread&, bool ok)   takes the slot's events: record, then Next()
//   void Close(Slot&)            ends a slot that is not in a call
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
  uint64_t CompletedBefore() const override {
    uint64_t total = 0;
    for (const CqThread<Stub>& thread : cq_threads_) total += thread.recorder.CompletedBefore();
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
  explicit CqEngine(const EngineContext& context) : GrpcEngine<Slot>(context), stubs_(context) {
    const int count = std::clamp(context.threads, 1, context.load.slots);
    for (int i = 0; i < count; ++i) {
      cq_threads_.emplace_back(&this->window(), this->open_loop(), this->config(), this->bytes(), i);
    }
    const auto lanes = static_cast<int>(this->lanes().size());
    for (int i = 0; i < lanes; ++i) senders_.emplace_back(&this->window(), true, this->config(), this->bytes(), i);
    for (Slot& slot : this->slots()) {
      slot.thread = &cq_threads_[static_cast<size_t>(ThreadOfSlot(slot.index, stubs_.size(), count))];
      slot.thread->slots.push_back(&slot);
      slot.stub = stubs_.ForSlot(slot.index);
      slot.responses.emplace(this->config().messages, this->config().serializer);
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
  std::deque<Sender<Stub>> senders_;  // the pacers
  // For calls after a rest.
  Sender<Stub> runner_{&this->window(), this->open_loop(), this->config(), this->bytes(), 0};
  std::optional<GatedThreads> threads_;
  std::optional<GatedThreads> pacers_;
};

}  // namespace cqbench
