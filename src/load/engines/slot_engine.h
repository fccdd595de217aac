// The part of an engine that does not depend on the client API: slots, their schedule, cancelling, recording, ending.
#pragma once

#include <grpcpp/support/status.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "cqbench/engine.h"
#include "src/channel/poll.h"
#include "src/load/engines/engine_context.h"
#include "src/load/pacing/late_messages.h"
#include "src/load/pacing/slot.h"
#include "src/load/pacing/slot_schedule.h"
#include "src/observe/evidence/timing_cost.h"
#include "src/workload/messages/call_setup.h"

namespace cqbench {

// `Slot` derives from CallSlot, and from GrpcSlot where calls are gRPC's. Engines are final classes whose destructor
// calls Stop() first.
template <typename Slot>
class SlotEngine : public Engine {
 public:
  void Tick(Nanos now) override {
    if constexpr (std::derived_from<Slot, GrpcSlot>) {
      if (config().method.shape == Shape::kBidi && config().deadline_ns) CancelLateMessages(now);
    }
    for (CallSlot* slot : schedule_.TakeRested(now)) {
      if (schedule_.Over(now)) {
        Retire();
      } else {
        Resume(static_cast<Slot&>(*slot));
      }
    }
  }

  bool Finished() const override { return live_.load(std::memory_order_acquire) == 0; }

  void CancelAll() override {
    abandoned_.store(true, std::memory_order_relaxed);
    schedule_.End();
    for (Lane& lane : lanes_) lane.Abandon();
    if constexpr (std::derived_from<Slot, GrpcSlot>) {
      for (Slot& slot : slots()) slot.gate.Cancel();
    }
  }

