#include "src/stats/gap_meter.h"

#include <algorithm>
#include <cmath>

namespace cqbench {

void GapMeter::Merge(const GapMeter& other) {
  gaps_ += other.gaps_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  pairs_ += other.pairs_;
  pair_sum_ += other.pair_sum_;
  products_ += other.products_;
}

std::optional<GapShape> GapMeter::Shape() const {
  if (gaps_ < kMinGaps || sum_ == 0) return std::nullopt;
  // Sums around the whole part of the mean are still exact integers; only what is left is small and may be rounded.
  const uint64_t whole = sum_ / gaps_;
  const double gaps = static_cast<double>(gaps_), pairs = static_cast<double>(pairs_);
  const double rest = static_cast<double>(sum_ % gaps_) / gaps;
  const absl::uint128 whole_squared = absl::uint128(whole) * whole;
  const absl::uint128 squares = squares_ - 2 * absl::uint128(whole) * sum_ + whole_squared * gaps_;
  const auto products =
      static_cast<absl::int128>(products_ - absl::uint128(whole) * pair_sum_ + whole_squared * pairs_);
  const auto pair_sum = static_cast<double>(static_cast<int64_t>(pair_sum_ - 2 * whole * pairs_));

  const double variance = std::max(0.0, static_cast<double>(squares) / gaps - rest * rest);
  GapShape shape;
  shape.variation = std::sqrt(variance) / (static_cast<double>(sum_) / gaps);
  if (variance >= 1) {  // below that it is the rounding to whole nanoseconds that correlates
    const double covariance = (static_cast<double>(products) - rest * pair_sum) / pairs + rest * rest;
    shape.correlation = covariance / variance;
  }
  return shape;
}

}  // namespace cqbench
