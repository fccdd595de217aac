// The wall clock relative to this process's steady clock: the common clock of processes that cannot communicate.
#pragma once

#include "src/base/clock.h"
#include "src/ranks/clock_offset.h"

namespace cqbench {

// Wall clock (nanoseconds since 1970) minus steady clock, from kClockProbes probes; takes some 20 us. The bound is that
// of the probes. Steady clocks differ between machines, and between time namespaces of one machine.
ClockOffset ProbeWallClock();

// How wrong the kernel believes the wall clock to be at most (adjtimex), in nanoseconds: what NTP or PTP has told it,
// 16 s when nobody does.
Nanos WallClockError();

}  // namespace cqbench
