#include "src/ranks/rank_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "src/observe/sampling/sample_figures.h"

namespace cqbench {
namespace {

constexpr std::array<absl::string_view, 25> kSums = {
    "client_connect_cpu_ns",
    "client_cpu_user_ns",
    "client_cpu_system_ns",
    "client_cpu_workers_ns",
    "client_cpu_library_ns",
    "client_cpu_other_threads_ns",
    "client_cores_used",
    "client_threads",
    "client_threads_workers",
    "client_threads_library",
    "client_rss_bytes",
    "client_peak_rss_bytes",
    "client_minor_page_faults",
    "client_major_page_faults",
    "client_connections",
    "client_connections_with_tcp_nodelay",
    "client_bytes_sent",
    "client_bytes_received",
    "client_retransmissions",
    "chunks_per_second",
    "payload_bytes_per_second",
    "payload_bytes_asked_per_second",
    "pacers",
    "outstanding_first_half",
    "outstanding_second_half",
};
constexpr std::array<absl::string_view, 5> kMaxima = {
    "client_connect_ns", "client_busiest_worker_share", "client_sample_before_ns", "client_sample_after_ns",
    "chunk_gap_max_ns",
};

enum class Rule { kNone, kSum, kLeast, kGreatest };

Rule RuleOf(absl::string_view name) {
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  if (in(kSums)) return Rule::kSum;
  if (in(kMaxima)) return Rule::kGreatest;
  if (!absl::StartsWith(name, "client_")) return Rule::kNone;
  if (absl::EndsWith(name, "_min")) return Rule::kLeast;
  return absl::EndsWith(name, "_max") ? Rule::kGreatest : Rule::kNone;
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

  // Of one rank alone it would be wrong.
  void Combine(absl::string_view name) {
    if (absl::string_view base = name; absl::ConsumeSuffix(&base, "_median"))
      return TakeMedian(base, std::string(name));
    const Rule rule = RuleOf(name);
    if (rule == Rule::kNone || !All(name)) return;
    double combined = *Of(*points_.front(), name);
    for (size_t i = 1; i < points_.size(); ++i) {
      const double value = *Of(*points_[i], name);
      combined = rule == Rule::kSum     ? combined + value
                 : rule == Rule::kLeast ? std::min(combined, value)
                                        : std::max(combined, value);
    }
    Set(name, combined);
  }

  // Over the connections of all ranks.
  void TakeMedian(absl::string_view base, const std::string& name) {
    if (!absl::StartsWith(name, "client_")) return;
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
