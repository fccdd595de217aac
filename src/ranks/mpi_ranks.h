// Ranks that mpirun or srun has started together.
#pragma once

#include <memory>

#include "cqbench/interrupt.h"
#include "cqbench/ranks.h"

namespace cqbench {

// Between MPI_Init_thread(MPI_THREAD_FUNNELED) and MPI_Finalize(); all calls from the thread that called the first.
//
// Rank 0 talks with every other one by itself; there is no barrier and no collective. For each point they say that they
// are ready, look at rank 0's clock kClockLooks times, and get the window's times; after the point they look again.
// While they wait for anything but the answer to a look they sleep. In between nothing of MPI is called, and its own
// threads sleep. An error of MPI's ends nothing here: what was measured is worth more, and whoever waits stops waiting
// when a signal comes, which a launcher sends when a rank has died.
std::unique_ptr<Ranks> MakeMpiRanks(Interrupt& interrupt);

}  // namespace cqbench
