// Whether the load was the one asked for, and steady: what the counts and times of a point say by themselves.
#pragma once

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Add what they find to point.suspect and point.limits.
void CheckUnfinished(PointResult& point);
void CheckSteadiness(PointResult& point);
// In a closed loop.
void CheckLittlesLaw(PointResult& point, const RunConfig& config);
// In an open loop.
void CheckSlots(PointResult& point);
void CheckSchedule(PointResult& point, const RunConfig& config);

}  // namespace cqbench
