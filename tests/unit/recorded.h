// Access to what a recorder has recorded.
#pragma once

#include "cqbench/recorder.h"

namespace cqbench {

inline constexpr Nanos kOpen = 1000;
inline constexpr Nanos kClose = 2000;
inline constexpr int kUnavailable = 14;

// Makes a call of a closed loop, where due and sent are the same.
inline CallTimes Call(Nanos sent, Nanos done) {
  return {sent, sent, done};
}

inline Measurement Of(const Recorder& recorder) {
  Measurement total;
  recorder.MergeInto(total);
  return total;
}

}  // namespace cqbench
