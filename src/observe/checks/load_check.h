// Checks whether the load was as configured, and steady, from the counts and times of a point.
#pragma once

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Add to point.warnings and point.notes.
void CheckUnfinished(PointResult& point);
void CheckSteadiness(PointResult& point);
// Closed loop.
void CheckLittlesLaw(PointResult& point, const RunConfig& config);
// Open loop.
void CheckSlots(PointResult& point);
void CheckSchedule(PointResult& point, const RunConfig& config);

}  // namespace cqbench
