// Ping-pong over plain TCP: the lower bound of gRPC's latency. Same sockets, epoll and loop of one message
// in flight, and nothing on top.
//
// A client first sends a hello of four 32-bit numbers in network byte order: 0x63716265 ("cqbe"), the bytes of a
// request, the bytes of a response, flags. Each of the two sizes is in 1..kMaxPayloadBytes. Bit 0 of the flags: the
// server asks the kernel without ever sleeping for as long as this connection exists. Bit 1: its responses come out of
// a file in memory, by sendfile(), as a file server's do. Nothing answers the hello. After it, each complete request
// gets one response. Contents are not looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cqbench/recorder.h"
#include "src/base/sockets.h"
#include "src/base/target.h"
#include "src/config/client_api.h"

namespace cqbench {

// One thread, named "tcp-echo", that serves all connections through epoll. It closes a connection whose hello it cannot
// read, and those above kMaxConnections at once. Clients that say nothing, or break off anywhere, cost the others
// nothing but their place among the connections.
class TcpEchoServer {
 public:
  static constexpr int kMaxConnections = 64;

  // Accepts connections when it returns. Port 0: a free one. A name with several addresses is listened on at all that
  // this machine has, with one port. Errors are one line: NOT_FOUND for a host that does not resolve, UNAVAILABLE when
  // an address cannot be listened on, or is not a TCP address.
  static absl::StatusOr<std::unique_ptr<TcpEchoServer>> Start(const Target& listen);

  TcpEchoServer(const TcpEchoServer&) = delete;
  TcpEchoServer& operator=(const TcpEchoServer&) = delete;
  // Closes all connections and joins the thread.
  ~TcpEchoServer();

  int port() const { return port_; }

 private:
  class Loop;
  TcpEchoServer(std::unique_ptr<Loop> loop, int port);

  const std::unique_ptr<Loop> loop_;
  const int port_;
  std::thread thread_;
};

struct TcpPingPongConfig {
  Endpoint endpoint;  // IPv4 or IPv6
  uint32_t request_bytes = 1;
  uint32_t response_bytes = 1;
  PollMode poll = PollMode::kBlock;  // of both sides
  bool sendfile = false;             // of the server
};

// Connects to a TcpEchoServer and keeps one message in flight on the calling thread until the window is over or `stop`
// says so; OK then. `recorder` gets a success per round trip, and a failed run leaves in it what was measured before. A
// message that is in flight when the window closes is waited for; one that is when `stop` ends the run is not recorded.
//
// `stop` is called on the calling thread, at most every 10 ms and about that often, also while nothing comes from the
// server: there is no deadline for a response. A round trip that fits the sockets' buffers takes one send, one
// epoll_wait and one recv (with kSpin as many epoll_wait as it takes), and none allocates.
//
// Errors are one line: UNAVAILABLE when the server cannot be reached within 5 s or the connection breaks,
// INVALID_ARGUMENT for sizes outside 1..kMaxPayloadBytes.
absl::Status RunTcpPingPong(const TcpPingPongConfig& config, const RunWindow& window, const std::function<bool()>& stop,
                            Recorder& recorder);

}  // namespace cqbench
