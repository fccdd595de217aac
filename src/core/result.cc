#include "cqbench/result.h"

#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/ascii.h"
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

// Of each figure over the runs that have it.
Figures MedianFigures(const std::vector<const PointResult*>& runs) {
  Figures medians;
  for (const PointResult* run : runs) {
    for (const auto& [name, value] : run->figures) {
      if (medians.Get(name)) continue;
      std::vector<double> values;
      for (const PointResult* other : runs) {
        if (const auto figure = other->figures.Get(name)) values.push_back(*figure);
      }
      medians.Set(name, Median(std::move(values)));
    }
  }
  return medians;
}

void MergeLines(std::vector<std::string>& into, const std::vector<std::string>& from) {
  for (const std::string& line : from) {
    if (std::find(into.begin(), into.end(), line) == into.end()) into.push_back(line);
  }
}

// Reasons that differ in their numbers only are one, in the words of the first, with how many repetitions gave it.
std::vector<std::string> MergeReasons(const std::vector<const PointResult*>& runs) {
  std::vector<std::string> kinds, reasons;
  std::vector<size_t> times;
  for (const PointResult* run : runs) {
    for (const std::string& reason : run->suspect) {
      std::string kind = reason;
      std::erase_if(kind,
                    [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '+' || c == '-'; });
      const auto same = static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
      if (same == kinds.size()) {
        kinds.push_back(kind);
        reasons.push_back(reason);
        times.push_back(0);
      }
      ++times[same];
    }
  }
  for (size_t i = 0; runs.size() > 1 && i < reasons.size(); ++i) {
    absl::StrAppend(&reasons[i], " (in ", times[i], " of ", runs.size(), " repetitions)");
  }
  return reasons;
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
  row.notes.clear();
  row.suspect.clear();
  row.unfinished = 0;
  row.partial = (measured.empty() ? all : measured).front()->partial;
  for (const PointResult* run : all) {
    MergeErrors(row.errors, run->errors);
    row.unfinished += run->unfinished;
    MergeLines(row.warnings, run->warnings);
    MergeLines(row.notes, run->notes);
  }
  row.suspect = MergeReasons(all);
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
  row.figures = MedianFigures(measured);
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

bool LatencyStats::Knows(Nanos LatencyStats::*percentile) const {
  // Calls in a thousand that are slower.
  const uint64_t above = percentile == &LatencyStats::p50_ns    ? 500
                         : percentile == &LatencyStats::p90_ns  ? 100
                         : percentile == &LatencyStats::p95_ns  ? 50
                         : percentile == &LatencyStats::p99_ns  ? 10
                         : percentile == &LatencyStats::p999_ns ? 1
                                                                : 10'000;  // least and greatest are always known
  return count * above >= 10'000;
}

Figures AllFigures(const PointResult& p) {
  Figures all;
  if (p.completed > 0) all.Set("throughput_per_second", p.ThroughputPerSecond());
  if (p.latency) {
    all.Set("latency_mean_ns", p.latency->mean_ns);
    all.Set("latency_stddev_ns", p.latency->stddev_ns);
    constexpr std::pair<const char*, Nanos LatencyStats::*> kLatencies[] = {
        {"latency_min_ns", &LatencyStats::min_ns}, {"latency_p50_ns", &LatencyStats::p50_ns},
        {"latency_p90_ns", &LatencyStats::p90_ns}, {"latency_p95_ns", &LatencyStats::p95_ns},
        {"latency_p99_ns", &LatencyStats::p99_ns}, {"latency_p99_9_ns", &LatencyStats::p999_ns},
        {"latency_max_ns", &LatencyStats::max_ns}};
    for (const auto& [name, field] : kLatencies) {
      if (p.latency->Knows(field)) all.Set(name, static_cast<double>((*p.latency).*field));
    }
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
  const uint64_t failed = Failed();
  return failed == 0 ? 0.0 : static_cast<double>(failed) / static_cast<double>(failed + completed);
}

std::optional<double> PointResult::CpuPerRpcNs() const {
  const auto user = figures.Get("client_cpu_user_ns"), system = figures.Get("client_cpu_system_ns");
  if (completed == 0 || !user || !system) return std::nullopt;
  return (*user + *system) / static_cast<double>(completed);
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
