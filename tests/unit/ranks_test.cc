// The share of each of several clients.
#include "cqbench/ranks.h"

#include <gtest/gtest.h>

#include <set>

#include "cqbench/run_config.h"

namespace cqbench {
namespace {

TEST(Ranks, SharesAddUpAndDifferByOneAtMost) {
  for (int count = 1; count <= 65; ++count) {
    for (int total : {count, count + 1, 100, 1'000, 99'999, kMaxInflight}) {
      if (total < count) continue;
      int sum = 0, least = total, most = 0;
      for (int i = 0; i < count; ++i) {
        const int share = ShareOf(total, {i, count});
        sum += share;
        least = std::min(least, share);
        most = std::max(most, share);
      }
      EXPECT_EQ(sum, total);
      EXPECT_LE(most - least, 1);
      EXPECT_EQ(ShareOf(total, {0, count}), most);
    }
  }
}

TEST(Ranks, WholeRatesAreDividedInWholeCalls) {
  EXPECT_EQ(ShareOf(1000.0, {0, 3}), 334);
  EXPECT_EQ(ShareOf(1000.0, {1, 3}), 333);
  EXPECT_EQ(ShareOf(1000.0, {2, 3}), 333);
  EXPECT_EQ(ShareOf(kMaxRate, {7, 8}), kMaxRate / 8);
}

TEST(Ranks, OtherRatesEvenly) {
  EXPECT_EQ(ShareOf(0.5, {1, 2}), 0.25);
  EXPECT_EQ(ShareOf(3.0, {3, 4}), 0.75);
  EXPECT_EQ(ShareOf(1000.5, {0, 2}), 500.25);
}

TEST(Ranks, SeedsDiffer) {
  EXPECT_EQ(SeedOf(17, {0, 4}), 17u);
  std::set<uint64_t> seeds;
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{2}, UINT64_MAX}) {
    for (int i = 0; i < 1000; ++i) seeds.insert(SeedOf(seed, {i, 1000}));
  }
  EXPECT_EQ(seeds.size(), 4000u);
}

}  // namespace
}  // namespace cqbench
