// Merges what several ranks measured in one window into one point.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "src/ranks/rank_report.h"
#include "src/result/objective.h"

namespace cqbench {

// The point as one client would have written it that had made all calls itself: measurements are merged and described
// as those of a thread are (Measurement::Merge(), Describe()), nothing is averaged. PointResult::ranks has what each
// rank did; warnings are those of src/ranks/rank_warnings.h.
//
// `by_rank`: as EncodeRankReport() writes it; empty: nothing came. At least one can be read. A rank whose report cannot
// be read is missing, and a warning of the point says why. `setting` becomes that of the run: the ranks' shares added
// up, and each warning once.
PointResult MergeRanks(const std::vector<std::string>& by_rank, const Objective& objective, RankSetting& setting);

}  // namespace cqbench
