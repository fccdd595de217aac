// The load levels in tables, and the tables of an open loop.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

// The first column: "In-flight" or "Rate (req/s)".
std::string LoadTitle(const RunContext& context);
// Its cells: "8", "2000".
std::string LoadCell(const Load& load);

// The precision of the schedule, a line per load level; empty in a closed loop.
std::string FormatPacing(const RunContext& context, const std::vector<PointResult>& rows);

// The result of --find-rate and the trials behind it, a line per rate.
std::string FormatFindRate(const FindRateResult& found);

}  // namespace cqbench
