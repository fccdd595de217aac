// The client: flags → config → run → report.
#pragma once

#include "cqbench/ranks.h"
#include "src/base/interrupt.h"

namespace cqbench {

// The whole of the program but for what a launcher brings along: returns the exit status. On the main thread;
// `interrupt` was made before any other thread. `launched`: the ranks that were started together with this process;
// nullptr: what the flags say.
int RunClientProgram(int argc, const char* const* argv, Interrupt& interrupt, Ranks* launched);

}  // namespace cqbench
