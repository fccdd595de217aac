// The callback API: a reactor per slot, run by the library's own threads. In an open loop pacers send.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "src/load/engines/grpc_engine.h"
#include "src/load/engines/stub.h"
#include "src/load/pacing/gated_threads.h"
#include "src/load/pacing/pacer.h"

namespace cqbench {

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
  uint64_t CompletedBefore() const {
    const std::lock_guard lock(mutex_);
    uint64_t total = 0;
    for (const Recorder& recorder : recorders_) total += recorder.CompletedBefore();
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
struct ReactorSlot : GrpcSlot {
  Stub* stub = nullptr;
  std::optional<Requests<Stub>> requests;
  std::optional<MessageSupply<typename Stub::Response>> responses;
};

// `Derived` has
//   bool Open(Slot&)   makes a slot ready to send; true when it is at once, otherwise Next() follows
//   void Send(Slot&)   issues the call (bidi: the message) whose due_ns and sent are set
//   void Close(Slot&)  ends a slot that is not in a call
template <typename Derived, typename Slot, typename Stub>
class CallbackEngine : public GrpcEngine<Slot> {
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
  uint64_t CompletedBefore() const override { return recorders_.CompletedBefore(); }
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
      : GrpcEngine<Slot>(context), stubs_(context), recorders_(&this->window(), this->open_loop()) {
    for (Slot& slot : this->slots()) {
      slot.stub = stubs_.ForSlot(slot.index);
      slot.requests.emplace(this->config(), this->bytes(), slot.index);
      slot.responses.emplace(this->config().messages, this->config().serializer);
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

}  // namespace cqbench
