// The server's command line.
#pragma once

#include "cqbench/server.h"
#include "src/tools/flags.h"

namespace cqbench {

Parsed<ServerConfig> ParseServerFlags(int argc, const char* const* argv);

}  // namespace cqbench
