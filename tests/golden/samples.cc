#include "tests/golden/samples.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/golden/sample_parts.h"

namespace cqbench {
RunContext SampleContext() {
  RunContext c;
  Environment& e = c.environment;
  e.date = "2026-01-31T12:00:00+01:00";
  e.host_name = "bench-1";
  e.executable = "./grpc_ping_client";
  e.command_line = {"./grpc_ping_client", "--host", "server-host", "--inflight-list", "1,8,48"};
  e.num_cpus = 64;
  e.affinity = "0-31,64";
  e.cpu_model = "Example CPU 9000 @ 2.60GHz";
  e.mhz_per_cpu = 2599.996;
  e.cpu_scaling_enabled = false;
  e.load_average = {0.5, 0.25, 0.125};
  e.kernel = "Linux 6.1.0-13-amd64 x86_64";
  e.grpc_version = "1.51.1";
  e.protobuf_version = "3.21.12";
  e.compiler = "g++ 12.2.0";
  e.build_type = "release";
  e.cqbench_version = "0.1.0";
  c.run.targets = {*ParseTarget("server-host:2137", 0)};
  c.run.method = {0, "ping", "unary", "/Ydb.Debug.V1.DebugService/PingPlainGrpc", Shape::kUnary, false};
  c.run.api = ClientApi::kCq;
  c.run.policy = {ChannelPolicy::Kind::kLocalPool, 0};
  c.run.points = {{1, 0}};
  return c;
}

// The arguments are microseconds, so that the figures below read like the table.
LatencyStats SampleLatency(uint64_t count, double p50, double p90, double p99, double p999, double max) {
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

PointResult SamplePoint(int inflight, uint64_t completed, const LatencyStats& latency) {
  PointResult p;
  p.load.slots = inflight;
  p.start_time = "2026-01-31T12:00:01+01:00";
  p.channels = inflight;
  p.threads = inflight < 4 ? inflight : 4;
  p.connections = inflight;
  p.expected_connections = inflight;
  p.window_ns = 10 * kNanosPerSecond;
  p.completed = completed;
  p.counts.due = p.counts.sent = p.counts.ok = latency.count;
  p.latency = latency;
  p.latency_histogram = "HISTFAAAABB4nJNpmSzMwMAgAA==";
  p.figures.Set("client_cpu_user_ns", static_cast<double>(completed) * 9'000);
  p.figures.Set("client_cpu_system_ns", static_cast<double>(completed) * 15'000);
  for (int i = 0; i < inflight; ++i) {
    // The remainder goes to the first slot: the slots' calls add up to the point's.
    const auto slots = static_cast<uint64_t>(inflight);
    p.completed_per_slot.push_back(completed / slots + (i == 0 ? completed % slots : 0));
  }
  return p;
}

namespace {

PointResult NotMeasured(int inflight, std::string why) {
  PointResult p;
  p.load.slots = inflight;
  p.start_time = "2026-01-31T12:01:00+01:00";
  p.channels = inflight;
  p.expected_connections = inflight;
  p.failure = std::move(why);
  return p;
}

}  // namespace

Result SweepSample() {
  Result result;
  result.context = SampleContext();
  result.points = {SamplePoint(1, 198'765, SampleLatency(198'765, 48.5, 55.25, 71.0, 120.96, 1034.5)),
                   SamplePoint(8, 1'234'567, SampleLatency(1'234'569, 61.1, 80.4, 131.9, 402.3, 5120.7)),
                   SamplePoint(48, 2'000'001, SampleLatency(2'000'040, 233.2, 310.0, 455.6, 1999.9, 12345.6))};
  return result;
}

Result RepetitionsSample() {
  Result result;
  result.context = SampleContext();
  result.context.repetitions = 3;
  result.context.run.policy = {ChannelPolicy::Kind::kPool, 4};
  result.context.run.method = {3, "echo", "streaming", "/Cqbench.Echo/Stream", Shape::kBidi, true};
  result.context.run.messages = MessageStrategy::kArena;
  result.context.run.stub = StubKind::kGeneric;
  result.context.run.message.payload = {PayloadKind::kText};
  result.context.run.message.request_bytes = 128;
  result.context.run.message.response_bytes = 4096;
  result.context.run.channel_args = {{"grpc.http2.bdp_probe", 0}, {"grpc.optimization_target", "latency"}};
  result.context.run.service_config = "{\"loadBalancingConfig\":[{\"round_robin\":{}}]}";
  result.points = {SamplePoint(2, 300'000, SampleLatency(300'000, 50.0, 60.0, 70.0, 80.0, 900.0)),
                   SamplePoint(16, 1'000'000, SampleLatency(1'000'000, 150.0, 160.0, 170.0, 180.0, 1900.0)),
                   SamplePoint(2, 320'000, SampleLatency(320'000, 48.0, 61.0, 69.0, 82.0, 1000.0)),
                   NotMeasured(16, "cannot connect to server-host:2137 within 5s (Connection refused)"),
                   SamplePoint(2, 310'000, SampleLatency(310'000, 49.0, 59.0, 71.0, 81.0, 950.0)),
                   SamplePoint(16, 1'100'001, SampleLatency(1'100'001, 140.0, 150.0, 165.0, 175.0, 1700.0))};
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
  result.context = SampleContext();
  result.context.run.api = ClientApi::kCallback;
  result.context.run.targets = {*ParseTarget("unix:/run/ping.sock", 0)};
  result.context.environment.build_type = "debug";
  result.context.environment.deadlock_detection = true;
  result.context.environment.mhz_per_cpu.reset();
  result.context.environment.cpu_scaling_enabled.reset();
  result.context.environment.cpu_model = "";
  result.partial = true;

