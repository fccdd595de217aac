// What a measured point says to the search for the highest rate.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "src/stats/find_rate.h"

namespace cqbench {

// Of a point that CheckPoint() has looked at. `misses`: why the objective was not met; empty when it was. A point at
// which nothing was measured misses it.
RateTrial TrialOf(const PointResult& point, const std::vector<std::string>& misses, bool interrupted);

}  // namespace cqbench
