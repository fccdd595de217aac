// What the points of a table are named by, and the tables that only an open loop has.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// The first column: "In-flight" or "Rate (req/s)".
std::string LoadTitle(const RunContext& context);
// Its cells: "8", "2000".
std::string LoadCell(const Load& load);

// How the schedule was kept, a line per load; empty in a closed loop.
std::string FormatPacing(const RunContext& context, const std::vector<PointResult>& rows);

// The answer of --find-rate and the trials behind it, a line per rate.
std::string FormatFindRate(const FindRateResult& found);

}  // namespace cqbench
