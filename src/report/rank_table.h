// The table of several client processes that measured together.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// Of every point: each rank's throughput, P99, CPU and connections, and the least, the middle and the greatest of them;
// beyond 64 ranks these alone. Empty where points are of one process.
std::string FormatRanks(const RunContext& context, const std::vector<PointResult>& points);

}  // namespace cqbench
