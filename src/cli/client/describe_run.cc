#include "src/cli/client/describe_run.h"

#include <algorithm>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "src/observe/sampling/environment.h"

namespace cqbench {
namespace {

void DescribeHttp(const RunConfig& run, RunContext& context) {
  context.http_version = run.api == ClientApi::kHttp1 ? "HTTP/1.1" : "h2c";
  context.http_request = absl::StrCat(run.http->method, " ", run.http->target);
  context.request_bytes = static_cast<uint32_t>(run.http->body.size());
}

void DescribeMessages(const RunConfig& run, RunContext& context) {
  if (run.http == nullptr) {
    context.messages = std::string(ToString(run.messages));
    context.stub = std::string(ToString(run.stub));
    context.codec = std::string(ToString(run.serializer));
  }
  const Shape shape = run.method.shape;
  if (shape == Shape::kClientStreaming || shape == Shape::kServerStreaming) {
    context.stream_messages = run.message.stream_messages;
    if (run.write_hint != WriteHint::kNone) context.write_hint = std::string(ToString(run.write_hint));
  }
  if (run.method.has_content) context.content = std::string(ToString(run.message.content));
  if (!run.method.has_payload) return;
  context.payload = ToString(run.message.payload);
  context.request_bytes = run.message.request_bytes;
  context.response_bytes = run.message.response_bytes;
}

void DescribeSecurity(const Security& security, RunContext& context) {
  if (!security.tls) return;
  context.security = "tls";
  context.tls_min_version = std::string(ToString(security.min_version));
  context.tls_ciphers = CipherList(security);
}

void DescribeLoop(const ClientOptions& options, RunContext& context) {
  if (!options.goals.objective.empty()) context.objective = options.goals.objective.ToString();
  context.open_loop = options.run.points.front().open();
  if (!context.open_loop) return;
  const ScheduleConfig& schedule = options.run.schedule;
  context.arrivals = std::string(ToString(schedule.arrivals));
  context.at_limit = std::string(ToString(schedule.at_limit));
  context.pace = std::string(ToString(schedule.pace));
  context.schedule_seed = schedule.seed;
}

}  // namespace

RunContext DescribeRun(int argc, const char* const* argv, const ClientOptions& options) {
  const RunConfig& run = options.run;
  RunContext context = DescribeEnvironment(argc, argv);
  context.grpc_version = GrpcVersion();
  context.protobuf_version = ProtobufVersion();
  context.deadlock_detection = options.deadlock_detection;
  for (const Target& target : run.targets)
    absl::StrAppend(&context.target, context.target.empty() ? "" : ",", target.ToString());
  context.method = run.method;
  context.api = std::string(ToString(run.api));
  context.poll = std::string(ToString(run.poll));
  context.policy = run.policy.ToString();
  context.warmup_ns = run.warmup_ns;
  context.skip_first = run.skip_first;
  context.interval_ns = run.interval_ns;
  context.total_calls = run.total;
  context.deadline_ns = run.deadline_ns;
  DescribeMessages(run, context);
  if (run.http != nullptr) DescribeHttp(run, context);
  DescribeLoop(options, context);
  DescribeSecurity(run.security, context);
  for (const Metadata& each : run.metadata) context.metadata.push_back(each.key);
  context.generated_metadata = ToString(run.generated_metadata);
  if (run.compression.algorithm != Compression::kNone) context.compression = ToString(run.compression);
  for (const ChannelArg& arg : run.channel_args) {
    const int* number = std::get_if<int>(&arg.value);
    context.channel_args.emplace_back(arg.key, number ? absl::StrCat(*number) : std::get<std::string>(arg.value));
  }
  context.service_config = run.service_config;
  context.wait_for_ready = run.wait_for_ready;
  return context;
}

void DescribeCall(const CallSpec& spec, const CallFacts& facts, CallContext& context) {
  context.data_messages = facts.messages;
  context.data_hash = facts.hash;
  if (facts.messages > 1) context.data_order = std::string(ToString(spec.order));
  if (facts.messages > 1 && spec.order == DataOrder::kRandom) context.data_seed = spec.seed;
  context.answers = spec.expect ? "compared" : spec.check_responses ? "parsed" : "bytes";
}

void TakeNegotiated(const std::vector<PointResult>& points, RunContext& context) {
  for (const PointResult& point : points) {
    for (const NegotiatedTls& each : point.negotiated) {
      if (each.mutual) context.security = "mutual-tls";
      auto& all = context.negotiated;
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
}

}  // namespace cqbench
