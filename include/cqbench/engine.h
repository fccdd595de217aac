// An engine drives the in-flight calls of one point through one client API.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cqbench/clock.h"
#include "cqbench/recorder.h"
#include "cqbench/run_config.h"

namespace cqbench {

class ChannelPool;

// Order of calls, all from the runner's thread: construct, Start(), Tick() every few milliseconds until Finished(),
// Join(), Collect(), destroy. Completed() and CancelAll() in between as needed.
//
// Each in-flight slot is a closed loop: it issues a call, waits for the end, records it and issues the next until the
// window is over. A slot whose call failed rests for kRestAfterFailure, so that a dead server is not asked a hundred
// thousand times a second.
class Engine {
 public:
  static constexpr Nanos kRestAfterFailure = 10 * kNanosPerMilli;
  static constexpr uint32_t kTimedEvery = 16;  // of a slot's calls, with --breakdown

  virtual ~Engine() = default;

  // Lets the slots go. The window must be set.
  virtual void Start() = 0;
  // Ends messages of streams that are past the deadline (gRPC has deadlines for calls only) and wakes rested slots.
  virtual void Tick(Nanos now) = 0;
  // True when no slot will issue or finish anything any more.
  virtual bool Finished() const = 0;
  // Cancels what is still in flight and returns how many calls that were; they are not recorded as failures.
  virtual int CancelAll() = 0;
  // Ends and joins the engine's threads. Only when Finished().
  virtual void Join() = 0;

  // Successful completions inside the window so far; approximate while running.
  virtual uint64_t Completed() const = 0;
  // After Join(): everything recorded, merged into `total`, and the completions of each slot appended.
  virtual void Collect(Recorder& total, std::vector<uint64_t>& completed_per_slot) const = 0;
  // Threads of ours that make calls; 0 where only the library's do.
  virtual int threads() const = 0;
};

// `config`, `pool` and `window` must outlive the engine. `threads` is the number of completion-queue threads (cq only).
// Throws std::system_error when threads cannot be started.
std::unique_ptr<Engine> MakeEngine(const RunConfig& config, const ChannelPool& pool, int inflight, int threads,
                                   const RunWindow& window);

}  // namespace cqbench
