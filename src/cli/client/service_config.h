// --service-config: what the library is to do with calls, as gRPC's service config says it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace cqbench {

// JSON, or @FILE with it. INVALID_ARGUMENT with one line for what cannot be read, is more than 1 MiB, or is no JSON
// object; whether the library likes what the object says is seen when channels are made.
absl::StatusOr<std::string> ReadServiceConfig(const std::string& text);

}  // namespace cqbench
