// A seed determines an open loop's schedule: the server has no influence on it.

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/smoke/measured.h"
#include "tests/smoke/queueing.h"

namespace cqbench::smoke {
namespace {

TEST(SeedTest, TheSameSeedIsTheSameScheduleHoweverSlowTheServer) {
  constexpr double kRate = 500;
  const auto load = [](const char* seed) {
    return Flags{"--rate", "500", "--seed", seed, "--warmup", "100ms", "--interval", "500ms", "--deadline", "30"};
  };
  const Server fast({}, OnServerCpus());
  const Server slow({"--service-time", "3ms"}, OnServerCpus());  // 333 calls a second at most
  const Json on_fast = Measure(fast, load("7")), on_slow = Measure(slow, load("7"));
  ASSERT_TRUE(on_fast.is_object() && on_slow.is_object());
  Plan plan{{}, kRate, 100 * kNanosPerMilli, 500 * kNanosPerMilli};
  plan.schedule.seed = 7;
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016lx", static_cast<unsigned long>(HashSchedule({plan.Due()})));
  EXPECT_EQ(on_fast.at("schedule_hash"), hash);
  EXPECT_EQ(on_slow.at("schedule_hash"), hash);
  const Json other_seed = Measure(fast, load("8"));
  ASSERT_TRUE(other_seed.is_object());
  EXPECT_NE(other_seed.at("schedule_hash"), hash);
}

}  // namespace
}  // namespace cqbench::smoke
