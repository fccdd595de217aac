// Figures of streams of chunks.
#pragma once

#include "cqbench/measurement.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Payload and messages per second, by message and not by stream, since few streams fit a window; the gaps between the
// messages of a stream; of an open loop what was asked for, with a note when it was not reached. Nothing for methods
// that stream no chunks.
void ReportMessages(const RunConfig& config, const Measurement& measurement, PointResult& point);

// How long it is from each chunk to the next of its stream; nothing where there are no gaps.
void ReportGaps(const Histogram& gaps, Figures& figures);

// After the evidence: the CPUs that each end used for a Gbit/s of payload. The server's are all that it used: for this
// client and for others.
void ReportCoresPerGbit(PointResult& point);

}  // namespace cqbench
