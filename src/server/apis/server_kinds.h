// The server kinds: one line for each. The address has been checked when these are called.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cqbench/server.h"

namespace cqbench {

absl::StatusOr<std::unique_ptr<PingServer>> StartCqServer(const ServerConfig& config);
absl::StatusOr<std::unique_ptr<PingServer>> StartCallbackServer(const ServerConfig& config);
absl::StatusOr<std::unique_ptr<PingServer>> StartSyncServer(const ServerConfig& config);
absl::StatusOr<std::unique_ptr<PingServer>> StartGenericServer(const ServerConfig& config);

}  // namespace cqbench
