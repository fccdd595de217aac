// Takes samples of this process, and of others on this machine.
#pragma once

#include <optional>
#include <vector>

#include "src/observe/sampling/connections.h"
#include "src/observe/sampling/sample.h"

namespace cqbench {

// The time, and what the process as a whole used.
Sample SampleOfProcess();
// Everything of Sample but what only servers have, and allocations: those are read by whoever counts them, where the
// sample's own do not get in. `connections` are those to look at.
// Costs some microseconds per thread and connection; takes no lock that an RPC could wait for.
Sample TakeSample(const std::vector<OpenConnection>& connections);
// Another process of this machine, seen from outside: its CPU time, memory and CPUs. Absent when there is
// none.
std::optional<Sample> TakeSampleOf(int pid);

}  // namespace cqbench
