// All servers do this before and after BuildAndStart(): checking addresses, common options, ports.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cqbench/server.h"

namespace cqbench {

// Tries to bind each address and lets it go again. The library would only log why it cannot; and with SO_REUSEPORT,
// which it sets by default, it would share a taken port silently. A port is shared where the channel argument
// grpc.so_reuseport asks for that: with other servers that do so, too.
absl::Status CheckAddresses(const ServerConfig& config);

// Adds addresses, channel arguments, limits and reflection to the builder. `ports` receives the bound port of
// each address at BuildAndStart() and must live until then.
void ConfigureBuilder(const ServerConfig& config, grpc::ServerBuilder& builder, std::vector<int>& ports);

// BuildAndStart() and the addresses with their ports.
struct RunningServer {
  std::unique_ptr<grpc::Server> server;
  std::vector<Target> listening;
};
absl::StatusOr<RunningServer> BuildServer(const ServerConfig& config, grpc::ServerBuilder& builder,
                                          const std::vector<int>& ports);

}  // namespace cqbench
