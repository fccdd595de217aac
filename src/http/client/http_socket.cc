#include "src/http/client/http_socket.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "src/config/units.h"

namespace cqbench {
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
      const Descriptor socket = BeginConnect(endpoint);
      error = socket.ok() ? FinishConnect(socket, {now + share, limit.stop}) : errno;
      if (error == 0) return endpoint;
      if (error == ECANCELED) return NotConnected(target, config, error);
    }
    if (!config.wait_for_server || NowNs() >= limit.give_up_at) return NotConnected(target, config, error);
    if (limit.stop && limit.stop()) return NotConnected(target, config, ECANCELED);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace cqbench
