// A rank's report of a point: the message that ranks send to rank 0 and leave in their result files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"
#include "cqbench/result.h"

namespace cqbench {

// The run's settings that differ between ranks, and warnings about all of its points.
struct RankSetting {
  std::vector<Notice> warnings;  // about every point
  uint64_t total_calls = 0;      // this rank's share; 0: no limit
  uint64_t skip_first = 0;
};

struct RankReport {
  // As the rank's own file has it, without what Describe() makes of the measurement. point.rank is there.
  PointResult point;
  Measurement measurement;
  RankSetting setting;
};

// Serialized measured::v1::RankReport (proto/measurement.proto).
std::string EncodeRankReport(const PointResult& point, const Measurement& measurement, const RankSetting& setting);

// Any bytes are safe. INVALID_ARGUMENT with one line for what no rank can have measured.
absl::StatusOr<RankReport> DecodeRankReport(absl::string_view bytes);

}  // namespace cqbench
