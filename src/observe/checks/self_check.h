// Looking at a measured point with distrust.
#pragma once

#include <vector>

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Codes of findings: stable, for programs. Doubts say why a point should not be believed ...
inline constexpr char kOtherProcesses[] = "other-processes";
inline constexpr char kSteal[] = "steal";
inline constexpr char kNotWarmedUp[] = "not-warmed-up";
inline constexpr char kDrift[] = "drift";
inline constexpr char kOtherClient[] = "other-client";
inline constexpr char kOtherServer[] = "other-server";
inline constexpr char kRateNotReached[] = "rate-not-reached";
inline constexpr char kPacerLate[] = "pacer-late";
inline constexpr char kArrivalsShape[] = "arrivals-shape";
inline constexpr char kBacklogGrows[] = "backlog-grows";
inline constexpr char kLittlesLaw[] = "littles-law";
inline constexpr char kUnfinishedCalls[] = "unfinished-calls";
inline constexpr char kSuspended[] = "suspended";
// ... or no point of the run.
inline constexpr char kClockSource[] = "clock-source";
inline constexpr char kCpuScaling[] = "cpu-scaling";
inline constexpr char kSharedCpus[] = "shared-cpus";
// Limits say what a point ran into.
inline constexpr char kClientCpu[] = "client-cpu";
inline constexpr char kServerCpu[] = "server-cpu";
inline constexpr char kSlots[] = "slots";

// Fills point.suspect and point.limits, replacing what is there, and adds to point.notes for which percentiles there
// were too few calls. Of a point without a window or without a completed call, it says only whether calls never ended.
// `servers`: those that described themselves.
void CheckPoint(const RunConfig& config, const std::vector<ServerDescription>& servers, PointResult& point);

// After CheckPoint(): adds the doubt that the machine was suspended. `slept_ns`: within the window.
void CheckSleep(Nanos slept_ns, PointResult& point);

// Doubts about what holds during the whole run: machines and placement.
std::vector<Finding> CheckSetting(const RunContext& context, const std::vector<int>& client_cpus,
                                  const std::vector<ServerDescription>& servers);

}  // namespace cqbench
