// Ranks that agree through files in a folder that all of them see.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cqbench/ranks.h"

namespace cqbench {

// For each point P (from 1) a rank N that is connected leaves `ready-P-N.json`, or `missing-P-N.json` when it cannot
// measure it, and `left-N.json` when it will measure nothing more. Rank 0 waits for the others, but not longer than
// `patience_ns`, and then not for those again, and leaves `window-P.json`: the times in its own steady clock, how far
// that is behind the wall clock, and the tokens of those that it has seen. The others convert by their own wall clock:
// within one machine that is exact, between machines as good as their wall clocks, which is said in the bound.
//
// Files are written beside and renamed, so nobody reads half of one. Between machines rank 0 announces five seconds
// ahead, as shared file systems may show a new file that late; within one, Ranks::kLead.
//
// The folder must exist and be of this run alone: FAILED_PRECONDITION with one line when there is a file of this rank's
// already, UNAVAILABLE when nothing can be written there.
absl::StatusOr<std::unique_ptr<Ranks>> MakeFileRanks(const RankId& id, const std::string& folder, Nanos patience_ns);

}  // namespace cqbench
