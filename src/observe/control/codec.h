// Samples and histograms to and from the control service's messages.
#pragma once

#include "cqbench/proto/control.pb.h"
#include "src/observe/sampling/sample.h"
#include "src/stats/histogram.h"

namespace cqbench {

void ToProto(const Sample& sample, control::v1::ServerSample& message);
Sample FromProto(const control::v1::ServerSample& message);

void ToProto(const Histogram& histogram, control::v1::Histogram& message);
// Of a message from the network, which observe/control/plausible.h refuses where a value or a count has no partner or a
// count is 0: here these are left out.
Histogram FromProto(const control::v1::Histogram& message);

}  // namespace cqbench
