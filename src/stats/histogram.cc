#include "src/stats/histogram.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace cqbench {

// calloc hands out untouched zero pages at this size, which new[] does not: empty buckets cost no memory. With
// thousands of workers this saves gigabytes.
Histogram::Histogram() : counts_(static_cast<uint64_t*>(std::calloc(kBuckets, sizeof(uint64_t)))) {
  if (counts_ == nullptr) throw std::bad_alloc();
}

void Histogram::Merge(const Histogram& other) {
  if (other.count_ == 0) return;
  for (size_t i = IndexOf(other.min_), last = IndexOf(other.max_); i <= last; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

bool Histogram::Assign(const std::vector<std::pair<size_t, uint64_t>>& buckets, uint64_t sum, Nanos min, Nanos max) {
  if (buckets.empty() || min < 0 || max < min) return false;
  if (IndexOf(min) != buckets.front().first || IndexOf(max) != buckets.back().first) return false;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].second == 0 || (i > 0 && buckets[i].first <= buckets[i - 1].first)) return false;
  }
  for (const auto& [index, count] : buckets) {
    counts_[index] = count;
    count_ += count;
  }
  sum_ = sum;
  min_ = min;
  max_ = max;
  return true;
}

double Histogram::Mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double Histogram::StdDev() const {
  if (count_ == 0) return 0.0;
  const size_t first = IndexOf(min_), last = IndexOf(max_);
  // The deviations are around the mean of the buckets' values, not of the recorded values: bucket rounding cancels out,
  // and equal values have deviation 0.
  double mean = 0;
  for (size_t i = first; i <= last; ++i)
    mean += static_cast<double>(HighestValueOf(i)) * static_cast<double>(counts_[i]);
  mean /= static_cast<double>(count_);
  double squares = 0;
  for (size_t i = first; i <= last; ++i) {
    const double d = static_cast<double>(HighestValueOf(i)) - mean;
    squares += d * d * static_cast<double>(counts_[i]);
  }
  return std::sqrt(squares / static_cast<double>(count_));
}

Nanos Histogram::ValueAtPercentile(double percent) const {
  if (count_ == 0) return 0;
  // Subtracts a little before rounding up: in binary, 0.999 * 1000 > 999, so P99.9 of 1000 values would have rank 1000.
  const double exact = percent / 100.0 * static_cast<double>(count_);
  const auto rank = std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(exact - 1e-9 * exact)), 1, count_);
  uint64_t seen = 0;
  for (size_t i = IndexOf(min_), last = IndexOf(max_); i < last; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(HighestValueOf(i), max_);
  }
  return max_;
}

SharedHistogram::SharedHistogram() : counts_(new std::atomic<uint64_t>[Histogram::kBuckets]()) {}

void SharedHistogram::Clear() {
  for (size_t i = 0; i < Histogram::kBuckets; ++i) counts_[i].store(0, std::memory_order_relaxed);
}

Histogram SharedHistogram::Snapshot() const {
  Histogram histogram;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    const uint64_t count = counts_[i].load(std::memory_order_relaxed);
    if (count > 0) histogram.Record(Histogram::HighestValueOf(i), count);
  }
  return histogram;
}

}  // namespace cqbench
