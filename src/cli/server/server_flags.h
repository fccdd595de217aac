// The server's command line.
#pragma once

#include <optional>

#include "cqbench/server.h"
#include "src/cli/flags/allocation_flags.h"
#include "src/cli/flags/flags.h"
#include "src/http/gateway/gateway.h"
#include "src/workload/dynamic/call.h"

namespace cqbench {

struct ServerOptions {
  ServerConfig server;
  CallSpec call;  // without a method: there is no stand-in; otherwise server.stand_in is still to be made of it
  std::optional<GatewayConfig> gateway;  // HTTP front end of the server
  bool deadlock_detection = false;
  std::string address_flag;  // that said where to listen
  AllocationOptions allocations;
};

Parsed<ServerOptions> ParseServerFlags(int argc, const char* const* argv);

}  // namespace cqbench
