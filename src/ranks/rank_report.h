// What a rank tells rank 0 of a point, so that all of them can be merged while the run goes on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"
#include "cqbench/result.h"

namespace cqbench {

// Of the run, what is not the same for all ranks.
struct RankSetting {
  std::vector<Finding> suspect;  // doubts about every point
  uint64_t total_calls = 0;      // its shares; 0: none
  uint64_t skip_first = 0;
};

struct RankReport {
  // As the rank's own file has it, without histograms as text, time series, how the schedule was kept and what is known
  // of single CPUs. point.rank is there.
  PointResult point;
  Measurement measurement;  // as MeasurementToBytes() has it
  RankSetting setting;
};

std::string EncodeRankReport(const PointResult& point, const Measurement& measurement, const RankSetting& setting);

// Any bytes are safe. Errors as of MeasurementFromBytes().
absl::StatusOr<RankReport> DecodeRankReport(absl::string_view bytes);

}  // namespace cqbench
