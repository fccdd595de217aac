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
  template <typename Visitor>
  void Visit(const Visitor& visit) const {
    const std::lock_guard lock(mutex_);
    for (const Recorder& recorder : recorders_) visit(recorder);
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
//   void Send(Slot&, Nanos now)   issues the call (bidi: the message) whose due_ns is set, by Issue()
template <typename Derived, typename Slot, typename Stub>
class CallbackEngine : public GrpcEngine<Slot> {
 public:
  void Start() override {
    this->Begin();
    if (pacers_) pacers_->Release();
    for (Slot& slot : this->slots()) {
      if (this->Open(slot)) Next(slot, NowNs(), /*ok=*/true);
    }
  }
  void Join() override {
    if (pacers_) pacers_->Join();
    this->Joined();
  }
  int threads() const override { return 0; }
  void VisitRecorders(const RecorderVisitor& visit) const override { recorders_.Visit(visit); }
  TimingCost MeasureTimingCost() override {
    CallSlot slot;
    RunWindow always;
    always.Set(0, INT64_MAX);
    ThreadRecorders recorders(&always, /*open_loop=*/false);
    const auto call = [&](uint32_t issues) {
      return [&, issues](Nanos now) {
        slot.issues = issues;
        Time(recorders, slot, now, [] {});
      };
    };
    return CompareTiming(this->kTimedEvery, call(0), call(1));
  }

 protected:
  explicit CallbackEngine(const EngineContext& context)
      : GrpcEngine<Slot>(context), stubs_(context), recorders_(&this->window(), this->open_loop()) {
    for (Slot& slot : this->slots()) {
      slot.stub = stubs_.ForSlot(slot.index);
      slot.requests.emplace(this->config(), this->bytes(), slot.index);
      slot.responses.emplace(Stub::ResponsesFrom(this->config()));
    }
  }
  // Last in the constructor of Derived, which there is none of before.
  void MakeReady() {
    for (Slot& slot : this->slots()) slot.engine = &derived();
    if (!this->open_loop()) return;
    pacers_.emplace(static_cast<int>(this->arrivals().size()), "pacer-",
                    [this](int i) { Pace(static_cast<size_t>(i)); });
  }
  Recorder& recorder() { return recorders_.Mine(); }

  // Calls send(), which gives the slot's call to the library. Once issued, the slot belongs to the thread that sees the
  // end of the call: of a call that is timed only what issuing took is known, not what follows.
  template <typename Send>
  void Issue(Slot& slot, Nanos now, Send send) {
    slot.Sent(now);
    recorder().Sent(slot.due_ns);
    Time(recorders_, slot, now, send);
  }

 private:
  template <typename Send>
  void Time(ThreadRecorders& recorders, CallSlot& slot, Nanos now, Send send) {
    if (!this->IsTimed(slot)) [[likely]]
      return send();
    const Nanos due = slot.due_ns;
    this->Hold();
    send();
    recorders.Mine().Parts(due, NowNs() - now, -1);
    this->Unhold();
  }

  Derived& derived() { return static_cast<Derived&>(*this); }

  void Next(Slot& slot, Nanos done, bool ok) {
    if (this->SendsNext(slot, done, ok, recorder())) derived().Send(slot, done);
  }

  void Pace(size_t i) {
    ArrivalQueue& queue = this->arrivals()[i];
    const PacerClock clock(this->config().schedule.pace, this->margin_ns());
    PaceCalls(queue, clock, this->config().schedule.at_limit, this->window(), recorder(),
              [&](FreeNode* node, Nanos due, Nanos now) {
                Slot& slot = static_cast<Slot&>(*static_cast<CallSlot*>(node));
                slot.due_ns = due;
                derived().Send(slot, now);
              });
    this->CloseIdle(queue);
  }

  // In an open loop only streams have a back-off, and what they send next is the schedule's to say.
  void Resume(Slot& slot) override {
    if (!this->Open(slot)) return;
    if (this->open_loop()) return Next(slot, NowNs(), /*ok=*/true);
    derived().Send(slot, slot.due_ns);
  }

  Stubs<Stub> stubs_;
  ThreadRecorders recorders_;
  std::optional<GatedThreads> pacers_;
};

}  // namespace cqbench
