#include "cqbench/server.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/observe/tcp_echo/tcp_echo.h"
#include "src/server/apis/server_kinds.h"
#include "src/server/limits/listener.h"
#include "src/server/services/service_load.h"
#include "src/server/services/service_times.h"
#include "src/workload/methods/response_limit.h"

namespace cqbench {

PingServer::PingServer(const ServerConfig& config)
    : times_(std::make_unique<ServiceTimes>()), load_(std::make_unique<const ServiceLoad>(config.service_time)) {}
PingServer::~PingServer() = default;

int PingServer::tcp_echo_port() const {
  return tcp_echo_ ? tcp_echo_->port() : 0;
}

void PingServer::AddHttpFrontEnd(const Target& address, std::function<uint64_t()> messages) {
  const std::lock_guard lock(mutex_);
  http_front_ends_.push_back({address, std::move(messages)});
}

std::vector<Target> PingServer::http_front_ends() const {
  const std::lock_guard lock(mutex_);
  std::vector<Target> addresses;
  for (const HttpFrontEnd& front_end : http_front_ends_) addresses.push_back(front_end.address);
  return addresses;
}

uint64_t PingServer::Messages() const {
  const std::lock_guard lock(mutex_);
  uint64_t messages = Counts().messages;
  for (const HttpFrontEnd& front_end : http_front_ends_) messages += front_end.messages();
  return messages;
}

namespace {

absl::StatusOr<std::unique_ptr<PingServer>> StartKind(const ServerConfig& config) {
  switch (config.api) {
    case ServerApi::kCallback:
      return StartCallbackServer(config);
    case ServerApi::kSync:
      return StartSyncServer(config);
    case ServerApi::kGeneric:
      return StartGenericServer(config);
    case ServerApi::kCq:
      break;
  }
  return StartCqServer(config);
}

// Listens on the host of gRPC's first address that is no Unix socket.
absl::StatusOr<std::unique_ptr<TcpEchoServer>> StartTcpEcho(const ServerConfig& config) {
  for (Target target : config.listen) {
    if (target.is_unix()) continue;
    target.port = *config.tcp_echo_port;
    return TcpEchoServer::Start(target);
  }
  return absl::UnavailableError("a TCP echo needs a TCP address to listen on, not only Unix sockets");
}

}  // namespace

absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config) {
  if (const absl::Status status = CheckAddresses(config); !status.ok()) return status;
  std::unique_ptr<TcpEchoServer> tcp_echo;
  if (config.tcp_echo_port) {
    auto started = StartTcpEcho(config);
    if (!started.ok()) return started.status();
    tcp_echo = *std::move(started);
  }
  max_response_bytes = config.limits.message_bytes;
  // With the port that it got, because the server describes itself as soon as it serves.
  ServerConfig resolved = config;
  if (tcp_echo) resolved.tcp_echo_port = tcp_echo->port();
  try {
    auto server = StartKind(resolved);
    if (server.ok()) (*server)->tcp_echo_ = std::move(tcp_echo);
    return server;
  } catch (const std::system_error& no_thread) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start the server's threads: ", no_thread.code().message()));
  }
}

}  // namespace cqbench
