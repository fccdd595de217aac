#include "cqbench/interrupt.h"
#include "src/tools/client_program.h"

int main(int argc, char** argv) {
  cqbench::Interrupt interrupt;  // before the library starts threads
  return cqbench::RunClientProgram(argc, argv, interrupt, /*launched=*/nullptr);
}
