// Time inside the suite: integer nanoseconds on one steady clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace cqbench {

// A point in time or a duration, in nanoseconds. Points count from an unspecified epoch and compare only within one
// boot of one machine. The clock is CLOCK_MONOTONIC; gRPC's GPR_CLOCK_MONOTONIC ticks with
// it but may count from another epoch (src/channel/poll.h).
using Nanos = int64_t;

inline constexpr Nanos kNanosPerMicro = 1'000;
inline constexpr Nanos kNanosPerMilli = 1'000'000;
inline constexpr Nanos kNanosPerSecond = 1'000'000'000;

// Any thread. About 20 ns through the vDSO when the clock source is the TSC.
inline Nanos NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline double ToSeconds(Nanos ns) {
  return static_cast<double>(ns) / static_cast<double>(kNanosPerSecond);
}

}  // namespace cqbench
