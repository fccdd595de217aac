// The thresholds of warnings and notes, all in one place. The rate of false alarms is measured by
// tests/unit/false_alarms_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/clock.h"

namespace cqbench {

// Share of the allowed CPUs from which on a point measures their speed only.
inline constexpr double kSaturated = 0.95;
// Share of the measured CPUs' time that unrelated processes took. /proc/stat samples in ticks of 10 ms, so a little is
// always seen.
inline constexpr double kOthersShare = 0.10;
inline constexpr double kStealShare = 0.01;
// The server's samples may lie off the window by a fifth of its length, and throughput may not be steady. Connections
// say it more finely.
inline constexpr double kOtherRpcs = 0.25;

// Steadiness, of ten parts of the window: between its halves, and between its first part and the rest. Chance moves
// halves of n calls that come at random by 2 / sqrt(n), one standard deviation, and a tenth by 3.3 / sqrt(n). Machines
// that are noisy move them by more, which is seen in how the other parts differ; 20 % from part to part are forgiven
// so, but a standstill is "noisy", too, so there is an end to it.
inline constexpr double kDriftShare = 0.05;
inline constexpr double kMostDrift = 0.35;
inline constexpr double kUnsettledShare = 0.10;
inline constexpr double kMostUnsettled = 0.60;
inline constexpr double kDriftChance = 5;       // x 1 / sqrt(n): 2.5 standard deviations
inline constexpr double kUnsettledChance = 10;  // x 1 / sqrt(n): 3 standard deviations
inline constexpr double kDeviations = 3;        // of eight degrees of freedom: 1.7 % of all t are further off
inline constexpr size_t kParts = 10;
inline constexpr size_t kFewestParts = 8;
inline constexpr double kCallsPerPart = 25;  // fewer on average say nothing

// Calls sent / calls asked for. Poisson arrivals alone move it by 1 / sqrt(n), one standard deviation.
inline constexpr double kRateShare = 0.01;
inline constexpr double kRateChance = 3;  // x 1 / sqrt(n)

// The pacer's lateness at P99: in a run of the minimum size this is the third-worst call, so one or two accidents do
// not count.
inline constexpr Nanos kLate = 100 * kNanosPerMicro;
inline constexpr double kLateShare = 0.10;  // of the P99 from due to done
inline constexpr uint64_t kCallsForLateness = 200;

// Gaps between the times at which the pacer sends, or would have sent had there been a slot. Of n gaps of a true
// Poisson process, both have a standard deviation of 1 / sqrt(n), so the effect sizes take over at 400 (variation) and
// 900 (correlation) gaps. 0.15 is what a queue whose waiting goes with the square of the variation feels as about 15 %
// of its wait; a pacer that is 20 us late by chance stays below it up to 25,000 calls a second. A constant pacer's
// variation is 1.4 x its jitter / gap: with the jitter that pacer-late tolerates (P99 100 us, or some 35 us of standard
// deviation), it would exceed 0.2 for every gap below 250 us, where it would repeat what lateness says; such gaps are
// not judged.
inline constexpr double kPoissonVariation = 0.15;
inline constexpr double kPoissonCorrelation = 0.10;
inline constexpr double kGapChance = 3;  // x 1 / sqrt(n)
inline constexpr double kConstantVariation = 0.20;
inline constexpr double kShortestConstantGap = 250e-6;  // seconds, of one pacer

// Calls outstanding, their mean in either half of the window. Of a server that is a share x too slow, that many of the
// n calls due pile up over the window, and the halves differ by half of it: 1 % of n is found from x = 2 % on. Warm-up
// lets the pile begin before the window, so its second half may be less than twice the first: 1.2 x is the least when
// warm-up is twice as long as the window. A queue that is just full wanders by sqrt(n) and less, one standard
// deviation.
inline constexpr double kBacklogShare = 0.01;
inline constexpr double kBacklogChance = 3;  // x sqrt(n)
inline constexpr double kBacklogRatio = 1.2;

// By which CLOCK_BOOTTIME gained on CLOCK_MONOTONIC, which it does only while the machine sleeps: both are read
// microseconds apart, and a thread that waits for a CPU in between three times must wait for long.
inline constexpr Nanos kSlept = 100 * kNanosPerMilli;

// In-flight calls against throughput x mean latency.
inline constexpr double kLittleShare = 0.05;
inline constexpr uint64_t kCallsForLittle = 100;  // of fewer, the longest may be across a boundary and not known

}  // namespace cqbench
