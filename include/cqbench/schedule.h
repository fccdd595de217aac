// When calls are due in an open loop: drawn before any call is sent, independent of responses.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/clock.h"
#include "src/config/load.h"

namespace cqbench {

// Due times of one pacer, ascending, in nanoseconds from the start of the point (the start of its warm-up).
using DueTimes = std::vector<Nanos>;

// More due times than this in one point are refused: they take 8 bytes each.
inline constexpr double kMaxScheduled = 100e6;

// Streams for `pacers` threads that together make `rate` calls a second over `length_ns`. Poisson: each stream is a
// Poisson process with its share of the rate, since such streams superpose. Constant: one call every 1/rate seconds
// beginning at 0, dealt to the pacers in turn. The same arguments give the same times on every machine (unless the last
// bit of the C library's logarithm decides how a gap is rounded to nanoseconds: one in 10^10 or so). `rate` is above 0,
// `pacers` at least 1. RESOURCE_EXHAUSTED when there would be more than kMaxScheduled. Any thread.
absl::StatusOr<std::vector<DueTimes>> DrawSchedule(const ScheduleConfig& config, double rate, Nanos length_ns,
                                                   int pacers);

// Hashes all scheduled times in order of time, over all pacers: FNV-1a over their 64-bit little-endian values.
uint64_t HashSchedule(const std::vector<DueTimes>& schedule);

// How many pacers a rate takes: one does some 30,000 calls a second.
int PacersFor(double rate);

// Waits for points in time on the calling thread, in the given way. One thread.
class PacerClock {
 public:
  // Sets the thread's timer slack to 1 ns (prctl). `margin_ns`: hybrid sleeps until so long before.
  PacerClock(Pace pace, Nanos margin_ns);
  Nanos Now() const { return NowNs(); }
  // Returns the time, at or after `due`. Returns at once, after one reading of the clock, if `due` has passed. Nothing
  // else ends the wait: a caller that may have to stop earlier waits in steps.
  Nanos WaitUntil(Nanos due) const;

 private:
  const Pace pace_;
  const Nanos margin_ns_;
};

inline constexpr Nanos kMaxMargin = 60 * kNanosPerMicro;
// How long before a due time to stop sleeping: by how much sleeping overshoots on this thread, now, as the 90th
// percentile of `sleeps` short sleeps (at least one). At most kMaxMargin and a quarter of the mean gap between the
// calls of a pacer, `rate` per second each, so that no pacer spins more than a quarter of the time. Sets the thread's
// timer slack as PacerClock does. Takes 5 to 10 ms.
Nanos CalibrateMargin(double rate, int sleeps = 50);

}  // namespace cqbench
