#include "cqbench/server.h"

#include "src/server/listener.h"
#include "src/server/server_kinds.h"

namespace cqbench {

absl::string_view ToString(ServerApi api) {
  switch (api) {
    case ServerApi::kCq:
      return "cq";
    case ServerApi::kCallback:
      return "callback";
    case ServerApi::kSync:
      return "sync";
    case ServerApi::kGeneric:
      return "generic";
  }
  return "?";
}

absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config) {
  if (const absl::Status status = CheckAddresses(config.listen); !status.ok()) return status;
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

}  // namespace cqbench
