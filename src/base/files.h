// Files and @FILE arguments, with a limit.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace cqbench {

// INVALID_ARGUMENT with one line when it cannot be read or is longer.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes);
// "@FILE": what is in the file; anything else: itself.
absl::StatusOr<std::string> TextOrFile(const std::string& argument, size_t max_bytes);

}  // namespace cqbench
