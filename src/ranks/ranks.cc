#include "cqbench/ranks.h"

#include <cmath>

#include "src/base/hash.h"

namespace cqbench {

int ShareOf(int total, const RankId& rank) {
  return total / rank.count + (rank.index < total % rank.count ? 1 : 0);
}

uint64_t ShareOf(uint64_t calls, const RankId& rank) {
  const auto count = static_cast<uint64_t>(rank.count);
  return calls / count + (static_cast<uint64_t>(rank.index) < calls % count ? 1 : 0);
}

double ShareOf(double rate, const RankId& rank) {
  const bool whole = rate == std::floor(rate) && rate >= rank.count;
  if (!whole) return rate / rank.count;
  return ShareOf(static_cast<int>(rate), rank);  // at most kMaxRate
}

// Any two ranks' seeds differ in about half of their bits.
uint64_t SeedOf(uint64_t seed, const RankId& rank) {
  if (rank.index == 0) return seed;
  return MixBits(seed + static_cast<uint64_t>(rank.index) * kGoldenGamma);
}

}  // namespace cqbench
