// Sockets of an HTTP client.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cqbench/run_config.h"
#include "src/base/clock.h"
#include "src/base/descriptor.h"
#include "src/base/endpoint.h"
#include "src/base/target.h"

namespace cqbench {

// Begins a connection and does not block: the socket can be written to once it is connected, or has an error then. The
// descriptor is not ok() where the attempt fails at once; errno says why.
Descriptor BeginHttpConnect(const Endpoint& endpoint);

// How long connecting may take. One for all connections of a point.
struct ConnectLimit {
  Nanos give_up_at;
  const std::function<bool()>& stop;  // asked every 100 ms; may be empty
};

// Blocks until the connection that BeginHttpConnect() has begun is there. Returns 0, or the errno that says why it is
// not: ETIMEDOUT at the limit, ECANCELED when stop() returned true.
int FinishHttpConnect(const Descriptor& socket, const ConnectLimit& limit);

// The error for a target to which there is no connection, because of an errno as above: UNAVAILABLE with one line, or
// CANCELLED.
absl::Status NotConnected(const Target& target, const RunConfig& config, int error);

// Of the target's addresses the first that takes connections; with config.wait_for_server the target is asked until the
// limit. An address that does not answer leaves the others time.
absl::StatusOr<Endpoint> Reachable(const Target& target, const RunConfig& config, const ConnectLimit& limit);

}  // namespace cqbench
