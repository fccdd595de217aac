#include "src/load/run/lower_bounds.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/observe/evidence/cpu_meter.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/tcp_echo/tcp_echo.h"

namespace cqbench {
namespace {

RunConfig AtOneInFlight(const RunConfig& config) {
  RunConfig one = config;
  one.points = {{1, 0}};
  one.evidence = true;
  one.breakdown = false;
  return one;
}

void Note(std::string text, std::vector<Notice>& notes) {
  Notice note = {kNotMeasured, std::move(text)};
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

// Sets `into` to the value with this name. Returns false if no value has it.
template <NamedEnum E>
bool FindNamed(absl::string_view name, E& into) {
  const std::optional<E> value = FromString<E>(name);
  if (value) into = *value;
  return value.has_value();
}

PointResult NotMeasured(absl::string_view why) {
  PointResult point;
  point.load = {1, 0};
  point.failure = std::string(why);
  return point;
}

}  // namespace

std::optional<uint32_t> BytesPerRpc(const PointResult& point, absl::string_view figure) {
  const auto bytes = point.figures.Get(figure);
  if (!bytes || point.completed == 0) return std::nullopt;
  const double per_rpc = std::round(*bytes / static_cast<double>(point.completed));
  return static_cast<uint32_t>(std::clamp(per_rpc, 1.0, static_cast<double>(kMaxPayloadBytes)));
}

// Numbers are 0 where the server's API has no use for them; the defaults are as good there.
ServerCopy CopyOf(const ServerDescription& server, absl::string_view grpc_version_here) {
  ServerCopy copy;
  ServerConfig& config = copy.config;
  const auto differs = [&](auto&&... what) { copy.differences.push_back(absl::StrCat(what...)); };
  if (!FindNamed(server.api(), config.api)) differs("its API is not ", server.api());
  if (!server.poll().empty() && !FindNamed(server.poll(), config.poll)) {
    differs("it does not poll as ", server.poll());
  }
  if (server.messages().empty()) {
    differs("how messages live there is not known");
  } else if (!FindNamed(server.messages(), config.messages)) {
    differs("its messages are not ", server.messages());
  }
  if (!server.serializer().empty() && !FindNamed(server.serializer(), config.serializer)) {
    differs("its serializer is not ", server.serializer());
  }
  if (!server.write_hint().empty() && !FindNamed(server.write_hint(), config.write_hint)) {
    differs("its writes are not hinted as ", server.write_hint());
  }
  if (server.num_cqs() > 0) config.num_cqs = server.num_cqs();
  if (server.workers_per_cq() > 0) config.workers_per_cq = server.workers_per_cq();
  if (server.callbacks_per_cq() > 0) config.callbacks_per_cq = server.callbacks_per_cq();
  config.service_time = {static_cast<Nanos>(server.service_time_ns()),
                         server.service_time_distribution() == "exponential", server.service_time_mode() == "wait"};
  for (const std::string& text : server.channel_args()) {
    auto arg = ParseChannelArg(text);
    if (arg.ok()) {
      config.channel_args.push_back(*std::move(arg));
    } else {
      differs("its channel argument ", text, " is missing");
    }
  }
  if (!server.security().empty()) differs("nothing is encrypted there");
  if (!server.compression().empty()) differs("nothing is compressed there");
  if (server.grpc_version() != grpc_version_here) {
    differs("it runs gRPC ", grpc_version_here, ", not ", server.grpc_version());
  }
  return copy;
}

void LowerBounds::Measure(const ProgressUpdate& update, std::vector<LowerBound>& results, std::vector<Notice>& notes) {
  results.push_back({"grpc", "gRPC as measured", GrpcOver(setting_.config.targets, setting_.endpoints, update)});
  MeasureRawTcp(results.back().point, update, results, notes);
  MeasureUnix(update, results, notes);
  if (setting_.interrupt.Pending()) return;
  results.push_back({"grpc-inproc", "gRPC, server in this process, no socket", InProcess(update, notes)});
}

PointResult LowerBounds::GrpcOver(const std::vector<Target>& targets, const std::vector<Endpoint>& endpoints,
                                  const ProgressUpdate& update) {
  RunConfig config = AtOneInFlight(setting_.config);
  // A Unix socket's certificate is that of the name the server has elsewhere.
  if (config.security.server_name.empty()) config.security.server_name = config.targets.front().host;
  config.targets = targets;
  const PointSetting setting{config, endpoints, setting_.interrupt, setting_.progress, setting_.credentials};
  return PointRun(setting, config.points.front(), update).Run();
}

void LowerBounds::MeasureRawTcp(const PointResult& grpc, const ProgressUpdate& update, std::vector<LowerBound>& results,
                                std::vector<Notice>& notes) {
  const auto& servers = setting_.servers->servers();
  const int port = servers.empty() ? 0 : servers.front().tcp_echo_port();
  if (port == 0) {
    return Note("lower bound: no raw TCP ping-pong: the server was not started with --tcp-echo-port", notes);
  }
  const auto request = BytesPerRpc(grpc, "client_bytes_sent");
  const auto response = BytesPerRpc(grpc, "client_bytes_received");
  if (!request || !response) {
    return Note("lower bound: no raw TCP ping-pong: how many bytes an RPC takes on the wire is not known", notes);
  }
  if (setting_.config.method.streams_chunks()) return MeasureBulk(port, *request, *response, update, results);
  const std::string bytes = absl::StrCat(*request, " + ", *response, " bytes");
  for (PollMode poll : {PollMode::kBlock, PollMode::kSpin}) {
    if (setting_.interrupt.Pending()) return;
    const bool block = poll == PollMode::kBlock;
    results.push_back({block ? "tcp-block" : "tcp-spin",
                       absl::StrCat("raw TCP, epoll, both sides ", block ? "sleep, " : "spin, ", bytes),
                       RawTcp({{}, *request, *response, poll}, port, update)});
  }
}

void LowerBounds::MeasureBulk(int port, uint32_t request_bytes, uint32_t response_bytes, const ProgressUpdate& update,
                              std::vector<LowerBound>& results) {
  const bool get = setting_.config.method.shape == Shape::kServerStreaming;
  for (bool sendfile : {false, true}) {
    if (setting_.interrupt.Pending() || (sendfile && !get)) return;
    const TcpPingPongConfig config{{}, request_bytes, response_bytes, PollMode::kBlock, sendfile};
    CpuMeter meter(setting_.servers);
    PointResult point = RawTcp(config, port, update);
    meter.Report(get ? response_bytes : request_bytes, point);
    const char* how = sendfile ? "sendfile" : "send";
    results.push_back({sendfile ? "tcp-sendfile" : "tcp-block",
                       absl::StrCat("raw TCP, ", how, " and recv, ", request_bytes, " + ", response_bytes, " bytes"),
                       std::move(point)});
  }
}

PointResult LowerBounds::RawTcp(TcpPingPongConfig tcp, int port, const ProgressUpdate& update) {
  const RunConfig& config = setting_.config;
  PointResult point;
  point.load = {1, 0};
  point.threads = 1;
  point.repetition = update.repetition;
  point.start_time = LocalTime();
  Target target = config.targets.front();
  target.port = port;
  const auto endpoints = ResolveTargets({target});
  absl::Status status = endpoints.status();
  for (size_t i = 0; endpoints.ok() && i < endpoints->size(); ++i) {
    RunWindow window;
    const Nanos open = NowNs() + config.warmup_ns;
    window.Set(open, open + config.interval_ns);
    Recorder recorder(&window);
    const auto stop = [&] {
      if (config.total > 0 && recorder.Completed() >= config.total) {
        window.CloseAt(std::min(window.close_ns(), NowNs() + kNanosPerMilli));
      }
      return setting_.interrupt.Pending();
    };
    tcp.endpoint = (*endpoints)[i];
    status = RunTcpPingPong(tcp, window, stop, recorder);
    point.partial = setting_.interrupt.Pending();
    if (!status.ok()) continue;  // the next address of the name
    const Nanos close = point.partial ? std::min(NowNs(), window.close_ns()) : window.close_ns();
    Measurement measurement;
    recorder.MergeInto(measurement);
    measurement.window_ns = std::max<Nanos>(close - window.open_ns(), 0);
    Describe(measurement, point);
    break;
  }
  if (point.completed == 0) point.failure = status.ok() ? "nothing was measured" : std::string(status.message());
  return point;
}

void LowerBounds::MeasureUnix(const ProgressUpdate& update, std::vector<LowerBound>& results,
                              std::vector<Notice>& notes) {
  if (setting_.interrupt.Pending()) return;
  const auto& servers = setting_.servers->servers();
  const bool here = !servers.empty() && servers.front().boot_id() == BootId();
  if (here) {
    for (const std::string& address : servers.front().listening()) {
      if (!absl::StartsWith(address, "unix:")) continue;
      const auto target = ParseTarget(address, 0);
      if (!target.ok()) continue;
      const auto endpoints = ResolveTargets({*target});
      results.push_back(
          {"grpc-unix", "gRPC over a Unix socket",
           endpoints.ok() ? GrpcOver({*target}, *endpoints, update) : NotMeasured(endpoints.status().message())});
      return;
    }
  }
  Note("lower bound: no Unix socket: the server does not listen on one on this machine (--listen unix:PATH)", notes);
}

PointResult LowerBounds::InProcess(const ProgressUpdate& update, std::vector<Notice>& notes) {
  ServerCopy copy;
  if (setting_.servers->servers().empty()) {
    copy.differences.emplace_back("the server does not describe itself");
  } else {
    copy = CopyOf(setting_.servers->servers().front(), grpc::Version());
  }
  if (!copy.differences.empty()) {
    Note(absl::StrCat("lower bound: the server of grpc-inproc is not quite the measured one: ",
                      absl::StrJoin(copy.differences, ", ")),
         notes);
  }
  // It has to listen somewhere; nobody is told where. It does not stay: the threads of a server take part in the I/O of
  // the whole process, and would in that of the next points.
  copy.config.listen = {*ParseTarget("localhost", 0)};
  const auto server = StartServer(copy.config);
  if (!server.ok()) return NotMeasured(server.status().message());
  const RunConfig config = AtOneInFlight(setting_.config);
  const std::vector<Endpoint> no_sockets;
  PointSetting setting{config, no_sockets, setting_.interrupt, setting_.progress, setting_.credentials};
  setting.make_pool = [&] { return ChannelPool({(*server)->InProcessChannel(ChannelArguments(config))}); };
  PointResult point = PointRun(setting, config.points.front(), update).Run();
  (*server)->Shutdown();
  return point;
}

}  // namespace cqbench
