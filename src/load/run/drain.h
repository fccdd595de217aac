// The end of a point: what is in flight may end, what does not is cancelled.
#pragma once

#include "cqbench/engine.h"
#include "src/base/clock.h"
#include "src/base/interrupt.h"

namespace cqbench {

// How long calls may go on after the window when the run was interrupted.
inline constexpr Nanos kDrainAfterSignal = kNanosPerSecond;

// How long the library may then take to end them, at most.
inline constexpr Nanos kPatienceAfterSignal = 3 * kNanosPerSecond;

// Ticks the engine until it is finished; cancels what is left at `cancel_at`, or when interrupted soon after `close`.
// False when calls have still not ended `patience` after that: then the engine can neither be joined nor destroyed, but
// given up (Engine::GiveUp).
bool DrainEngine(Engine& engine, Interrupt& interrupt, Nanos close, Nanos cancel_at, Nanos patience);

}  // namespace cqbench
