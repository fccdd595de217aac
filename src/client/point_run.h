// One in-flight count, measured once: connect, warm up, measure, drain.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cqbench/connections.h"
#include "cqbench/engine.h"
#include "cqbench/interrupt.h"
#include "cqbench/result.h"
#include "cqbench/runner.h"
#include "src/channel/channel_pool.h"
#include "src/client/control_client.h"
#include "src/client/evidence.h"

namespace cqbench {

// What a point is measured with. All must outlive it.
struct PointSetting {
  const RunConfig& config;
  const std::vector<Endpoint>& endpoints;  // of the targets; empty for a channel without sockets
  Interrupt& interrupt;
  const ProgressCallback& progress;
  ControlClients* servers = nullptr;                 // nullptr: they are not asked
  std::function<ChannelPool()> make_pool = nullptr;  // instead of connecting to the targets
};

class PointRun {
 public:
  // `update` says which point of how many it is.
  PointRun(const PointSetting& setting, int inflight, const ProgressUpdate& update);

  // On the calling thread, for the length of the point.
  PointResult Run();
  // A further pass over the same load for at most a second, in which both ends count allocations; adds their figures to
  // `point`. Nothing of it is timed.
  void CountAllocations(PointResult& point);

 private:
  absl::StatusOr<ChannelPool> MakePool(const ChannelPlan& plan);
  void MeasureWith(const ChannelPool& pool, const ChannelPlan& plan, bool counting);
  PointResult Fail(std::string why);
  void WaitForOldConnections();
  void WaitForLostAttempts();
  std::optional<std::vector<OpenConnection>> LookAtConnections();
  void SetApart(const std::vector<OpenConnection>& measured);
  void CheckPromise();
  void Measure(PointEvidence& evidence, Nanos warmup, Nanos interval);
  void Phase(Nanos end, Nanos length, bool measuring);
  void ReportProgress(Nanos now, Nanos end, Nanos length, bool measuring);
  void Drain();
  void Collect(Recorder& total);
  void CollectSlices();
  std::string WhyNothing() const;

  const PointSetting& setting_;
  const RunConfig& config_;
  Interrupt& interrupt_;
  ProgressUpdate update_;
  PointResult point_;
  RunWindow window_;
  std::unique_ptr<Engine> engine_;
  std::set<uint64_t> apart_;  // sockets to the servers that carry no measured call
  struct Reading {
    Nanos at_ns;
    uint64_t completed;
  };
  std::vector<Reading> readings_;  // of the engine's completions, now and then during the window
};

}  // namespace cqbench
