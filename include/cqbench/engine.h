// An engine drives the slots of one point through one client API.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/recorder.h"
#include "cqbench/run_config.h"
#include "src/base/clock.h"

namespace cqbench {

class ChannelPool;

// Progress of an open loop since the point began.
struct ScheduleProgress {
  uint64_t sent = 0;
  uint64_t behind = 0;  // calls that are due now and neither sent nor dropped
};

// The cost of --breakdown.
struct TimingCost {
  double per_timed_rpc_ns = 0;
  double per_rpc_ns = 0;  // on average over all, of which one in kTimedEvery is timed
};

// Order of calls, all from the runner's thread: construct, Start(), Tick() every few milliseconds until Finished(),
// Join(), Collect(), destroy. Completed…() and CancelAll() may be called in between. The destructor may run at any
// time: it cancels calls in flight, waits for their end and joins the threads.
class Engine {
 public:
  static constexpr uint32_t kTimedEvery = 16;  // of a slot's calls, with --breakdown

  virtual ~Engine() = default;

  // Starts the slots, and in an open loop the schedule. The window must be set before, or later, before it opens
  // (RunWindow).
  virtual void Start() = 0;
  // Cancels streams with a message past its deadline (gRPC has deadlines for calls only) and wakes slots after a
  // back-off.
  virtual void Tick(Nanos now) = 0;
  // True when no slot will issue or finish a call any more.
  virtual bool Finished() const = 0;
  // Cancels calls in flight. In an open loop it also sends no waiting call any more. These calls count as unfinished
  // and unsent.
  virtual void CancelAll() = 0;
  // Call after CancelAll() if calls still do not end: abandons them. If it returns true, the engine records nothing any
  // more, and Collect() may be called without Join(): those calls count as unfinished. The caller must keep such an
  // engine and its window until the process ends: the destructor would wait for the calls, which use both if they end.
  virtual bool GiveUp() = 0;
  // Ends and joins the engine's threads. Only when Finished().
  virtual void Join() = 0;

  // Successful calls inside the window so far; approximate while running.
  virtual uint64_t Completed() const = 0;
  // The same before the window opened.
  virtual uint64_t CompletedBefore() const = 0;
  // Calls that failed so far, also before and after the window.
  virtual uint64_t Failed() const = 0;
  virtual ScheduleProgress Progress(Nanos now) const = 0;
  // True if a call ended with UNIMPLEMENTED: the server does not have the method.
  virtual bool LacksMethod() const = 0;
  // Call after Join(): measures the cost on this thread, with the functions that calls use.
  virtual TimingCost MeasureTimingCost() = 0;
  // Call after Join(), or GiveUp(): merges everything recorded into `total`.
  virtual void Collect(Measurement& total) const = 0;
  // The number of the client's threads that see calls end; 0 if only the library's threads do.
  virtual int threads() const = 0;
  // Indexes of the channels that each of these threads drives; empty if the library's threads do.
  virtual std::vector<std::vector<int>> ChannelsOfThread() const = 0;
};

// `config`, `channels` and `window` must outlive the engine. `channels`: nullptr where ConnectsByItself(config.api).
// `threads` is the number of completion-queue threads, or of event loops of an engine that connects by itself. In an
// open loop the schedule is drawn here, over warm-up and interval. RESOURCE_EXHAUSTED when that is too long
// (schedule.h). Throws std::system_error when threads cannot be started.
// An engine that connects by itself does so here: UNAVAILABLE with one line, which names the target, when that does not
// come about within config.connect_timeout_ns; CANCELLED when `stop()` returned true, which is asked every 10 ms.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const RunConfig& config, const ChannelPool* channels,
                                                   const Load& load, int threads, const RunWindow& window,
                                                   Nanos length_ns, const std::function<bool()>& stop = nullptr);

struct EngineContext;

// Makes engines that do not use gRPC's channels and make connections of their own.
struct EngineFactory {
  // Returns how many threads share the plan's connections and channels evenly: at most `wanted`, at least 1.
  int (*threads)(const ChannelPlan& plan, int wanted) = nullptr;
  // Connects as the plan says. Errors and `stop` are those of MakeEngine().
  absl::StatusOr<std::unique_ptr<Engine>> (*make)(const EngineContext& context, const ChannelPlan& plan,
                                                  const std::function<bool()>& stop) = nullptr;
};

// Main thread, before MakeEngine(): engines of that API come from the factory.
void RegisterEngines(ClientApi api, const EngineFactory& factory);
// Returns true if a factory is registered for that API.
bool ConnectsByItself(ClientApi api);

}  // namespace cqbench
