// Proof of how many connections this process really has: found among its own descriptors, not asked of the library.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/sockets.h"
#include "src/base/target.h"

namespace cqbench {

// A connected socket of this process.
struct OpenConnection {
  int fd = -1;
  uint64_t id = 0;  // the socket's inode
  bool is_tcp = true;
  std::string peer_host;  // "127.0.0.1", "::1"; empty for Unix sockets
  int peer_port = 0;
};

// Sockets of this process that are connected to one of the endpoints (TCP: in state ESTABLISHED), without those whose
// id is in `except`. Reads /proc/self/fd; absent if it cannot be read. Any thread; costs some microseconds per
// descriptor.
std::optional<std::vector<OpenConnection>> FindConnections(const std::vector<Endpoint>& endpoints,
                                                           const std::set<uint64_t>& except = {});
std::optional<int> CountConnections(const std::vector<Endpoint>& endpoints, const std::set<uint64_t>& except = {});

// Removes those whose other end is a socket of this process, too.
void RemoveOwn(std::vector<OpenConnection>& connections);

// Sockets that this process accepted on one of the addresses, by local port or path. Otherwise as FindConnections().
std::optional<std::vector<OpenConnection>> FindAccepted(const std::vector<Target>& listening);

}  // namespace cqbench
