// The ranks' reports of a point to rank 0: of any length, and with a limit to waiting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/base/interrupt.h"

namespace cqbench {

// A rank may end its calls for so long after the window: the longest drain and the longest wait for the library to
// cancel what is left (src/load/run/point_run.cc), and some.
inline constexpr Nanos kLongestSilence = 45 * kNanosPerSecond;

// Threads as for MakeMpiRanks(). Waiting is sleeping. Who says nothing for kLongestSilence, or for half a second once a
// signal has come here, is given up; rank 0, which may be waiting for another so long, for three times that.
class MpiReports {
 public:
  explicit MpiReports(Interrupt& interrupt);
  ~MpiReports();

  // To rank 0. False when that did not take it.
  bool Send(std::string report);
  // At rank 0: leaves the reports of `ranks` in `by_rank`, and returns the ranks that were given up.
  std::vector<int> Receive(const std::vector<int>& ranks, std::vector<std::string>& by_rank);

 private:
  struct Transfer;
  using Transfers = std::vector<std::unique_ptr<Transfer>>;

  // Takes out those that have ended.
  void WaitFor(Transfers& transfers, Nanos patience_ns);

  Interrupt& interrupt_;
  Transfers given_up_;  // MPI may still use their bytes
};

}  // namespace cqbench
