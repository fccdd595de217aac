// CPU time of a process that a test started.
#pragma once

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/smoke/process.h"

namespace cqbench::smoke {

// Returns the CPU time of all its threads.
inline Seconds ProcessCpu(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  for (int i = 3; i < 14; ++i) fields >> field;  // the 14th and 15th are utime and stime
  double user = 0, system = 0;
  fields >> user >> system;
  return Seconds((user + system) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace cqbench::smoke
