// How a measured point becomes a trial in the search for the highest rate.
#include "src/load/run/rate_trial.h"

#include <gtest/gtest.h>

namespace cqbench {
namespace {

PointResult CleanPoint() {
  PointResult point;
  point.load = {100, 2000};
  return point;
}

TEST(TrialOf, MeetsTheObjectiveWhenNothingIsMissed) {
  const RateTrial trial = TrialOf(CleanPoint(), {}, false);
  EXPECT_EQ(trial.rate, 2000);
  EXPECT_TRUE(trial.met);
  EXPECT_FALSE(trial.client_fault);
  EXPECT_FALSE(trial.interrupted);
}

TEST(TrialOf, SaysWhatWasMissed) {
  const RateTrial trial = TrialOf(CleanPoint(), {"p99 is 3ms", "errors are 2 %"}, false);
  EXPECT_FALSE(trial.met);
  EXPECT_EQ(trial.why, "p99 is 3ms; errors are 2 %");
}

TEST(TrialOf, APointWithoutAMeasurementMissesIt) {
  PointResult point = CleanPoint();
  point.failure = "no call succeeded";
  const RateTrial trial = TrialOf(point, {}, false);
  EXPECT_FALSE(trial.met);
  EXPECT_EQ(trial.why, "no call succeeded");
}

TEST(TrialOf, TheClientsFaultIsNotTheServers) {
  for (const char* code : {"rate-not-reached", "pacer-late"}) {
    PointResult point = CleanPoint();
    point.warnings = {{code, "the client did something"}};
    const RateTrial trial = TrialOf(point, {"p99 is 3ms"}, false);
    EXPECT_TRUE(trial.client_fault) << code;
    EXPECT_EQ(trial.why, "the client did something");
  }
  PointResult point = CleanPoint();
  point.warnings = {{"drift", "it was slower at the end"}};
  EXPECT_FALSE(TrialOf(point, {}, false).client_fault);
}

TEST(TrialOf, AnInterruptEndsTheSearch) {
  EXPECT_TRUE(TrialOf(CleanPoint(), {}, true).interrupted);
  PointResult cut = CleanPoint();
  cut.partial = true;
  EXPECT_TRUE(TrialOf(cut, {}, false).interrupted);
}

}  // namespace
}  // namespace cqbench
