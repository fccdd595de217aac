// What all ranks measured together, point by point, while the run goes on.
#pragma once

#include <vector>

#include "cqbench/measurement.h"
#include "cqbench/ranks.h"
#include "cqbench/result.h"
#include "src/ranks/rank_report.h"
#include "src/result/objective.h"

namespace cqbench {

// On the runner's thread. Both references must outlive it; `ranks` may be nullptr: this process measures alone.
class LiveMerge {
 public:
  LiveMerge(Ranks* ranks, const Objective& objective) : ranks_(ranks), objective_(objective) {}

  // After a point whose rank file is on the disk: tells rank 0, and waits there for what the others tell. `run`: what
  // is known of it by now.
  void Add(const PointResult& point, const Measurement& measurement, const Result& run);
  // `own`, with the merged points where this rank has any.
  Result Merged(const Result& own) const;

 private:
  Ranks* const ranks_;
  const Objective& objective_;
  std::vector<PointResult> points_;
  RankSetting setting_;
};

}  // namespace cqbench
