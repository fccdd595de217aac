// What several ranks measured in one window as one point.
#pragma once

#include <string>
#include <vector>

#include "cqbench/result.h"
#include "src/ranks/rank_report.h"
#include "src/result/objective.h"

namespace cqbench {

// The point as one client would have written it that had made all calls itself: measurements are merged and described
// as those of a thread are (Measurement::Merge(), Describe()), nothing is averaged. PointResult::ranks has what each
// rank did; doubts are those of src/ranks/rank_doubts.h. It is what `cqbench merge` makes of the ranks' files, bit for
// bit; more of how the schedule was kept, and without a time series.
//
// `told`: by rank, as EncodeRankReport() writes it; empty: nothing came. At least the first can be read. A rank whose
// report cannot be read, or has other histograms, is missing, and a warning of the point says why. `setting` becomes
// that of the run: the ranks' shares added up, and each doubt once.
PointResult MergeRanks(const std::vector<std::string>& told, const Objective& objective, RankSetting& setting);

}  // namespace cqbench
