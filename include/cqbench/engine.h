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

// Open loop, since the point began.
struct ScheduleProgress {
  uint64_t sent = 0;
  uint64_t behind = 0;  // calls that are due now and neither sent nor dropped
};

// What --breakdown costs, beside what happens without it.
struct TimingCost {
  double per_timed_rpc_ns = 0;
  double per_rpc_ns = 0;  // on average over all, of which one in kTimedEvery is timed
};

// Order of calls, all from the runner's thread: construct, Start(), Tick() every few milliseconds until Finished(),
// Join(), Collect(), destroy. Completed…() and CancelAll() in between as needed. May be destroyed at any time: that
// cancels what is in flight, waits for its end and joins the threads.
class Engine {
 public:
  static constexpr uint32_t kTimedEvery = 16;  // of a slot's calls, with --breakdown

  virtual ~Engine() = default;

  // Lets the slots go, and in an open loop the schedule begin. The window must be set, or be set later, before
  // it opens (RunWindow).
  virtual void Start() = 0;
  // Ends messages of streams that are past the deadline (gRPC has deadlines for calls only) and wakes rested slots.
  virtual void Tick(Nanos now) = 0;
  // True when no slot will issue or finish anything any more.
  virtual bool Finished() const = 0;
  // Cancels what is still in flight, and in an open loop sends nothing any more of what waits. Their calls count as
  // unfinished and unsent.
  virtual void CancelAll() = 0;
  // After CancelAll(), where calls do not end all the same: leaves them alone. When it returns true nothing is recorded
  // any more, and Collect() may be called without Join(): those calls count as unfinished. Such an engine is kept, with
  // its window, as long as the process lives: its destructor would wait for the calls, which use both should they end.
  virtual bool GiveUp() = 0;
  // Ends and joins the engine's threads. Only when Finished().
  virtual void Join() = 0;

  // Successful completions inside the window so far; approximate while running.
  virtual uint64_t Completed() const = 0;
  // The same before it opened.
  virtual uint64_t CompletedBefore() const = 0;
  virtual ScheduleProgress Progress(Nanos now) const = 0;
  // A call was answered with UNIMPLEMENTED: the server does not have the method.
  virtual bool LacksMethod() const = 0;
  // After Join(): measured on this thread, now, by the functions that calls go through.
  virtual TimingCost MeasureTimingCost() = 0;
  // After Join(), or GiveUp(): everything recorded, merged into `total`.
  virtual void Collect(Measurement& total) const = 0;
  // Threads of ours that see calls end; 0 where only the library's do.
  virtual int threads() const = 0;
  // The channels whose calls each of these threads drives, by index; empty where the library's threads do.
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
