// Asks a server what it serves.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cqbench/run_config.h"
#include "src/workload/dynamic/descriptors.h"

namespace cqbench {

// What describes `service` on the first target of the config, by its channel arguments and metadata: the protocol's
// version 1, or v1alpha where the server has only that. Blocks, for `config.connect_timeout_ns` at most. One line:
// UNAVAILABLE when there is no connection, UNIMPLEMENTED when there is no reflection, NOT_FOUND with the services there
// are, INVALID_ARGUMENT for descriptors that make no sense.
absl::StatusOr<std::shared_ptr<const Descriptors>> ReflectService(const RunConfig& config, const std::string& service);

}  // namespace cqbench
