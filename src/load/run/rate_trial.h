// Converts a measured point into a trial of the search for the highest rate.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "src/stats/find_rate.h"

namespace cqbench {

// Makes a trial of a point that CheckPoint() has checked. `misses`: why the point missed the objective; empty if it met
// it. A point without calls misses the objective.
RateTrial TrialOf(const PointResult& point, const std::vector<std::string>& misses, bool interrupted);

}  // namespace cqbench
