// Checks whether a measured point is reliable.
#pragma once

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Adds warnings, and notes about saturated resources and withheld percentiles. If the point has no window or no
// completed call, the only warning is that calls never ended. `servers`: those that described themselves.
void CheckPoint(const RunConfig& config, const std::vector<ServerDescription>& servers, PointResult& point);

// The warning that another client uses the server: the server has more connections than the point's clients (`clients`:
// how the text calls them), or it responded to more calls than they made. Absent if it was not so, or is not known.
std::optional<Notice> OtherConnections(const PointResult& point, absl::string_view clients);
std::optional<Notice> OtherCalls(const PointResult& point);

// Adds the note that calls wait for a stream: more are in flight than the lowest limit of the servers' settings allows
// on the point's connections. An open loop has as many in flight as were outstanding in the mean, up to its slots.
void CheckStreams(const std::vector<PeerSettings>& servers, PointResult& point);

// Adds the warning that the machine was suspended. `slept_ns`: within the window.
void CheckSleep(Nanos slept_ns, PointResult& point);

// Warnings about what holds during the whole run: machines and placement.
std::vector<Notice> CheckSetting(const Environment& environment, const std::vector<int>& client_cpus,
                                 const std::vector<ServerDescription>& servers);

}  // namespace cqbench
