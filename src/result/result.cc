#include "cqbench/result.h"

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

void AddLatencies(Figures& all, absl::string_view prefix, const LatencyStats& stats) {
  if (stats.KnowsMean()) {
    all.Set(absl::StrCat(prefix, "mean_ns"), stats.mean_ns);
    all.Set(absl::StrCat(prefix, "stddev_ns"), stats.stddev_ns);
  }
  constexpr std::pair<const char*, Nanos LatencyStats::*> kPercentiles[] = {
      {"min_ns", &LatencyStats::min_ns}, {"p50_ns", &LatencyStats::p50_ns}, {"p90_ns", &LatencyStats::p90_ns},
      {"p95_ns", &LatencyStats::p95_ns}, {"p99_ns", &LatencyStats::p99_ns}, {"p99_9_ns", &LatencyStats::p999_ns},
      {"max_ns", &LatencyStats::max_ns},
  };
  for (const auto& [name, field] : kPercentiles) {
    if (stats.Knows(field)) all.Set(absl::StrCat(prefix, name), static_cast<double>(stats.*field));
  }
}

void AddPacing(Figures& all, const OpenLoopResult& open) {
  const std::pair<const char*, double> kPacing[] = {
      {"pacer_lateness_p50_ns", static_cast<double>(open.lateness_p50_ns)},
      {"pacer_lateness_p99_ns", static_cast<double>(open.lateness_p99_ns)},
      {"pacer_lateness_max_ns", static_cast<double>(open.lateness_max_ns)},
      {"slot_wait_mean_ns", static_cast<double>(open.slot_wait_mean_ns)},
      {"slot_wait_p99_ns", static_cast<double>(open.slot_wait_p99_ns)},
      {"slot_wait_max_ns", static_cast<double>(open.slot_wait_max_ns)},
  };
  for (const auto& [name, value] : kPacing) all.Set(name, value);
}

}  // namespace

std::optional<LatencyStats> Summarize(const Histogram& ended, const Histogram* at_least) {
  Histogram h;
  h.Merge(ended);
  if (at_least != nullptr) h.Merge(*at_least);
  if (h.Count() == 0) return std::nullopt;
  LatencyStats s;
  s.count = h.Count();
  if (at_least != nullptr && at_least->Count() > 0) {
    s.at_least = at_least->Count();
    s.least_age_ns = at_least->Min();
  }
  s.mean_ns = h.Mean();
  s.stddev_ns = h.StdDev();
  s.min_ns = h.Min();
  s.p50_ns = h.ValueAtPercentile(50);
  s.p90_ns = h.ValueAtPercentile(90);
  s.p95_ns = h.ValueAtPercentile(95);
  s.p99_ns = h.ValueAtPercentile(99);
  s.p999_ns = h.ValueAtPercentile(99.9);
  s.max_ns = h.Max();
  return s;
}

bool LatencyStats::Knows(Nanos LatencyStats::*percentile) const {
  // Every call that never ended is at or above the least age, so what lies below it is in its place.
  if (least_age_ns && this->*percentile >= *least_age_ns) return false;
  // Calls in a thousand that are slower.
  const uint64_t above = percentile == &LatencyStats::p50_ns    ? 500
                         : percentile == &LatencyStats::p90_ns  ? 100
                         : percentile == &LatencyStats::p95_ns  ? 50
                         : percentile == &LatencyStats::p99_ns  ? 10
                         : percentile == &LatencyStats::p999_ns ? 1
                                                                : 10'000;  // of the extremes, one call is enough
  return count * above >= 10'000;
}

Figures AllFigures(const PointResult& p) {
  Figures all;
  if (p.completed > 0) all.Set("throughput_per_second", p.ThroughputPerSecond());
  if (p.latency) AddLatencies(all, "latency_", *p.latency);
  if (p.open_loop) {
    if (p.open_loop->from_sent) AddLatencies(all, "latency_from_sent_", *p.open_loop->from_sent);
    AddPacing(all, *p.open_loop);
  }
  for (const auto& [name, value] : p.figures) all.Set(name, value);
  return all;
}

uint64_t PointResult::Failed() const {
  uint64_t total = 0;
  for (const ErrorCount& error : errors) total += error.count;
  return total;
}

double PointResult::ThroughputPerSecond() const {
  return window_ns > 0 ? static_cast<double>(completed) / ToSeconds(window_ns) : 0.0;
}

double PointResult::ErrorRate() const {
  const uint64_t bad = Failed() + counts.unfinished + counts.unsent;
  return bad == 0 ? 0.0 : static_cast<double>(bad) / static_cast<double>(bad + completed);
}

std::optional<double> PointResult::CpuPerRpcNs() const {
  const auto user = figures.Get("client_cpu_user_ns"), system = figures.Get("client_cpu_system_ns");
  if (completed == 0 || !user || !system) return std::nullopt;
  return (*user + *system) / static_cast<double>(completed);
}

}  // namespace cqbench
