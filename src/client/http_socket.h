// Sockets of an HTTP client.
#pragma once

#include "cqbench/clock.h"
#include "cqbench/connections.h"
#include "src/baseline/descriptor.h"

namespace cqbench {

// Both give a descriptor that is not ok() where there is no connection; errno says why.

// Blocks for as long as the timeout.
Descriptor ConnectHttp(const Endpoint& endpoint, Nanos timeout_ns);
// Does not block: the socket can be written to when it is connected, or has an error then.
Descriptor BeginHttpConnect(const Endpoint& endpoint);

}  // namespace cqbench
