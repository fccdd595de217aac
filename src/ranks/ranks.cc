#include "cqbench/ranks.h"

#include <cmath>

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

// Any two ranks' seeds differ in about half of their bits: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014),
// which maps no two numbers to the same one.
uint64_t SeedOf(uint64_t seed, const RankId& rank) {
  if (rank.index == 0) return seed;
  uint64_t z = seed + static_cast<uint64_t>(rank.index) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace cqbench
