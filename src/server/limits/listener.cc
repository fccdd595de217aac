#include "src/server/limits/listener.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/sockets.h"
#include "src/channel/channel_args.h"
#include "src/channel/compression.h"
#include "src/channel/credentials.h"
#include "src/config/load.h"

namespace cqbench {
namespace {

absl::Status CannotListen(const Target& target, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", target.ToString(), ": ", why));
}

// A socket file that nobody answers on is left over from a server that died: the library replaces it.
absl::Status CheckUnix(const Target& target, const Endpoint& endpoint) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(probe.fd(), SocketAddress(endpoint), endpoint.length) == 0) {
    return CannotListen(target, "another process listens on it");
  }
  struct stat existing {};
  const bool exists = lstat(target.unix_path.c_str(), &existing) == 0;
  if (exists && !S_ISSOCK(existing.st_mode)) return CannotListen(target, "a file of that name exists");
  const std::string directory = target.unix_path.substr(0, target.unix_path.find_last_of('/') + 1);
  if (access(directory.empty() ? "." : directory.c_str(), W_OK) != 0) return CannotListen(target, std::strerror(errno));
  return absl::OkStatus();
}

// Machines without IPv6 still resolve localhost to ::1; that address is simply not there then.
bool FamilyMissing(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL;
}

absl::Status CheckTcp(const Target& target, const std::vector<Endpoint>& endpoints, bool shares_port) {
  int bound = 0;
  int last_error = EADDRNOTAVAIL;
  for (const Endpoint& endpoint : endpoints) {
    const Descriptor probe(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (shares_port) setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    if (probe.fd() >= 0 && bind(probe.fd(), SocketAddress(endpoint), endpoint.length) == 0) {
      ++bound;
      continue;
    }
    last_error = errno;
    if (!FamilyMissing(last_error)) return CannotListen(target, std::strerror(last_error));
  }
  return bound > 0 ? absl::OkStatus() : CannotListen(target, std::strerror(last_error));
}

bool SharesPorts(const std::vector<ChannelArg>& args) {
  return std::any_of(args.begin(), args.end(), [](const ChannelArg& arg) {
    const int* const number = std::get_if<int>(&arg.value);
    return arg.key == GRPC_ARG_ALLOW_REUSEPORT && number != nullptr && *number != 0;
  });
}

// Threads of synchronous services next to completion queues and reactors; these services are never measured.
constexpr int kThreadsBeside = 128;

void SetUnlessGiven(const ServerConfig& config, const char* key, int value, grpc::ServerBuilder& builder) {
  if (!IsGiven(config.channel_args, key)) builder.AddChannelArgument(key, value);
}

void Limit(const ServerConfig& config, grpc::ServerBuilder& builder) {
  const ServerLimits& limits = config.limits;
  if (!IsGiven(config.channel_args, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH)) {
    builder.SetMaxReceiveMessageSize(static_cast<int>(limits.message_bytes + 1024));
  }
  SetUnlessGiven(config, GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxInflight, builder);
  grpc::ResourceQuota quota("server");
  if (limits.memory_bytes > 0) quota.Resize(limits.memory_bytes);
  quota.SetMaxThreads(config.api == ServerApi::kSync ? limits.threads : kThreadsBeside);
  builder.SetResourceQuota(quota);
  if (limits.accepts_compressed) return;
  // The library looks at a message's size before it decompresses it (1.51.1): 64 KiB may become 64 MiB, 64 MiB 64 GiB.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

}  // namespace

absl::Status CheckAddresses(const ServerConfig& config) {
  const bool shares_ports = SharesPorts(config.channel_args);
  for (const Target& target : config.listen) {
    const auto endpoints = ResolveTargets({target});
    if (!endpoints.ok()) return endpoints.status();
    const absl::Status status =
        target.is_unix() ? CheckUnix(target, endpoints->front()) : CheckTcp(target, *endpoints, shares_ports);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void ConfigureBuilder(const ServerConfig& config, grpc::ServerBuilder& builder, std::vector<int>& ports) {
  // The library's health service is of the callback API: there nothing foreign comes in, elsewhere we have our own. A
  // switch of the process, which may have had another server before.
  grpc::EnableDefaultHealthCheckService(config.api == ServerApi::kCallback);
  ports.assign(config.listen.size(), 0);
  const auto credentials = ServerCredentials(config.security);
  for (size_t i = 0; i < config.listen.size(); ++i) {
    builder.AddListeningPort(config.listen[i].ToString(), credentials, &ports[i]);
  }
  SetUnlessGiven(config, GRPC_ARG_ALLOW_REUSEPORT, 0, builder);
  // Newer releases (seen on 1.83) cancel calls at random once a thousand wait for a posted request. What may be in
  // flight is the client's to choose here.
  SetUnlessGiven(config, "grpc.server.max_pending_requests", kMaxInflight, builder);
  SetUnlessGiven(config, "grpc.server.max_pending_requests_hard_limit", kMaxInflight, builder);
  Limit(config, builder);
  if (config.compression != Compression::kNone) builder.SetDefaultCompressionAlgorithm(AlgorithmOf(config.compression));
  for (const ChannelArg& arg : config.channel_args) {
    if (const int* number = std::get_if<int>(&arg.value)) {
      builder.AddChannelArgument(arg.key, *number);
    } else {
      builder.AddChannelArgument(arg.key, std::get<std::string>(arg.value));
    }
  }
}

absl::StatusOr<RunningServer> BuildServer(const ServerConfig& config, grpc::ServerBuilder& builder,
                                          const std::vector<int>& ports) {
  RunningServer running;
  running.server = builder.BuildAndStart();
  running.listening = config.listen;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Target& target = config.listen[i];
    if (running.server == nullptr || (ports[i] <= 0 && !target.is_unix())) {
      return CannotListen(target, "the library could not start the server");
    }
    if (!target.is_unix()) running.listening[i].port = ports[i];
  }
  return running;
}

}  // namespace cqbench
