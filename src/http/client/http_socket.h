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

// Of the target's addresses the first that takes connections; with config.wait_for_server the target is asked until the
// limit. An address that does not answer leaves the others time.
absl::StatusOr<Endpoint> Reachable(const Target& target, const RunConfig& config, const ConnectLimit& limit);

}  // namespace cqbench
