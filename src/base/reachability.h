// Plain connections to servers to which the library has none: what they reveal. Each call tries every endpoint, for at
// most half a second each. It is used only after the library has failed, so it costs a run nothing.
#pragma once

#include <string>
#include <vector>

#include "src/base/sockets.h"

namespace cqbench {

// Why the library may not get a connection: the last error ("Connection refused"), that the server speaks TLS, or that
// a plain connection works. For messages only.
std::string ExplainNoConnection(const std::vector<Endpoint>& endpoints);

// Returns true if further attempts are useless: nothing listens at any endpoint (connections are refused, or the socket
// does not exist), or the first server that accepts speaks TLS.
bool IsUnreachable(const std::vector<Endpoint>& endpoints);

}  // namespace cqbench
