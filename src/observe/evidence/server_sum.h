// Several servers as if they were one.
#pragma once

#include <vector>

#include "src/observe/evidence/evidence_report.h"

namespace cqbench {

// `servers` is not empty. Totals are added up, with threads, CPUs and connections kept apart; servers on one machine
// share its CPUs. The distances from the window are those of the server that was furthest off.
ProcessSamples SumOfServers(const std::vector<ProcessSamples>& servers);

}  // namespace cqbench