  PointResult failing = SamplePoint(1, 1000, SampleLatency(1000, 100.0, 200.0, 300.0, 400.0, 500.0));
  failing.errors = {{"UNAVAILABLE", 120, "failed to connect to all addresses; last error: \"Connection refused\", 111"},
                    {"DEADLINE_EXCEEDED", 7, "Deadline Exceeded"},
                    {"BAD_RESPONSE", 1, ""}};
  failing.connections = 2;
  failing.warnings = {{"connections", "policy local-pool promises 1 connection(s), this process has 2"},
                      {"unfinished-calls", "3 call(s) never ended"}};
  failing.counts = {1131, 1131, 0, 0, 1000, 128, 3};
  failing.latency->count += 3;
  failing.latency->at_least = 3;
  failing.latency->least_age_ns = kNanosPerSecond;
  failing.latency->max_ns = 2 * kNanosPerSecond;

  PointResult all_failed = NotMeasured(2, "no call succeeded: INTERNAL");
  all_failed.connections = 2;
  all_failed.window_ns = 10 * kNanosPerSecond;
  all_failed.counts = {4321, 4321, 0, 0, 0, 4321, 0};
  all_failed.errors = {{"INTERNAL", 4321, "bytes that are not UTF-8: \xff\xfe"}};
  all_failed.completed_per_slot = {0, 0};

  // Calls take longer than the window: some end in it, but none that was due in it has ended.
  PointResult no_latency = SamplePoint(4, 4, LatencyStats());
  no_latency.latency.reset();
  no_latency.latency_histogram.clear();
  no_latency.connections.reset();

  PointResult cut = SamplePoint(16, 31'250, SampleLatency(31'250, 250.0, 251.0, 252.0, 253.0, 254.0));
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
      {"breakdown_unattributed_share", 0.859},
      {"breakdown_cost_per_rpc_ns", 3.75},
      {"breakdown_clock_ns", 22.5},
      {"client_allocations_per_rpc", 21.5},
      {"client_allocated_bytes_per_rpc", 4'321.25},
      {"server_allocations_per_rpc", 17},
      {"server_allocated_bytes_per_rpc", 3'210},
  };
  for (const auto& [name, value] : kFigures) figures.Set(name, value);
}

ServerDescription Server() {
  ServerDescription server;
  server.set_address("server-host:2137");
  server.set_instance("112210f47de98115");
  server.set_cqbench_version("0.1.0");
  server.set_grpc_version("1.51.1");
  server.set_build_type("release");
  server.set_api("cq");
  server.set_messages("reused");
  server.set_messages_note("what the API forces");
  server.set_poll("block");
  server.set_num_cqs(2);
  server.set_workers_per_cq(1);
  server.set_callbacks_per_cq(100);
  server.add_listening("server-host:2137");
  server.set_tcp_echo_port(2138);
  server.set_service_time_ns(20'000);
  server.set_service_time_distribution("exponential");
  server.set_service_time_mode("burn");
  server.set_boot_id("00000000-0000-4000-8000-000000000002");
  for (const int cpu : {0, 1, 2, 3}) server.add_cpus(cpu);
  server.set_cpu_model("Example CPU 9000 @ 2.60GHz");
  server.set_kernel("Linux 6.1.0-13-amd64 x86_64");
  server.set_clock_source("tsc");
  server.set_cpu_scaling_enabled(false);
  return server;
}

LowerBound Bound(const char* name, const char* description, double p50) {
  PointResult point = SamplePoint(1, 100'000, SampleLatency(100'000, p50, p50 * 1.25, p50 * 2, p50 * 4, p50 * 8));
  point.channels = 0;
  point.completed_per_slot.clear();
  return {name, description, point};
}

}  // namespace

