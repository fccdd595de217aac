// The server's command line.
#pragma once

#include "cqbench/server.h"
#include "src/tools/flags.h"

namespace cqbench {

struct ServerOptions {
  ServerConfig server;
  bool deadlock_detection = false;
};

Parsed<ServerOptions> ParseServerFlags(int argc, const char* const* argv);

}  // namespace cqbench
