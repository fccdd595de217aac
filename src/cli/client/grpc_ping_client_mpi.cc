// The client as one of several that mpirun or srun starts together.
#include <mpi.h>
#include <unistd.h>

#include <csignal>

#include "src/base/interrupt.h"
#include "src/base/last_resort.h"
#include "src/cli/client/client_program.h"
#include "src/ranks/mpi_ranks.h"

namespace {

// Open MPI's mpirun passes SIGUSR1 on to all ranks at once; SIGINT and SIGTERM it keeps for itself, and its ranks have
// a SIGTERM only odls_base_sigkill_timeout later, which is also all the time that they have then.
void PassOnAsInterrupt(int /*signal*/) {
  kill(getpid(), SIGINT);
}

void TakeSigusr1() {
  struct sigaction action {};
  action.sa_handler = PassOnAsInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  cqbench::InstallLastResort("grpc_ping_client");
  cqbench::Interrupt interrupt;  // before MPI and gRPC start threads
  TakeSigusr1();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const auto ranks = cqbench::MakeMpiRanks(interrupt);
  const int exit_code = cqbench::RunClientProgram(argc, argv, interrupt, ranks.get());
  // Which waits for all ranks: one whose death is the reason for the signal would be waited for until this one is
  // killed, too.
  if (interrupt.signal() == 0 && !ranks->HasLost()) MPI_Finalize();
  return exit_code;
}
