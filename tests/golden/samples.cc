#include "tests/golden/samples.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cqbench {
namespace {

RunContext Context() {
  RunContext c;
  c.date = "2026-01-31T12:00:00+01:00";
  c.host_name = "bench-1";
  c.executable = "./grpc_ping_client";
  c.command_line = {"./grpc_ping_client", "--host", "server-host", "--inflight-list", "1,8,48"};
  c.num_cpus = 64;
  c.affinity = "0-31,64";
  c.cpu_model = "Example CPU 9000 @ 2.60GHz";
  c.mhz_per_cpu = 2599.996;
  c.cpu_scaling_enabled = false;
  c.load_average = {0.5, 0.25, 0.125};
  c.kernel = "Linux 6.1.0-13-amd64 x86_64";
  c.grpc_version = "1.51.1";
  c.protobuf_version = "3.21.12";
  c.compiler = "g++ 12.2.0";
  c.build_type = "release";
  c.cqbench_version = "0.1.0";
  c.target = "server-host:2137";
  c.workload = "ping";
  c.mode = "unary";
  c.api = "cq";
  c.poll = "block";
  c.policy = "local-pool";
  c.warmup_ns = kNanosPerSecond;
  c.interval_ns = 10 * kNanosPerSecond;
  c.deadline_ns = kNanosPerSecond;
  return c;
}

// Microseconds in, so that the figures below read like the table.
LatencyStats Latency(uint64_t count, double p50, double p90, double p99, double p999, double max) {
  const auto ns = [](double micros) { return static_cast<Nanos>(micros * 1000); };
  LatencyStats l;
  l.count = count;
  l.mean_ns = p50 * 1040;
  l.stddev_ns = p50 * 130.5;
  l.min_ns = ns(p50 / 2);
  l.p50_ns = ns(p50);
  l.p90_ns = ns(p90);
  l.p95_ns = (ns(p90) + ns(p99)) / 2;
  l.p99_ns = ns(p99);
  l.p999_ns = ns(p999);
  l.max_ns = ns(max);
  return l;
}

PointResult Point(int inflight, uint64_t completed, const LatencyStats& latency) {
  PointResult p;
  p.inflight = inflight;
  p.start_time = "2026-01-31T12:00:01+01:00";
  p.channels = inflight;
  p.threads = inflight < 4 ? inflight : 4;
  p.connections = inflight;
  p.expected_connections = inflight;
  p.window_ns = 10 * kNanosPerSecond;
  p.completed = completed;
  p.latency = latency;
  p.latency_histogram = "HISTFAAAABB4nJNpmSzMwMAgAA==";
  p.figures.Set("client_cpu_user_ns", static_cast<double>(completed) * 9'000);
  p.figures.Set("client_cpu_system_ns", static_cast<double>(completed) * 15'000);
  for (int i = 0; i < inflight; ++i) {
    // The remainder goes to the first worker: the workers' calls add up to the point's.
    const auto workers = static_cast<uint64_t>(inflight);
    p.completed_per_worker.push_back(completed / workers + (i == 0 ? completed % workers : 0));
  }
  return p;
}

PointResult NotMeasured(int inflight, std::string why) {
  PointResult p;
  p.inflight = inflight;
  p.start_time = "2026-01-31T12:01:00+01:00";
  p.channels = inflight;
  p.expected_connections = inflight;
  p.failure = std::move(why);
  return p;
}

}  // namespace

Result SweepSample() {
  Result result;
  result.context = Context();
  result.points = {Point(1, 198'765, Latency(198'765, 48.5, 55.25, 71.0, 120.96, 1034.5)),
                   Point(8, 1'234'567, Latency(1'234'569, 61.1, 80.4, 131.9, 402.3, 5120.7)),
                   Point(48, 2'000'001, Latency(2'000'040, 233.2, 310.0, 455.6, 1999.9, 12345.6))};
  return result;
}

Result RepetitionsSample() {
  Result result;
  result.context = Context();
  result.context.repetitions = 3;
  result.context.policy = "pool:4";
  result.context.mode = "streaming";
  result.context.workload = "echo";
  result.context.request_bytes = 128;
  result.context.response_bytes = 4096;
  result.context.channel_args = {{"grpc.http2.bdp_probe", "0"}, {"grpc.optimization_target", "latency"}};
  result.context.service_config = "{\"loadBalancingConfig\":[{\"round_robin\":{}}]}";
  result.points = {Point(2, 300'000, Latency(300'000, 50.0, 60.0, 70.0, 80.0, 900.0)),
                   Point(16, 1'000'000, Latency(1'000'000, 150.0, 160.0, 170.0, 180.0, 1900.0)),
                   Point(2, 320'000, Latency(320'000, 48.0, 61.0, 69.0, 82.0, 1000.0)),
                   NotMeasured(16, "cannot connect to server-host:2137 within 5s (Connection refused)"),
                   Point(2, 310'000, Latency(310'000, 49.0, 59.0, 71.0, 81.0, 950.0)),
                   Point(16, 1'100'001, Latency(1'100'001, 140.0, 150.0, 165.0, 175.0, 1700.0))};
  for (size_t i = 0; i < result.points.size(); ++i) {
    PointResult& p = result.points[i];
    p.repetition = static_cast<int>(i / 2);
    p.channels = 4;
    p.expected_connections = 4;
    if (p.connections) p.connections = 4;
  }
  result.points[0].errors = {{"UNAVAILABLE", 2, "Socket closed"}};
  result.points[2].errors = {{"DEADLINE_EXCEEDED", 3, "Deadline Exceeded"}, {"UNAVAILABLE", 2, "Connection reset"}};
  return result;
}

