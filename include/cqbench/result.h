// What a run found: plain data that knows neither gRPC nor how it was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cqbench/clock.h"
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
};
// Absent when the histogram is empty.
std::optional<LatencyStats> Summarize(const Histogram& histogram);

struct ErrorCount {
  std::string code;  // "UNAVAILABLE"
  uint64_t count = 0;
  std::string first_message;
};

// One in-flight count in one repetition of the sweep.
struct PointResult {
  int inflight = 0;
  int repetition = 0;
  std::string start_time;  // local time with offset, RFC 3339, when the point began
  int channels = 0;
  int threads = 0;                 // that issue calls and take completions; 0 where the library's own do (callback API)
  std::optional<int> connections;  // established to the targets after connecting, from the process's own descriptors
  int expected_connections = 0;

  Nanos window_ns = 0;     // measured length
  uint64_t completed = 0;  // successful completions inside the window
  std::optional<LatencyStats> latency;
  // CPU of this process in the window, all threads. Absent when there was no window.
  std::optional<Nanos> cpu_user_ns;
  std::optional<Nanos> cpu_system_ns;

  std::vector<ErrorCount> errors;  // by status code, most frequent first
  uint64_t unfinished = 0;         // calls that had to be cancelled after the window because they did not end
  std::vector<std::string> warnings;
  std::vector<uint64_t> completed_per_worker;
  bool partial = false;  // the window was cut short
  std::string failure;   // why nothing was measured; empty when something was

  uint64_t Failed() const;
  double ThroughputPerSecond() const;  // 0 when nothing was measured
  double ErrorRate() const;            // failed / (failed + completed); 0 when neither happened
  std::optional<double> CpuPerRpcNs() const;
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

struct Result {
  RunContext context;
  std::vector<PointResult> points;  // in the order in which they were measured
  bool partial = false;             // interrupted: points are missing or cut short
};

// One row per in-flight count: the repetition itself when there is one, otherwise the median of each figure over the
// repetitions that measured something (the mean of the middle two when their number is even), without those that were
// cut short unless there is nothing else. Errors, unfinished calls and warnings are those of all repetitions.
std::vector<PointResult> MedianOverRepetitions(const std::vector<PointResult>& points);

}  // namespace cqbench
