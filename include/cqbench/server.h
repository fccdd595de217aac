// The servers: the same methods through each of gRPC's server APIs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cqbench/run_config.h"
#include "src/base/clock.h"
#include "src/base/target.h"
#include "src/config/security.h"
#include "src/config/server_limits.h"
#include "src/config/wire_settings.h"

namespace grpc {
class Channel;
class ChannelArguments;
}  // namespace grpc

namespace cqbench {

class ServiceLoad;
class ServiceTimes;
class TcpEchoServer;

enum class ServerApi {
  kCq,        // completion queues, generated messages
  kCallback,  // reactors on the library's threads
  kSync,      // a thread pool of the library's
  kGeneric,   // completion queues and byte buffers, which it parses by itself, or not at all
};
absl::string_view ToString(ServerApi api);

// What every message costs the server beside what the library does: each request, or each response of a
// server-streaming call. The thread that handles it burns CPU for so long, or sleeps (never for less, but for tens of
// microseconds more: the time that waking a thread takes).
struct ServiceTimeConfig {
  Nanos mean_ns = 0;         // 0: none
  bool exponential = false;  // distributed with that mean; otherwise always the same
  bool wait = false;
};

// A method of a user's service that the generic server answers, too: with these bytes, whatever comes. All of them
// answer a server-streaming call; otherwise there is one.
struct StandIn {
  std::string path;  // "/package.Service/Method"
  Shape shape = Shape::kUnary;
  std::vector<std::string> responses;
};

struct ServerConfig {
  std::vector<Target> listen;  // port 0: a free one
  ServerApi api = ServerApi::kCq;
  PollMode poll = PollMode::kBlock;  // cq and generic only
  int num_cqs = 1;
  int workers_per_cq = 1;
  int callbacks_per_cq = 100;  // requests posted per completion queue and method, from its first call on; one before
  // How messages live, where the API leaves it to us (MessagesNote() says where it does not). kBytes: generic only.
  MessageStrategy messages = MessageStrategy::kReused;
  Serializer serializer = Serializer::kProtobuf;  // pooled: generic only
  WriteHint write_hint = WriteHint::kNone;        // of server-streaming calls; kCorked is nothing of a server's
  Compression compression = Compression::kNone;   // of responses; an in-process channel has none
  Security security;                              // of all addresses; the TCP echo has none
  std::vector<ChannelArg> channel_args;
  Nanos drain_ns = 2 * kNanosPerSecond;
  ServerLimits limits;
  ServiceTimeConfig service_time;
  std::optional<StandIn> stand_in;   // kGeneric only
  std::optional<int> tcp_echo_port;  // of a raw TCP ping-pong beside gRPC, for comparison; 0: a free one
  bool deadlock_detection = false;   // abseil's was left on: for the description only
};

// How calls ended, over the life of the server; while it runs, calls that have not ended count as failed. A call is one
// RPC; a message is one response handed to the library, of which a unary or client-streaming call has one and other
// streams any number.
struct ServerCounts {
  uint64_t calls_started = 0;
  uint64_t calls_ok = 0;      // status sent, as far as the library knows
  uint64_t calls_failed = 0;  // cancelled, broken or refused
  uint64_t messages = 0;
};

// Construct through StartServer(). Shutdown() and destruction are for one thread at a time.
class PingServer {
 public:
  explicit PingServer(const ServerConfig& config);
  virtual ~PingServer();
  // Stops accepting, gives calls in flight config.drain_ns to end, cancels the rest, joins all threads. Blocks, beyond
  // the drain as long as handlers run and the library has calls. The destructor does it where it has not been done.
  virtual void Shutdown() = 0;
  // Any thread, any time; approximate while the server runs.
  virtual ServerCounts Counts() const = 0;
  // Messages answered by each completion queue, and requests that wait for a call. Empty and absent where the library
  // keeps the queues to itself.
  virtual std::vector<uint64_t> MessagesPerQueue() const { return {}; }
  virtual std::optional<int64_t> PostedRequests() const { return std::nullopt; }
  // What the API forces instead of config.messages; empty when nothing. For people.
  virtual std::string MessagesNote() const { return ""; }
  // A channel to this server that uses no socket.
  virtual std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) = 0;

  // The same calls come in at that address, too: `messages` says how many were answered there without this server (0
  // where all are passed on to it). For what the server says of itself. Any thread; so is `messages`, which must be
  // there until Shutdown() has returned.
  void AddFront(const Target& address, std::function<uint64_t()> messages);
  std::vector<Target> fronts() const;
  // Counts().messages and those of the fronts.
  uint64_t Messages() const;

  // What it listens on, ports resolved.
  const std::vector<Target>& listening() const { return listening_; }
  int tcp_echo_port() const;  // 0: there is none; from the thread that started it
  ServiceTimes& times() { return *times_; }
  const ServiceLoad& load() const { return *load_; }

 protected:
  std::vector<Target> listening_;

 private:
  friend absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config);
  const std::unique_ptr<ServiceTimes> times_;
  const std::unique_ptr<const ServiceLoad> load_;
  std::unique_ptr<TcpEchoServer> tcp_echo_;

  struct Front {
    Target address;
    std::function<uint64_t()> messages;
  };
  mutable std::mutex mutex_;
  std::vector<Front> fronts_;  // guarded by mutex_
};

// Accepts calls when it returns. Errors are one line: NOT_FOUND for a host that does not resolve, UNAVAILABLE when an
// address cannot be bound (taken, not permitted, not of this machine), RESOURCE_EXHAUSTED when a thread of ours cannot
// be made. (Where the library cannot make one of its own it aborts.)
absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config);

}  // namespace cqbench
