// What a plain connection says of a server to which the library has none. Each call tries every endpoint, for at most
// half a second each; only after the library has failed, so it costs a run nothing.
#pragma once

#include <string>
#include <vector>

#include "src/base/sockets.h"

namespace cqbench {

// Why the library may not get a connection: the last error ("Connection refused"), that the server speaks TLS, or that
// a plain connection works. For messages only.
std::string ExplainNoConnection(const std::vector<Endpoint>& endpoints);

// Whether it is of no use to go on trying: nobody listens at any of them (plain connections are refused, or there is no
// such socket), or the first that accepts speaks TLS.
bool IsUnreachable(const std::vector<Endpoint>& endpoints);

}  // namespace cqbench
