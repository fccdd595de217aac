// Two samples, and the figures that follow from them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "src/observe/sampling/sample_figures.h"
#include "tests/unit/text_message.h"

namespace cqbench {

// Samples are 2 s apart around a window of 1 s, so half of each difference belongs to the window.
inline constexpr Nanos kBegin = 500 * kNanosPerSecond;
inline constexpr Nanos kEnd = kBegin + 2 * kNanosPerSecond;
inline constexpr Measured kMeasured = {kNanosPerSecond, 1000};

class Evidence : public testing::Test {
 protected:
  Evidence() {
    begin_.set_taken_at_ns(kBegin);
    end_.set_taken_at_ns(kEnd);
  }

  // Adds to the samples what the texts say.
  void Have(const std::string& begin, const std::string& end) {
    begin_.MergeFrom(FromText<Sample>(begin));
    end_.MergeFrom(FromText<Sample>(end));
  }
  std::optional<double> Get(absl::string_view name) const { return figures_.Get(name); }

  Sample begin_, end_;
  Figures figures_;
};

}  // namespace cqbench
