// The part of an engine that knows no client API: slots, their schedule, recording, ending.
#pragma once

#include <grpcpp/support/status_code_enum.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "cqbench/engine.h"
#include "src/load/pacing/engine_context.h"
#include "src/load/pacing/slot.h"
#include "src/load/pacing/slot_schedule.h"
#include "src/observe/evidence/timing_cost.h"

namespace cqbench {

using RecorderVisitor = std::function<void(const Recorder&)>;

// `Slot` derives from CallSlot. Engines are final classes whose destructor calls Stop() first.
template <typename Slot>
class SlotEngine : public Engine {
 public:
  void Tick(Nanos now) override {
    for (CallSlot* slot : schedule_.TakeReady(now)) {
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
    for (ArrivalQueue& queue : arrivals_) queue.Abandon();
  }

  bool GiveUp() override { return AwaitAllBut(0); }

  std::vector<std::vector<int>> ChannelsOfThread() const override { return {}; }

  uint64_t Completed() const override { return Sum(&Recorder::Completed); }
  uint64_t CompletedBefore() const override { return Sum(&Recorder::CompletedBefore); }
  uint64_t Failed() const override { return Sum(&Recorder::Failed); }
  void Collect(Measurement& total) const override {
    VisitRecorders([&](const Recorder& recorder) { recorder.MergeInto(total); });
    CollectGivenUp(total);
    CollectSlots(total);
  }

  bool LacksMethod() const override { return lacks_method_.load(std::memory_order_relaxed); }

  ScheduleProgress Progress(Nanos now) const override {
    ScheduleProgress progress;
    for (const ArrivalQueue& queue : arrivals_) {
      const size_t sent = queue.Sent(), due = queue.DueBefore(now);
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
        schedule_(window_, !context.schedule.empty()) {
    for (int i = 0; i < count_; ++i) slots_[static_cast<size_t>(i)].index = i;
    for (const DueTimes& due : context.schedule) arrivals_.emplace_back(due);
  }
  // In an open loop, by the constructor of an engine, for every slot: its calls come from that queue. Each queue needs
  // at least one slot.
  static void Assign(Slot& slot, ArrivalQueue& queue) {
    slot.arrivals = &queue;
    queue.AddSlot();
  }

  const RunConfig& config() const { return config_; }
  const BytesMethod* bytes() const { return bytes_.get(); }
  const RunWindow& window() const { return window_; }
  std::span<Slot> slots() const { return {slots_.get(), static_cast<size_t>(count_)}; }
  SlotSchedule& schedule() { return schedule_; }
  std::deque<ArrivalQueue>& arrivals() { return arrivals_; }
  bool open_loop() const { return !arrivals_.empty(); }
  Nanos margin_ns() const { return margin_ns_; }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  // First thing in Start(): from now on every slot has to end.
  void Begin() {
    const Nanos start = NowNs();
    for (ArrivalQueue& queue : arrivals_) queue.Start(start);
    live_.store(count_, std::memory_order_release);
  }
  // First thing in the destructor of an engine, which may be there because something else could not be started: no
  // thread and no call may outlive it.
  void Stop() {
    if (joined_) return;
    TakeBackCalls();
    while (!Finished()) {
      CancelAll();  // again and again: a slot may have been between two calls
      Tick(NowNs());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    Join();
  }
  void Joined() { joined_ = true; }

  // Calls visit() with the recorder of every thread of the engine.
  virtual void VisitRecorders(const RecorderVisitor& visit) const = 0;
  // Threads that keep the schedule of an open loop.
  virtual int pacers() const { return static_cast<int>(arrivals_.size()); }

  // Makes a slot ready to send. Returns true if it is at once; otherwise its engine goes on when it is.
  virtual bool Open(Slot& /*slot*/) { return true; }
  // On the runner's thread: a slot begins again after its back-off.
  virtual void Resume(Slot& slot) = 0;
  // Ends a slot that is not in a call.
  virtual void Close(Slot& /*slot*/) { Retire(); }

  // The slot is ready, or its call has ended at `done`. Returns true if it is to send its next call now; otherwise the
  // slot may be another thread's already.
  [[gnu::always_inline]] bool SendsNext(Slot& slot, Nanos done, bool ok, Recorder& recorder) {
    const SlotSchedule::Next next = schedule_.After(slot, done, ok, recorder);
    if (next == SlotSchedule::Next::kEnd) [[unlikely]]
      Close(slot);
    return next == SlotSchedule::Next::kSend;
  }
  // The slot's last act.
  void Retire() { live_.fetch_sub(1, std::memory_order_release); }
  // Keeps the engine from being Finished() while a thread still uses it after giving its call away.
  void Hold() { live_.fetch_add(1, std::memory_order_relaxed); }
  void Unhold() { live_.fetch_sub(1, std::memory_order_release); }

  // The pacer's last act: when the window is over, closes each slot that is or becomes idle, until none is left.
  void CloseIdle(ArrivalQueue& queue) {
    for (; !Finished(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (!schedule_.Over(NowNs())) continue;
      while (FreeNode* node = queue.TakeIdleSlot()) Close(static_cast<Slot&>(*static_cast<CallSlot*>(node)));
    }
  }

  // Waits until only `kept` slots have not ended: nothing is recorded after that. Returns false if others last, too.
  bool AwaitAllBut(int kept) {
    const auto alone = [&] { return live_.load(std::memory_order_acquire) == kept; };
    for (const Nanos wait_until = NowNs() + kLastSlots; !alone() && NowNs() < wait_until;) {
      Tick(NowNs());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return alone();
  }

  // Records a call or message that ended well at `done`. `wrong` says what is wrong with its response, if anything.
  void RecordResponse(Recorder& recorder, Slot& slot, Nanos done, absl::string_view wrong) {
    RecordParts(recorder, slot, done);
    const CallTimes times{slot.due_ns, slot.sent(), done};
    if (!wrong.empty()) [[unlikely]] {
      recorder.Failure(times, kBadResponse, wrong);
    } else if (recorder.Success(times)) {
      ++slot.completed;
    }
  }
  // Records a call that failed, or that CancelAll() ended.
  void RecordFailure(Recorder& recorder, Slot& slot, Nanos done, grpc::StatusCode code, absl::string_view message) {
    slot.issued_ns = 0;
    const CallTimes times{slot.due_ns, slot.sent(), done};
    if (abandoned()) return recorder.Unfinished(times);
    if (code == grpc::StatusCode::UNIMPLEMENTED) lacks_method_.store(true, std::memory_order_relaxed);
    recorder.Failure(times, static_cast<int>(code), message);
  }
  // --breakdown: returns true if the call that is being issued is one of the sample.
  bool IsTimed(CallSlot& slot) const { return config_.breakdown && slot.issues++ % kTimedEvery == 0; }

 private:
  uint64_t Sum(uint64_t (Recorder::*count)() const) const {
    uint64_t total = 0;
    VisitRecorders([&](const Recorder& recorder) { total += (recorder.*count)(); });
    return total;
  }
  // Calls that GiveUp() left alone may end now.
  virtual void TakeBackCalls() {}
  // Adds the calls that GiveUp() left alone.
  virtual void CollectGivenUp(Measurement& /*total*/) const {}
  // Adds what belongs to no thread.
  void CollectSlots(Measurement& total) const {
    for (const Slot& slot : slots()) total.completed_per_slot.push_back(slot.completed);
    total.schedule_hash = schedule_hash_;
    if (arrivals_.empty()) {
      total.counts.due = total.counts.sent;
      return;
    }
    total.pacing->pacers = pacers();
    total.pacing->margin_ns = config_.schedule.pace == Pace::kHybrid ? margin_ns_ : 0;
    Recorder unsent(&window_, /*open_loop=*/true);
    const Nanos now = NowNs();
    for (const ArrivalQueue& queue : arrivals_) {
      const size_t end = queue.DueBefore(window_.close_ns());
      total.counts.due += end - queue.DueBefore(window_.open_ns());
      for (size_t i = queue.Sent(); i < end; ++i) unsent.Unsent(queue.DueAt(i), now);
    }
    unsent.MergeInto(total);
  }

  static constexpr Nanos kLastSlots = kNanosPerSecond;  // they have only to record a call, and to retire

  static void RecordParts(Recorder& recorder, CallSlot& slot, Nanos done) {
    if (slot.issued_ns == 0) [[likely]]
      return;
    const Nanos issued = std::exchange(slot.issued_ns, 0);
    recorder.Parts(slot.due_ns, issued - slot.sent(), done - issued);
  }

  const RunConfig config_;  // its own: calls that never end may outlive the run
  const std::shared_ptr<const BytesMethod> bytes_;
  const RunWindow& window_;
  const std::unique_ptr<Slot[]> slots_;
  const int count_;
  const Nanos margin_ns_;
  const uint64_t schedule_hash_;
  std::deque<ArrivalQueue> arrivals_;
  SlotSchedule schedule_;
  std::atomic<int> live_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> lacks_method_{false};
  bool joined_ = false;
};

}  // namespace cqbench
