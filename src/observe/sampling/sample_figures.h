// Pairs of samples as figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cqbench/figures.h"
#include "cqbench/result.h"
#include "src/observe/sampling/sample.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {

// The window and the calls that figures of a pair of samples are divided by.
struct Measured {
  Nanos window_ns = 0;
  uint64_t completed = 0;      // inside the window
  int responses_per_call = 1;  // that a server counts
};

// These functions add the figures of one end to `figures`. The samples are taken a
// little off the window boundaries; totals are scaled to its length by the samples' own clock. A CPU or
// connection that is in one of the samples only is left out. Our own threads must live from the one to the other.
void AddCpuFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured, Figures& figures);
void AddProcessFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured, Figures& figures);
// The figures of processes that samples of another process have.
void AddOtherProcessFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured,
                            Figures& figures);
// Returns why there are no figures; empty when there are.
std::string AddConnectionFigures(Side side, const Sample& begin, const Sample& end, const Measured& measured,
                                 Figures& figures);
// Allocations between two samples per RPC completed meanwhile; nothing when they were not counted.
void AddAllocationFigures(Side side, const Sample& begin, const Sample& end, uint64_t completed, Figures& figures);
// RPCs by completion queue, posted requests.
void AddServerFigures(const Sample& begin, const Sample& end, const Measured& measured, Figures& figures);
// min, median and max as "<name>_min" and so on; nothing when there are no values.
void SetDistribution(absl::string_view name, std::vector<double> values, Figures& figures);

std::vector<CpuShares> CompareCpus(const Sample& begin, const Sample& end);
// The algorithms of all connections; "cubic, reno" when they differ. Empty when there are none.
std::string CongestionControl(const Sample& sample);

}  // namespace cqbench
