#include "src/result/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/match.h"

namespace cqbench {
namespace {

// How many values lie outside on either side. The median is below the (k + 1)-th least of n values with the probability
// that at most k of n tosses of a coin are heads, which must not exceed 2.5 %.
size_t Outside(size_t n) {
  double exactly = std::pow(0.5, static_cast<double>(n));  // n is at most 1000 here, so this is no zero
  double at_most = exactly;
  size_t k = 0;
  while (at_most <= 0.025) {
    ++k;
    exactly *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    at_most += exactly;
  }
  return k - 1;
}

bool Counts(const PointResult& point) {
  return point.failure.empty() && !point.partial && point.completed > 0;
}

bool HasEndlessCalls(const PointResult& point) {
  const auto any = [](const std::optional<LatencyStats>& stats) { return stats && stats->at_least > 0; };
  return any(point.latency) || (point.open_loop && any(point.open_loop->from_sent));
}

}  // namespace

std::optional<double> Summary::RelativeError() const {
  if (!ci95 || median == 0) return std::nullopt;
  return std::max(ci95->high - median, median - ci95->low) / std::abs(median);
}

Summary Describe(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  Summary summary;
  summary.count = n;
  summary.min = values.front();
  summary.max = values.back();
  summary.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  if (n >= kMinForInterval) summary.ci95 = {values[Outside(n)], values[n - 1 - Outside(n)]};
  if (n == 1) return summary;
  double mean = 0, squares = 0;
  for (double value : values) mean += value / static_cast<double>(n);
  for (double value : values) squares += (value - mean) * (value - mean);
  summary.stddev = std::sqrt(squares / static_cast<double>(n - 1));
  return summary;
}

const Summary* PointStatistics::Find(const std::string& name) const {
  for (const auto& [key, summary] : figures) {
    if (key == name) return &summary;
  }
  return nullptr;
}

std::vector<PointStatistics> DescribePoints(const std::vector<PointResult>& points) {
  std::vector<PointStatistics> all;
  for (const PointResult& point : points) {
    if (std::any_of(all.begin(), all.end(), [&](auto& s) { return s.load == point.load; })) continue;
    PointStatistics& statistics = all.emplace_back();
    statistics.load = point.load;
    std::vector<std::string> order;
    std::map<std::string, std::vector<double>> values;
    bool endless = false;
    for (const PointResult& run : points) {
      if (run.load != point.load || !Counts(run)) continue;
      ++statistics.repetitions;
      endless = endless || HasEndlessCalls(run);
      for (const auto& [name, value] : AllFigures(run)) {
        auto& list = values[name];
        if (list.empty()) order.push_back(name);
        list.push_back(value);
      }
    }
    for (const std::string& name : order) {
      if (endless && absl::StartsWith(name, "latency_") && values[name].size() < statistics.repetitions) continue;
      statistics.figures.emplace_back(name, Describe(std::move(values[name])));
    }
  }
  return all;
}

std::vector<Load> NotStable(const std::vector<PointResult>& points, double percent) {
  std::vector<Load> loads;
  for (const PointStatistics& statistics : DescribePoints(points)) {
    const Summary* throughput = statistics.Find("throughput_per_second");
    const auto error = throughput ? throughput->RelativeError() : std::nullopt;
    if (!error || *error * 100 > percent) loads.push_back(statistics.load);
  }
  return loads;
}

}  // namespace cqbench
