// The socket addresses of a target, as the system's resolver knows them.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "absl/status/statusor.h"
#include "src/base/target.h"

namespace cqbench {

// The socket addresses that a target stands for.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
};

// Every address of every target. Blocks for as long as the resolver does. NOT_FOUND when a name has none, with one line
// that names it.
absl::StatusOr<std::vector<Endpoint>> ResolveTargets(const std::vector<Target>& targets);

// Whether only this machine can reach it: a Unix socket, or a name that has loopback addresses alone.
bool IsLocal(const Target& target);

}  // namespace cqbench
