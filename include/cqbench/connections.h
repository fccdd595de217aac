// Proof of how many connections this process really has: found among its own descriptors, not asked of the library.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/target.h"

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

// A connected socket of this process.
struct OpenConnection {
  int fd = -1;
  uint64_t id = 0;  // the socket's inode
  bool is_tcp = true;
  std::string peer_host;  // "127.0.0.1", "::1"; empty for Unix sockets
  int peer_port = 0;
};

// Sockets of this process that are connected to one of the endpoints (TCP: in state ESTABLISHED), without those whose
// id is in `except`. Reads /proc/self/fd; absent where that is not to be had. Any thread; costs some microseconds per
// descriptor.
std::optional<std::vector<OpenConnection>> FindConnections(const std::vector<Endpoint>& endpoints,
                                                           const std::set<uint64_t>& except = {});
std::optional<int> CountConnections(const std::vector<Endpoint>& endpoints, const std::set<uint64_t>& except = {});

// Removes those whose other end is a socket of this process, too.
void RemoveOwn(std::vector<OpenConnection>& connections);

// Sockets that this process accepted on one of the addresses, by local port or path. Otherwise as FindConnections().
std::optional<std::vector<OpenConnection>> FindAccepted(const std::vector<Target>& listening);

}  // namespace cqbench
