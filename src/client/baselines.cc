#include "src/client/baselines.h"

#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cqbench/environment.h"
#include "cqbench/server.h"
#include "cqbench/tcp_echo.h"

namespace cqbench {
namespace {

RunConfig AtOneInFlight(const RunConfig& config) {
  RunConfig one = config;
  one.inflight = {1};
  one.evidence = true;
  one.breakdown = false;
  return one;
}

void Note(std::string note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

ServerApi ApiNamed(const std::string& name) {
  for (ServerApi api : {ServerApi::kCallback, ServerApi::kSync, ServerApi::kGeneric}) {
    if (ToString(api) == name) return api;
  }
  return ServerApi::kCq;
}

// Bytes per RPC in one direction; absent when they are not known, as for a Unix socket.
std::optional<uint32_t> BytesPerRpc(const PointResult& point, absl::string_view figure) {
  const auto bytes = point.figures.Get(figure);
  if (!bytes || point.completed == 0) return std::nullopt;
  const double per_rpc = std::round(*bytes / static_cast<double>(point.completed));
  return static_cast<uint32_t>(std::clamp(per_rpc, 1.0, static_cast<double>(kMaxPayloadBytes)));
}

}  // namespace

void Baselines::Measure(const ProgressUpdate& update, std::vector<BaselineResult>& results,
                        std::vector<std::string>& notes) {
  results.push_back({"grpc", "gRPC as measured", GrpcOver(setting_.config.targets, update)});
  MeasureRawTcp(results.back().point, update, results, notes);
  MeasureUnix(update, results, notes);
  if (setting_.interrupt.Pending()) return;
  results.push_back({"grpc-inproc", "gRPC, server in this process, no socket", InProcess(update)});
}

PointResult Baselines::GrpcOver(const std::vector<Target>& targets, const ProgressUpdate& update) {
  RunConfig config = AtOneInFlight(setting_.config);
  config.targets = targets;
  const auto endpoints = ResolveTargets(targets);
  if (!endpoints.ok()) {
    PointResult point;
    point.failure = std::string(endpoints.status().message());
    return point;
  }
  return PointRun({config, *endpoints, setting_.interrupt, setting_.progress}, 1, update).Run();
}

void Baselines::MeasureRawTcp(const PointResult& grpc, const ProgressUpdate& update,
                              std::vector<BaselineResult>& results, std::vector<std::string>& notes) {
  const auto& servers = setting_.servers->servers();
  const int port = servers.empty() ? 0 : servers.front().tcp_echo_port;
  if (port == 0) {
    return Note("baseline: no raw TCP ping-pong: the server was not started with --tcp-echo-port", notes);
  }
  const auto request = BytesPerRpc(grpc, "client_bytes_sent_per_connection_median");
  const auto response = BytesPerRpc(grpc, "client_bytes_received_per_connection_median");
  if (!request || !response) {
    return Note("baseline: no raw TCP ping-pong: how many bytes an RPC takes on the wire is not known", notes);
  }
  const std::string bytes = absl::StrCat(*request, " + ", *response, " bytes");
  for (PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    if (setting_.interrupt.Pending()) return;
    const bool block = poll == PollMode::kBlock;
    results.push_back({block ? "tcp-block" : "tcp-spin",
                       absl::StrCat("raw TCP, epoll, both sides ", block ? "sleep, " : "spin, ", bytes),
                       RawTcp(poll, port, *request, *response, update)});
  }
}

PointResult Baselines::RawTcp(PollMode poll, int port, uint32_t request_bytes, uint32_t response_bytes,
                              const ProgressUpdate& update) {
  const RunConfig& config = setting_.config;
  PointResult point;
  point.inflight = 1;
  point.threads = 1;
  point.repetition = update.repetition;
  point.start_time = LocalTime();
  Target target = config.targets.front();
  target.port = port;
  const auto endpoints = ResolveTargets({target});
  absl::Status status = endpoints.status();
  for (size_t i = 0; endpoints.ok() && i < endpoints->size(); ++i) {
    RunWindow window;
    window.Set(NowNs() + config.warmup_ns, NowNs() + config.warmup_ns + config.interval_ns);
    Recorder recorder(&window);
    status = RunTcpPingPong(
        {(*endpoints)[i], request_bytes, response_bytes, poll}, window, [this] { return setting_.interrupt.Pending(); },
        recorder);
    point.partial = setting_.interrupt.Pending();
    if (!status.ok()) continue;  // the next address of the name
    const Nanos close = point.partial ? std::min(NowNs(), window.close_ns()) : window.close_ns();
    point.window_ns = std::max<Nanos>(close - window.open_ns(), 0);
    point.completed = recorder.Completed();
    point.latency = Summarize(recorder.latency());
    break;
  }
  if (point.completed == 0) point.failure = status.ok() ? "nothing was measured" : std::string(status.message());
  return point;
}

void Baselines::MeasureUnix(const ProgressUpdate& update, std::vector<BaselineResult>& results,
                            std::vector<std::string>& notes) {
  if (setting_.interrupt.Pending()) return;
  const auto& servers = setting_.servers->servers();
  const bool here = !servers.empty() && servers.front().boot_id == DescribeEnvironment(0, nullptr).boot_id;
  if (here) {
    for (const std::string& address : servers.front().listening) {
      if (!absl::StartsWith(address, "unix:")) continue;
      const auto target = ParseTarget(address, 0);
      if (!target.ok()) continue;
      results.push_back({"grpc-unix", "gRPC over a Unix socket", GrpcOver({*target}, update)});
      return;
    }
  }
  Note("baseline: no Unix socket: the server does not listen on one on this machine (--listen unix:PATH)", notes);
}

PointResult Baselines::InProcess(const ProgressUpdate& update) {
  // It has to listen somewhere; nobody is told where. It does not stay: the threads of a server take part in the I/O of
  // the whole process, and would in that of the next points.
  ServerConfig own;
  own.listen = {*ParseTarget("localhost", 0)};
  if (!setting_.servers->servers().empty()) own.api = ApiNamed(setting_.servers->servers().front().api);
  const auto server = StartServer(own);
  if (!server.ok()) {
    PointResult point;
    point.failure = std::string(server.status().message());
    return point;
  }
  const RunConfig config = AtOneInFlight(setting_.config);
  const std::vector<Endpoint> no_sockets;
  PointSetting setting{config, no_sockets, setting_.interrupt, setting_.progress};
  setting.make_pool = [&] { return ChannelPool({(*server)->InProcessChannel(ChannelArguments(config))}); };
  PointResult point = PointRun(setting, 1, update).Run();
  (*server)->Shutdown();
  return point;
}

}  // namespace cqbench
