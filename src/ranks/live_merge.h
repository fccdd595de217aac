// Merges what all ranks measured, point by point, while the run goes on.
#pragma once

#include <string>
#include <vector>

#include "cqbench/ranks.h"
#include "cqbench/result.h"
#include "src/ranks/rank_report.h"
#include "src/result/objective.h"

namespace cqbench {

// On the runner's thread. Both references must outlive it.
class LiveMerge {
 public:
  LiveMerge(Ranks& ranks, const Objective& objective) : ranks_(ranks), objective_(objective) {}

  // After a point whose rank file is on the disk: sends its report to rank 0, and waits there for the others' reports.
  void Add(std::string report);
  // `own`, with the merged points where this rank has any.
  Result Merged(const Result& own) const;

 private:
  Ranks& ranks_;
  const Objective& objective_;
  std::vector<PointResult> points_;
  RankSetting setting_;
};

// The run's result, as merged points and the ranks' settings have it.
void TakeMerged(const std::vector<PointResult>& points, const RankSetting& setting, Result& result);

}  // namespace cqbench
