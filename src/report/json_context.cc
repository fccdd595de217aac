#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/json_util.h"
#include "src/report/context_names.h"
#include "src/report/json_parts.h"

namespace cqbench {
namespace {

Json Server(const ServerDescription& server) {
  json_util::PrintOptions options;
  options.preserve_proto_field_names = true;
  json_util::AlwaysPrintFields(true, options);
  std::string text;
  // It fails where a text is not UTF-8; the client has cleaned the texts.
  if (!json_util::MessageToJsonString(server, &text, options).ok()) return Json::object();
  const Json printed = Json::parse(text);
  // protobuf 3.21 prints `optional` fields after all others; later releases print fields in their order.
  Json ordered = Json::object();
  const auto& type = *ServerDescription::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto found = printed.find(std::string(type.field(i)->name()));
    if (found != printed.end()) ordered[found.key()] = *found;
  }
  return ordered;
}

Json Peer(const PeerSettings& peer) {
  Json json = {{"target", peer.target}};
  if (!peer.not_read.empty()) json["not_read"] = peer.not_read;
  const Http2Settings& announced = peer.announced;
  const std::pair<const char*, std::optional<uint32_t>> settings[] = {
      {"max_concurrent_streams", announced.max_concurrent_streams},
      {"initial_window_bytes", announced.initial_window_bytes},
      {"max_frame_bytes", announced.max_frame_bytes},
      {"max_header_list_bytes", announced.max_header_list_bytes}};
  for (const auto& [key, value] : settings) {
    if (value) json[key] = *value;
  }
  return json;
}

void AddHttp(Json& json, const RunConfig& run) {
  json["http_version"] = std::string(HttpVersion(run));
  json["http_request"] = absl::StrCat(run.http->method, " ", run.http->target);
}

void AddMethod(Json& json, const RunConfig& run) {
  const MethodInfo& method = run.method;
  json["workload"] = method.workload;
  json["method"] = method.name;
  json["shape"] = std::string(ToString(method.shape));
  json["rpc"] = method.path;
  if (run.http != nullptr) {
    AddHttp(json, run);
  } else {
    json["messages"] = std::string(ToString(run.messages));
    json["stub"] = std::string(ToString(run.stub));
    if (run.serializer != Serializer::kProtobuf) json["serializer"] = std::string(ToString(run.serializer));
  }
  if (method.has_payload) json["payload"] = ToString(run.message.payload);
  if (method.has_content) json["content"] = std::string(ToString(run.message.content));
  if (method.shape != Shape::kClientStreaming && method.shape != Shape::kServerStreaming) return;
  if (run.write_hint != WriteHint::kNone) json["write_hint"] = std::string(ToString(run.write_hint));
  json["stream_messages"] = run.message.stream_messages;
}

void AddCall(Json& json, const RunContext& c) {
  for (const Metadata& each : c.run.metadata) json["metadata"].push_back(each.key);  // values may be secrets
  if (const std::string made = ToString(c.run.generated_metadata); !made.empty()) json["generated_metadata"] = made;
  if (c.run.compression.algorithm != Compression::kNone) json["compression"] = ToString(c.run.compression);
  const CallContext& call = c.call;
  if (call.data_messages == 0) return;
  json["data_messages"] = call.data_messages;
  json["data_hash"] = absl::StrCat(absl::Hex(call.data_hash, absl::kZeroPad16));
  if (!call.data_order.empty()) json["data_order"] = call.data_order;
  if (call.data_seed) json["data_seed"] = *call.data_seed;
  json["response_check"] = call.response_check;
}

// One value, as a rule; several where connections came out differently.
std::string Negotiated(const RunContext& c, std::string NegotiatedTls::*field) {
  std::vector<std::string> values;
  for (const NegotiatedTls& each : c.negotiated) {
    if (std::find(values.begin(), values.end(), each.*field) == values.end()) values.push_back(each.*field);
  }
  return absl::StrJoin(values, ",");
}

void AddSecurity(Json& json, const RunContext& c) {
  const Security& security = c.run.security;
  if (!security.tls) return;
  const bool mutual = std::any_of(c.negotiated.begin(), c.negotiated.end(), [](auto& each) { return each.mutual; });
  json["security"] = mutual ? "mutual-tls" : "tls";
  json["tls_min_version"] = std::string(ToString(security.min_version));
  if (const std::string ciphers = CipherList(security); !ciphers.empty()) json["tls_ciphers"] = ciphers;
  if (c.negotiated.empty()) return;
  json["tls_version"] = Negotiated(c, &NegotiatedTls::version);
  json["tls_cipher"] = Negotiated(c, &NegotiatedTls::cipher);
  json["tls_alpn"] = Negotiated(c, &NegotiatedTls::alpn);
}

void AddLoop(Json& json, const RunContext& c) {
  json["loop"] = c.open_loop() ? "open" : "closed";
  if (c.open_loop()) {
    const ScheduleConfig& schedule = c.run.schedule;
    json["arrivals"] = std::string(ToString(schedule.arrivals));
    json["at_limit"] = std::string(ToString(schedule.at_limit));
    json["pace"] = std::string(ToString(schedule.pace));
    json["schedule_seed"] = schedule.seed;
  }
  if (!c.objective.empty()) json["objective"] = c.objective;
}

void AddTimes(Json& json, const RunConfig& run) {
  json["warmup_ns"] = run.warmup_ns;
  if (run.skip_first > 0) json["skip_first"] = run.skip_first;
  json["interval_ns"] = run.interval_ns;
  if (run.total > 0) json["total_calls"] = run.total;
  if (run.deadline_ns) json["deadline_ns"] = *run.deadline_ns;
}

void AddChannels(Json& json, const RunConfig& run) {
  json["channel_args"] = Json::object();
  for (const ChannelArg& arg : run.channel_args) {
    const int* number = std::get_if<int>(&arg.value);
    json["channel_args"][arg.key] = number ? absl::StrCat(*number) : std::get<std::string>(arg.value);
  }
  if (!run.service_config.empty()) json["service_config"] = run.service_config;
  if (run.wait_for_ready) json["wait_for_ready"] = true;
}

}  // namespace

