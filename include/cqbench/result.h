// The result of a run: plain data without any code of gRPC or of measuring.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cqbench/figures.h"
#include "cqbench/measurement.h"
#include "cqbench/proto/control.pb.h"
#include "cqbench/run_config.h"
#include "src/base/clock.h"
#include "src/base/http2_settings.h"
#include "src/config/load.h"
#include "src/config/security.h"
#include "src/result/allocation_sites.h"
#include "src/result/grpc_build.h"
#include "src/result/notice.h"
#include "src/result/rank_result.h"
#include "src/stats/find_rate.h"

namespace cqbench {

// Version of the result JSON's layout (scripts/cqbench/files/result.schema.json).
inline constexpr int kSchemaVersion = 4;

// Latencies of the successful calls that belong to the window and of censored calls. A censored call never ended: it
// enters with its age, because it took at least that long. Nanoseconds.
struct LatencyStats {
  uint64_t count = 0;
  uint64_t at_least = 0;              // of them, censored
  std::optional<Nanos> least_age_ns;  // minimum age of the censored calls
  double mean_ns = 0;
  double stddev_ns = 0;
  Nanos min_ns = 0;
  Nanos p50_ns = 0;
  Nanos p90_ns = 0;
  Nanos p95_ns = 0;
  Nanos p99_ns = 0;
  Nanos p999_ns = 0;
  Nanos max_ns = 0;

  // Returns true if the percentile is known. Enough calls must be slower, at least ten: P50 needs 20 calls, P90 100,
  // P95 200, P99 1,000, P99.9 10,000. And it must be below the least age of a call that never ended: whatever such a
  // call would have taken, it would not change the percentile. The greatest is not known once there is such a call.
  bool Knows(Nanos LatencyStats::*percentile) const;
  // Returns true if mean and standard deviation are known: every call moves them, so no call may be censored.
  bool KnowsMean() const { return count > 0 && at_least == 0; }
};
// `at_least`: ages of calls that never ended; may be nullptr. Absent when there are no calls at all.
std::optional<LatencyStats> Summarize(const Histogram& histogram, const Histogram* at_least = nullptr);

// One part of a time series.
struct TimeBucketResult {
  uint64_t completed = 0;
  uint64_t failed = 0;
  Nanos p50_ns = 0;  // of latencies from due; 0 when there are none
  Nanos p99_ns = 0;
  Nanos max_ns = 0;
};

// Failures with one status code, bucket by bucket.
struct TimeBucketFailures {
  std::string code;  // "UNAVAILABLE"
  std::vector<uint64_t> counts;
};

// The figures of an open loop.
struct OpenLoopResult {
  std::optional<LatencyStats> from_sent;
  std::string from_sent_histogram;
  Nanos lateness_p50_ns = 0;  // from due until the pacer looked at the call
  Nanos lateness_p99_ns = 0;
  Nanos lateness_max_ns = 0;
  Nanos slot_wait_mean_ns = 0;  // from there until it had a slot
  Nanos slot_wait_p99_ns = 0;
  Nanos slot_wait_max_ns = 0;
  uint64_t largest_burst = 0;
  double outstanding_first_half = 0;  // mean number of calls that were due and had not ended, by half of the window
  double outstanding_second_half = 0;
  int pacers = 0;              // threads that send on time; with the sync API each slot's thread does
  Nanos margin_ns = 0;         // of hybrid pacing: how long before due sleeping ends and spinning begins
  uint64_t schedule_hash = 0;  // of all due times of the point, warm-up included, relative to its start
  // The shape of the arrivals, from the times of sending: the coefficient of variation of the gaps (Poisson 1, constant
  // 0) and the correlation of neighbouring gaps. Effect sizes: a significance test rejects every real pacer.
  std::optional<double> gap_cv;
  std::optional<double> gap_correlation;
};

struct ErrorCount {
  std::string code;  // "UNAVAILABLE"
  uint64_t count = 0;
  std::string first_message;
};

// The use of a CPU between two samples, as shares of the time.
struct CpuShares {
  int cpu = 0;
  double busy = 0;
  double idle = 0;
  double softirq = 0;
  double steal = 0;
};

// One load in one repetition of the sweep.
struct PointResult {
  Load load;
  int repetition = 0;
  std::string start_time;  // local time with offset, RFC 3339, when the point began
  int channels = 0;
  int threads = 0;  // that issue calls and take completions; 0 where the library's own do (callback API)
  // Established to the targets, from the process's own descriptors: the most that was seen after connecting and at both
  // boundaries of the window.
  std::optional<int> connections;
  int expected_connections = 0;

