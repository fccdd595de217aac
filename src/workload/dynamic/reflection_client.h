// Asks a server what it serves.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/workload/dynamic/descriptors.h"

namespace cqbench {

struct RunConfig;

// Gets the descriptors of `service` from the first target of the config, with its channel arguments and metadata, by
// version 1 of the protocol, or v1alpha where the server has only that. Blocks for at most `config.connect_timeout_ns`.
// One line: UNAVAILABLE without a connection, UNIMPLEMENTED without reflection, NOT_FOUND with the server's services,
// INVALID_ARGUMENT for descriptors that make no sense.
absl::StatusOr<std::shared_ptr<const Descriptors>> ReflectService(const RunConfig& config, const std::string& service);

}  // namespace cqbench
