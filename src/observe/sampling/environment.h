// The machine and the build, for the context of a result.
#pragma once

#include <string>

#include "cqbench/result.h"

namespace cqbench {

// Fills the fields of the context that describe the machine, the kernel and the build; the caller adds what it was
// asked to do. What cannot be read stays empty or absent. `argv` is the command line as given.
Environment DescribeEnvironment(int argc, const char* const* argv);

// "g++ 12.2.0": the compiler of this program.
std::string Compiler();

// The same for all processes that run on this machine until it is started again; empty when the kernel does not say.
std::string BootId();

// Now, local time with offset: "2026-01-31T12:00:00+01:00".
std::string LocalTime();

}  // namespace cqbench