  bool GiveUp() override {
    int kept = 0;
    if constexpr (std::derived_from<Slot, GrpcSlot>) {
      for (Slot& slot : slots()) kept += (slot.kept = slot.gate.Keep()) != nullptr;
    }
    // The others are at their end, and nothing is recorded any more when they have come to it.
    const auto alone = [&] { return live_.load(std::memory_order_acquire) == kept; };
    for (const Nanos wait_until = NowNs() + kLastSlots; !alone() && NowNs() < wait_until;) {
      Tick(NowNs());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return alone();
  }

  std::vector<std::vector<int>> ChannelsOfThread() const override { return {}; }

  bool LacksMethod() const override { return lacks_method_.load(std::memory_order_relaxed); }

  ScheduleProgress Progress(Nanos now) const override {
    ScheduleProgress progress;
    for (const Lane& lane : lanes_) {
      const size_t sent = lane.Sent(), due = lane.DueBefore(now);
      progress.sent += sent;
      progress.behind += due > sent ? due - sent : 0;
    }
    return progress;
  }

  // Where the thread that issues a call sees its end, too.
  TimingCost MeasureTimingCost() override {
    CallSlot slot;
    RunWindow always;
    always.Set(0, INT64_MAX);
    Recorder recorder(&always);
    const auto call = [&](Nanos now) {
      if (IsTimed(slot)) slot.issued_ns = NowNs();
      slot.Sent(now);
      RecordParts(recorder, slot, now);
    };
    return CompareTiming(
        kTimedEvery,
        [&](Nanos now) {
          slot.issues = 0;
          call(now);
        },
        [&](Nanos now) {
          slot.issues = 1;
          call(now);
        });
  }

 protected:
  explicit SlotEngine(const EngineContext& context)
      : config_(context.config),
        bytes_(context.bytes),
        window_(context.window),
        slots_(new Slot[static_cast<size_t>(context.load.slots)]),
        count_(context.load.slots),
        margin_ns_(context.margin_ns),
        schedule_hash_(context.schedule.empty() ? 0 : HashSchedule(context.schedule)),
        schedule_(window_, lanes_, !context.schedule.empty()),
        late_(slots(), context.config.deadline_ns.value_or(0)),
        setup_(config_, count_) {
    for (int i = 0; i < count_; ++i) slots_[static_cast<size_t>(i)].index = i;
    // A pacer needs at least one slot.
    const auto lanes = static_cast<int>(context.schedule.size());
    for (int i = 0; i < lanes; ++i) {
      lanes_.emplace_back(context.schedule[static_cast<size_t>(i)], count_ / lanes + (i < count_ % lanes ? 1 : 0));
    }
  }

  const RunConfig& config() const { return config_; }
  const BytesMethod* bytes() const { return bytes_.get(); }
  const RunWindow& window() const { return window_; }
  std::span<Slot> slots() const { return {slots_.get(), static_cast<size_t>(count_)}; }
  SlotSchedule& schedule() { return schedule_; }
  std::deque<Lane>& lanes() { return lanes_; }
  // The headers of a call go with its first message.
  bool corked() const { return config_.write_hint == WriteHint::kCorked; }
  bool open_loop() const { return !lanes_.empty(); }
  Nanos margin_ns() const { return margin_ns_; }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  // First thing in Start(): from now on every slot has to end.
  void Begin() {
    const Nanos start = NowNs();
    for (Lane& lane : lanes_) lane.Start(start);
    live_.store(count_, std::memory_order_release);
  }
  // First thing in the destructor of an engine, which may be there because something else could not be started: no
  // thread and no call may outlive it.
  void Stop() {
    if (joined_) return;
    if constexpr (std::derived_from<Slot, GrpcSlot>) {
      for (Slot& slot : slots()) {
        if (slot.kept != nullptr) slot.gate.GiveBack(std::exchange(slot.kept, nullptr));
      }
    }
    while (!Finished()) {
      CancelAll();  // again and again: a slot may have been between two calls
      Tick(NowNs());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    Join();
  }
  void Joined() { joined_ = true; }

  // On the runner's thread: a slot that has rested begins again.
  virtual void Resume(Slot& slot) = 0;
  // The slot's last act.
  void Retire() { live_.fetch_sub(1, std::memory_order_release); }
  // Keeps the engine from being Finished() while a thread still uses it after giving its call away.
  void Hold() { live_.fetch_add(1, std::memory_order_relaxed); }
  void Unhold() { live_.fetch_sub(1, std::memory_order_release); }

  // The pacer's last act: when the window is over, close(slot) for each slot that is or becomes idle, until none is
  // left.
  template <typename Close>
  void CloseIdle(Lane& lane, Close close) {
    for (; !Finished(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (!schedule_.Over(NowNs())) continue;
      while (FreeNode* node = lane.TakeIdleSlot()) close(static_cast<Slot&>(*static_cast<CallSlot*>(node)));
    }
  }

  // A new context for a call that is sent whole: gRPC has no way to use one twice.
  grpc::ClientContext* NewCall(Slot& slot) {
    Renew(slot);
    if (config_.deadline_ns) [[likely]]
      slot.context->set_deadline(ToTimespec(slot.sent() + *config_.deadline_ns));
    slot.gate.Enter(&*slot.context);
    return &*slot.context;
  }
  // The same for a stream, whose messages have deadlines of their own.
  grpc::ClientContext* NewStream(Slot& slot) {
    slot.timed_out.store(false, std::memory_order_relaxed);
    Renew(slot);
    slot.gate.Enter(&*slot.context);
    return &*slot.context;
  }
  // A stream has ended, whether it broke or was closed.
  void StreamEnded(Slot& slot, Nanos done) {
    if (schedule_.Over(done)) return Retire();
    schedule_.Rest(slot, done);
  }

  // The end of a call or message that was seen at `done`: `wrong` says what is wrong with a good status's answer.
  // Returns whether it was a success.
  bool RecordEnd(Recorder& recorder, Slot& slot, Nanos done, const grpc::Status& status, absl::string_view wrong) {
    if (!status.ok()) [[unlikely]] {
      RecordFailure(recorder, slot, done, status);
      return false;
    }
    RecordParts(recorder, slot, done);
    const CallTimes times{slot.due_ns, slot.sent(), done};
    if (!wrong.empty()) [[unlikely]] {
      recorder.Failure(times, kBadResponse, wrong);
    } else if (recorder.Success(times)) {
      ++slot.completed;
    }
    return true;
  }
  // The end of a stream in the midst of a message.
  void RecordFailure(Recorder& recorder, Slot& slot, Nanos done, const grpc::Status& status) {
    slot.issued_ns = 0;
    const CallTimes times{slot.due_ns, slot.sent(), done};
    if (abandoned()) return recorder.Unfinished(times);
    if (slot.timed_out.load(std::memory_order_relaxed)) {
      recorder.Failure(times, static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED),
                       "no answer to a message of the stream within the deadline");
    } else if (status.ok()) {
      recorder.Failure(times, static_cast<int>(grpc::StatusCode::UNKNOWN),
                       "the server ended the stream early, with status OK");
    } else {
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) lacks_method_.store(true, std::memory_order_relaxed);
      recorder.Failure(times, static_cast<int>(status.error_code()), status.error_message());
    }
  }
  // --breakdown: whether the call that is being issued is one of the sample.
  bool IsTimed(CallSlot& slot) const { return config_.breakdown && slot.issues++ % kTimedEvery == 0; }

  // By Collect(): what belongs to no thread.
  void CollectSlots(Measurement& total) const {
    CollectGivenUp(total);
    for (const Slot& slot : slots()) total.completed_per_slot.push_back(slot.completed);
    total.schedule_hash = schedule_hash_;
    if (lanes_.empty()) {
      total.counts.due = total.counts.sent;
      return;
    }
    total.pacing->margin_ns = config_.schedule.pace == Pace::kHybrid ? margin_ns_ : 0;
    Recorder unsent(&window_, /*open_loop=*/true);
    const Nanos now = NowNs();
    for (const Lane& lane : lanes_) {
      const size_t end = lane.DueBefore(window_.close_ns());
      total.counts.due += end - lane.DueBefore(window_.open_ns());
      for (size_t i = lane.Sent(); i < end; ++i) unsent.Unsent(lane.DueAt(i), now);
    }
    unsent.MergeInto(total);
  }

 private:
  static constexpr Nanos kLastSlots = kNanosPerSecond;  // they have only to record a call, and to retire

  // A stream that was being closed has no message in flight.
  void CollectGivenUp(Measurement& total) const {
    if constexpr (std::derived_from<Slot, GrpcSlot>) {
      Recorder given_up(&window_, open_loop());
      const Nanos now = NowNs();
      for (const Slot& slot : slots()) {
        if (slot.kept == nullptr || slot.sent() == 0 || window_.IsOver(slot.sent())) continue;
        given_up.Unfinished({slot.due_ns, slot.sent(), now});
      }
      given_up.MergeInto(total);
    }
  }
  void Renew(Slot& slot) {
    slot.context.emplace();
    if (setup_.needed()) [[unlikely]]
      setup_.Apply(*slot.context, slot.index);
  }
  static void RecordParts(Recorder& recorder, CallSlot& slot, Nanos done) {
    if (slot.issued_ns == 0) [[likely]]
      return;
    const Nanos issued = std::exchange(slot.issued_ns, 0);
    recorder.Parts(slot.due_ns, issued - slot.sent(), done - issued);
  }
  void CancelLateMessages(Nanos now) {
    late_.Look(now, [](Slot& slot) {
      if (slot.timed_out.exchange(true, std::memory_order_relaxed)) return;
      slot.gate.Cancel();
    });
  }

  const RunConfig config_;  // its own: calls that never end may outlive the run
  const std::shared_ptr<const BytesMethod> bytes_;
  const RunWindow& window_;
  const std::unique_ptr<Slot[]> slots_;
  const int count_;
  const Nanos margin_ns_;
  const uint64_t schedule_hash_;
  std::deque<Lane> lanes_;
  SlotSchedule schedule_;
  LateMessages<Slot> late_;
  CallSetup setup_;
  std::atomic<int> live_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> lacks_method_{false};
  bool joined_ = false;
};

}  // namespace cqbench
