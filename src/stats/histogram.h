// A latency histogram of fixed size.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/clock.h"

namespace cqbench {

// Log-linear buckets as in HdrHistogram (Gil Tene, hdrhistogram.org) with three significant digits. Values below 2048
// ns have a bucket each. Each further power of two has 1024 buckets of equal width, so a reported value is at most 0.1
// % above the recorded one. Values above kMaxTrackableNs (about 137 s) share the last bucket; Max() stays exact.
//
// The memory (224 KiB of address space, touched only where values fall) is allocated once; recording never allocates.
// Not thread-safe: one writer, and readers only after it has stopped. Move-only.
class Histogram {
 public:
  static constexpr Nanos kMaxTrackableNs = (Nanos{1} << 37) - 1;
  static constexpr size_t kBuckets = 28 * 1024;

  Histogram();

  // Records a value; values below zero count as zero.
  void Record(Nanos value_ns) { Record(value_ns, 1); }
  // Records the same value `times` times; `times` is above 0.
  void Record(Nanos value_ns, uint64_t times) {
    if (value_ns < 0) value_ns = 0;
    counts_[IndexOf(value_ns)] += times;
    count_ += times;
    sum_ += static_cast<uint64_t>(value_ns) * times;
    if (value_ns < min_) min_ = value_ns;
    if (value_ns > max_) max_ = value_ns;
  }

  // Adds the counts of `other`. The time depends on the range of its values, not on their number.
  void Merge(const Histogram& other);

  // Fills an empty histogram with the data of another process's histogram: buckets by index, ascending, with counts
  // above 0, and the exact sum and extremes. Returns false and changes nothing if the data is inconsistent: no bucket,
  // an unknown bucket, or extremes outside the first and the last bucket.
  bool Assign(const std::vector<std::pair<size_t, uint64_t>>& buckets, uint64_t sum, Nanos min, Nanos max);

  uint64_t Count() const { return count_; }
  uint64_t Sum() const { return sum_; }
  // The following return 0 while Count() is 0.
  Nanos Min() const { return count_ == 0 ? 0 : min_; }
  Nanos Max() const { return max_; }
  double Mean() const;
  double StdDev() const;

  // Returns the highest value of the first bucket at or below which at least `percent` % of the values lie, and never
  // more than Max(). `percent` is in (0, 100]. This is the nearest-rank definition: no interpolation.
  Nanos ValueAtPercentile(double percent) const;

  // Calls visit(value_ns, count) for every bucket that is not empty, ascending, with the bucket's highest value.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    ForEachBucket([&](size_t index, uint64_t count) { visit(HighestValueOf(index), count); });
  }
  // The same with the bucket's index; HdrHistogram numbers buckets in the same way.
  template <typename Visit>
  void ForEachBucket(Visit&& visit) const {
    if (count_ == 0) return;
    for (size_t i = IndexOf(min_), last = IndexOf(max_); i <= last; ++i) {
      if (counts_[i] > 0) visit(i, counts_[i]);
    }
  }

  // Returns the highest value of the bucket `index`, which is below kBuckets.
  static constexpr Nanos HighestValueOf(size_t index) {
    const size_t shift = index < 2 * kHalf ? 0 : index / kHalf - 1;
    const uint64_t sub = index - shift * kHalf;
    return static_cast<Nanos>(((sub + 1) << shift) - 1);
  }
  // The bucket of a value that is not below zero.
  static constexpr size_t IndexOf(Nanos value_ns) {
    const auto v = static_cast<uint64_t>(value_ns < kMaxTrackableNs ? value_ns : kMaxTrackableNs);
    const int width = static_cast<int>(std::bit_width(v));  // std::bit_width's return type differs between compilers
    const int shift = width > kSubBucketBits ? width - kSubBucketBits : 0;
    return (static_cast<size_t>(shift) << (kSubBucketBits - 1)) + static_cast<size_t>(v >> shift);
  }

 private:
  static constexpr int kSubBucketBits = 11;
  static constexpr uint64_t kHalf = uint64_t{1} << (kSubBucketBits - 1);
  static_assert(kBuckets == (size_t{37 - kSubBucketBits} << (kSubBucketBits - 1)) + 2 * kHalf);

  friend class SharedHistogram;
  struct Free {
    void operator()(uint64_t* p) const { std::free(p); }
  };

  std::unique_ptr<uint64_t[], Free> counts_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  Nanos min_ = INT64_MAX;
  Nanos max_ = 0;
};

// A histogram with the same buckets for many writers, and for readers while they write: a relaxed atomic add per value.
// A concurrent snapshot or clearing may miss the latest values.
class SharedHistogram {
 public:
  SharedHistogram();

  void Record(Nanos value_ns) {
    counts_[Histogram::IndexOf(value_ns < 0 ? 0 : value_ns)].fetch_add(1, std::memory_order_relaxed);
  }
  void Clear();
  // Each value becomes the upper end of its bucket.
  Histogram Snapshot() const;

 private:
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;
};

}  // namespace cqbench
