// Listening on every address of a name.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/base/descriptor.h"
#include "src/base/target.h"

namespace cqbench {

struct Listeners {
  std::vector<Descriptor> sockets;  // at least one, non-blocking
  int port = 0;
};

// Errors as in TcpEchoServer::Start().
absl::StatusOr<Listeners> ListenOn(const Target& target);

}  // namespace cqbench
