#include "src/http/client/http_socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "src/base/await.h"

namespace cqbench {
namespace {

constexpr Nanos kAskStop = 100 * kNanosPerMilli;

}  // namespace

Descriptor BeginHttpConnect(const Endpoint& endpoint) {
  Descriptor socket(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return socket;
  if (endpoint.address.ss_family != AF_UNIX) SetNoDelay(socket.fd());
  if (connect(socket.fd(), SocketAddress(endpoint), endpoint.length) == 0 || errno == EINPROGRESS) return socket;
  const int error = errno;
  socket.Close();
  errno = error;
  return socket;
}

int FinishHttpConnect(const Descriptor& socket, const ConnectLimit& limit) {
  for (;;) {
    if (limit.stop && limit.stop()) return ECANCELED;
    const Nanos now = NowNs();
    if (now >= limit.give_up_at) return ETIMEDOUT;
    const int error = AwaitConnected(socket.fd(), std::min(limit.give_up_at, now + kAskStop));
    if (error != EINPROGRESS) return error;
  }
}

absl::Status NotConnected(const Target& target, const RunConfig& config, int error) {
  if (error == ECANCELED) return absl::CancelledError("interrupted while connecting");
  const std::string within =
      error == ETIMEDOUT ? absl::StrCat(" within ", FormatDuration(config.connect_timeout_ns)) : "";
  return absl::UnavailableError(
      absl::StrCat("cannot connect to ", target.ToString(), within, " (", std::strerror(error), ")"));
}

absl::StatusOr<Endpoint> Reachable(const Target& target, const RunConfig& config, const ConnectLimit& limit) {
  auto resolved = ResolveTargets({target});
  if (!resolved.ok()) return resolved.status();
  for (;;) {
    int error = 0;
    for (size_t i = 0; i < resolved->size(); ++i) {
      const Endpoint& endpoint = (*resolved)[i];
      const Nanos now = NowNs();
      const Nanos share = (limit.give_up_at - now) / static_cast<Nanos>(resolved->size() - i);
      const Descriptor socket = BeginHttpConnect(endpoint);
      error = socket.ok() ? FinishHttpConnect(socket, {now + share, limit.stop}) : errno;
      if (error == 0) return endpoint;
      if (error == ECANCELED) return NotConnected(target, config, error);
    }
    if (!config.wait_for_server || NowNs() >= limit.give_up_at) return NotConnected(target, config, error);
    if (limit.stop && limit.stop()) return NotConnected(target, config, ECANCELED);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace cqbench
