// Looking at a measured point with distrust.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Why the point should not be believed, or not be read as what it seems: one plain sentence each, without its end.
// Empty for a point without a window. `servers`: those that described themselves.
std::vector<std::string> CheckPoint(const PointResult& point, const RunConfig& config,
                                    const std::vector<ServerInfo>& servers);

// The same for what holds during the whole run: machines and placement.
std::vector<std::string> CheckSetting(const RunContext& context, const std::vector<int>& client_cpus,
                                      const std::vector<ServerInfo>& servers);

}  // namespace cqbench
