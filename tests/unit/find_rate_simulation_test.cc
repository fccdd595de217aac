// The search for the highest rate, simulated with noise: how often its interval covers the truth, and how wide it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/stats/find_rate.h"
#include "tests/unit/rate_outcomes.h"

namespace cqbench {
namespace {

double NormalDistribution(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2));
}

constexpr double kBound = 0.002;                  // the objective of all models: P99 below 2 ms
const double kHeadroom = std::log(100) / kBound;  // P99 of an M/M/1 queue's response time: ln 100 / (mu - rate)

// Returns the probability that a trial meets the objective, by its rate and number.
struct Model {
  std::string name;
  std::function<double(double rate, double trial)> share;
  double start = 1000;
};

// Each trial measures the true P99 of an M/M/1 queue, times e^(noise × normal), or is an outlier that misses anyway;
// the service rate falls by `drift` in 50 trials.
Model LatencyNoise(double mu, double noise, double outliers, double drift = 0, double start = 1000) {
  char name[100];
  std::snprintf(name, sizeof(name), "mu %g/s, P99 ± %g %%, outliers %g %%, drift %g %%", mu, noise * 100,
                outliers * 100, drift * 100);
  return {name,
          [=](double rate, double trial) {
            const double headroom = mu * (1 - drift * trial / 50) - rate;
            if (headroom <= 0) return 0.0;
            return (1 - outliers) * NormalDistribution(std::log(headroom / kHeadroom) / noise);
          },
          start};
}

// The service rate itself differs from trial to trial, by e^(noise × normal): the transition is as wide as the noise.
Model CapacityNoise(double mu, double noise, double outliers, double start = 1000) {
  char name[100];
  std::snprintf(name, sizeof(name), "mu %g/s ± %g %%, outliers %g %%", mu, noise * 100, outliers * 100);
  return {name,
          [=](double rate, double) {
            return (1 - outliers) * NormalDistribution(std::log(mu / (rate + kHeadroom)) / noise);
          },
          start};
}

// Returns the rate at which half of the trials meet the objective, on average over the last 35 trials: those of the
// rounds.
double Truth(const Model& model, size_t trials) {
  double low = 1, high = 1e8;
  while (high > low * 1.00001) {
    const double middle = std::sqrt(low * high);
    double share = 0;
    for (size_t i = trials - 35; i < trials; ++i) share += model.share(middle, static_cast<double>(i)) / 35;
    (share > 0.5 ? low : high) = middle;
  }
  return low;
}

struct Tally {
  int searches = 0, resolved = 0, covered = 0;
  std::vector<double> errors, widths;
  size_t most_trials = 0;
  double trials = 0;  // on average

  void Add(const FindRateResult& result, double truth) {
    ++searches;
    most_trials = std::max(most_trials, result.trials.size());
    trials += static_cast<double>(result.trials.size());
    if (!result.resolved) return;
    ++resolved;
    covered += result.low <= truth && truth <= result.high ? 1 : 0;
    errors.push_back(std::abs(result.rate / truth - 1));
    widths.push_back(result.high / result.low - 1);
  }
  double Coverage() const { return resolved == 0 ? 0 : static_cast<double>(covered) / resolved; }
  static double Percentile(std::vector<double> values, size_t percent) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) * percent / 100];
  }
  void Print(const std::string& name) const {
    std::printf(
        "%-58s resolved %5.1f %%, covers %5.1f %%, error %4.1f (P95 %4.1f) %%, width %4.1f (P95 %5.1f) %%, trials "
        "%.0f (most %zu)\n",
        name.c_str(), 100.0 * resolved / searches, 100 * Coverage(), 100 * Percentile(errors, 50),
        100 * Percentile(errors, 95), 100 * Percentile(widths, 50), 100 * Percentile(widths, 95), trials / searches,
        most_trials);
  }
};

// `faults`: the share of trials in which the client is at fault.
Tally Simulate(const Model& model, int searches, double faults = 0, uint64_t first_seed = 1'000'000) {
  Tally tally;
  for (int i = 0; i < searches; ++i) {
    std::mt19937_64 random(first_seed + static_cast<uint64_t>(i));
    std::uniform_real_distribution<> uniform;
    FindRateConfig config;
    config.start_rate = model.start * std::exp2(uniform(random));  // varies the rates to try
    config.seed = random();
    double trial = 0;
    const FindRateResult result = FindRate(config, [&](double rate) {
      if (uniform(random) < faults) return ClientFault();
      return Outcome(uniform(random) < model.share(rate, trial++));
    });
    tally.Add(result, result.resolved ? Truth(model, result.trials.size()) : 0);
  }
  return tally;
}

