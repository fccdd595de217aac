// TCP_INFO of this process's own sockets.
#pragma once

#include <cstdint>
#include <optional>

#include "src/observe/sampling/sample.h"

namespace cqbench {

bool IsTcpEstablished(int fd);

// Absent when the descriptor is no TCP socket (any more) or, with `id` not 0, another one than it was.
std::optional<ConnectionSample> ReadTcpInfo(int fd, uint64_t id = 0);

}  // namespace cqbench
