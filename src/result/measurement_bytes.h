// A measurement as bytes, for the process that merges those of several.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/measurement.h"

namespace cqbench {

// Says which values share a bucket: counts may be added only where it is the same.
uint64_t HistogramLayoutHash();

// Everything of which whole numbers can be added, exactly: calls, statuses, histograms with their sums and extremes,
// slots, how the schedule was kept. Left out: the time series, parts and messages of calls, and the shape of arrivals.
std::string MeasurementToBytes(const Measurement& measurement);

// Any bytes are safe. FAILED_PRECONDITION with one line that names both layouts where the histograms' differ,
// INVALID_ARGUMENT for what is damaged or of another build.
absl::StatusOr<Measurement> MeasurementFromBytes(absl::string_view bytes);

}  // namespace cqbench
