// The live progress line.
#pragma once

#include <string>

#include "src/load/run/runner.h"

namespace cqbench {

// "[1/2] in-flight 4, measuring 0.2/3.0 s, 12345 req/s"; in an open loop "[2] rate 2000/s, …, 4000 sent, 0 behind".
std::string DescribeProgress(const ProgressUpdate& update);

// Rewrites one line on standard error when that is a terminal; does nothing when it is not. The destructor clears the
// line.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  void Show(const ProgressUpdate& update);
  // Before something else is written to standard error.
  void Clear();

 private:
  const bool terminal_;
};

}  // namespace cqbench
