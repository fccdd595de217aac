// Bytes on the wire per call and per byte of payload: the effect of compression and metadata.
#pragma once

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Adds client_bytes_…_per_rpc and client_bytes_…_per_payload_byte to a measured point that has client_bytes_sent and
// client_bytes_received; the latter for each direction in which there is payload.
void ReportWireBytes(const RunConfig& config, PointResult& point);

}  // namespace cqbench
