// One load, measured once: connect, warm up, measure, drain.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cqbench/engine.h"
#include "cqbench/result.h"
#include "src/base/interrupt.h"
#include "src/channel/channel_pool.h"
#include "src/load/run/rank_part.h"
#include "src/load/run/runner.h"
#include "src/observe/control/control_client.h"
#include "src/observe/evidence/evidence.h"
#include "src/observe/sampling/connections.h"

namespace cqbench {

// What a point is measured with. All must outlive it.
struct PointSetting {
  const RunConfig& config;
  const std::vector<Endpoint>& endpoints;  // of the targets; empty for a channel without sockets
  Interrupt& interrupt;
  const ProgressCallback& progress;
  const std::shared_ptr<grpc::ChannelCredentials>& credentials;  // of the run
  ControlClients* servers = nullptr;                             // nullptr: they are not asked
  std::function<ChannelPool()> make_pool = nullptr;              // instead of connecting to the targets
  Ranks* ranks = nullptr;                                        // nullptr: nobody else measures with us
};

class PointRun {
 public:
  // `update` says which point of how many it is.
  PointRun(const PointSetting& setting, const Load& load, const ProgressUpdate& update);

  // On the calling thread, for the length of the point.
  PointResult Run();
  // After Run(): whether another load would fare no better (no connection, or the method is not there), and what the
  // result was made from.
  bool hopeless() const { return hopeless_; }
  const Measurement& measurement() const { return measurement_; }
  // That the machine slept within the window.
  Nanos slept_ns() const { return slept_ns_; }
  // A further pass over the same load, for at most a second or for --total calls, in which both ends count allocations;
  // adds their figures to `point`. Nothing of it is timed, so ranks agree on nothing.
  void CountAllocations(PointResult& point);

 private:
  absl::StatusOr<ChannelPool> MakePool(const ChannelPlan& plan);
  absl::Status MeasureWith(const ChannelPool& pool, const ChannelPlan& plan);
  bool IsOfNoUse(const Target& target) const;
  std::string WhyNoConnection(const Target& target) const;
  PointResult Fail(std::string why);
  void WaitForOldConnections();
  void WaitForLostAttempts();
  std::optional<std::vector<OpenConnection>> LookAtConnections();
  void SetApart(const std::vector<OpenConnection>& measured);
  void CheckPromise();
  absl::Status Measure(Engine& engine, PointEvidence& evidence, Nanos warmup, Nanos interval);
  absl::StatusOr<Nanos> AwaitStart(PointEvidence& evidence, const RankPlan& plan, bool warms_up,
                                   const PointEvidence::Completed& completed);
  void Phase(Engine& engine, Nanos begin, Nanos end, bool measuring, uint64_t calls = 0);
  void SkipFirst(Engine& engine, Nanos begin, Nanos give_up);
  Nanos CloseSoon();
  uint64_t Done(const Engine& engine, bool measuring) const;
  void ReportProgress(const Engine& engine, Nanos now, Nanos begin, Nanos end, bool measuring);
  bool Drain(Engine& engine);
  bool LeaveBehind(std::unique_ptr<Engine> engine);
  void Collect(const Engine& engine);
  std::string WhyNothing() const;

  const PointSetting& setting_;
  const RunConfig& config_;
  Interrupt& interrupt_;
  ProgressUpdate update_;
  PointResult point_;
  Measurement measurement_;
  Nanos slept_ns_ = 0;
  bool hopeless_ = false;
  bool lacks_method_ = false;
  bool counting_ = false;     // allocations, and nothing else
  uint64_t done_before_ = 0;  // calls that are completed, but do not count towards --total
  std::shared_ptr<RunWindow> window_;
  RankPart rank_;
  std::set<uint64_t> apart_;  // sockets to the servers that carry no measured call
};

}  // namespace cqbench
