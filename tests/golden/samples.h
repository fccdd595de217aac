// Results that look like those of real runs, with every figure fixed.
#pragma once

#include "cqbench/result.h"

namespace cqbench {

// Three points of an unary sweep, one repetition, nothing went wrong.
Result SweepSample();
// Two points, three repetitions, one of which could not connect; a pool policy and channel arguments.
Result RepetitionsSample();
// Everything that goes wrong: failed calls, warnings, calls that did not end, a point that measured nothing, figures
// that are not to be had, and an interrupt in the last point.
Result TroubleSample();
// Six repetitions with evidence, a breakdown, allocations and baselines; one point is suspect and at a limit.
Result EvidenceSample();
// Three rates with an objective: one kept, one at which calls were dropped, one at which the pacer was late on a full
// CPU.
Result OpenLoopSample();
// Two repetitions of an open loop that queues, of which the second left calls waiting.
Result QueueSample();
// Calls that never ended: so few that only the maximum is unknown, so many that P99 is, and all of them.
Result CensoredSample();
// --find-rate with an answer, and without one.
Result FoundRateSample();
Result UnresolvedRateSample();
// A method over HTTP, with answers that were wrong.
Result HttpSample();
// A run that was interrupted before its first point.
Result EmptySample();

}  // namespace cqbench
