#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/json_util.h"
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
  return Json::parse(text);
}

void AddMethod(Json& json, const RunContext& c) {
  json["workload"] = c.method.workload;
  json["method"] = c.method.name;
  json["shape"] = std::string(ToString(c.method.shape));
  json["rpc"] = c.method.path;
  if (c.http_version.empty()) {
    json["messages"] = c.messages;
    json["stub"] = c.stub;
  } else {
    json["http_version"] = c.http_version;
    json["http_request"] = c.http_request;
  }
  if (c.codec == "pooled") json["codec"] = c.codec;
  if (!c.payload.empty()) json["payload"] = c.payload;
  if (!c.content.empty()) json["content"] = c.content;
  if (!c.write_hint.empty()) json["write_hint"] = c.write_hint;
  if (c.stream_messages > 0) json["stream_messages"] = c.stream_messages;
}

void AddCall(Json& json, const RunContext& c) {
  if (!c.metadata.empty()) json["metadata"] = c.metadata;
  if (!c.generated_metadata.empty()) json["generated_metadata"] = c.generated_metadata;
  if (!c.compression.empty()) json["compression"] = c.compression;
  const CallContext& call = c.call;
  if (call.data_messages == 0) return;
  json["data_messages"] = call.data_messages;
  json["data_hash"] = absl::StrCat(absl::Hex(call.data_hash, absl::kZeroPad16));
  if (!call.data_order.empty()) json["data_order"] = call.data_order;
  if (call.data_seed) json["data_seed"] = *call.data_seed;
  json["answers"] = call.answers;
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
  if (c.security.empty()) return;
  json["security"] = c.security;
  json["tls_min_version"] = c.tls_min_version;
  if (!c.tls_ciphers.empty()) json["tls_ciphers"] = c.tls_ciphers;
  if (c.negotiated.empty()) return;
  json["tls_version"] = Negotiated(c, &NegotiatedTls::version);
  json["tls_cipher"] = Negotiated(c, &NegotiatedTls::cipher);
  json["tls_alpn"] = Negotiated(c, &NegotiatedTls::alpn);
}

void AddLoop(Json& json, const RunContext& c) {
  json["loop"] = c.open_loop ? "open" : "closed";
  if (c.open_loop) {
    json["arrivals"] = c.arrivals;
    json["at_limit"] = c.at_limit;
    json["pace"] = c.pace;
    json["schedule_seed"] = c.schedule_seed;
  }
  if (!c.objective.empty()) json["objective"] = c.objective;
}

}  // namespace

Json JsonContext(const Result& result) {
  const RunContext& c = result.context;
  if (!c.of_file.empty()) return Json::parse(c.of_file);
  Json json = {
      {"schema_version", kSchemaVersion}, {"date", c.date},         {"host_name", c.host_name},
      {"executable", c.executable},       {"num_cpus", c.num_cpus},
  };
  if (c.mhz_per_cpu) json["mhz_per_cpu"] = std::lround(*c.mhz_per_cpu);
  if (c.cpu_scaling_enabled) json["cpu_scaling_enabled"] = *c.cpu_scaling_enabled;
  json["caches"] = Json::array();  // Google Benchmark's readers expect the key
  json["load_avg"] = c.load_average;
  json["library_build_type"] = c.build_type;
  json["cqbench_version"] = c.cqbench_version;
  json["command_line"] = c.command_line;
  json["affinity"] = c.affinity;
  json["cpu_model"] = c.cpu_model;
  json["kernel"] = c.kernel;
  json["grpc_version"] = c.grpc_version;
  json["protobuf_version"] = c.protobuf_version;
  json["deadlock_detection"] = c.deadlock_detection;
  json["compiler"] = c.compiler;
  json["boot_id"] = c.boot_id;
  json["clock_source"] = c.clock_source;
  json["target"] = c.target;
  AddSecurity(json, c);
  AddMethod(json, c);
  AddCall(json, c);
  json["api"] = c.api;
  AddLoop(json, c);
  json["poll"] = c.poll;
  json["channel_policy"] = c.policy;
  json["warmup_ns"] = c.warmup_ns;
  if (c.skip_first > 0) json["skip_first"] = c.skip_first;
  json["interval_ns"] = c.interval_ns;
  if (c.total_calls > 0) json["total_calls"] = c.total_calls;
  if (c.deadline_ns) json["deadline_ns"] = *c.deadline_ns;
  json["request_bytes"] = c.request_bytes;
  json["response_bytes"] = c.response_bytes;
  json["channel_args"] = Json::object();
  for (const auto& [key, value] : c.channel_args) json["channel_args"][key] = value;
  if (!c.service_config.empty()) json["service_config"] = c.service_config;
  if (c.wait_for_ready) json["wait_for_ready"] = true;
  json["servers"] = Json::array();
  for (const ServerDescription& server : result.servers) json["servers"].push_back(Server(server));
  json["suspect"] = JsonFindings(result.suspect);
  json["notes"] = result.notes;
  json["partial"] = result.partial;
  return json;
}

}  // namespace cqbench
