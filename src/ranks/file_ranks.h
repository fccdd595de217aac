// Ranks that agree through files in a folder that all of them see.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cqbench/ranks.h"

namespace cqbench {

// For each point P (from 1) a connected rank N writes `ready-P-N.json`, or `missing-P-N.json` if it cannot measure the
// point, and `left-N.json` if it will measure no more. Rank 0 waits for the others for at most `patience_ns`, and never
// again for a rank that did not come. It then writes `window-P.json`: the times in its own steady clock, the difference
// to the wall clock, and the tokens of the ranks that it has seen. The others convert by their own wall clock: exact
// within one machine, and as good as the wall clocks between machines, which the bound states.
//
// Files are written under another name and renamed, so no rank reads half a file. Between machines rank 0 announces
// five seconds ahead, as shared file systems may show a new file that late; within one machine, Ranks::kLead.
//
// The folder must exist and belong to this run alone: FAILED_PRECONDITION with one line if it has a file of this rank
// already, UNAVAILABLE if it is not writable.
absl::StatusOr<std::unique_ptr<Ranks>> MakeFileRanks(const RankId& id, const std::string& folder, Nanos patience_ns);

}  // namespace cqbench