Result EvidenceSample() {
  Result result;
  result.context = SampleContext();
  result.context.repetitions = 6;
  result.context.run.policy = {ChannelPolicy::Kind::kShared, 0};
  result.context.environment.boot_id = "00000000-0000-4000-8000-000000000001";
  result.context.environment.clock_source = "hpet";
  result.servers = {Server()};
  result.peer_settings = {{"server-host:2137", {2, 65'536, 16'384, 8'000}, ""},
                          {"[::1]:2137", {}, ""},
                          {"unix:/run/ping.sock", {}, "the server did not send its settings within a second"}};
  result.warnings = {
      {"clock-source", "the clock source of the client is hpet, not TSC: each clock reading may be a system call"}};
  result.notes = {
      {"not-measured",
       "lower bound: no Unix socket: the server does not listen on one on this machine (--listen unix:PATH)"}};
  for (int repetition = 0; repetition < 6; ++repetition) {
    for (const auto& [inflight, calls, p50] : {std::tuple{1, 200'000, 48.0}, std::tuple{48, 900, 233.0}}) {
      const double scale = 1 + 0.01 * repetition;
      const auto completed = static_cast<uint64_t>(calls * scale);
      PointResult& p = result.points.emplace_back(SamplePoint(
          inflight, completed, SampleLatency(completed, p50 / scale, p50 * 1.25, p50 * 2, p50 * 4, p50 * 8)));
      p.repetition = repetition;
      p.connections = p.expected_connections = 1;
      SetFigures(p.figures, scale);
      p.channels_of_thread = {{0}};
      p.bucket_ns = 100 * kNanosPerMilli;
      p.time_buckets = {{2'000, 0, 48'639, 96'255, 390'000}, {2'010, 1, 47'615, 94'207, 380'000}, {0, 0, 0, 0, 0}};
      p.bucket_failures = {{"UNAVAILABLE", {0, 1, 0}}};
      p.facts = {{"client_congestion_control", "cubic"}, {"server_congestion_control", "cubic"}};
      p.client_cpus = {{0, 0.5, 0.375, 0.125, 0}};
      p.server_cpus = {{0, 0.25, 0.75, 0, 0}, {1, 0.5, 0.25, 0.125, 0.125}};
      p.notes = {{"not-measured", "client: connections are Unix sockets, for which the kernel has no TCP_INFO"}};
      if (inflight == 48) {
        p.notes.push_back({"not-measured", "server: its control service did not respond at a boundary of the window"});
        p.notes.push_back({"too-few-calls", "too few calls for P99, which needs 1000"});
        p.notes.push_back({"client-cpu-saturated", "the client uses 0.97 of 1 CPU(s): this measures CPU"});
      }
      if (inflight == 48 && repetition > 1) {
        p.warnings = {{"steal", absl::StrCat("the hypervisor took ", repetition, " % of a CPU of the client")},
                      {"steal", "the hypervisor took 12 % of a CPU of the server"}};
      }
    }
  }
  result.lower_bounds = {Bound("grpc", "gRPC as measured", 48), Bound("tcp-block", "raw TCP, epoll", 32),
                         Bound("grpc-inproc", "gRPC, server in this process, no socket", 12)};
  LowerBound failed = {"tcp-spin", "raw TCP, epoll, spinning", NotMeasured(1, "cannot connect")};
  failed.point.channels = failed.point.expected_connections = 0;
  result.lower_bounds.push_back(failed);
  return result;
}

Result HttpSample() {
  Result result;
  result.context = SampleContext();
  RunConfig& c = result.context.run;
  c.method = {10, "library", "get", "/cqbench.library.v1.LibraryService/GetBook", Shape::kUnary, false};
  c.targets = {*ParseTarget("server-host:8080", 0)};
  c.api = ClientApi::kHttp1;
  auto http = std::make_shared<HttpCall>();
  http->method = "GET";
  http->target = "/v1/shelves/1/books/1";
  c.http = http;
  result.servers = {Server()};
  result.servers[0].add_http_front_ends("server-host:8080");
  result.points = {SamplePoint(8, 1'234'567, SampleLatency(1'234'567, 61.1, 80.4, 131.9, 402.3, 5120.7))};
  result.points[0].errors = {{"BAD_RESPONSE", 3, "the response's body ends after 12 of 180 bytes"}};
  result.points[0].counts = {1'234'570, 1'234'570, 0, 0, 1'234'567, 3, 0};
  return result;
}

Result EmptySample() {
  Result result;
  result.context = SampleContext();
  result.partial = true;
  return result;
}

}  // namespace cqbench
