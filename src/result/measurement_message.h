// A measurement as a protobuf message, which processes send to each other and files keep.
#pragma once

#include "absl/status/statusor.h"
#include "cqbench/measurement.h"
#include "cqbench/proto/measurement.pb.h"

namespace cqbench {

// Everything that can be added to another process's: calls, statuses, histograms with their sums and extremes, time
// buckets, chunks of streams, slots, how the schedule was kept. Left out: parts of calls and the shape of arrivals.
measured::v1::Measurement ToMessage(const Measurement& measurement);

// Any message is safe. INVALID_ARGUMENT with one line where it cannot be a measurement of this program's; among others
// where its histograms have other buckets.
absl::StatusOr<Measurement> FromMessage(const measured::v1::Measurement& message);

}  // namespace cqbench
