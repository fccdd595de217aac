#include "src/ranks/live_merge.h"

#include <algorithm>
#include <string>

#include "src/ranks/rank_merge.h"

namespace cqbench {

void LiveMerge::Add(const PointResult& point, const Measurement& measurement, const Result& run) {
  if (ranks_ == nullptr) return;
  const RankSetting mine{run.suspect, run.context.total_calls, run.context.skip_first};
  const std::vector<std::string> told = ranks_->Collect(EncodeRankReport(point, measurement, mine));
  if (!told.empty()) points_.push_back(MergeRanks(told, objective_, setting_));
}

Result LiveMerge::Merged(const Result& own) const {
  Result result = own;
  if (points_.empty()) return result;
  result.points = points_;
  result.suspect = setting_.suspect;
  result.context.total_calls = setting_.total_calls;
  result.context.skip_first = setting_.skip_first;
  result.partial = own.partial || std::any_of(points_.begin(), points_.end(), [](auto& p) { return p.partial; });
  return result;
}

}  // namespace cqbench
