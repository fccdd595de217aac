#include "src/ranks/live_merge.h"

#include <algorithm>
#include <string>

#include "src/ranks/rank_merge.h"
#include "src/ranks/rank_report.h"

namespace cqbench {

void LiveMerge::Add(const PointResult& point, const Measurement& measurement, const std::vector<Finding>& setting) {
  if (ranks_ == nullptr) return;
  const std::vector<std::string> told = ranks_->Collect(EncodeRankReport(point, measurement, setting));
  if (!told.empty()) points_.push_back(MergeRanks(told, objective_, setting_));
}

Result LiveMerge::Merged(const Result& own) const {
  Result result = own;
  if (points_.empty()) return result;
  result.points = points_;
  result.suspect = setting_;
  result.partial = own.partial || std::any_of(points_.begin(), points_.end(), [](auto& p) { return p.partial; });
  return result;
}

}  // namespace cqbench
