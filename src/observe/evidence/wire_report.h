// Bytes on the wire beside the calls and the payload that they were for: what compression and metadata come to.
#pragma once

#include "cqbench/result.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Adds client_bytes_…_per_rpc and client_bytes_…_per_payload_byte to a measured point that has client_bytes_sent and
// client_bytes_received; the latter for each direction in which there is payload.
void ReportWireBytes(const RunConfig& config, PointResult& point);

}  // namespace cqbench
