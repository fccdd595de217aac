// Predictions of queueing theory for a client's figures: by formula, and for one given schedule.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "cqbench/schedule.h"
#include "src/base/clock.h"

namespace cqbench::smoke {

// An open loop's schedule, and which of its calls belong to the window.
struct Plan {
  ScheduleConfig schedule;
  double rate = 0;
  Nanos warmup_ns = 0;
  Nanos interval_ns = 0;

  // Draws the schedule as the client does: one pacer, up to some 30,000 calls a second.
  DueTimes Due() const { return DrawSchedule(schedule, rate, warmup_ns + interval_ns, /*pacers=*/1)->front(); }
};

// Returns how long each call of the window waits for one server that takes calls in order: Lindley's recursion over the
// run's own scheduled times, so that chance does not affect the comparison. `service` gives the next call's service
// time.
inline std::vector<Nanos> Waits(const Plan& plan, const std::function<Nanos()>& service) {
  std::vector<Nanos> waits;
  Nanos free_at = 0;
  for (Nanos due : plan.Due()) {
    const Nanos begin = std::max(due, free_at);
    free_at = begin + service();
    if (due >= plan.warmup_ns) waits.push_back(begin - due);
  }
  return waits;
}

inline double Mean(const std::vector<Nanos>& values) {
  double sum = 0;
  for (Nanos value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

inline double MeanWait(const Plan& plan, Nanos service_ns) {
  return Mean(Waits(plan, [=] { return service_ns; }));
}

// Sorts the values and returns a percentile by nearest rank.
inline Nanos Percentile(std::vector<Nanos>& values, double percent) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()) - 1e-9);
  return values.at(static_cast<size_t>(std::max(rank, 1.0)) - 1);
}

// The mean wait for the given scheduled times if service takes `fixed_ns` plus an exponential time: its expectation and
// standard deviation over draws of the exponential times.
struct Expected {
  double mean = 0;
  double deviation = 0;
};
inline Expected MeanWaitOfExponential(const Plan& plan, Nanos fixed_ns, Nanos mean_ns) {
  constexpr int kDraws = 300;
  std::mt19937_64 random(1);
  std::exponential_distribution<double> exponential(1.0 / static_cast<double>(mean_ns));
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double mean = Mean(Waits(plan, [&] { return fixed_ns + static_cast<Nanos>(exponential(random)); }));
    sum += mean;
    squares += mean * mean;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(squares / kDraws - mean * mean)};
}

// Returns the share of Poisson arrivals that find all servers busy and are lost, for any distribution of service times.
// `load` = arrivals per second x mean service time in seconds.
inline double ErlangB(double load, int servers) {
  double blocked = 1;
  for (int n = 1; n <= servers; ++n) blocked = load * blocked / (n + load * blocked);
  return blocked;
}

}  // namespace cqbench::smoke
