#include "src/channel/poll.h"

#include <grpc/support/time.h>
#include <gtest/gtest.h>

namespace cqbench {
namespace {

// gRPC 1.51 and 1.83 count the monotonic clock from different epochs; a deadline must mean the same on both.
TEST(ToTimespec, IsThatTimeOnTheLibrarysClock) {
  const gpr_timespec before = gpr_now(GPR_CLOCK_MONOTONIC);
  const gpr_timespec now = ToTimespec(NowNs());
  const gpr_timespec after = gpr_now(GPR_CLOCK_MONOTONIC);
  EXPECT_EQ(now.clock_type, GPR_CLOCK_MONOTONIC);
  const gpr_timespec slack = gpr_time_from_millis(100, GPR_TIMESPAN);
  EXPECT_LE(gpr_time_cmp(gpr_time_sub(before, slack), now), 0);
  EXPECT_GE(gpr_time_cmp(gpr_time_add(after, slack), now), 0);
}

}  // namespace
}  // namespace cqbench
