// The part of an engine that all of gRPC's client APIs share: contexts, cancelling, and how a call's status is
// recorded.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <deque>
#include <optional>
#include <utility>

#include "src/channel/poll.h"
#include "src/load/engines/engines.h"
#include "src/load/pacing/cancel_gate.h"
#include "src/load/pacing/message_deadlines.h"
#include "src/load/pacing/slot_engine.h"
#include "src/workload/messages/call_setup.h"

namespace cqbench {

struct GrpcSlot : CallSlot {
  CancelGate gate;
  std::optional<grpc::ClientContext> context;  // of the call or stream in flight
  grpc::ClientContext* kept = nullptr;         // of a call that was given up, by the runner's thread
  std::atomic<bool> timed_out{false};          // bidi: cancelled because a message missed its deadline
};

// `Slot` derives from GrpcSlot.
template <typename Slot>
class GrpcEngine : public SlotEngine<Slot> {
  using Base = SlotEngine<Slot>;

 public:
  void Tick(Nanos now) override {
    if (this->config().method.shape == Shape::kBidi && this->config().deadline_ns) CancelMissed(now);
    Base::Tick(now);
  }
  void CancelAll() override {
    Base::CancelAll();
    for (Slot& slot : this->slots()) slot.gate.Cancel();
  }
  bool GiveUp() override {
    int kept = 0;
    for (Slot& slot : this->slots()) kept += (slot.kept = slot.gate.Keep()) != nullptr;
    return this->AwaitAllBut(kept);
  }

 protected:
  explicit GrpcEngine(const EngineContext& context)
      : Base(context),
        deadlines_(this->slots(), context.config.deadline_ns.value_or(0)),
        setup_(this->config(), context.load.slots) {
    if (!this->open_loop()) return;
    std::deque<ArrivalQueue>& queues = this->arrivals();
    for (Slot& slot : this->slots()) this->Assign(slot, queues[static_cast<size_t>(slot.index) % queues.size()]);
  }

  // The headers of a call go with its first message.
  bool corked() const { return this->config().write_hint == WriteHint::kCorked; }

  // A new context for a call that is sent whole: gRPC has no way to use one twice.
  grpc::ClientContext* NewCall(Slot& slot) {
    Renew(slot);
    if (const auto& deadline = this->config().deadline_ns) [[likely]]
      slot.context->set_deadline(ToTimespec(slot.sent() + *deadline));
    slot.gate.Enter(&*slot.context);
    return &*slot.context;
  }
  // A new context for a stream, whose messages have deadlines of their own.
  grpc::ClientContext* NewStream(Slot& slot) {
    slot.timed_out.store(false, std::memory_order_relaxed);
    Renew(slot);
    slot.gate.Enter(&*slot.context);
    return &*slot.context;
  }
  // A stream has ended, whether it broke or was closed.
  void StreamEnded(Slot& slot, Nanos done) {
    if (this->schedule().Over(done)) return this->Retire();
    this->schedule().BackOff(slot, done);
  }

  // Records the end of a call or message at `done`. `wrong` says what is wrong with the response to a call with status
  // OK. Returns false if the status is an error.
  bool RecordEnd(Recorder& recorder, Slot& slot, Nanos done, const grpc::Status& status, absl::string_view wrong) {
    if (!status.ok()) [[unlikely]] {
      RecordBroken(recorder, slot, done, status);
      return false;
    }
    this->RecordResponse(recorder, slot, done, wrong);
    return true;
  }
  // Records a call that failed, or a stream that ended before the response to its message.
  void RecordBroken(Recorder& recorder, Slot& slot, Nanos done, const grpc::Status& status) {
    if (slot.timed_out.load(std::memory_order_relaxed)) {
      this->RecordFailure(recorder, slot, done, grpc::StatusCode::DEADLINE_EXCEEDED,
                          "no response to a message of the stream within the deadline");
    } else if (status.ok()) {
      this->RecordFailure(recorder, slot, done, grpc::StatusCode::UNKNOWN,
                          "the server ended the stream early, with status OK");
    } else {
      this->RecordFailure(recorder, slot, done, status.error_code(), status.error_message());
    }
  }

 private:
  void TakeBackCalls() override {
    for (Slot& slot : this->slots()) {
      if (slot.kept != nullptr) slot.gate.GiveBack(std::exchange(slot.kept, nullptr));
    }
  }
  void CollectGivenUp(Measurement& total) const override {
    Recorder given_up(&this->window(), this->open_loop());
    const Nanos now = NowNs();
    for (const Slot& slot : this->slots()) {
      // A stream that was being closed has no message in flight.
      if (slot.kept == nullptr || slot.sent() == 0 || this->window().IsOver(slot.sent())) continue;
      given_up.Unfinished({slot.due_ns, slot.sent(), now});
    }
    given_up.MergeInto(total);
  }
  void Renew(Slot& slot) {
    slot.context.emplace();
    if (setup_.needed()) [[unlikely]]
      setup_.Apply(*slot.context, slot.index);
  }
  void CancelMissed(Nanos now) {
    deadlines_.Check(now, [](Slot& slot) {
      if (slot.timed_out.exchange(true, std::memory_order_relaxed)) return;
      slot.gate.Cancel();
    });
  }

  MessageDeadlines<Slot> deadlines_;
  CallSetup setup_;
};

}  // namespace cqbench
