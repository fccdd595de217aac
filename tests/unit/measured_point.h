// Points with made-up figures.
#pragma once

#include "cqbench/result.h"

namespace cqbench {

inline LatencyStats Latency(Nanos p50) {
  LatencyStats stats;
  stats.count = 100;
  stats.mean_ns = static_cast<double>(p50) + 1;
  stats.stddev_ns = 2;
  stats.min_ns = p50 / 2;
  stats.p50_ns = p50;
  stats.p90_ns = p50 * 2;
  stats.p95_ns = p50 * 3;
  stats.p99_ns = p50 * 4;
  stats.p999_ns = p50 * 5;
  stats.max_ns = p50 * 6;
  return stats;
}

inline PointResult Measured(int inflight, int repetition, uint64_t completed, Nanos p50) {
  PointResult point;
  point.load.slots = inflight;
  point.repetition = repetition;
  point.window_ns = kNanosPerSecond;
  point.completed = completed;
  point.latency = Latency(p50);
  point.figures.Set("client_cpu_user_ns", static_cast<double>(completed) * 1000);
  point.figures.Set("client_cpu_system_ns", static_cast<double>(completed) * 2000);
  return point;
}

inline PointResult Unmeasured(int inflight, int repetition) {
  PointResult point;
  point.load.slots = inflight;
  point.repetition = repetition;
  point.failure = "cannot connect";
  return point;
}

}  // namespace cqbench
