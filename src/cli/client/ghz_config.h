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

// What the file at `path` (JSON) says, without what the command line `given` says otherwise. INVALID_ARGUMENT with one
// line that names the field.
absl::StatusOr<GhzFlags> ReadGhzConfig(const std::string& path, const std::vector<std::string>& given);

}  // namespace cqbench
