// Histograms to and from protobuf messages.
#pragma once

#include "cqbench/proto/control.pb.h"
#include "src/stats/histogram.h"

namespace cqbench {

void ToMessage(const Histogram& histogram, control::v1::Histogram& message);
// A message may come from the network. Values without a count and counts of 0 are left out; observe/control/plausible.h
// refuses them.
Histogram FromMessage(const control::v1::Histogram& message);

}  // namespace cqbench
