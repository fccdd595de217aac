// The steps that measure one point, from the practice samples to the close of the window.
#pragma once

#include "absl/status/status.h"
#include "cqbench/engine.h"
#include "src/load/run/point_connections.h"
#include "src/load/run/rank_part.h"
#include "src/observe/evidence/evidence.h"

namespace cqbench {

// How long the two phases of a point last.
struct PointPhases {
  Nanos warmup_ns = 0;
  Nanos interval_ns = 0;
};

// One Run() on the runner's thread; nothing here is on the path of an RPC. Everything that is handed over must outlive
// it.
class PointSteps {
 public:
  struct Parts {
    Engine& engine;
    PointEvidence& evidence;
    PointConnections& connections;
    RunWindow& window;
    RankPart& rank;
    ProgressUpdate& update;
    PointResult& point;
  };

  // `counting`: both ends count allocations, nothing is timed, and ranks agree on nothing.
  PointSteps(const PointSetting& setting, const Parts& parts, const PointPhases& phases, bool counting);

  // Makes calls and measures them. Afterwards the window is set and closed, or closes soon. When a signal came, or the
  // server lacks the method, there may be no window, and point.partial or lacks_method() is set. Errors are those of
  // Ranks::Agree().
  absl::Status Run();

  bool lacks_method() const { return lacks_method_; }
  // How long the machine slept within the window.
  Nanos slept_ns() const { return slept_ns_; }

 private:
  enum class Phase { kWarmup, kWindow };

  // The modes. Each composes the steps below.
  void MeasureAfterTime();
  void MeasureAfterCalls();
  void CountAllocations();

  // The steps, in order.
  void Rehearse();
  absl::Status AwaitStart();
  void SetWindow(Nanos open);
  void WarmUp();
  void BeginSamples();
  void AwaitWindow();
  void MeasureWindow();
  void EndSamples();

  void SkipFirst();
  void RunPhase(Phase phase, Nanos begin, Nanos end, uint64_t calls = 0);
  void ReportProgress(Phase phase, Nanos now, Nanos begin, Nanos end);
  bool Agrees() const { return !rank_.alone() && !counting_; }
  bool IsOver() const { return point_.partial || lacks_method_; }
  uint64_t Completed(Phase phase) const;
  Nanos CloseSoon();

  const PointSetting& setting_;
  const RunConfig& config_;
  Interrupt& interrupt_;
  Engine& engine_;
  PointEvidence& evidence_;
  PointConnections& connections_;
  RunWindow& window_;
  RankPart& rank_;
  ProgressUpdate& update_;
  PointResult& point_;
  const PointPhases phases_;
  const bool counting_;

  Nanos lead_ns_ = 0;              // for reading the connections and sampling, before the window opens
  bool samples_in_warmup_ = true;  // otherwise before the first call, as the warm-up is too short
  Nanos start_ns_ = 0;             // of the first call
  Nanos open_ns_ = 0;              // of the window; where allocations are counted: of counting
  uint64_t not_counted_ = 0;       // calls completed before allocations are counted
  Nanos slept_ns_ = 0;
  bool lacks_method_ = false;
};

}  // namespace cqbench
