// What a result says of the run that it is of, besides what is measured.
#pragma once

#include <vector>

#include "cqbench/result.h"
#include "src/cli/client/client_flags.h"

namespace cqbench {

// All that flags and this machine say; `argv` is the command line as it was given.
RunContext DescribeRun(int argc, const char* const* argv, const ClientOptions& options);

// Of --call: `facts` are what the method and its data turned out to be.
void DescribeCall(const CallSpec& spec, const CallFacts& facts, CallContext& context);

// What the connections of all points agreed on, each kind once; more than one when they came out differently.
void TakeNegotiated(const std::vector<PointResult>& points, RunContext& context);

}  // namespace cqbench
