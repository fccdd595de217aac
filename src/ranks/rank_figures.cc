#include "src/ranks/rank_figures.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "src/observe/sampling/sample_figures.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {
namespace {

MergeRule RuleOf(absl::string_view name) {
  const Figure* const figure = FindFigure(name);
  return figure == nullptr || figure->side == Side::kServer ? MergeRule::kNone : figure->merge;
}

class FigureMerger {
 public:
  FigureMerger(const std::vector<const PointResult*>& points, const PointResult& merged)
      : points_(points), completed_(static_cast<double>(merged.completed)) {}

  Figures Merge() {
    for (const PointResult* point : points_) {
      for (const auto& [name, value] : point->figures) {
        if (!found_.Get(name)) Combine(name);
      }
    }
    if (completed_ > 0) MakeQuotients();
    TakeServer();
    return found_;
  }

 private:
  static std::optional<double> Of(const PointResult& point, absl::string_view name) {
    const auto value = point.figures.Get(name);
    return value ? std::optional<double>(RoundedFigure(*value)) : std::nullopt;
  }
  bool All(absl::string_view name) const {
    return std::all_of(points_.begin(), points_.end(), [&](const PointResult* p) { return Of(*p, name).has_value(); });
  }
  void Set(absl::string_view name, double value) { found_.Set(name, RoundedFigure(value)); }

  // The value of one rank alone would be wrong.
  void Combine(absl::string_view name) {
    const MergeRule rule = RuleOf(name);
    if (rule == MergeRule::kMedian) return TakeMedian(absl::StripSuffix(name, "_median"), std::string(name));
    const bool combines = rule == MergeRule::kSum || rule == MergeRule::kMin || rule == MergeRule::kMax;
    if (!combines || !All(name)) return;
    double combined = *Of(*points_.front(), name);
    for (size_t i = 1; i < points_.size(); ++i) {
      const double value = *Of(*points_[i], name);
      combined = rule == MergeRule::kSum   ? combined + value
                 : rule == MergeRule::kMin ? std::min(combined, value)
                                           : std::max(combined, value);
    }
    Set(name, combined);
  }

  // Over the connections of all ranks.
  void TakeMedian(absl::string_view base, const std::string& name) {
    std::vector<double> values;
    for (const PointResult* point : points_) {
      const std::vector<double> each = point->figures.OfConnections(name);
      if (each.empty()) return;
      values.insert(values.end(), each.begin(), each.end());
    }
    SetDistribution(base, std::move(values), found_);
  }

  void MakeQuotients() {
    const auto user = found_.Get("client_cpu_user_ns"), system = found_.Get("client_cpu_system_ns");
    if (user && system && found_.Get("client_cores_used")) Set("client_cpu_per_rpc_ns", (*user + *system) / completed_);
    PerCall("client_voluntary_context_switches_per_rpc");
    PerCall("client_involuntary_context_switches_per_rpc");
    MakeCallsPerSegment();
    MakeBusyShare();
    for (const char* way : {"client_bytes_sent", "client_bytes_received"}) MakeBytes(way);
  }

  void PerCall(absl::string_view name) {
    double sum = 0;
    for (const PointResult* point : points_) {
      const auto value = Of(*point, name);
      if (!value && point->completed > 0) return;
      sum += value.value_or(0) * static_cast<double>(point->completed);
    }
    Set(name, sum / completed_);
  }

  void MakeCallsPerSegment() {
    double segments = 0;
    for (const PointResult* point : points_) {
      const auto each = Of(*point, "client_rpcs_per_segment_sent");
      if (!each || *each == 0) return;
      segments += static_cast<double>(point->completed) / *each;
    }
    Set("client_rpcs_per_segment_sent", completed_ / segments);
  }

  void MakeBytes(const std::string& name) {
    const auto bytes = found_.Get(name);
    if (!bytes) return;
    Set(name + "_per_rpc", *bytes / completed_);
    double payload = 0;
    for (const PointResult* point : points_) {
      const auto each = Of(*point, name + "_per_payload_byte");
      if (!each || *each == 0) return;
      payload += *Of(*point, name) / *each;
    }
    Set(name + "_per_payload_byte", *bytes / payload);
  }

  void MakeBusyShare() {
    if (!All("client_workers_busy_share")) return;
    double busy = 0, workers = 0;
    for (const PointResult* point : points_) {
      const double mine = Of(*point, "client_threads_workers").value_or(0);
      if (mine == 0) return;
      busy += *Of(*point, "client_workers_busy_share") * mine;
      workers += mine;
    }
    Set("client_workers_busy_share", busy / workers);
  }

  void TakeServer() {
    const auto is_servers = [](const Figures::Entry& figure) { return absl::StartsWith(figure.first, "server_"); };
    const auto asked = std::find_if(points_.begin(), points_.end(), [&](const PointResult* p) {
      return std::any_of(p->figures.begin(), p->figures.end(), is_servers);
    });
    if (asked == points_.end()) return;
    const PointResult& point = **asked;
    const double spent = Of(point, "server_cpu_user_ns").value_or(0) + Of(point, "server_cpu_system_ns").value_or(0);
    const double each = Of(point, "server_cpu_per_rpc_ns").value_or(0);
    const double calls = each > 0 ? spent / each : static_cast<double>(point.completed);  // that it divided by
    for (const auto& [name, value] : point.figures) {
      if (absl::StartsWith(name, "server_") || absl::StartsWith(name, "breakdown_server_")) {
        TakeOne(name, RoundedFigure(value), spent, calls);
      }
    }
  }

  void TakeOne(absl::string_view name, double value, double spent, double calls) {
    const bool per_call = absl::EndsWith(name, "voluntary_context_switches_per_rpc");
    if (name == "server_cpu_per_rpc_ns") {
      if (completed_ > 0) Set(name, spent / completed_);
    } else if (per_call || name == "server_rpcs_per_segment_sent") {
      if (completed_ > 0 && calls > 0) Set(name, value * (per_call ? calls / completed_ : completed_ / calls));
    } else {
      Set(name, value);
    }
  }

  const std::vector<const PointResult*>& points_;
  const double completed_;
  Figures found_;
};

}  // namespace

Figures MergeFigures(const std::vector<const PointResult*>& points, const PointResult& merged) {
  return FigureMerger(points, merged).Merge();
}

double RoundedFigure(double value) {
  return std::abs(value) >= 1000 || value == std::floor(value) ? std::round(value) : value;
}

}  // namespace cqbench
