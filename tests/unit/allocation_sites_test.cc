// In the program that links the hooks: known functions allocate known amounts, and the sites list them with their
// share.
#include "src/result/allocation_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "src/observe/allocations/allocations.h"

namespace cqbench {

// The functions are not in an unnamed namespace, because only exported functions have a name in a stack. The barrier
// prevents a tail call.
[[gnu::noinline]] void AsksOften() {
  void* volatile memory = std::malloc(10);
  std::free(memory);
  asm volatile("" ::: "memory");
}

template <typename T>
[[gnu::noinline]] void AsksForMuch(T elements) {
  auto* volatile memory = new char[elements];
  delete[] memory;
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void CallsBoth(int times) {
  for (int i = 0; i < times; ++i) {
    AsksOften();
    AsksOften();
    AsksOften();
    AsksForMuch<size_t>(970);
  }
  asm volatile("" ::: "memory");
}

namespace {

class AllocationSitesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    SampleAllocationStacks(4);  // equal to the period of the allocations
    SetCountingAllocations(true);
    CallsBoth(10'000);
    SetCountingAllocations(false);
    AddCountedCalls(10'000);
    SampleAllocationStacks(0);
    stacks_ = SampledAllocationStacks();
    described_ = DescribeAllocationSites(stacks_);
  }
  static AllocationSite Find(const std::string& function) {
    for (const AllocationSite& site : described_.sites) {
      if (site.function == function) return site;
    }
    ADD_FAILURE() << "no " << function;
    return {};
  }
  static inline std::vector<AllocationStack> stacks_;
  static inline AllocationSites described_;
};

TEST_F(AllocationSitesTest, SharesAreThoseOfTheFunctions) {
  const AllocationSite often = Find("cqbench::AsksOften"), much = Find("cqbench::AsksForMuch");
  EXPECT_NEAR(often.allocations_share, 0.75, 0.02);
  EXPECT_NEAR(much.allocations_share, 0.25, 0.02);
  EXPECT_NEAR(much.bytes_share, 0.97, 0.01);
  EXPECT_EQ(often.caller, "cqbench::CallsBoth");
  EXPECT_EQ(much.caller, "cqbench::CallsBoth");
}

TEST_F(AllocationSitesTest, TheMostFrequentIsFirst) {
  ASSERT_FALSE(described_.sites.empty());
  EXPECT_EQ(described_.sites.front().function, "cqbench::AsksOften");
}

// Other tests of this program count, too, but nearly all allocations are this test's.
TEST_F(AllocationSitesTest, PerCallIsTheShareOfWhatWasCounted) {
  EXPECT_NEAR(static_cast<double>(described_.samples), 10'000, 200);
  EXPECT_EQ(described_.lost, 0u);
  const double all = static_cast<double>(described_.allocations) / static_cast<double>(described_.calls);
  EXPECT_NEAR(described_.AllocationsOf(Find("cqbench::AsksForMuch")), all / 4, all / 50);
}

TEST_F(AllocationSitesTest, FoldedStacksEndWithTheSiteAndItsBytes) {
  const std::string folded = FoldAllocationStacks(stacks_);
  const size_t at = folded.find(";cqbench::CallsBoth;cqbench::AsksForMuch ");
  ASSERT_NE(at, std::string::npos) << folded;
  const double bytes = std::strtod(folded.c_str() + folded.find(' ', at), nullptr);
  EXPECT_NEAR(bytes / static_cast<double>(described_.bytes), 0.97, 0.01);
}

TEST_F(AllocationSitesTest, NothingIsLookedAtWhileOff) {
  SetCountingAllocations(true);
  CallsBoth(100);
  SetCountingAllocations(false);
  EXPECT_EQ(DescribeAllocationSites(SampledAllocationStacks()).samples, described_.samples);
}

}  // namespace
}  // namespace cqbench
