// Runs the sweep: for each repetition and load connect, warm up, measure, drain. Or the search for the highest rate.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/ranks.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"
#include "src/base/interrupt.h"
#include "src/base/sockets.h"
#include "src/result/objective.h"
#include "src/stats/find_rate.h"

namespace cqbench {

// Called with the run's progress several times a second, on the runner's thread.
struct ProgressUpdate {
  int point = 0;   // from 1
  int points = 0;  // 0: not known beforehand
  Load load;
  int repetition = 0;
  Nanos elapsed_ns = 0;        // in the current phase
  Nanos length_ns = 0;         // of the current phase
  bool measuring = false;      // false: warming up
  double rate_per_second = 0;  // successful completions in the window so far
  uint64_t failed = 0;         // calls, since the point began
  // Open loop only, since the point began:
  uint64_t sent = 0;
  uint64_t behind = 0;  // calls that are due now and neither sent nor dropped
};
using ProgressCallback = std::function<void(const ProgressUpdate&)>;

// Goals of a run other than its points.
struct RunGoals {
  Objective objective;     // of every point; empty: none
  bool find_rate = false;  // instead of a sweep, search for the highest rate under the objective
  FindRateConfig search;   // for that
};

struct SweepResult {
  std::vector<PointResult> points;
  std::vector<LowerBound> lower_bounds;
  std::vector<ServerDescription> servers;
  std::vector<PeerSettings> peer_settings;  // of each target, in order; empty without evidence or connections
  std::vector<Notice> notes;
  std::vector<std::string> misses;  // of the objective, by points that were measured, one line each; not of a search
  std::optional<FindRateResult> find_rate;
  int repetitions = 0;   // begun
  bool partial = false;  // interrupted, or given up for a reason that the last point names
};

struct RunObserver {
  ProgressCallback progress;
  // After every point of the sweep, so that it can be saved: all that is known by now. On the runner's thread, between
  // points. May be empty.
  std::function<void(const SweepResult&)> on_point;
  // After on_point, for who needs what the point was made from. May be empty.
  std::function<void(const PointResult&, const Measurement&)> on_measurement;
};

// Checks that the run is possible, and resolves its servers: NOT_FOUND if a name does not resolve, RESOURCE_EXHAUSTED
// if too few descriptors may be open (raises the soft limit if needed). One line each. No name is resolved later, so
// all points use the same addresses.
absl::StatusOr<std::vector<Endpoint>> CheckRunnable(const RunConfig& config);

// Blocks for the length of the run, on the calling thread, which also does the bookkeeping while calls are measured.
// `endpoints` are those of CheckRunnable().
//
// Repetitions are interleaved: the sweep is run as often as asked, not each point. A point that cannot be measured says
// why in PointResult::failure and the next is tried, except when the very first cannot connect, or the server does not
// have the method: then nothing else is tried. A signal ends the current point early and skips the rest.
//
// A search draws other due times for each of its trials, config.schedule.seed plus the trial's number from 0: with the
// same ones, five rounds would be one.
//
// `ranks`: others that run the same sweep at the same time, each point in one window; `config` has this rank's share of
// the load. A search and --until-stable end by what one process has seen and are not for ranks. With --total and
// --skip-first each rank opens and closes the window when its share of those calls is done.
SweepResult RunSweep(const RunConfig& config, const std::vector<Endpoint>& endpoints, const RunGoals& goals,
                     Interrupt& interrupt, const RunObserver& observer, Ranks* ranks = nullptr);

}  // namespace cqbench
