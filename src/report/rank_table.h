// The table of several client processes that measured together.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// Throughput, P99, CPU and connections of each rank at every point, and their minimum, median and maximum. More than 64
// ranks have no rows of their own. Empty if one process measured the points.
std::string FormatRanks(const RunContext& context, const std::vector<PointResult>& points);

}  // namespace cqbench
