// What a run found: plain data that knows neither gRPC nor how it was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cqbench/clock.h"
#include "cqbench/figures.h"
#include "cqbench/histogram.h"

namespace cqbench {

// Of successful calls that were due in the window. Nanoseconds.
struct LatencyStats {
  uint64_t count = 0;
  double mean_ns = 0;
  double stddev_ns = 0;
  Nanos min_ns = 0;
  Nanos p50_ns = 0;
  Nanos p90_ns = 0;
  Nanos p95_ns = 0;
  Nanos p99_ns = 0;
  Nanos p999_ns = 0;
  Nanos max_ns = 0;

  // Whether enough calls are slower than the percentile for it to be a number: at least ten. P50 needs 20 calls, P90
  // 100, P95 200, P99 1,000, P99.9 10,000.
  bool Knows(Nanos LatencyStats::*percentile) const;
};
// Absent when the histogram is empty.
std::optional<LatencyStats> Summarize(const Histogram& histogram);

struct ErrorCount {
  std::string code;  // "UNAVAILABLE"
  uint64_t count = 0;
  std::string first_message;
};

// What a CPU did between two samples, as shares of the time.
struct CpuShares {
  int cpu = 0;
  double busy = 0;
  double idle = 0;
  double softirq = 0;
  double steal = 0;
};

// One in-flight count in one repetition of the sweep.
struct PointResult {
  int inflight = 0;
  int repetition = 0;
  std::string start_time;  // local time with offset, RFC 3339, when the point began
  int channels = 0;
  int threads = 0;  // that issue calls and take completions; 0 where the library's own do (callback API)
  // Established to the targets, from the process's own descriptors: the most that was seen after connecting and at both
  // edges of the window.
  std::optional<int> connections;
  int expected_connections = 0;

  Nanos window_ns = 0;     // measured length
  uint64_t completed = 0;  // successful completions inside the window
  std::optional<LatencyStats> latency;
  std::string latency_histogram;   // as EncodeHdr() writes it; empty without latencies
  std::vector<ErrorCount> errors;  // by status code, most frequent first
  uint64_t unfinished = 0;         // calls that had to be cancelled after the window because they did not end
  std::vector<std::string> warnings;
  std::vector<uint64_t> completed_per_worker;
  // Throughput of equal parts of the window, in order: whether it was steady. Empty when the window was too short.
  std::vector<double> slices_per_second;

  // Evidence: why the point is as it is. result.schema.json lists the figures. "client_cpu_user_ns" and
  // "client_cpu_system_ns", scaled to the window, are there without evidence too.
  Figures figures;
  std::vector<std::pair<std::string, std::string>> facts;  // "client_congestion_control", "cubic"
  std::vector<CpuShares> client_cpus;                      // those that the process may run on
  std::vector<CpuShares> server_cpus;
  std::vector<std::string> notes;    // what could not be measured, and why
  std::vector<std::string> suspect;  // why the point should not be believed, or not be read as it stands
  bool partial = false;              // the window was cut short
  std::string failure;               // why nothing was measured; empty when something was

  uint64_t Failed() const;
  double ThroughputPerSecond() const;         // 0 when nothing was measured
  double ErrorRate() const;                   // failed / (failed + completed); 0 when neither happened
  std::optional<double> CpuPerRpcNs() const;  // of this process, all threads; absent when nothing was measured
};

// Where and with what the run was made, and what it was asked for.
struct RunContext {
  std::string date;  // start, RFC 3339
  std::string host_name;
  std::string executable;
  std::vector<std::string> command_line;
  int num_cpus = 0;      // online
  std::string affinity;  // "0-3,8": CPUs that the process may run on
  std::string cpu_model;
  std::optional<double> mhz_per_cpu;
  std::optional<bool> cpu_scaling_enabled;  // absent where the kernel does not say
  std::vector<double> load_average;
  std::string kernel;
  std::string grpc_version;
  std::string protobuf_version;
  bool deadlock_detection = false;  // abseil's was left on, if it has it
  std::string boot_id;              // the same for all processes of one machine
  std::string clock_source;         // "tsc"; empty when the kernel does not say
  std::string compiler;
  std::string build_type;  // "release", "debug"; "asan" or "tsan" when instrumented
  std::string cqbench_version;

  std::string target;
  std::string workload;
  std::string mode;
  std::string api;
  std::string poll;
  std::string policy;
  Nanos warmup_ns = 0;
  Nanos interval_ns = 0;
  Nanos deadline_ns = 0;
  int repetitions = 1;
  uint32_t request_bytes = 0;
  uint32_t response_bytes = 0;
  std::vector<std::pair<std::string, std::string>> channel_args;
  std::string service_config;
};

// What a server said of itself; see proto/control.proto.
struct ServerInfo {
  std::string address;
  uint64_t instance = 0;  // drawn at random when it started
  std::string cqbench_version;
  std::string grpc_version;
  std::string build_type;
  std::string api;
  std::string poll;  // empty where the library waits
  int num_cqs = 0;   // 0 where the library has them to itself
  int workers_per_cq = 0;
  int callbacks_per_cq = 0;  // 0 where nothing is posted
  std::vector<std::string> channel_args;
  std::vector<std::string> listening;
  int tcp_echo_port = 0;
  Nanos service_time_ns = 0;  // mean; 0: none
  bool service_time_exponential = false;
  bool service_time_waits = false;
  bool counts_allocations = false;
  bool deadlock_detection = false;
  std::string boot_id;
  std::vector<int> cpus;  // that it may run on
  std::string cpu_model;
  std::string kernel;
  std::string clock_source;
  std::optional<bool> cpu_scaling_enabled;
};

// The floor that gRPC stands on, measured in the same run with one call in flight.
struct BaselineResult {
  std::string name;         // "tcp-block"
  std::string description;  // "raw TCP, epoll, sleeping"
  PointResult point;
};

struct Result {
  RunContext context;
  std::vector<ServerInfo> servers;   // those with a control service
  std::vector<std::string> suspect;  // what holds for every point
  std::vector<std::string> notes;
  std::vector<PointResult> points;        // in the order in which they were measured
  std::vector<BaselineResult> baselines;  // the same
  bool partial = false;                   // interrupted: points are missing or cut short
};

// The figures of a point by name: throughput, latencies, CPU and all evidence.
Figures AllFigures(const PointResult& point);

// One row per in-flight count: the repetition itself when there is one, otherwise the median of each figure over the
// repetitions that measured something (the mean of the middle two when their number is even), without those that were
// cut short unless there is nothing else. Errors, unfinished calls and warnings are those of all repetitions.
std::vector<PointResult> MedianOverRepetitions(const std::vector<PointResult>& points);

}  // namespace cqbench
