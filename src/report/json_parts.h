// The parts that the JSON is made of. Keys are those of scripts/cqbench/files/result.schema.json.
#pragma once

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"
#include "cqbench/result.h"

namespace cqbench {

using Json = nlohmann::ordered_json;

// Figures are doubles inside; fractions of large ones say nothing, and whole numbers are written as such.
Json JsonNumber(double value);
// Exact: rates are compared with each other.
Json JsonRate(double per_second);
Json JsonFindings(const std::vector<Finding>& findings);
Json JsonContext(const Result& result);

// What tells points apart: "inflight", and in an open loop "rate_asked_per_second".
void AddLoad(Json& json, const Load& load);
// With the prefix "latency_" or "latency_from_sent_". What is not known is left out.
void AddLatency(Json& json, absl::string_view prefix, const LatencyStats& stats);
// Everything that was measured in the window.
void AddMeasured(Json& json, const PointResult& point);

}  // namespace cqbench
