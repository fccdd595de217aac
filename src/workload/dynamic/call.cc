#include "src/workload/dynamic/call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cqbench/run_config.h"
#include "src/base/files.h"
#include "src/base/hash.h"
#include "src/workload/dynamic/descriptors.h"
#include "src/workload/dynamic/json.h"
#include "src/workload/dynamic/reflection_client.h"
#include "src/workload/dynamic/responses.h"

namespace cqbench {
namespace {

namespace pb = google::protobuf;
using SharedDescriptors = std::shared_ptr<const Descriptors>;

absl::Status Named(absl::string_view flag, const absl::Status& status) {
  return {status.code(), absl::StrCat(flag, ": ", status.message())};
}

Shape ShapeOf(const pb::MethodDescriptor& method) {
  if (method.client_streaming()) return method.server_streaming() ? Shape::kBidi : Shape::kClientStreaming;
  return method.server_streaming() ? Shape::kServerStreaming : Shape::kUnary;
}

std::string PathOf(const MethodName& name) {
  return absl::StrCat("/", name.service, "/", name.method);
}

// FNV-1a, with the lengths, so that the same bytes cut otherwise are other messages.
uint64_t Hash(const std::vector<std::string>& messages) {
  Fnv1a hash;
  for (const std::string& message : messages) {
    for (const char c : message) hash.Add(static_cast<uint8_t>(c));
    hash.AddBytes(message.size());
  }
  return hash.hash();
}

// `run`: nullptr where there is no server to ask.
absl::StatusOr<SharedDescriptors> Describe(const CallSpec& spec, const MethodName& name, const RunConfig* run) {
  const DescriptionSource& source = spec.source;
  const bool proto = !source.proto.empty();
  if (!proto && source.protoset.empty()) {
    auto described = ReflectService(*run, name.service);
    return described.ok() ? described : Named("--call", described.status());
  }
  auto described =
      proto ? Descriptors::FromProto(source.proto, source.import_paths) : Descriptors::FromProtoset(source.protoset);
  return described.ok() ? described : Named(proto ? "--proto" : "--protoset", described.status());
}

struct Described {
  MethodName name;
  SharedDescriptors descriptors;
  const pb::MethodDescriptor* method = nullptr;
};

absl::StatusOr<Described> FindCall(const CallSpec& spec, const RunConfig* run) {
  const auto name = ParseMethodName(spec.method);
  if (!name.ok()) return Named("--call", name.status());
  const auto descriptors = Describe(spec, *name, run);
  if (!descriptors.ok()) return descriptors.status();
  const auto method = (*descriptors)->Find(*name);
  if (!method.ok()) return Named("--call", method.status());
  return Described{*name, *descriptors, *method};
}

absl::StatusOr<std::vector<std::string>> ReadMessages(absl::string_view flag, const std::string& argument,
                                                      const Descriptors& descriptors, const pb::Descriptor* type) {
  const auto text = TextOrFile(argument, kMaxDataBytes);
  if (!text.ok()) return Named(flag, text.status());
  auto messages = JsonToBytes(*text, descriptors, type);
  return messages.ok() ? messages : Named(flag, messages.status());
}

}  // namespace

absl::StatusOr<CallFacts> ResolveCall(const CallSpec& spec, RunConfig& run) {
  const auto found = FindCall(spec, &run);
  if (!found.ok()) return found.status();
  const Shape shape = ShapeOf(*found->method);
  if (spec.counts_messages && shape != Shape::kClientStreaming) {
    return absl::InvalidArgumentError(absl::StrCat("--stream-messages: needs a client-streaming method with --call; ",
                                                   spec.method, " is ", ToString(shape)));
  }
  const auto messages = ReadMessages("--data", spec.data, *found->descriptors, found->method->input_type());
  if (!messages.ok()) return messages.status();
  auto call = std::make_shared<BytesMethod>();
  call->path = PathOf(found->name);
  call->shape = shape;
  for (const std::string& message : *messages) {
    const grpc::Slice slice(message);
    call->requests.emplace_back(&slice, 1);
  }
  call->order = spec.order;
  call->seed = spec.seed;
  if (spec.check_responses || spec.expect) {
    std::optional<std::string> expected;
    if (spec.expect) {
      auto text = TextOrFile(*spec.expect, kMaxDataBytes);
      if (!text.ok()) return Named("--expect", text.status());
      expected = *std::move(text);
    }
    auto checker = MakeResponseChecker(found->descriptors, found->method->output_type(), expected);
    if (!checker.ok()) return Named("--expect", checker.status());
    call->checker = *std::move(checker);
  }
  if (!spec.counts_messages) run.message.stream_messages = static_cast<int>(call->requests.size());
  run.method = MethodInfo();
  run.method.id = MethodInfo::kNotOurs;
  run.method.workload = "call";
  run.method.name = absl::StrCat(found->name.service, ".", found->name.method);
  run.method.path = call->path;
  run.method.shape = shape;
  run.call = std::move(call);
  return CallFacts{static_cast<int>(messages->size()), Hash(*messages)};
}

absl::StatusOr<StandIn> MakeStandIn(const CallSpec& spec) {
  const auto found = FindCall(spec, nullptr);
  if (!found.ok()) return found.status();
  auto responses = ReadMessages("--response", spec.data, *found->descriptors, found->method->output_type());
  if (!responses.ok()) return responses.status();
  const Shape shape = ShapeOf(*found->method);
  if (responses->size() > 1 && shape != Shape::kServerStreaming) {
    return absl::InvalidArgumentError(absl::StrCat("--response: several messages answer a server-streaming method; ",
                                                   spec.method, " is ", ToString(shape)));
  }
  return StandIn{PathOf(found->name), shape, *std::move(responses)};
}

}  // namespace cqbench
