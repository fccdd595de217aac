// Google Benchmark's JSON layout, so that its compare.py reads our files; our own figures are further keys, with their
// unit in the name.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"

namespace cqbench {
namespace {

using Json = nlohmann::ordered_json;

Json Context(const Result& result) {
  const RunContext& c = result.context;
  Json json = {
      {"date", c.date},
      {"host_name", c.host_name},
      {"executable", c.executable},
      {"num_cpus", c.num_cpus},
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
  json["target"] = c.target;
  json["workload"] = c.workload;
  json["mode"] = c.mode;
  json["api"] = c.api;
  json["poll"] = c.poll;
  json["channel_policy"] = c.policy;
  json["warmup_ns"] = c.warmup_ns;
  json["interval_ns"] = c.interval_ns;
  json["deadline_ns"] = c.deadline_ns;
  json["request_bytes"] = c.request_bytes;
  json["response_bytes"] = c.response_bytes;
  json["channel_args"] = Json::object();
  for (const auto& [key, value] : c.channel_args) json["channel_args"][key] = value;
  if (!c.service_config.empty()) json["service_config"] = c.service_config;
  json["partial"] = result.partial;
  return json;
}

void AddLatency(Json& json, const LatencyStats& l) {
  json["latency_samples"] = l.count;
  json["latency_mean_ns"] = l.mean_ns;
  json["latency_stddev_ns"] = l.stddev_ns;
  json["latency_min_ns"] = l.min_ns;
  json["latency_p50_ns"] = l.p50_ns;
  json["latency_p90_ns"] = l.p90_ns;
  json["latency_p95_ns"] = l.p95_ns;
  json["latency_p99_ns"] = l.p99_ns;
  json["latency_p99_9_ns"] = l.p999_ns;
  json["latency_max_ns"] = l.max_ns;
}

// What Google Benchmark measures, per completed RPC.
void AddTimes(Json& json, const PointResult& p) {
  json["iterations"] = p.completed;
  if (p.completed > 0) json["real_time"] = static_cast<double>(p.window_ns) / static_cast<double>(p.completed);
  if (const auto cpu = p.CpuPerRpcNs()) json["cpu_time"] = *cpu;
  json["time_unit"] = "ns";
}

Json Run(const Result& result, const PointResult& p, const std::string& name, size_t family_index) {
  Json json = {
      {"name", name},
      {"family_index", 0},
      {"per_family_instance_index", family_index},
      {"run_name", name},
      {"run_type", "iteration"},
      {"repetitions", result.context.repetitions},
      {"repetition_index", p.repetition},
      {"threads", p.threads},
  };
  if (!p.failure.empty()) {
    json["error_occurred"] = true;
    json["error_message"] = p.failure;
  }
  AddTimes(json, p);
  json["inflight"] = p.inflight;
  json["start_time"] = p.start_time;
  json["channels"] = p.channels;
  json["connections"] = p.connections ? Json(*p.connections) : Json();
  json["expected_connections"] = p.expected_connections;
  json["window_ns"] = p.window_ns;
  json["completed"] = p.completed;
  json["throughput_per_second"] = p.ThroughputPerSecond();
  if (p.latency) AddLatency(json, *p.latency);
  if (p.cpu_user_ns) json["client_cpu_user_ns"] = *p.cpu_user_ns;
  if (p.cpu_system_ns) json["client_cpu_system_ns"] = *p.cpu_system_ns;
  json["failed"] = p.Failed();
  json["unfinished"] = p.unfinished;
  json["errors"] = Json::array();
  for (const ErrorCount& e : p.errors) {
    json["errors"].push_back({{"code", e.code}, {"count", e.count}, {"first_message", e.first_message}});
  }
  json["warnings"] = p.warnings;
  json["completed_per_worker"] = p.completed_per_worker;
  json["partial"] = p.partial;
  return json;
}

// With repetitions, the median as an aggregate, as Google Benchmark writes it.
Json Median(const Result& result, const PointResult& p, const std::string& name, size_t family_index) {
  Json json = {
      {"name", absl::StrCat(name, "_median")},
      {"family_index", 0},
      {"per_family_instance_index", family_index},
      {"run_name", name},
      {"run_type", "aggregate"},
      {"repetitions", result.context.repetitions},
      {"threads", p.threads},
      {"aggregate_name", "median"},
      {"aggregate_unit", "time"},
  };
  AddTimes(json, p);
  json["inflight"] = p.inflight;
  json["throughput_per_second"] = p.ThroughputPerSecond();
  if (p.latency) AddLatency(json, *p.latency);
  return json;
}

}  // namespace

std::string FormatJson(const Result& result) {
  Json benchmarks = Json::array();
  const std::vector<PointResult> rows = MedianOverRepetitions(result.points);
  const auto index_of = [&](int inflight) {
    return static_cast<size_t>(std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.inflight == inflight; }) -
                               rows.begin());
  };
  const auto name_of = [&](const PointResult& p) {
    return absl::StrCat(SeriesName(result.context), "/inflight:", p.inflight);
  };
  // compare.py takes the times of every entry of benchmarks[] without asking whether an error occurred, so points
  // without them have a list of their own.
  Json not_measured = Json::array();
  for (const PointResult& p : result.points) {
    (p.completed > 0 ? benchmarks : not_measured).push_back(Run(result, p, name_of(p), index_of(p.inflight)));
  }
  if (result.context.repetitions > 1) {
    for (const PointResult& p : rows) {
      if (p.completed > 0) benchmarks.push_back(Median(result, p, name_of(p), index_of(p.inflight)));
    }
  }
  const Json json = {
      {"context", Context(result)}, {"benchmarks", std::move(benchmarks)}, {"not_measured", std::move(not_measured)}};
  // Messages of failed calls come from the network: bytes that are not UTF-8 are replaced, not thrown over.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cqbench
