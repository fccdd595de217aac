// Describes a run in its result, apart from the measurements.
#pragma once

#include <vector>

#include "cqbench/result.h"
#include "src/cli/client/client_flags.h"

namespace cqbench {

// Describes flags and this machine; `argv` is the command line as it was given.
RunContext DescribeRun(int argc, const char* const* argv, const ClientOptions& options);

// Adds --call: `facts` are what the method and its data turned out to be.
void DescribeCall(const CallSpec& spec, const CallFacts& facts, CallContext& context);

// Adds what the connections of all points negotiated, each distinct result once.
void TakeNegotiated(const std::vector<PointResult>& points, RunContext& context);

}  // namespace cqbench
