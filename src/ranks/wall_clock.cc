#include "src/ranks/wall_clock.h"

#include <sys/timex.h>

#include <array>
#include <ctime>

namespace cqbench {
namespace {

Nanos WallNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanos{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

}  // namespace

ClockOffset ProbeWallClock() {
  std::array<ClockProbe, kClockProbes> probes;
  for (ClockProbe& probe : probes) {
    probe.before_ns = NowNs();
    probe.there_ns = WallNow();
    probe.after_ns = NowNs();
  }
  return *EstimateOffset(probes);  // a steady clock's times are in order
}

Nanos WallClockError() {
  timex state{};
  constexpr Nanos kNobodyKnows = 16 * kNanosPerSecond;
  return adjtimex(&state) < 0 ? kNobodyKnows : Nanos{state.maxerror} * kNanosPerMicro;
}

}  // namespace cqbench
