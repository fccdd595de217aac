// Repeated measurements: what they say together, and how sure that is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cqbench/result.h"

namespace cqbench {

struct Interval {
  double low = 0;
  double high = 0;
};

// Fewer give no interval: that from the least to the greatest of five values holds the median in 93.75 % of cases.
inline constexpr size_t kMinForInterval = 6;
inline constexpr char kIntervalMethod[] = "order statistics of the median, at least 95 %";

struct Summary {
  size_t count = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double stddev = 0;             // of the sample (n - 1); 0 for one value
  std::optional<Interval> ci95;  // of the median; absent below kMinForInterval values
  // Half the interval's width, by its longer side, as a fraction of the median.
  std::optional<double> RelativeError() const;
};
// `values` is not empty. The interval goes from the k-th least to the k-th greatest value, with the greatest k for
// which it holds the median of whatever distribution the values come from in at least 95 % of cases (H. A. David, H. N.
// Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1). Not the bootstrap: of seven values, its interval for the
// median holds it in 87.5 % of cases.
Summary Describe(std::vector<double> values);

// All figures of one load over its repetitions. A latency that calls without an end keep unknown in one repetition is
// left out: without the worst repetitions, the others say nothing.
struct PointStatistics {
  Load load;
  size_t repetitions = 0;  // that measured something and were not cut short
  std::vector<std::pair<std::string, Summary>> figures;

  const Summary* Find(const std::string& name) const;
};
std::vector<PointStatistics> DescribePoints(const std::vector<PointResult>& points);

// The loads whose throughput's interval is wider than `percent` on either side, or not known.
std::vector<Load> NotStable(const std::vector<PointResult>& points, double percent);

}  // namespace cqbench
