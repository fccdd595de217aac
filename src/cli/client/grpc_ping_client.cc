#include "src/base/interrupt.h"
#include "src/base/last_resort.h"
#include "src/cli/client/client_program.h"

int main(int argc, char** argv) {
  cqbench::InstallLastResort("grpc_ping_client");
  cqbench::Interrupt interrupt;  // before the library starts threads
  return cqbench::RunClientProgram(argc, argv, interrupt, /*launched=*/nullptr);
}