  Nanos window_ns = 0;     // measured length
  uint64_t completed = 0;  // successful completions inside the window
  CallCounts counts;
  std::optional<LatencyStats> latency;  // from due; in a closed loop due is sent
  std::string latency_histogram;        // as EncodeHdr() writes it; empty without latencies
  std::optional<OpenLoopResult> open_loop;
  std::vector<ErrorCount> errors;  // by status code, most frequent first
  std::vector<uint64_t> completed_per_slot;
  std::vector<std::vector<int>> channels_of_thread;  // indices, in order; empty where the library has the threads
  // Equal parts of the window, in order. Empty when the window was too short or there are too many threads.
  Nanos bucket_ns = 0;
  std::vector<TimeBucketResult> time_buckets;
  std::vector<TimeBucketFailures> bucket_failures;  // of codes that occurred in any

  // Evidence: why the point is as it is. result.schema.json lists the figures. "client_cpu_user_ns" and
  // "client_cpu_system_ns", scaled to the window, are there without evidence too.
  Figures figures;
  std::vector<std::pair<std::string, std::string>> facts;  // "client_congestion_control", "cubic"
  std::vector<CpuShares> client_cpus;                      // those that the process may run on
  std::vector<CpuShares> server_cpus;
  std::vector<NegotiatedTls> negotiated;  // on the connections that are measured, each kind once
  // The three channels of text: why the point is unreliable; what explains it, although it is reliable; and `failure`.
  std::vector<Notice> warnings;
  std::vector<Notice> notes;
  bool stuck = false;                // calls never ended: this process must measure nothing any more
  bool objective_met = true;         // of --objective; true when there is none
  bool partial = false;              // the window was cut short
  std::string failure;               // why nothing was measured; empty when something was
  std::optional<RankResult> rank;    // of several client processes
  std::optional<RanksResult> ranks;  // of their results merged

  uint64_t Failed() const;
  double ThroughputPerSecond() const;  // 0 when nothing was measured
  // Calls without a good response (failed, unfinished, unsent) / those and the completed ones; 0 when neither happened.
  double ErrorRate() const;
  std::optional<double> CpuPerRpcNs() const;  // of this process, all threads; absent when nothing was measured
};

// The data and checks of a user's own method.
struct CallContext {
  int data_messages = 0;   // 0: it is one of ours
  uint64_t data_hash = 0;  // of the requests' bytes
  std::string data_order;  // "rotate"; empty for one message
  std::optional<uint64_t> data_seed;
  std::string response_check;  // "bytes", "parsed", "compared"
};

// Where, when and by which program the run was made.
struct Environment {
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
  GrpcBuild grpc_build;
  std::string protobuf_version;
  bool deadlock_detection = false;  // abseil's was left on, if it has it
  std::string boot_id;              // the same for all processes of one machine
  std::string clock_source;         // "tsc"; empty when the kernel does not say
  std::string compiler;
  std::string build_type;  // "release", "debug"; "asan" or "tsan" when instrumented
  std::string cqbench_version;
};

struct RunContext {
  // Ranks that were merged from files: the context of rank 0's file as JSON, with what the merge changes. Otherwise
  // empty, and the fields below have everything.
  std::string of_file;
  Environment environment;
  RunConfig run;
  std::string objective;  // "p99<2ms"; empty: none
  int repetitions = 1;    // that were made
  CallContext call;
  std::vector<NegotiatedTls> negotiated;  // each kind once; empty: nothing is known of it

  bool open_loop() const { return !run.points.empty() && run.points.front().open(); }
};

// A server's description of itself (proto/control.proto). The client cleans and checks it when it arrives.
using ServerDescription = control::v1::ServerDescription;

// A lower bound of latency, measured in the same run with one call in flight.
struct LowerBound {
  std::string name;         // "tcp-block"
  std::string description;  // "raw TCP, epoll, sleeping"
  PointResult point;
};

struct Result {
  RunContext context;
  std::vector<ServerDescription> servers;   // those with a control service
  std::vector<PeerSettings> peer_settings;  // of each target, in order; empty without evidence
  std::vector<Notice> warnings;             // about every point
  std::vector<Notice> notes;
  std::vector<PointResult> points;       // in the order in which they were measured
  std::vector<LowerBound> lower_bounds;  // the same
  // The reports of one of several client processes, one for each point (proto/measurement.proto). Ranks are merged from
  // these.
  std::vector<std::string> rank_reports;
  std::optional<FindRateResult> find_rate;
  std::optional<AllocationSites> allocation_sites;  // of this process, over all points
  bool partial = false;                             // interrupted: points are missing or cut short
};

// Fills in what a measurement says: window, counts, latencies, errors, time series, pacing. Calls that never ended are
// in the histograms, too, with their age.
void Describe(const Measurement& measurement, PointResult& point);

// The figures of a point by name: throughput, latencies, CPU and all evidence.
Figures AllFigures(const PointResult& point);

// One row per load: the repetition itself when there is one, otherwise the median of each figure over the
// repetitions that measured something (the mean of the middle two when their number is even), without those that were
// cut short unless there is nothing else. Errors, counts of calls, findings and warnings are those of all repetitions;
// time series and histograms are those of the first. A percentile that calls without an end could change in the median
// is not known there either.
std::vector<PointResult> MedianOverRepetitions(const std::vector<PointResult>& points);

}  // namespace cqbench
