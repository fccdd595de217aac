// An objective: the values that a run has to reach, such as "p99<2ms,errors<0.1%".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"
#include "src/base/clock.h"

namespace cqbench {

struct Objective {
  struct Latency {
    double percentile = 0;  // in (0, 100]; "p99.9", "max"
    Nanos below_ns = 0;     // of the latency from due: at most so much
  };
  std::vector<Latency> latencies;
  std::optional<double> errors_below;  // share of the calls due: at most so much, so that 0 asks for none

  bool empty() const { return latencies.empty() && !errors_below; }
  // The shortest form that ParseObjective() takes.
  std::string ToString() const;
};

// One to eight terms separated by commas: pN<DURATION with N in (0, 100] ("p50", "p99.9"), max<DURATION, errors<SHARE
// ("0.1%" or "0.001"). "<" and "<=" are the same: at most. Durations as in ParseDuration(), but a unit is required: "2"
// would be two seconds, which nobody means here. The same percentile, or errors, twice is an error. INVALID_ARGUMENT
// with one line that says what is accepted. Any thread, as for all functions here.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

// How many calls have to be measured before every percentile of the objective can be told: at least ten must be slower
// (LatencyStats::Knows() has the same rule), so p99 needs 1000. "max" and errors need one.
uint64_t CallsNeeded(const Objective& objective);

// Why the measurement misses it, one line per term; empty when it is met. Calls that never ended or were never sent
// count with their age, which is the least that they would have taken: a percentile that they could lift over the bound
// misses it. These, failed and dropped ones are the errors. A percentile for which there are too few calls (see
// CallsNeeded()) misses its bound, and says so; so does every term when no call was due.
std::vector<std::string> Misses(const Objective& objective, const Measurement& measurement);

}  // namespace cqbench
