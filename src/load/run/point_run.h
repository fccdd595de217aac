// One load, measured once: connect, warm up, measure, drain.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cqbench/engine.h"
#include "cqbench/result.h"
#include "src/load/run/point_connections.h"
#include "src/load/run/point_steps.h"
#include "src/load/run/rank_part.h"
#include "src/observe/evidence/evidence.h"

namespace cqbench {

class PointRun {
 public:
  // `update` says which point of how many it is.
  PointRun(const PointSetting& setting, const Load& load, const ProgressUpdate& update);

  // On the calling thread, for the length of the point.
  PointResult Run();
  // After Run(): true when another load would fare no better (no connection, or the server lacks the method).
  bool hopeless() const { return hopeless_; }
  // After Run(): what the result was made from.
  const Measurement& measurement() const { return measurement_; }
  // After Run(): how long the machine slept within the window.
  Nanos slept_ns() const { return slept_ns_; }
  // A further pass over the same load, for at most a second or for --total calls, in which both ends count allocations;
  // adds their figures to `point`. Nothing of it is timed, so ranks agree on nothing.
  void CountAllocations(PointResult& point);

 private:
  ChannelPlan Plan() const;
  PointPhases Phases() const;
  ControlClients* ConnectServers(const std::vector<OpenConnection>& measured);
  absl::Status MeasureWith(const ChannelPool* channels, const ChannelPlan& plan);
  absl::Status MeasureEngine(std::unique_ptr<Engine> engine, PointEvidence& evidence, const PointPhases& phases);
  PointResult Fail(std::string why);
  void CheckPromise();
  bool Drain(Engine& engine);
  bool LeaveBehind(std::unique_ptr<Engine> engine);
  void Collect(const Engine& engine);
  std::string NothingMeasured() const;

  const PointSetting& setting_;
  const RunConfig& config_;
  Interrupt& interrupt_;
  ProgressUpdate update_;
  PointResult point_;
  Measurement measurement_;
  Nanos slept_ns_ = 0;
  bool hopeless_ = false;
  bool counting_ = false;  // allocations, and nothing else
  std::shared_ptr<RunWindow> window_;
  PointConnections connections_;
  RankPart rank_;
};

}  // namespace cqbench
