// The CPU that both ends use while something is measured that is no RPC.
#pragma once

#include <cstdint>

#include "cqbench/result.h"
#include "src/observe/control/control_client.h"
#include "src/observe/sampling/sample.h"

namespace cqbench {

// Measures from the construction to Report(), warm-up included: the load is the same all the time. One thread.
class CpuMeter {
 public:
  // `servers` may be nullptr or not answer: then there is no figure of theirs. The first of them is looked at. Where
  // its samples cannot be, the point has a note instead of a figure.
  explicit CpuMeter(ControlClients* servers);
  // Adds payload per second and the cores for it, of calls that moved `payload_bytes` each.
  void Report(uint64_t payload_bytes, PointResult& point);

 private:
  ControlClients::Moments Ask();

  ControlClients* const servers_;
  const ControlClients::Moments server_;
  const Sample here_;
};

}  // namespace cqbench
