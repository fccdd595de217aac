#include "src/server/limits/sample_budget.h"

#include <gtest/gtest.h>

#include "src/server/limits/call_limit.h"

namespace cqbench {
namespace {

TEST(SampleBudget, ABurstThenAShareOfACpu) {
  SampleBudget budget;
  const Nanos begin = NowNs();
  EXPECT_TRUE(budget.Allows(begin));
  budget.Spend(SampleBudget::kBurst - 1);
  EXPECT_TRUE(budget.Allows(begin));
  budget.Spend(kNanosPerSecond + 1);
  EXPECT_FALSE(budget.Allows(begin));
  EXPECT_FALSE(budget.Allows(begin + 4 * kNanosPerSecond));  // the budget regains one second in four
  EXPECT_TRUE(budget.Allows(begin + 4 * kNanosPerSecond + SampleBudget::kShare));
}

TEST(SampleBudget, IdleTimeIsNotSaved) {
  SampleBudget budget;
  const Nanos begin = NowNs();
  EXPECT_TRUE(budget.Allows(begin));
  EXPECT_TRUE(budget.Allows(begin + 3600 * kNanosPerSecond));
  budget.Spend(SampleBudget::kBurst);
  EXPECT_FALSE(budget.Allows(begin + 3600 * kNanosPerSecond));
}

TEST(SampleBudget, ACostIsTheCpuTimeOfTheThread) {
  SampleBudget budget;
  const Nanos begin = NowNs();
  EXPECT_TRUE(budget.Allows(begin));
  {
    const SampleCost cost(budget);
    const clock_t until = clock() + CLOCKS_PER_SEC / 50;  // this process has one thread
    while (clock() < until) continue;
  }
  budget.Spend(SampleBudget::kBurst - 10 * kNanosPerMilli);
  EXPECT_FALSE(budget.Allows(begin));
}

TEST(CallLimit, ACallThatEndsMakesRoomForAnother) {
  CallLimit limit(1);
  {
    const CallLimit::Call first(limit);
    const CallLimit::Call second(limit);
    EXPECT_TRUE(first.allowed());
    EXPECT_FALSE(second.allowed());
  }
  EXPECT_TRUE(CallLimit::Call(limit).allowed());
}

}  // namespace
}  // namespace cqbench
