// The machine's free memory and descriptors, and whether it was suspended.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/clock.h"

namespace cqbench {

// How long the machine has slept since it was started: by how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. Two
// values differ only where it slept in between.
Nanos SleptNs();

// Memory that this process may still take without swapping, and what says so.
struct MemoryLeft {
  uint64_t bytes = UINT64_MAX;  // not known
  std::string limit;            // "MemAvailable of /proc/meminfo"
};
MemoryLeft FindMemoryLeft();

}  // namespace cqbench
