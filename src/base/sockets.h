// Socket addresses, as the system's resolver knows them, and sockets that connect and listen.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/clock.h"
#include "src/base/descriptor.h"
#include "src/base/target.h"

namespace cqbench {

// A socket address.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
};

inline const sockaddr* SocketAddress(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

// Returns every address of every target. Blocks for as long as the resolver does. NOT_FOUND when a name has none, with
// one line that names it.
absl::StatusOr<std::vector<Endpoint>> ResolveTargets(const std::vector<Target>& targets);

// Returns true if only this machine can reach it: a Unix socket, or a name that has loopback addresses alone.
bool IsLocal(const Target& target);

// Sends each message at once, however small.
void SetNoDelay(int fd);

// Begins a connection and does not block: the socket can be written to once it is connected, or has an error then. The
// descriptor is not ok() where the attempt fails at once; errno says why.
Descriptor BeginConnect(const Endpoint& endpoint);

struct ConnectLimit {
  Nanos give_up_at;
  std::function<bool()> stop = nullptr;  // asked every 10 ms; may be empty
};

// Blocks until the connection that BeginConnect() has begun is there. Returns 0, or the errno that says why it is not:
// ETIMEDOUT at the limit, ECANCELED when stop() returned true.
int FinishConnect(const Descriptor& socket, const ConnectLimit& limit);

// Blocks until the descriptor is ready for `events` (POLLIN, POLLOUT), broken, or closed by the other side. Returns
// false when that does not happen before `give_up_at`. A signal does not end the wait: poll() is never restarted after
// a handler, and the timer of StepLimit runs a handler ten times a second.
bool AwaitEvents(int fd, short events, Nanos give_up_at);

struct Listeners {
  std::vector<Descriptor> sockets;  // at least one, non-blocking
  int port = 0;
};

// Listens on every address of a name. Errors as in TcpEchoServer::Start().
absl::StatusOr<Listeners> ListenOn(const Target& target);

}  // namespace cqbench
