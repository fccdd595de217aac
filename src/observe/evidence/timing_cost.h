// The cost of --breakdown for the calls that it times.
#pragma once

#include "cqbench/engine.h"
#include "src/base/clock.h"

namespace cqbench {

// Measured on this thread, now. `timed(now)` and `untimed(now)` do what the engine does to a call that is in the sample
// and to one that is not, by the same functions and in the same order, with an API call that does nothing; `now` is a
// clock reading that the engine makes anyway.
template <typename Timed, typename Untimed>
TimingCost CompareTiming(int every, Timed timed, Untimed untimed) {
  constexpr int kTimes = 20'000;
  const auto each = [](auto& call) {
    const Nanos begin = NowNs();
    for (int i = 0; i < kTimes; ++i) call(begin);
    return static_cast<double>(NowNs() - begin) / kTimes;
  };
  const double with = each(timed), without = each(untimed);
  return {with, (with + without * (every - 1)) / every};
}

}  // namespace cqbench
