// ghz's configuration files as flags of ours.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cqbench {

struct GhzFlags {
  std::vector<std::string> arguments;  // "--call", "package.Service/Method", ...
  std::vector<std::string> notes;      // one line each: fields without a counterpart, or with another meaning
};

// Reads the JSON file at `path`, except settings that the command line `given` has too. INVALID_ARGUMENT with one
// line that names the field.
absl::StatusOr<GhzFlags> ReadGhzConfig(const std::string& path, const std::vector<std::string>& given);

}  // namespace cqbench