Result TroubleSample() {
  Result result;
  result.context = Context();
  result.context.api = "callback";
  result.context.target = "unix:/run/ping.sock";
  result.context.build_type = "debug";
  result.context.deadlock_detection = true;
  result.context.mhz_per_cpu.reset();
  result.context.cpu_scaling_enabled.reset();
  result.context.cpu_model = "";
  result.partial = true;

  PointResult failing = Point(1, 1000, Latency(1000, 100.0, 200.0, 300.0, 400.0, 500.0));
  failing.errors = {{"UNAVAILABLE", 120, "failed to connect to all addresses; last error: \"Connection refused\", 111"},
                    {"DEADLINE_EXCEEDED", 7, "Deadline Exceeded"},
                    {"BAD_RESPONSE", 1, ""}};
  failing.warnings = {"policy local-pool promises 1 connection(s), this process has 2"};
  failing.connections = 2;
  failing.unfinished = 3;

  PointResult all_failed = NotMeasured(2, "no call succeeded: INTERNAL");
  all_failed.connections = 2;
  all_failed.window_ns = 10 * kNanosPerSecond;
  all_failed.errors = {{"INTERNAL", 4321, "bytes that are not UTF-8: \xff\xfe"}};
  all_failed.completed_per_worker = {0, 0};

  // Calls that take longer than the window: some end in it, none that was due in it has ended.
  PointResult no_latency = Point(4, 4, LatencyStats());
  no_latency.latency.reset();
  no_latency.latency_histogram.clear();
  no_latency.connections.reset();

  PointResult cut = Point(16, 31'250, Latency(31'250, 250.0, 251.0, 252.0, 253.0, 254.0));
  cut.window_ns = kNanosPerSecond / 2;
  cut.partial = true;

  result.points = {failing, all_failed, no_latency,
                   NotMeasured(8, "cannot connect to unix:/run/ping.sock within 5s (No such file or directory)"), cut};
  for (PointResult& p : result.points) p.threads = 0;
  return result;
}

