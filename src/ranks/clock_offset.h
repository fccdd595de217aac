// How far another clock is ahead of ours, from probes of that clock.
#pragma once

#include <optional>
#include <span>

#include "src/base/clock.h"

namespace cqbench {

// The other clock was read at some moment between two of ours: by another machine that we asked and that answered, or
// by a call of the kernel.
struct ClockProbe {
  Nanos before_ns = 0;  // ours
  Nanos there_ns = 0;   // the other's
  Nanos after_ns = 0;   // ours
};

// Theirs minus ours. The truth is within the bound on either side, however unevenly the way there and back took: the
// other clock was read between `before` and `after`, and nothing more is known.
struct ClockOffset {
  Nanos offset_ns = 0;
  Nanos bound_ns = 0;
  Nanos at_ns = 0;  // our time of the look
};

inline constexpr int kClockProbes = 200;

// From the look with the shortest way there and back, the rest of which only waited longer. Absent without a look whose
// times are in order. Any thread.
std::optional<ClockOffset> EstimateOffset(std::span<const ClockProbe> probes);

// By how much their clock gains on ours, in nanoseconds per second; 0 when the two were taken at the same time.
double DriftPerSecond(const ClockOffset& first, const ClockOffset& last);

}  // namespace cqbench
