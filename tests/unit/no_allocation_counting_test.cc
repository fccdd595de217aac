// Programs that do not link the hooks: nearly all.
#include <gtest/gtest.h>

#include <memory>

#include "src/observe/allocations/allocations.h"

namespace cqbench {
namespace {

TEST(AllocationsWithoutHooks, CannotBeCounted) {
  EXPECT_FALSE(CanCountAllocations());
  SetCountingAllocations(true);
  const auto memory = std::make_unique<int>(1);
  SetCountingAllocations(false);
  EXPECT_EQ(CountedAllocations().allocations, 0u);
  EXPECT_EQ(CountedAllocations().bytes, 0u);
  EXPECT_EQ(ChangeOfHeap().most_grown, 0);
}

}  // namespace
}  // namespace cqbench