Json JsonContext(const Result& result) {
  const RunContext& c = result.context;
  if (!c.of_file.empty()) return Json::parse(c.of_file);
  const Environment& e = c.environment;
  const RunConfig& run = c.run;
  Json json = {
      {"schema_version", kSchemaVersion}, {"date", e.date},         {"host_name", e.host_name},
      {"executable", e.executable},       {"num_cpus", e.num_cpus},
  };
  if (e.mhz_per_cpu) json["mhz_per_cpu"] = std::lround(*e.mhz_per_cpu);
  if (e.cpu_scaling_enabled) json["cpu_scaling_enabled"] = *e.cpu_scaling_enabled;
  json["caches"] = Json::array();  // Google Benchmark's readers expect the key
  json["load_avg"] = e.load_average;
  json["library_build_type"] = e.build_type;
  json["cqbench_version"] = e.cqbench_version;
  json["command_line"] = e.command_line;
  json["affinity"] = e.affinity;
  json["cpu_model"] = e.cpu_model;
  json["kernel"] = e.kernel;
  json["grpc_version"] = e.grpc_version;
  if (!e.grpc_build.link.empty()) json["grpc_link"] = e.grpc_build.link;
  if (e.grpc_build.assertions) json["grpc_assertions"] = *e.grpc_build.assertions;
  json["protobuf_version"] = e.protobuf_version;
  json["deadlock_detection"] = e.deadlock_detection;
  json["compiler"] = e.compiler;
  json["boot_id"] = e.boot_id;
  json["clock_source"] = e.clock_source;
  json["target"] = TargetNames(run);
  AddSecurity(json, c);
  AddMethod(json, run);
  AddCall(json, c);
  json["api"] = std::string(ToString(run.api));
  AddLoop(json, c);
  json["poll"] = std::string(ToString(run.poll));
  json["channel_policy"] = run.policy.ToString();
  AddTimes(json, run);
  const bool payload = run.method.has_payload;
  json["request_bytes"] = run.http ? run.http->body.size() : payload ? run.message.request_bytes : 0;
  json["response_bytes"] = payload ? run.message.response_bytes : 0;
  AddChannels(json, run);
  json["servers"] = Json::array();
  for (const ServerDescription& server : result.servers) json["servers"].push_back(Server(server));
  for (const PeerSettings& peer : result.peer_settings) json["peer_settings"].push_back(Peer(peer));
  json["warnings"] = JsonNotices(result.warnings);
  json["notes"] = JsonNotices(result.notes);
  json["partial"] = result.partial;
  return json;
}

}  // namespace cqbench
