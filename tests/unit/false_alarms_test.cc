// How often a point without a fault has a warning, by simulation: 2,000 points each in the full form (CQBENCH_FULL=1),
// 300 in the short one. All warnings whose numbers vary by chance are here; comments have the shares of the full form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "cqbench/schedule.h"
#include "src/observe/checks/self_check.h"

namespace cqbench {
namespace {

using Random = std::mt19937_64;

int Runs() {
  return std::getenv("CQBENCH_FULL") != nullptr ? 2'000 : 300;
}

// Returns 5 % plus three standard deviations: what chance may add in this number of runs.
double AtMostFivePercent() {
  return 0.05 + 3 * std::sqrt(0.05 * 0.95 / Runs());
}

// Returns the share of points from `make` that have this warning, or any warning if there is no code.
double Alarms(const RunConfig& config, const std::string& code, const std::function<PointResult(Random&)>& make) {
  int alarms = 0;
  for (int run = 0; run < Runs(); ++run) {
    Random random(static_cast<uint64_t>(run) + 1);
    PointResult point = make(random);
    CheckPoint(config, {}, point);
    alarms += std::any_of(point.warnings.begin(), point.warnings.end(),
                          [&](const Notice& warning) { return code.empty() || warning.code == code; })
                  ? 1
                  : 0;
  }
  const double share = static_cast<double>(alarms) / Runs();
  testing::Test::RecordProperty("alarms", std::to_string(share));
  if (std::getenv("CQBENCH_FULL") != nullptr) std::printf("%.1f %%\n", 100 * share);
  return share;
}

double Exponential(Random& random, double mean) {
  return std::exponential_distribution<double>(1 / mean)(random);
}

// Makes a window of 10 s with ten time buckets at this rate. Each bucket varies by chance (calls come at random) and by
// `noise` of the whole machine, a standard deviation as a share. Runs also differ among each other by 15 %.
PointResult InTimeBuckets(Random& random, double per_second, double noise, const std::vector<double>& shape = {}) {
  PointResult point;
  point.window_ns = 10 * kNanosPerSecond;
  point.bucket_ns = kNanosPerSecond;
  const double level = per_second * std::max(0.3, std::normal_distribution<double>(1, 0.15)(random));
  for (size_t i = 0; i < 10; ++i) {
    double rate = level * std::max(0.05, std::normal_distribution<double>(1, noise)(random));
    if (!shape.empty()) rate *= shape[i];
    const auto calls = static_cast<uint64_t>(std::poisson_distribution<int64_t>(rate)(random));
    point.time_buckets.push_back({calls, 0, 0, 0, 0});
    point.completed += calls;
  }
  return point;
}

TEST(FalseAlarms, Steadiness) {
  const struct {
    double per_second;
    double noise;
  } cases[] = {
      {100'000, 0.01},  // 0.0 %
      {100'000, 0.10},  // 3.4 %
      {100'000, 0.15},  // 3.5 %
      {100'000, 0.20},  // 4.2 %
      {1'000, 0.02},    // 1.6 %
      {1'000, 0.15},    // 3.6 %
      {100, 0},         // 0.6 %
      {30, 0.10},       // 2.4 %
  };
  for (const auto& [per_second, noise] : cases) {
    const auto make = [&, per_second = per_second, noise = noise](Random& r) {
      return InTimeBuckets(r, per_second, noise);
    };
    EXPECT_LE(Alarms({}, "", make), AtMostFivePercent()) << per_second << " a second, noise " << noise;
  }
}

TEST(TrueAlarms, Steadiness) {
  const std::vector<double> half = {1, 1, 1, 1, 1, 0.8, 0.8, 0.8, 0.8, 0.8}, cold = {0.6, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto slower = [&](Random& r) { return InTimeBuckets(r, 100'000, 0.02, half); };
  const auto warming = [&](Random& r) { return InTimeBuckets(r, 100'000, 0.05, cold); };
  EXPECT_GE(Alarms({}, kDrift, slower), 0.95);         // 100 %
  EXPECT_GE(Alarms({}, kNotWarmedUp, warming), 0.95);  // 100 %
}

// Makes a closed loop: slots in calls one after the other, each of `calls` on average in the window. Latencies are
// exponential, or a tenth of them are ten times as long. `lost`: the share of slots that are idle.
PointResult ClosedLoop(Random& random, int slots, double calls, bool tail, double lost = 0) {
  PointResult point;
  point.load.slots = slots;
  point.window_ns = kNanosPerSecond;
  const double noise = std::max(0.4, std::normal_distribution<double>(1, 0.15)(random));
  const double mean = noise / calls;
  Histogram latency;
  for (int slot = 0; slot < slots; ++slot) {
    if (slot < lost * slots) continue;
    double due = -3 / calls * noise * (1 + std::uniform_real_distribution<double>()(random));
    while (due < 1) {
      const bool slow = tail && std::uniform_int_distribution<int>(0, 9)(random) == 0;
      const double done = due + Exponential(random, tail ? mean * (slow ? 5.3 : 0.53) : mean);
      if (due >= 0 || done >= 1) latency.Record(static_cast<Nanos>((done - due) * 1e9));
      if (done >= 0 && done < 1) ++point.completed;
      due = done;
    }
  }
  point.latency = Summarize(latency);
  return point;
}

TEST(FalseAlarms, LittlesLaw) {
  const struct {
    int slots;
    double calls;
    bool tail;
  } cases[] = {
      {1, 2'000, false},  // 0.0 %
      {1, 100, false},    // 0.0 %
      {1, 100, true},     // 0.8 %
      {8, 15, true},      // 0.0 %
      {200, 1, false},    // 0.0 %
      {200, 10, true},    // 0.0 %
  };
  for (const auto& [slots, calls, tail] : cases) {
    const auto make = [slots = slots, calls = calls, tail = tail](Random& r) {
      return ClosedLoop(r, slots, calls, tail);
    };
    EXPECT_LE(Alarms({}, kLittlesLaw, make), AtMostFivePercent()) << slots << " slots, " << calls << " calls each";
  }
}

TEST(TrueAlarms, LittlesLaw) {
  const auto lost = [](Random& r) { return ClosedLoop(r, 20, 400, false, 0.1); };
  EXPECT_GE(Alarms({}, kLittlesLaw, lost), 0.95);  // 100 %
}

// An open loop of `rate` for a second, or as long as `calls` take. Its pacer is `jitter_us` late on average
// (exponential), and busy for `busy_us` after each call. The server has `slots` exponential servers at `utilization`.
struct Open {
  double rate = 1'000;
  double calls = 10'000;
  double jitter_us = 5;
  double busy_us = 0;
  double utilization = 0.5;
  Arrivals arrivals = Arrivals::kPoisson;
};

PointResult OpenLoop(Random& random, const Open& open) {
  const double seconds = open.calls / open.rate, warmup = 0.1 * seconds;
  const double noise = std::clamp(std::normal_distribution<double>(1, 0.15)(random), 0.5, 1.5);
  const double service = std::min(open.utilization * noise, 0.97) / open.rate;
  PointResult point;
  point.load = {100, open.rate};
  point.window_ns = static_cast<Nanos>(seconds * 1e9);
  OpenLoopResult& result = point.open_loop.emplace();
  result.pacers = 1;
  Histogram lateness, latency;
  GapMeter gaps;
  double due = -warmup, sampled = -1e9, free_at = -1e9, sums[2] = {0, 0}, samples[2] = {0, 0};
  std::queue<double> ends;
  while (due < seconds) {
    sampled = std::max(due + Exponential(random, open.jitter_us * 1e-6), sampled + open.busy_us * 1e-6);
    free_at = std::max(free_at, sampled) + Exponential(random, service);
    while (!ends.empty() && ends.front() <= sampled) ends.pop();
    ends.push(free_at);
    if (due >= 0) {
      ++point.counts.due;
      lateness.Record(static_cast<Nanos>((sampled - due) * 1e9));
      latency.Record(static_cast<Nanos>((free_at - due) * 1e9));
      gaps.Add(static_cast<Nanos>(sampled * 1e9) + kNanosPerSecond);
      const size_t half = due >= seconds / 2 ? 1 : 0;
      sums[half] += static_cast<double>(ends.size());
      ++samples[half];
    }
    due += open.arrivals == Arrivals::kPoisson ? Exponential(random, 1 / open.rate) : 1 / open.rate;
  }
  point.counts.sent = point.counts.ok = point.completed = point.counts.due;
  point.latency = Summarize(latency);
  result.lateness_p99_ns = lateness.ValueAtPercentile(99);
  result.outstanding_first_half = sums[0] / std::max(samples[0], 1.0);
  result.outstanding_second_half = sums[1] / std::max(samples[1], 1.0);
  if (const auto shape = gaps.Shape()) {
    result.gap_cv = shape->variation;
    result.gap_correlation = shape->correlation;
  }
  return point;
}

double OpenAlarms(const Open& open, const std::string& code = "") {
  RunConfig config;
  config.schedule.arrivals = open.arrivals;
  return Alarms(config, code, [&](Random& random) { return OpenLoop(random, open); });
}

TEST(FalseAlarms, OpenLoop) {
  const struct {
    const char* name;
    Open open;
  } cases[] = {
      {"few calls", {.calls = 110}},                                                              // 0.9 %
      {"some calls", {.calls = 1'000}},                                                           // 0.3 %
      {"many calls", {.rate = 10'000}},                                                           // 0.4 %
      {"a busy server", {.utilization = 0.8}},                                                    // 0.4 %
      {"a server that is nearly full", {.calls = 3'000, .utilization = 0.95}},                    // 0.3 %
      {"a pacer at its limit", {.rate = 10'000, .jitter_us = 15}},                                // 0.4 %
      {"constant", {.rate = 3'000, .jitter_us = 15, .arrivals = Arrivals::kConstant}},            // 0.0 %
      {"fast and constant", {.rate = 20'000, .jitter_us = 15, .arrivals = Arrivals::kConstant}},  // 0.0 %
  };
  for (const auto& [name, open] : cases) EXPECT_LE(OpenAlarms(open), AtMostFivePercent()) << name;
}

TEST(TrueAlarms, OpenLoop) {
  EXPECT_GE(OpenAlarms({.jitter_us = 40, .utilization = 0.02}, kPacerLate), 0.95);               // 100 %
  EXPECT_GE(OpenAlarms({.rate = 10'000, .jitter_us = 1, .busy_us = 80}, kArrivalsShape), 0.95);  // 100 %
  EXPECT_GE(OpenAlarms({.rate = 3'000, .jitter_us = 70, .arrivals = Arrivals::kConstant}, kArrivalsShape),
            0.95);  // 100 %
}

// A server that is too slow by a share: the backlog is deterministic plus chance.
TEST(TrueAlarms, BacklogThatGrows) {
  const auto overload = [](double share) {
    return [share](Random& random) {
      PointResult point = OpenLoop(random, {.utilization = 0.5});
      const auto due = static_cast<double>(point.counts.due);
      point.open_loop->outstanding_first_half += share * due * 0.35;  // warm-up of a tenth of the window
      point.open_loop->outstanding_second_half += share * due * 0.85;
      return point;
    };
  };
  EXPECT_GE(Alarms({}, kBacklogGrows, overload(0.10)), 0.95);  // 100 %
}

}  // namespace
}  // namespace cqbench
