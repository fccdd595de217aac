#include "src/ranks/clock_offset.h"

namespace cqbench {

std::optional<ClockOffset> EstimateOffset(std::span<const ClockProbe> probes) {
  const ClockProbe* best = nullptr;
  for (const ClockProbe& probe : probes) {
    if (probe.after_ns < probe.before_ns) continue;
    if (best == nullptr || probe.after_ns - probe.before_ns < best->after_ns - best->before_ns) best = &probe;
  }
  if (best == nullptr) return std::nullopt;
  const Nanos round_trip = best->after_ns - best->before_ns;
  const Nanos middle = best->before_ns + round_trip / 2;
  return ClockOffset{best->there_ns - middle, (round_trip + 1) / 2, middle};
}

double DriftPerSecond(const ClockOffset& first, const ClockOffset& last) {
  const Nanos passed = last.at_ns - first.at_ns;
  if (passed == 0) return 0;
  return static_cast<double>(last.offset_ns - first.offset_ns) / ToSeconds(passed);
}

}  // namespace cqbench
