// The HTTP part of the programs where it is not built.
#include "src/http/client/http_engine.h"
#include "src/http/gateway/gateway.h"

namespace cqbench {
namespace {

constexpr char kNotBuilt[] = "not built into this program: it needs " CQBENCH_HTTP_LACKS;

}  // namespace

absl::Status RegisterHttpEngines() {
  return absl::FailedPreconditionError(kNotBuilt);
}

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(const GatewayConfig& /*config*/, PingServer& /*server*/) {
  return absl::InvalidArgumentError(kNotBuilt);
}

}  // namespace cqbench
