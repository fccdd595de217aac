// Merges the result files of several ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/result.h"

namespace cqbench {

// The files are the JSON that each rank writes, each with its rank_reports; points are merged as MergeRanks() does. The
// n-th point of a file is the n-th point of the run. Any bytes are safe. INVALID_ARGUMENT with one line that names a
// file where it cannot be read, or is not of the same measurement as the first: another version, command or setting.
absl::StatusOr<Result> MergeRankFiles(const std::vector<std::string>& paths);

}  // namespace cqbench
