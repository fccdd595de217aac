// What a real handler would do: take time (--service-time).
#pragma once

#include <time.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <random>

#include "cqbench/clock.h"
#include "cqbench/server.h"

namespace cqbench {

// Thread-safe. Without a service time, a call pays one comparison.
class ServiceLoad {
 public:
  explicit ServiceLoad(const ServiceTimeConfig& config) : config_(config) {}

  // Blocks the calling thread, which on a completion queue is the queue's own.
  void Spend() const {
    if (config_.mean_ns == 0) [[likely]]
      return;
    const Nanos duration = config_.exponential ? Exponential() : config_.mean_ns;
    const Nanos until = NowNs() + duration;
    if (config_.wait) {
      const timespec end{until / kNanosPerSecond, until % kNanosPerSecond};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) continue;
      return;
    }
    while (NowNs() < until) continue;
  }

 private:
  Nanos Exponential() const {
    thread_local std::minstd_rand random(std::random_device{}());
    const double uniform = (static_cast<double>(random()) - 0.5) / static_cast<double>(std::minstd_rand::max());
    return static_cast<Nanos>(-std::log(uniform) * static_cast<double>(config_.mean_ns));
  }
  const ServiceTimeConfig config_;
};

}  // namespace cqbench
