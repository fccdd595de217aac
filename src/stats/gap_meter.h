// The shape of a sequence of arrivals.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/numeric/int128.h"
#include "src/base/clock.h"

namespace cqbench {

// The shape of arrivals: of the gaps between ascending times. Absent below kMinGaps gaps.
struct GapShape {
  double variation = 0;    // standard deviation / mean: 1 for Poisson, 0 for constant arrivals
  double correlation = 0;  // of each gap with the next; 0 when they differ by less than a nanosecond
};
// Fed one time after the other by one thread, about 4 ns each; constant memory. The sums are exact integers, so a long
// run loses nothing, and merging several threads' meters gives the same in any order. They cannot overflow: a gap is
// at most a day, and so are all gaps of a thread together.
class GapMeter {
 public:
  static constexpr uint64_t kMinGaps = 100;

  void Add(Nanos time) {
    if (fed_) {
      const auto gap = static_cast<uint64_t>(time > last_ ? time - last_ : 0);
      if (has_gap_) {
        ++pairs_;
        pair_sum_ += last_gap_ + gap;
        products_ += absl::uint128(last_gap_) * gap;
      }
      ++gaps_;
      sum_ += gap;
      squares_ += absl::uint128(gap) * gap;
      last_gap_ = gap;
      has_gap_ = true;
    }
    last_ = time;
    fed_ = true;
  }
  // Takes over the gaps that `other` has seen; there is none between its times and ours.
  void Merge(const GapMeter& other);
  std::optional<GapShape> Shape() const;

 private:
  Nanos last_ = 0;
  uint64_t last_gap_ = 0;
  bool fed_ = false, has_gap_ = false;
  uint64_t gaps_ = 0, sum_ = 0;
  uint64_t pairs_ = 0, pair_sum_ = 0;  // of gaps that follow each other; both gaps of a pair added up
  absl::uint128 squares_ = 0, products_ = 0;
};

}  // namespace cqbench
