// Parts of the samples.
#pragma once

#include "cqbench/result.h"

namespace cqbench {

// A closed loop of pings, completion queues, a connection per slot.
RunContext SampleContext();
// Percentiles in microseconds, so that the samples read like the table.
LatencyStats SampleLatency(uint64_t count, double p50, double p90, double p99, double p999, double max);
// Ten seconds without a fault.
PointResult SamplePoint(int inflight, uint64_t completed, const LatencyStats& latency);

}  // namespace cqbench
