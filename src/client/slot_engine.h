// The part of an engine that does not depend on the client API: slots, resting after failures, cancelling, collecting.
#pragma once

#include <grpcpp/support/status.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cqbench/engine.h"
#include "src/channel/channel_pool.h"
#include "src/client/call_slot.h"

namespace cqbench {

struct EngineContext {
  const RunConfig& config;
  const ChannelPool& pool;
  int inflight;
  int threads;
  const RunWindow& window;
};

// One per API; MakeEngine() picks.
std::unique_ptr<Engine> MakeSyncEngine(const EngineContext& context);
std::unique_ptr<Engine> MakeCqEngine(const EngineContext& context);
std::unique_ptr<Engine> MakeCallbackEngine(const EngineContext& context);

// A stub per channel; slot i talks through the stub of channel i modulo the number of channels.
template <typename Workload>
class Stubs {
 public:
  explicit Stubs(const ChannelPool& pool) {
    for (int i = 0; i < pool.size(); ++i) stubs_.push_back(Workload::Service::NewStub(pool[i]));
  }
  typename Workload::Stub* ForSlot(int slot) { return stubs_[static_cast<size_t>(slot) % stubs_.size()].get(); }

 private:
  std::vector<std::unique_ptr<typename Workload::Stub>> stubs_;
};

// `Slot` derives from CallSlot.
template <typename Slot>
class SlotEngine : public Engine {
 public:
  void Tick(Nanos now) override {
    if (context_.config.mode == RpcMode::kStreaming) CancelLateMessages(now);
    WakeRested(now);
  }

  bool Finished() const override { return live_.load(std::memory_order_acquire) == 0; }

  int CancelAll() override {
    abandoned_.store(true, std::memory_order_relaxed);
    int cancelled = 0;
    for (Slot& slot : slots()) cancelled += slot.gate.Cancel() ? 1 : 0;
    return cancelled;
  }

 protected:
  explicit SlotEngine(const EngineContext& context)
      : context_(context), slots_(new Slot[static_cast<size_t>(context.inflight)]), live_(context.inflight) {
    for (int i = 0; i < context.inflight; ++i) slots_[static_cast<size_t>(i)].index = i;
  }

  const RunConfig& config() const { return context_.config; }
  const RunWindow& window() const { return context_.window; }
  std::span<Slot> slots() const { return {slots_.get(), static_cast<size_t>(context_.inflight)}; }

  // The end of a call or message, on the thread that saw it.
  void RecordAnswer(Recorder& recorder, Slot& slot, Nanos done, bool valid) {
    const Nanos issued = std::exchange(slot.issued_ns, 0);
    if (issued != 0) [[unlikely]]
      recorder.Parts(slot.sent(), issued - slot.sent(), done - issued);
    if (!valid) [[unlikely]] {
      recorder.Failure(slot.sent(), done, kBadResponse, "the response does not have the size that was asked for");
    } else if (recorder.Success(slot.sent(), done)) {
      ++slot.completed;
    }
  }
  void RecordFailure(Recorder& recorder, Slot& slot, Nanos done, const grpc::Status& status) {
    slot.issued_ns = 0;
    if (abandoned_.load(std::memory_order_relaxed)) return;
    if (slot.timed_out.load(std::memory_order_relaxed)) {
      recorder.Failure(slot.sent(), done, static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED),
                       "no answer to a message of the stream within the deadline");
    } else if (status.ok()) {
      recorder.Failure(slot.sent(), done, static_cast<int>(grpc::StatusCode::UNKNOWN),
                       "the server ended the stream early, with status OK");
    } else {
      recorder.Failure(slot.sent(), done, static_cast<int>(status.error_code()), status.error_message());
    }
  }
  // --breakdown: whether the call that is being issued is one of the sample.
  bool IsTimed(Slot& slot) const { return config().breakdown && slot.issues++ % kTimedEvery == 0; }
  // Keeps the engine from being Finished() while a thread still uses it after giving its call away.
  void Hold() { live_.fetch_add(1, std::memory_order_relaxed); }
  void Unhold() { live_.fetch_sub(1, std::memory_order_release); }

  // After a failure: the slot is started again by Tick() when it has rested, through WakeUp(). Slow path, may lock.
  void Rest(Slot& slot, Nanos now) {
    slot.Sent(0);
    const std::lock_guard lock(rest_mutex_);
    resting_.emplace_back(now + kRestAfterFailure, &slot);
  }
  // On the runner's thread: issue the slot's next call.
  virtual void WakeUp(Slot& slot) = 0;
  // The slot's last act.
  void Retire(Slot& slot) {
    slot.Sent(0);
    live_.fetch_sub(1, std::memory_order_release);
  }

  // The end of a unary call of an engine that does not block. True when the slot is to issue the next one.
  bool UnaryEnded(Recorder& recorder, Slot& slot, const grpc::Status& status, bool valid) {
    const Nanos done = NowNs();
    slot.gate.Leave();
    if (!status.ok()) [[unlikely]] {
      RecordFailure(recorder, slot, done, status);
      Rest(slot, done);
      return false;
    }
    RecordAnswer(recorder, slot, done, valid);
    if (!window().IsOver(done)) return true;
    Retire(slot);
    return false;
  }

  // The end of a stream of an engine that does not block: as it should be after the window, or broken.
  void StreamEnded(Recorder& recorder, Slot& slot, bool broken, const grpc::Status& status) {
    const Nanos done = NowNs();
    if (broken || !status.ok()) RecordFailure(recorder, slot, done, status);
    if (window().IsOver(done)) {
      Retire(slot);
    } else {
      Rest(slot, done);
    }
  }

  void CollectSlots(std::vector<uint64_t>& completed_per_slot) const {
    for (const Slot& slot : slots()) completed_per_slot.push_back(slot.completed);
  }

 private:
  void CancelLateMessages(Nanos now) {
    for (Slot& slot : slots()) {
      const Nanos sent = slot.sent();
      if (sent == 0 || now - sent < config().deadline_ns || slot.timed_out.load(std::memory_order_relaxed)) continue;
      slot.timed_out.store(true, std::memory_order_relaxed);
      slot.gate.Cancel();
    }
  }

  void WakeRested(Nanos now) {
    std::vector<Slot*> rested;
    {
      const std::lock_guard lock(rest_mutex_);
      size_t n = 0;  // in order of time, as all rest for equally long
      while (n < resting_.size() && (resting_[n].first <= now || window().IsOver(now)))
        rested.push_back(resting_[n++].second);
      resting_.erase(resting_.begin(), resting_.begin() + static_cast<std::ptrdiff_t>(n));
    }
    for (Slot* slot : rested) {
      if (window().IsOver(now)) {
        Retire(*slot);
      } else {
        WakeUp(*slot);
      }
    }
  }

  const EngineContext context_;
  const std::unique_ptr<Slot[]> slots_;
  std::atomic<int> live_;
  std::atomic<bool> abandoned_{false};

  std::mutex rest_mutex_;
  std::vector<std::pair<Nanos, Slot*>> resting_;  // guarded by rest_mutex_
};

}  // namespace cqbench
