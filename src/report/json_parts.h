// The parts that the JSON is made of. Keys are those of scripts/cqbench/formats/result.schema.json.
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
Json JsonNotices(const std::vector<Notice>& notices);
Json JsonContext(const Result& result);

// The load level of a point: "inflight", and in an open loop "target_rate_per_second".
void AddLoad(Json& json, const Load& load);
// The keys begin with `prefix`: "latency_" or "latency_from_sent_". Unknown figures are left out.
void AddLatency(Json& json, absl::string_view prefix, const LatencyStats& stats);
// Everything that was measured in the window.
void AddMeasured(Json& json, const PointResult& point);

}  // namespace cqbench
