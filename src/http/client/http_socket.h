// Addresses that an HTTP client connects to.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cqbench/run_config.h"
#include "src/base/sockets.h"
#include "src/base/target.h"

namespace cqbench {

// The error for a target to which there is no connection, because of an errno as above: UNAVAILABLE with one line, or
// CANCELLED.
absl::Status NotConnected(const Target& target, const RunConfig& config, int error);

// Returns the first of the target's addresses that accepts connections. With config.wait_for_server the client retries
// until the limit. An address that does not respond leaves time for the others.
absl::StatusOr<Endpoint> Reachable(const Target& target, const RunConfig& config, const ConnectLimit& limit);

}  // namespace cqbench
