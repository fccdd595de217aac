// Outcomes of trials in a search.
#pragma once

#include "src/stats/find_rate.h"

namespace cqbench {

inline RateTrial Outcome(bool met) {
  RateTrial trial;
  trial.met = met;
  return trial;
}

inline RateTrial ClientFault() {
  RateTrial trial;
  trial.client_fault = true;
  return trial;
}

}  // namespace cqbench
