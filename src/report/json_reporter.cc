// Google Benchmark's JSON layout, so that its compare.py reads our files; our own figures are further keys, with their
// unit in the name.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"
#include "cqbench/statistics.h"

namespace cqbench {
namespace {

using Json = nlohmann::ordered_json;

// Of scripts/cqbench/result.schema.json. Files without the key are version 1: the same without evidence.
constexpr int kSchemaVersion = 2;

// Figures are doubles inside; fractions of large ones say nothing, and whole numbers are written as such.
Json Number(double value) {
  if (std::abs(value) >= 1000 || value == std::floor(value)) return std::llround(value);
  return value;
}

Json Cpus(const std::vector<CpuShares>& cpus) {
  Json list = Json::array();
  for (const CpuShares& c : cpus) {
    list.push_back({{"cpu", c.cpu},
                    {"busy_share", c.busy},
                    {"idle_share", c.idle},
                    {"softirq_share", c.softirq},
                    {"steal_share", c.steal}});
  }
  return list;
}

Json Server(const ServerInfo& s) {
  Json json = {{"address", s.address},
               {"instance", absl::StrCat(absl::Hex(s.instance, absl::kZeroPad16))},
               {"cqbench_version", s.cqbench_version},
               {"grpc_version", s.grpc_version},
               {"build_type", s.build_type},
               {"api", s.api}};
  if (!s.poll.empty()) json["poll"] = s.poll;
  if (s.num_cqs > 0) json["num_cqs"] = s.num_cqs;
  if (s.workers_per_cq > 0) json["workers_per_cq"] = s.workers_per_cq;
  if (s.callbacks_per_cq > 0) json["callbacks_per_cq"] = s.callbacks_per_cq;
  json["channel_args"] = s.channel_args;
  json["listening"] = s.listening;
  if (s.tcp_echo_port > 0) json["tcp_echo_port"] = s.tcp_echo_port;
  if (s.service_time_ns > 0) {
    json["service_time_ns"] = s.service_time_ns;
    json["service_time_distribution"] = s.service_time_exponential ? "exponential" : "constant";
    json["service_time_mode"] = s.service_time_waits ? "wait" : "burn";
  }
  json["counts_allocations"] = s.counts_allocations;
  json["deadlock_detection"] = s.deadlock_detection;
  json["boot_id"] = s.boot_id;
  json["cpus"] = s.cpus;
  json["cpu_model"] = s.cpu_model;
  json["kernel"] = s.kernel;
  json["clock_source"] = s.clock_source;
  if (s.cpu_scaling_enabled) json["cpu_scaling_enabled"] = *s.cpu_scaling_enabled;
  return json;
}

Json Context(const Result& result) {
  const RunContext& c = result.context;
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
  json["servers"] = Json::array();
  for (const ServerInfo& server : result.servers) json["servers"].push_back(Server(server));
  json["suspect"] = result.suspect;
  json["notes"] = result.notes;
  json["partial"] = result.partial;
  return json;
}

// Percentiles of too few calls are left out.
void AddLatency(Json& json, const LatencyStats& l) {
  json["latency_samples"] = l.count;
  json["latency_mean_ns"] = l.mean_ns;
  json["latency_stddev_ns"] = l.stddev_ns;
  constexpr std::pair<const char*, Nanos LatencyStats::*> kFields[] = {
      {"latency_min_ns", &LatencyStats::min_ns}, {"latency_p50_ns", &LatencyStats::p50_ns},
      {"latency_p90_ns", &LatencyStats::p90_ns}, {"latency_p95_ns", &LatencyStats::p95_ns},
      {"latency_p99_ns", &LatencyStats::p99_ns}, {"latency_p99_9_ns", &LatencyStats::p999_ns},
      {"latency_max_ns", &LatencyStats::max_ns}};
  for (const auto& [key, field] : kFields) {
    if (l.Knows(field)) json[key] = l.*field;
  }
}

// Everything that was measured in the window.
void AddMeasured(Json& json, const PointResult& p) {
  json["inflight"] = p.inflight;
  json["start_time"] = p.start_time;
  json["channels"] = p.channels;
  json["connections"] = p.connections ? Json(*p.connections) : Json();
  json["expected_connections"] = p.expected_connections;
  json["window_ns"] = p.window_ns;
  json["completed"] = p.completed;
  json["throughput_per_second"] = p.ThroughputPerSecond();
  if (p.latency) AddLatency(json, *p.latency);
  if (!p.latency_histogram.empty()) json["latency_histogram"] = p.latency_histogram;
  json["failed"] = p.Failed();
  json["unfinished"] = p.unfinished;
  json["errors"] = Json::array();
  for (const ErrorCount& e : p.errors) {
    json["errors"].push_back({{"code", e.code}, {"count", e.count}, {"first_message", e.first_message}});
  }
  json["warnings"] = p.warnings;
  json["completed_per_worker"] = p.completed_per_worker;
  json["slices_per_second"] = Json::array();
  for (double slice : p.slices_per_second) json["slices_per_second"].push_back(Number(slice));
  for (const auto& [name, value] : p.figures) json[name] = Number(value);
  for (const auto& [name, value] : p.facts) json[name] = value;
  if (!p.client_cpus.empty()) json["client_cpus"] = Cpus(p.client_cpus);
  if (!p.server_cpus.empty()) json["server_cpus"] = Cpus(p.server_cpus);
  json["notes"] = p.notes;
  json["suspect"] = p.suspect;
  json["partial"] = p.partial;
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
  AddMeasured(json, p);
  return json;
}

// The floor, with the same keys as a point.
Json Baseline(const BaselineResult& baseline) {
  Json json = {{"name", baseline.name},
               {"description", baseline.description},
               {"repetition_index", baseline.point.repetition},
               {"threads", baseline.point.threads}};
  if (!baseline.point.failure.empty()) json["error_message"] = baseline.point.failure;
  AddMeasured(json, baseline.point);
  return json;
}

Json Statistics(const std::vector<PointResult>& points) {
  Json list = Json::array();
  for (const PointStatistics& statistics : DescribePoints(points)) {
    Json figures = Json::object();
    for (const auto& [name, spread] : statistics.figures) {
      Json json = {{"median", Number(spread.median)}, {"min", Number(spread.min)}, {"max", Number(spread.max)}};
      if (spread.count > 1) json["stddev"] = Number(spread.stddev);
      if (spread.ci95) {
        json["ci95_low"] = Number(spread.ci95->low);
        json["ci95_high"] = Number(spread.ci95->high);
      }
      figures[name] = std::move(json);
    }
    list.push_back(
        {{"inflight", statistics.inflight}, {"repetitions", statistics.repetitions}, {"figures", std::move(figures)}});
  }
  return list;
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
  Json json = {
      {"context", Context(result)}, {"benchmarks", std::move(benchmarks)}, {"not_measured", std::move(not_measured)}};
  if (result.context.repetitions > 1) {
    json["statistics_interval"] = kIntervalMethod;
    json["statistics"] = Statistics(result.points);
  }
  if (!result.baselines.empty()) {
    json["baselines"] = Json::array();
    for (const BaselineResult& baseline : result.baselines) json["baselines"].push_back(Baseline(baseline));
  }
  // Messages of failed calls come from the network: bytes that are not UTF-8 are replaced, not thrown over.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cqbench
