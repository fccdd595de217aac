// Runs the sweep: for each repetition and in-flight count connect, warm up, measure, drain.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cqbench/interrupt.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Told of the run's progress several times a second, on the runner's thread.
struct ProgressUpdate {
  int point = 0;  // from 1
  int points = 0;
  int inflight = 0;
  int repetition = 0;
  Nanos elapsed_ns = 0;        // in the current phase
  Nanos length_ns = 0;         // of the current phase
  bool measuring = false;      // false: warming up
  double rate_per_second = 0;  // successful completions in the window so far
};
using ProgressCallback = std::function<void(const ProgressUpdate&)>;

// Whether the run can be made at all: names resolve (NOT_FOUND) and enough descriptors may be open
// (RESOURCE_EXHAUSTED; raises the soft limit on the way). One line each.
absl::Status CheckRunnable(const RunConfig& config);

struct SweepResult {
  std::vector<PointResult> points;
  std::vector<BaselineResult> baselines;
  std::vector<ServerInfo> servers;
  std::vector<std::string> notes;
  int repetitions = 0;
  bool partial = false;  // interrupted
};

// Blocks for the length of the run, on the calling thread, which also does the bookkeeping while workers measure.
// Repetitions are interleaved: the sweep is run as often as asked, not each point. A point that cannot be measured says
// why in PointResult::failure and the next is tried, except when the very first cannot connect: then nothing else is
// tried. A signal ends the current point early and skips the rest.
SweepResult RunSweep(const RunConfig& config, Interrupt& interrupt, const ProgressCallback& progress);

}  // namespace cqbench
