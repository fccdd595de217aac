// The rules that several settings obey together. Each value by itself is in its range already.
#pragma once

#include "absl/status/status.h"
#include "cqbench/run_config.h"
#include "cqbench/server.h"

namespace cqbench {

// INVALID_ARGUMENT with one line: the flag of the setting that breaks a rule, its value, and what is accepted.
absl::Status ValidateRun(const RunConfig& run);
absl::Status ValidateServer(const ServerConfig& server);

}  // namespace cqbench
