#include "src/client/http_socket.h"

#include <poll.h>

#include <cerrno>

namespace cqbench {
namespace {

// Nothing, because of that.
Descriptor Failed(int error) {
  errno = error;
  return Descriptor();
}

}  // namespace

Descriptor BeginHttpConnect(const Endpoint& endpoint) {
  Descriptor socket(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return socket;
  if (endpoint.address.ss_family != AF_UNIX) SetNoDelay(socket.fd());
  if (connect(socket.fd(), SocketAddress(endpoint), endpoint.length) == 0 || errno == EINPROGRESS) return socket;
  const int error = errno;
  socket.Close();
  return Failed(error);
}

Descriptor ConnectHttp(const Endpoint& endpoint, Nanos timeout_ns) {
  Descriptor socket = BeginHttpConnect(endpoint);
  if (!socket.ok()) return socket;
  pollfd one{socket.fd(), POLLOUT, 0};
  const int ready = poll(&one, 1, static_cast<int>(timeout_ns / kNanosPerMilli));
  int error = ready < 0 ? errno : ETIMEDOUT;
  socklen_t length = sizeof(error);
  if (ready > 0 && getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error == 0) return socket;
  socket.Close();
  return Failed(error);
}

}  // namespace cqbench
