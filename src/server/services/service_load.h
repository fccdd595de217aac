// Takes time, as a real handler would (--service-time).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "cqbench/schedule.h"
#include "cqbench/server.h"
#include "src/base/clock.h"

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
      thread_local const PacerClock clock(Pace::kHybrid, Margin());
      clock.WaitUntil(until);
      return;
    }
    while (NowNs() < until) continue;
  }

 private:
  // Sleeping alone would take as much longer as the machine takes to wake up, which is no part of what was asked for
  // and differs from one moment to the next. At most a tenth of the time is spun.
  Nanos Margin() const { return std::min(kMaxMargin, config_.mean_ns / 10); }
  Nanos Exponential() const {
    thread_local std::minstd_rand random(std::random_device{}());
    const double uniform = (static_cast<double>(random()) - 0.5) / static_cast<double>(std::minstd_rand::max());
    return static_cast<Nanos>(-std::log(uniform) * static_cast<double>(config_.mean_ns));
  }
  const ServiceTimeConfig config_;
};

}  // namespace cqbench
