// Lower bounds of the results: the same bytes over raw TCP, and gRPC without a network. One call in flight each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cqbench/server.h"
#include "src/load/run/point_run.h"
#include "src/observe/tcp_echo/tcp_echo.h"

namespace cqbench {

// Bytes that an RPC of the point takes on the wire in one direction, over all connections: with one call in flight most
// of a pool's are idle. `figure` is "client_bytes_sent" or "client_bytes_received". Absent when that is not known, as
// for a Unix socket.
std::optional<uint32_t> BytesPerRpc(const PointResult& point, absl::string_view figure);

// A server in this process like the one that described itself.
struct ServerCopy {
  ServerConfig config;
  std::vector<std::string> differences;  // what is not like there; for people
};
ServerCopy CopyOf(const ServerDescription& server, absl::string_view grpc_version_here);

// Measures the lower bounds. "grpc" is the run's own configuration with one call in flight, the point of comparison.
// "tcp-block" and "tcp-spin" are a raw ping-pong with the server's TCP echo, with as many bytes as "grpc" had per call;
// for streams of chunks only "tcp-block", and for those that the server sends "tcp-sendfile". "grpc-unix" uses a Unix
// socket of the same server, and "grpc-inproc" a server inside this process.
class LowerBounds {
 public:
  // `setting` is the sweep's and must outlive this.
  explicit LowerBounds(const PointSetting& setting) : setting_(setting) {}

  // Measures each lower bound once; stops early at a signal. A lower bound that is not available leaves one note.
  void Measure(const ProgressUpdate& update, std::vector<LowerBound>& results, std::vector<Notice>& notes);

 private:
  PointResult GrpcOver(const std::vector<Target>& targets, const std::vector<Endpoint>& endpoints,
                       const ProgressUpdate& update);
  PointResult InProcess(const ProgressUpdate& update, std::vector<Notice>& notes);
  // Endpoint and number of the repetition are filled in.
  PointResult RawTcp(TcpPingPongConfig config, int port, const ProgressUpdate& update);
  // As many bytes as a stream of chunks has, there or back: what both ends' CPUs do for it, too.
  void MeasureBulk(int port, uint32_t request_bytes, uint32_t response_bytes, const ProgressUpdate& update,
                   std::vector<LowerBound>& results);
  void MeasureRawTcp(const PointResult& grpc, const ProgressUpdate& update, std::vector<LowerBound>& results,
                     std::vector<Notice>& notes);
  void MeasureUnix(const ProgressUpdate& update, std::vector<LowerBound>& results, std::vector<Notice>& notes);

  const PointSetting& setting_;
};

}  // namespace cqbench
