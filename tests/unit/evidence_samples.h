// Two samples, and the figures that come of them.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "src/observe/sampling/sample_figures.h"

namespace cqbench {

// Samples are 2 s apart around a window of 1 s: what happened between them counts half.
inline constexpr Nanos kBegin = 500 * kNanosPerSecond;
inline constexpr Nanos kEnd = kBegin + 2 * kNanosPerSecond;
inline constexpr Measured kMeasured = {kNanosPerSecond, 1000};

class Evidence : public testing::Test {
 protected:
  Evidence() {
    begin_.taken_at_ns = kBegin;
    end_.taken_at_ns = kEnd;
  }

  std::optional<double> Get(absl::string_view name) const { return figures_.Get(name); }

  Sample begin_, end_;
  Figures figures_;
};

}  // namespace cqbench
