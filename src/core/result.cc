#include "cqbench/result.h"

#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

template <typename T>
T Median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : static_cast<T>((values[n / 2 - 1] + values[n / 2]) / 2);
}

template <typename T>
void SetToMedian(T& field, const std::vector<const PointResult*>& runs,
                 const std::function<T(const PointResult&)>& get) {
  std::vector<T> values;
  for (const PointResult* run : runs) values.push_back(get(*run));
  field = Median(std::move(values));
}

void MergeErrors(std::vector<ErrorCount>& into, const std::vector<ErrorCount>& from) {
  for (const ErrorCount& error : from) {
    auto same = std::find_if(into.begin(), into.end(), [&](const ErrorCount& e) { return e.code == error.code; });
    if (same == into.end()) {
      into.push_back(error);
    } else {
      same->count += error.count;
    }
  }
}

void TakeLatencyMedians(LatencyStats& stats, const std::vector<const PointResult*>& runs) {
  SetToMedian<uint64_t>(stats.count, runs, [](auto& p) { return p.latency->count; });
  for (double LatencyStats::*field : {&LatencyStats::mean_ns, &LatencyStats::stddev_ns}) {
    SetToMedian<double>(stats.*field, runs, [field](auto& p) { return (*p.latency).*field; });
  }
  for (Nanos LatencyStats::*field :
       {&LatencyStats::min_ns, &LatencyStats::p50_ns, &LatencyStats::p90_ns, &LatencyStats::p95_ns,
        &LatencyStats::p99_ns, &LatencyStats::p999_ns, &LatencyStats::max_ns}) {
    SetToMedian<Nanos>(stats.*field, runs, [field](auto& p) { return (*p.latency).*field; });
  }
}

PointResult MedianOf(const std::vector<const PointResult*>& all) {
  std::vector<const PointResult*> measured;
  for (const PointResult* run : all) {
    if (run->failure.empty() && run->latency.has_value() && !run->partial) measured.push_back(run);
  }
  if (measured.empty()) {
    for (const PointResult* run : all) {
      if (run->failure.empty() && run->latency.has_value()) measured.push_back(run);
    }
  }
  PointResult row = measured.empty() ? *all.front() : *measured.front();
  row.errors.clear();
  row.warnings.clear();
  row.unfinished = 0;
  row.partial = (measured.empty() ? all : measured).front()->partial;
  for (const PointResult* run : all) {
    MergeErrors(row.errors, run->errors);
    row.unfinished += run->unfinished;
    for (const std::string& warning : run->warnings) {
      if (std::find(row.warnings.begin(), row.warnings.end(), warning) == row.warnings.end()) {
        row.warnings.push_back(warning);
      }
    }
  }
  for (const PointResult* run : all) {
    if (!measured.empty() && !run->failure.empty()) {
      row.warnings.push_back(absl::StrCat("repetition ", run->repetition, " is missing: ", run->failure));
    }
  }
  std::stable_sort(row.errors.begin(), row.errors.end(),
                   [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
  if (measured.size() < 2) return row;
  SetToMedian<uint64_t>(row.completed, measured, [](auto& p) { return p.completed; });
  SetToMedian<Nanos>(row.window_ns, measured, [](auto& p) { return p.window_ns; });
  TakeLatencyMedians(*row.latency, measured);
  const bool cpu_known = std::all_of(measured.begin(), measured.end(),
                                     [](const PointResult* p) { return p->cpu_user_ns && p->cpu_system_ns; });
  row.cpu_user_ns.reset();
  row.cpu_system_ns.reset();
  if (cpu_known) {
    SetToMedian<Nanos>(row.cpu_user_ns.emplace(), measured, [](auto& p) { return *p.cpu_user_ns; });
    SetToMedian<Nanos>(row.cpu_system_ns.emplace(), measured, [](auto& p) { return *p.cpu_system_ns; });
  }
  return row;
}

}  // namespace

std::optional<LatencyStats> Summarize(const Histogram& h) {
  if (h.Count() == 0) return std::nullopt;
  LatencyStats s;
  s.count = h.Count();
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

uint64_t PointResult::Failed() const {
  uint64_t total = 0;
  for (const ErrorCount& error : errors) total += error.count;
  return total;
}

double PointResult::ThroughputPerSecond() const {
  return window_ns > 0 ? static_cast<double>(completed) / ToSeconds(window_ns) : 0.0;
}

double PointResult::ErrorRate() const {
  const uint64_t failed = Failed();
  return failed == 0 ? 0.0 : static_cast<double>(failed) / static_cast<double>(failed + completed);
}

std::optional<double> PointResult::CpuPerRpcNs() const {
  if (completed == 0 || !cpu_user_ns || !cpu_system_ns) return std::nullopt;
  return static_cast<double>(*cpu_user_ns + *cpu_system_ns) / static_cast<double>(completed);
}

std::vector<PointResult> MedianOverRepetitions(const std::vector<PointResult>& points) {
  std::vector<int> order;
  std::map<int, std::vector<const PointResult*>> by_inflight;
  for (const PointResult& point : points) {
    auto& runs = by_inflight[point.inflight];
    if (runs.empty()) order.push_back(point.inflight);
    runs.push_back(&point);
  }
  std::vector<PointResult> rows;
  for (int inflight : order) rows.push_back(MedianOf(by_inflight[inflight]));
  return rows;
}

}  // namespace cqbench
