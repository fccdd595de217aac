// Cost of a method's serializer by itself: no call, no network, everything in the caches. The minimum of its cost
// inside of a call.
#pragma once

#include <optional>

#include "cqbench/run_config.h"

namespace cqbench {

// Nanoseconds for one message, medians of batches. Parsing is with making and destroying the message as its supply
// does.
struct SerializerCost {
  double request_serialize_ns = 0;
  double request_parse_ns = 0;
  double response_serialize_ns = 0;
  double response_parse_ns = 0;
};

// Measures the run's method, messages and serializer; absent if messages are bytes. Takes some milliseconds, more for
// large messages.
std::optional<SerializerCost> MeasureSerializerCost(const RunConfig& config);

}  // namespace cqbench
