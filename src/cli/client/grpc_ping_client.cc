#include "cqbench/interrupt.h"
#include "cqbench/last_resort.h"
#include "src/tools/client_program.h"

int main(int argc, char** argv) {
  cqbench::InstallLastResort("grpc_ping_client");
  cqbench::Interrupt interrupt;  // before the library starts threads
  return cqbench::RunClientProgram(argc, argv, interrupt, /*launched=*/nullptr);
}
