// Ranks that mpirun or srun has started together.
#pragma once

#include <memory>

#include "cqbench/ranks.h"
#include "src/base/interrupt.h"

namespace cqbench {

class MpiRanks : public Ranks {
 public:
  // True if a rank was given up, or a message to one has not arrived: MPI_Finalize() would wait.
  virtual bool HasLost() const = 0;
};

// Between MPI_Init_thread(MPI_THREAD_FUNNELED) and MPI_Finalize(); all calls from the thread that called the first.
//
// Rank 0 talks with every other one by itself; there is no barrier and no collective. For each point they say that they
// are ready, probe rank 0's clock kClockProbes times, and get the window's times; after the point they probe it again,
// and tell what they measured. While they wait for anything but the reply to a probe they sleep. In between nothing of
// MPI is called, and its own threads sleep. An error of MPI's ends nothing here: what was measured is worth more, and
// whoever waits stops waiting when a signal comes, which a launcher sends when a rank has died.
//
// Collect() is no MPI_Reduce, which would wait for a rank that died until the launcher kills the others, spinning, and
// could not say of whom the sum is. Counts are whole numbers: their sum is the same whoever adds them. Each rank sends
// its report, rank 0 takes them as they come, and waits no longer for a silent one than a drain may last, nor
// longer than half a second once a signal has come; the others give rank 0 three times as long.
std::unique_ptr<MpiRanks> MakeMpiRanks(Interrupt& interrupt);

}  // namespace cqbench