namespace {

void SetFigures(Figures& figures, double scale) {
  const std::pair<const char*, double> kFigures[] = {
      {"client_connections", 1},
      {"client_rpcs_per_connection_min", 80'000 * scale},
      {"client_rpcs_per_connection_median", 80'000 * scale},
      {"client_rpcs_per_connection_max", 80'000 * scale},
      {"client_rpcs_per_segment_sent", 3.25 * scale},
      {"client_connection_busy_share_median", 0.8125},
      {"client_connection_idle_per_segment_ns_median", 7617.1875 / scale},
      {"client_rtt_smoothed_ns_median", 31'000},
      {"client_rtt_min_ns_min", 4'000},
      {"client_retransmissions", 0},
      {"client_cores_used", 0.97 * scale},
      {"client_busiest_worker_share", 0.98},
      {"client_cpu_per_rpc_ns", 12'125.5 / scale},
      {"client_voluntary_context_switches_per_rpc", 0.0625},
      {"client_threads", 12},
      {"server_rpcs", 80'010 * scale},
      {"server_rpcs_per_segment_sent", 1.5},
      {"server_connection_busy_share_median", 0.25},
      {"server_cores_used", 0.5 * scale},
      {"server_busiest_worker_share", 0.45},
      {"server_cpu_per_rpc_ns", 6'250},
      {"server_voluntary_context_switches_per_rpc", 0.5},
      {"server_threads", 9},
      {"server_rpcs_per_queue_min", 39'000},
      {"server_rpcs_per_queue_max", 41'000},
      {"breakdown_client_issue_p50_ns", 2'345},
      {"breakdown_client_wait_p50_ns", 45'678},
      {"breakdown_server_handling_p50_ns", 567},
      {"breakdown_server_finishing_p50_ns", 12'345},
      {"breakdown_client_issue_share", 0.0478},
      {"breakdown_server_handling_share", 0.0116},
      {"breakdown_network_share", 0.0816},
      {"breakdown_rest_share", 0.859},
      {"breakdown_cost_per_rpc_ns", 3.75},
      {"breakdown_clock_ns", 22.5},
      {"client_allocations_per_rpc", 21.5},
      {"client_allocated_bytes_per_rpc", 4'321.25},
      {"server_allocations_per_rpc", 17},
      {"server_allocated_bytes_per_rpc", 3'210},
  };
  for (const auto& [name, value] : kFigures) figures.Set(name, value);
}

ServerInfo Server() {
  ServerInfo server;
  server.address = "server-host:2137";
  server.instance = 1234567890123456789;
  server.cqbench_version = "0.1.0";
  server.grpc_version = "1.51.1";
  server.build_type = "release";
  server.api = "cq";
  server.poll = "block";
  server.num_cqs = 2;
  server.workers_per_cq = 1;
  server.callbacks_per_cq = 100;
  server.listening = {"server-host:2137"};
  server.tcp_echo_port = 2138;
  server.service_time_ns = 20'000;
  server.service_time_exponential = true;
  server.boot_id = "00000000-0000-4000-8000-000000000002";
  server.cpus = {0, 1, 2, 3};
  server.cpu_model = "Example CPU 9000 @ 2.60GHz";
  server.kernel = "Linux 6.1.0-13-amd64 x86_64";
  server.clock_source = "tsc";
  server.cpu_scaling_enabled = false;
  return server;
}

BaselineResult Baseline(const char* name, const char* description, double p50) {
  PointResult point = Point(1, 100'000, Latency(100'000, p50, p50 * 1.25, p50 * 2, p50 * 4, p50 * 8));
  point.channels = 0;
  point.completed_per_worker.clear();
  return {name, description, point};
}

}  // namespace

Result EvidenceSample() {
  Result result;
  result.context = Context();
  result.context.repetitions = 6;
  result.context.policy = "shared";
  result.context.boot_id = "00000000-0000-4000-8000-000000000001";
  result.context.clock_source = "hpet";
  result.servers = {Server()};
  result.suspect = {"the clock source of the client is hpet, not TSC: each look at the clock may be a system call"};
  result.notes = {"baseline: no Unix socket: the server does not listen on one on this machine (--listen unix:PATH)"};
  for (int repetition = 0; repetition < 6; ++repetition) {
    for (const auto& [inflight, calls, p50] : {std::tuple{1, 200'000, 48.0}, std::tuple{48, 900, 233.0}}) {
      const double scale = 1 + 0.01 * repetition;
      const auto completed = static_cast<uint64_t>(calls * scale);
      PointResult& p = result.points.emplace_back(
          Point(inflight, completed, Latency(completed, p50 / scale, p50 * 1.25, p50 * 2, p50 * 4, p50 * 8)));
      p.repetition = repetition;
      p.connections = p.expected_connections = 1;
      SetFigures(p.figures, scale);
      p.slices_per_second = {20'000, 20'100, 19'950.5};
      p.facts = {{"client_congestion_control", "cubic"}, {"server_congestion_control", "cubic"}};
      p.client_cpus = {{0, 0.5, 0.375, 0.125, 0}};
      p.server_cpus = {{0, 0.25, 0.75, 0, 0}, {1, 0.5, 0.25, 0.125, 0.125}};
      p.notes = {"client: connections are Unix sockets, for which the kernel has no TCP_INFO"};
      if (inflight == 48) p.notes.emplace_back("server: its control service did not answer at an edge of the window");
      if (inflight == 48) p.suspect = {"too few calls for P99: 900, it needs 1000"};
    }
  }
  result.baselines = {Baseline("grpc", "gRPC as measured", 48), Baseline("tcp-block", "raw TCP, epoll", 32),
                      Baseline("grpc-inproc", "gRPC, server in this process, no socket", 12)};
  BaselineResult failed = {"tcp-spin", "raw TCP, epoll, spinning", NotMeasured(1, "cannot connect")};
  failed.point.channels = failed.point.expected_connections = 0;
  result.baselines.push_back(failed);
  return result;
}

Result EmptySample() {
  Result result;
  result.context = Context();
  result.partial = true;
  return result;
}

}  // namespace cqbench
