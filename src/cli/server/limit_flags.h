// The server's flags that limit what a client can use.
#pragma once

#include "src/cli/flags/flags.h"
#include "src/config/server_limits.h"

namespace cqbench {

// Adds the options to `app`; what they mean goes into `limits`, which must outlive it. Returns --max-threads.
CLI::Option* AddLimits(CLI::App& app, ServerLimits& limits);

}  // namespace cqbench
