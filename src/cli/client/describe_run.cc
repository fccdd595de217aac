#include "src/cli/client/describe_run.h"

#include <algorithm>
#include <string>

#include "src/observe/sampling/environment.h"
#include "src/result/grpc_build.h"

namespace cqbench {
RunContext DescribeRun(int argc, const char* const* argv, const ClientOptions& options) {
  RunContext context;
  context.environment = DescribeEnvironment(argc, argv);
  context.environment.grpc_version = GrpcVersion();
  context.environment.grpc_build = DescribeGrpcBuild();
  context.environment.protobuf_version = ProtobufVersion();
  context.environment.deadlock_detection = options.deadlock_detection;
  context.run = options.run;
  if (!options.goals.objective.empty()) context.objective = options.goals.objective.ToString();
  return context;
}

void DescribeCall(const CallSpec& spec, const CallFacts& facts, CallContext& context) {
  context.data_messages = facts.messages;
  context.data_hash = facts.hash;
  if (facts.messages > 1) context.data_order = std::string(ToString(spec.order));
  if (facts.messages > 1 && spec.order == DataOrder::kRandom) context.data_seed = spec.seed;
  context.response_check = spec.expect ? "compared" : spec.check_responses ? "parsed" : "bytes";
}

void TakeNegotiated(const std::vector<PointResult>& points, RunContext& context) {
  for (const PointResult& point : points) {
    for (const NegotiatedTls& each : point.negotiated) {
      auto& all = context.negotiated;
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
}

}  // namespace cqbench
