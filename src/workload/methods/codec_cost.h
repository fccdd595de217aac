// Cost of a method's codec by itself: no call, no network, everything in the caches. The minimum of its cost inside
// of a call.
#pragma once

#include <optional>

#include "cqbench/run_config.h"

namespace cqbench {

// Nanoseconds for one message, medians of batches. Parsing is with making and destroying the message as its holder
// does.
struct CodecCost {
  double request_serialize_ns = 0;
  double request_parse_ns = 0;
  double response_serialize_ns = 0;
  double response_parse_ns = 0;
};

// Measures the run's method, messages and codec; absent if messages are bytes. Takes some milliseconds, more for large
// messages.
std::optional<CodecCost> MeasureCodecCost(const RunConfig& config);

}  // namespace cqbench
