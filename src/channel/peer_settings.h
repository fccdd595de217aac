// Reads the servers' HTTP/2 settings. gRPC keeps them to itself, so this makes a connection of its own to each server.
#pragma once

#include <vector>

#include "cqbench/run_config.h"
#include "src/base/http2_settings.h"

namespace cqbench {

// Connects to each target as the run does, with TLS where it has TLS, sends the HTTP/2 preface, reads the server's
// first frame and waits for the server to close the connection. Makes no call. Blocks for at most a second and a
// quarter for each server, five seconds for all, and as long as the resolver does. Any thread; not while calls are
// measured. A server may send anything: settings that cannot be read are not an error, and say why.
std::vector<PeerSettings> ReadPeerSettings(const RunConfig& config);

}  // namespace cqbench