TEST(FindRate, FaultsOfTheClientNowAndThenChangeLittle) {
  const Tally tally = Simulate(LatencyNoise(10'000, 0.15, 0.05), 100, 0.1);
  EXPECT_GE(tally.resolved, 95);
  EXPECT_GE(tally.Coverage(), 0.9);
}

// A coin toss decides each trial: no highest rate exists, and hardly any search finds one.
TEST(FindRate, AnObjectiveThatDoesNotDependOnTheRateIsUnresolved) {
  for (double share : {0.3, 0.5, 0.7}) {
    const Tally tally = Simulate({"", [&](double, double) { return share; }}, 100);
    EXPECT_LE(tally.resolved, 5) << share;
    EXPECT_LE(tally.most_trials, 62u);
  }
}

// The header's table. The full form: --gtest_also_run_disabled_tests --gtest_filter='*Table*'.
std::vector<Model> Models() {
  return {LatencyNoise(10'000, 0.001, 0),
          LatencyNoise(10'000, 0.1, 0),
          LatencyNoise(10'000, 0.2, 0),
          LatencyNoise(10'000, 0.15, 0.05),
          LatencyNoise(10'000, 0.15, 0.1),
          LatencyNoise(10'000, 0.15, 0.2),
          LatencyNoise(10'000, 0.15, 0.05, 0.05),
          LatencyNoise(10'000, 0.05, 0, 0.1),
          LatencyNoise(1e6, 0.15, 0.02),
          LatencyNoise(1e6, 0.15, 0.02, 0.05),
          LatencyNoise(4000, 0.2, 0.05),
          CapacityNoise(10'000, 0.05, 0),
          CapacityNoise(10'000, 0.1, 0),
          CapacityNoise(10'000, 0.1, 0.05),
          CapacityNoise(10'000, 0.2, 0),
          CapacityNoise(100'000, 0.15, 0.05),
          LatencyNoise(10'000, 0.15, 0.05, 0, 50'000)};
}

TEST(FindRateTable, EveryIntervalCoversTheTruthInNineOfTenSearchesAndIsUseful) {
  for (const Model& model : Models()) {
    const Tally tally = Simulate(model, 60);
    EXPECT_GE(tally.resolved, 45) << model.name;
    EXPECT_GE(tally.Coverage(), 0.9) << model.name;
    EXPECT_LE(Tally::Percentile(tally.errors, 50), 0.07) << model.name;
    EXPECT_LE(Tally::Percentile(tally.widths, 50), 0.6) << model.name;
    EXPECT_LE(tally.most_trials, 62u) << model.name;
  }
}

TEST(FindRateTable, DISABLED_Full) {
  for (double faults : {0.0, 0.1}) {
    std::printf("the client at fault in %.0f %% of the trials\n", faults * 100);
    for (const Model& model : Models()) Simulate(model, 2000, faults).Print(model.name);
  }
  for (double share : {0.3, 0.5, 0.7}) {
    const Tally tally = Simulate({"", [&](double, double) { return share; }}, 2000);
    std::printf("met in %.0f %% of the trials at any rate: resolved, wrongly, %.1f %%\n", share * 100,
                100.0 * tally.resolved / tally.searches);
  }
}

// An M/M/1 queue call by call: Poisson arrivals, exponential service, and a percentile of this number of calls.
class Queue {
 public:
  Queue(double mu, double capacity_noise, int calls, uint64_t seed)
      : mu_(mu), capacity_noise_(capacity_noise), calls_(calls), random_(seed) {}

  RateTrial operator()(double rate) {
    const double mu = mu_ * std::exp(capacity_noise_ * std::normal_distribution<>()(random_));
    std::exponential_distribution<> gap(rate), service(mu);
    std::vector<double> latencies;
    double wait = 0;
    for (int i = -calls_ / 10; i < calls_; ++i) {  // the first tenth is warm-up
      const double latency = wait + service(random_);
      if (i >= 0) latencies.push_back(latency);
      wait = std::max(0.0, latency - gap(random_));
    }
    const auto p99 = latencies.begin() + calls_ * 99 / 100;
    std::nth_element(latencies.begin(), p99, latencies.end());
    return Outcome(*p99 < kBound);
  }

 private:
  const double mu_, capacity_noise_;
  const int calls_;
  std::mt19937_64 random_;
};

Tally SimulateQueue(double capacity_noise, int calls, int searches) {
  constexpr double kMu = 10'000;
  Tally tally;
  for (int i = 0; i < searches; ++i) {
    FindRateConfig config;
    config.start_rate = 1000 + 37 * i % 1000;
    config.seed = static_cast<uint64_t>(i);
    tally.Add(FindRate(config, Queue(kMu, capacity_noise, calls, 500 + static_cast<uint64_t>(i))), kMu - kHeadroom);
  }
  return tally;
}

TEST(FindRateOnAQueue, CoversTheKnownAnswerInAtLeast18Of20Searches) {
  const Tally tally = SimulateQueue(0.05, 8000, 20);
  EXPECT_EQ(tally.resolved, 20);
  EXPECT_GE(tally.covered, 18);
}

TEST(FindRateOnAQueue, DISABLED_FullTable) {
  SimulateQueue(0, 20'000, 400).Print("queue, mu 10000/s, 20000 calls");
  SimulateQueue(0.05, 20'000, 400).Print("queue, mu 10000/s ± 5 %, 20000 calls");
  SimulateQueue(0.1, 20'000, 400).Print("queue, mu 10000/s ± 10 %, 20000 calls");
}

}  // namespace
}  // namespace cqbench
