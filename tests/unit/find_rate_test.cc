// The search for the highest rate, with servers and clients that follow fixed rules.
#include "src/stats/find_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/rate_outcomes.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

using Measure = std::function<RateTrial(double)>;

// A server that meets the objective exactly up to that rate.
Measure Sharp(double highest) {
  return [highest](double rate) { return Outcome(rate <= highest); };
}

// A search without any randomness narrows the bracket further and further.
TEST(FindRate, FindsASharpLimit) {
  for (double highest : {1.5, 40.0, 999.0, 1000.0, 1001.0, 7698.0, 123'456.0, 9.1e6}) {
    const FindRateResult result = FindRate(FindRateConfig(), Sharp(highest));
    ASSERT_TRUE(result.resolved) << result.unresolved_reason;
    EXPECT_LE(result.low, highest);
    EXPECT_GE(result.high, highest);
    EXPECT_LT(result.low, result.rate);
    EXPECT_LT(result.rate, result.high);
    EXPECT_LT(result.high / result.low, 1.06);
    EXPECT_LE(result.trials.size(), 60u);
  }
}

TEST(FindRate, TheIntervalIsNeverNarrowerThanTheRatesTried) {
  const FindRateResult result = FindRate(FindRateConfig(), Sharp(7698));
  double below = 0, above = 1e9;
  for (const RateTrial& trial : result.trials) {
    if (trial.met) below = std::max(below, trial.rate);
    if (!trial.met) above = std::min(above, trial.rate);
  }
  EXPECT_LE(result.low, below);
  EXPECT_GE(result.high, above);
}

TEST(FindRate, TheSameSeedTriesTheSameRates) {
  const auto rates = [](uint64_t seed) {
    FindRateConfig config;
    config.seed = seed;
    std::vector<double> tried;
    for (const RateTrial& trial : FindRate(config, Sharp(7698)).trials) tried.push_back(trial.rate);
    return tried;
  };
  EXPECT_EQ(rates(1), rates(1));
  EXPECT_NE(rates(1), rates(2));
}

TEST(FindRate, TheRoundsAreInterleaved) {
  const FindRateResult result = FindRate(FindRateConfig(), Sharp(7698));
  ASSERT_GE(result.trials.size(), 35u);
  for (size_t round = 0; round < 5; ++round) {
    std::set<double> rates;
    int met = 0;
    for (size_t i = 0; i < 7; ++i) {
      const RateTrial& trial = result.trials[result.trials.size() - 35 + 7 * round + i];
      rates.insert(trial.rate);
      met += trial.met ? 1 : 0;
    }
    EXPECT_EQ(rates.size(), 7u);
    EXPECT_GT(met, 0);
    EXPECT_LT(met, 7);
  }
}

TEST(FindRate, AMissIsConfirmed) {
  int trial = 0;
  const FindRateResult result = FindRate(FindRateConfig(), [&](double rate) {
    ++trial;
    return Outcome(trial != 2 && rate <= 7698);  // at 2000/s
  });
  EXPECT_EQ(result.trials[1].rate, 2000);
  EXPECT_EQ(result.trials[2].rate, 2000);
  EXPECT_EQ(result.trials[3].rate, 2000);
  EXPECT_EQ(result.trials[4].rate, 4000);
  ASSERT_TRUE(result.resolved);
  EXPECT_LE(result.low, 7698);
  EXPECT_GE(result.high, 7698);
}

TEST(FindRate, TwoOutliersInARowDoNotMislead) {
  int trial = 0;
  const FindRateResult result = FindRate(FindRateConfig(), [&](double rate) {
    ++trial;
    return Outcome(trial != 2 && trial != 3 && rate <= 100'000);  // at 2000/s
  });
  ASSERT_TRUE(result.resolved) << result.unresolved_reason;
  EXPECT_LE(result.low, 100'000);
  EXPECT_GE(result.high, 100'000);
  EXPECT_LE(result.trials.size(), 60u);
}

TEST(FindRate, GoesDownWhenTheStartMisses) {
  FindRateConfig config;
  config.start_rate = 1e6;
  const FindRateResult result = FindRate(config, Sharp(7698));
  ASSERT_TRUE(result.resolved) << result.unresolved_reason;
  EXPECT_LE(result.low, 7698);
  EXPECT_GE(result.high, 7698);
}

TEST(FindRate, NeverMissedIsUnresolved) {
  FindRateConfig config;
  config.max_rate = 50'000;
  const FindRateResult result = FindRate(config, Sharp(1e9));
  EXPECT_FALSE(result.resolved);
  EXPECT_EQ(result.unresolved_reason, "the objective is still met at 50000/s, the highest rate to try");
  EXPECT_EQ(result.trials.back().rate, 50'000);
  EXPECT_EQ(result.rate, 0);
}

TEST(FindRate, NeverMetIsUnresolved) {
  FindRateConfig config;
  config.min_rate = 30;
  const FindRateResult result = FindRate(config, Sharp(0));
  EXPECT_FALSE(result.resolved);
  EXPECT_EQ(result.unresolved_reason, "the objective is missed even at 30/s, the lowest rate to try");
}

TEST(FindRate, AClientThatCannotSendSoFastIsUnresolved) {
  const FindRateResult result =
      FindRate(FindRateConfig(), [](double rate) { return rate > 41'000 ? ClientFault() : Outcome(true); });
  EXPECT_FALSE(result.resolved);
  EXPECT_THAT(result.unresolved_reason, HasSubstr("the client is the limit: it kept "));
  EXPECT_LT(result.trials.size(), 30u);  // the search makes no rounds
}

TEST(FindRate, AClientThatFailsFromTheBeginningIsUnresolved) {
  const FindRateResult result = FindRate(FindRateConfig(), [](double) { return ClientFault(); });
  EXPECT_FALSE(result.resolved);
  EXPECT_EQ(result.unresolved_reason, "the client is the limit: it could not keep 1/s");
}

// Doubling reaches the client's limit at 64,000, but the server's limit is lower.
TEST(FindRate, TheClientsLimitAboveTheServersDoesNotMatter) {
  const FindRateResult result =
      FindRate(FindRateConfig(), [](double rate) { return rate > 41'000 ? ClientFault() : Outcome(rate <= 34'000); });
  ASSERT_TRUE(result.resolved) << result.unresolved_reason;
  EXPECT_LE(result.low, 34'000);
  EXPECT_GE(result.high, 34'000);
}

// If faults counted as misses, a third of the trials below the limit would miss.
TEST(FindRate, FaultsOfTheClientDoNotCountAgainstTheServer) {
  for (double highest : {1500.0, 7698.0, 123'456.0}) {
    int trial = 0;
    const FindRateResult result = FindRate(
        FindRateConfig(), [&](double rate) { return ++trial % 3 == 0 ? ClientFault() : Outcome(rate <= highest); });
    ASSERT_TRUE(result.resolved) << result.unresolved_reason;
    EXPECT_LE(result.low, highest);
    EXPECT_GE(result.high, highest);
    EXPECT_LT(result.high / result.low, 1.1);
  }
}

TEST(FindRate, AnInterruptionEndsIt) {
  for (int at : {1, 5, 20, 40}) {
    int trial = 0;
    const FindRateResult result = FindRate(FindRateConfig(), [&](double rate) {
      RateTrial outcome = Outcome(rate <= 7698);
      outcome.interrupted = ++trial == at;
      return outcome;
    });
    EXPECT_FALSE(result.resolved);
    EXPECT_EQ(result.unresolved_reason, "interrupted");
    EXPECT_EQ(result.trials.size(), static_cast<size_t>(at));
  }
}

}  // namespace
}  // namespace cqbench
