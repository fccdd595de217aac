// Results that look like those of real runs, with every figure fixed.
#pragma once

#include "cqbench/result.h"

namespace cqbench {

// Three points of an unary sweep, one repetition, no fault.
Result SweepSample();
// Two points, three repetitions, one of which could not connect; a pool policy and channel arguments.
Result RepetitionsSample();
// All kinds of faults: failed calls, warnings, calls that did not end, a point that measured nothing, missing figures,
// and an interrupt in the last point.
Result TroubleSample();
// Six repetitions with evidence, a breakdown, allocations and lower bounds; one point is unreliable and saturates the
// client.
Result EvidenceSample();
// Three rates with an objective: one meets it, one dropped calls, one had a late pacer on a saturated CPU.
Result OpenLoopSample();
// Two repetitions of an open loop that queues; the second left calls waiting.
Result QueueSample();
// Calls that never ended: a few, with an unknown maximum; more, with an unknown P99; and all of them.
Result CensoredSample();
// --find-rate with a result, and without one.
Result FoundRateSample();
Result UnresolvedRateSample();
// A method over HTTP, with wrong responses.
Result HttpSample();
// A run that was interrupted before its first point.
Result EmptySample();

}  // namespace cqbench
