// This process: CPU time used, CPUs allowed, descriptor limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cqbench/clock.h"

namespace cqbench {

// CPU time of all threads of the process since it started.
struct CpuTime {
  Nanos taken_at_ns = 0;
  Nanos user_ns = 0;
  Nanos system_ns = 0;
};
CpuTime ReadCpuTime();

// The CPUs that the calling thread may run on, ascending. Threads inherit the mask, so before threads have been started
// with masks of their own this is the process's.
std::vector<int> AllowedCpus();
// "0-3,8".
std::string FormatCpuList(const std::vector<int>& cpus);

// Raises the soft limit on open descriptors to the hard one and returns what may be open then.
uint64_t RaiseDescriptorLimit();

}  // namespace cqbench
