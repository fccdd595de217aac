#include "src/ranks/live_merge.h"

#include <algorithm>
#include <utility>

#include "src/ranks/rank_merge.h"

namespace cqbench {

void LiveMerge::Add(std::string report) {
  const std::vector<std::string> by_rank = ranks_.Collect(std::move(report));
  if (!by_rank.empty()) points_.push_back(MergeRanks(by_rank, objective_, setting_));
}

Result LiveMerge::Merged(const Result& own) const {
  Result result = own;
  if (!points_.empty()) TakeMerged(points_, setting_, result);
  return result;
}

void TakeMerged(const std::vector<PointResult>& points, const RankSetting& setting, Result& result) {
  result.points = points;
  result.rank_reports.clear();
  result.warnings = setting.warnings;
  result.context.run.total = setting.total_calls;
  result.context.run.skip_first = setting.skip_first;
  result.partial = result.partial || std::any_of(points.begin(), points.end(), [](auto& p) { return p.partial; });
}

}  // namespace cqbench
