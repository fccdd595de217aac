// The live progress line.
#pragma once

#include "cqbench/runner.h"

namespace cqbench {

// Rewrites one line on standard error when that is a terminal; does nothing when it is not. The destructor clears the
// line.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  void Show(const ProgressUpdate& update);

 private:
  const bool terminal_;
};

}  // namespace cqbench
