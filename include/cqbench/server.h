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
#include "cqbench/method_info.h"
#include "src/base/clock.h"
#include "src/base/target.h"
#include "src/config/client_api.h"
#include "src/config/messages.h"
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
constexpr auto NamesOf(ServerApi) {
  return std::to_array<EnumName<ServerApi>>({{ServerApi::kCq, "cq"},
                                             {ServerApi::kCallback, "callback"},
                                             {ServerApi::kSync, "sync"},
                                             {ServerApi::kGeneric, "generic"}});
}
// Returns true for the APIs whose completion queues, and the threads that poll them, are the server's own.
constexpr bool HasOwnQueues(ServerApi api) {
  return api == ServerApi::kCq || api == ServerApi::kGeneric;
}

// Time that the server adds to each message beyond the library's work: to each request, or to each response of a
// server-streaming call. The handling thread burns CPU for this time, or sleeps. It never sleeps less, but tens of
// microseconds more: the time that waking a thread takes.
struct ServiceTimeConfig {
  Nanos mean_ns = 0;         // 0: the server adds none
  bool exponential = false;  // exponential distribution; otherwise constant
  bool wait = false;
};

// A method of a user's service that the generic server serves, too. The responses are these bytes, whatever the
// request: all of them for a server-streaming call; otherwise there is one.
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
  int callbacks_per_cq = 100;  // requests posted per completion queue and method; one before a method's first call
  // Message allocation strategy. Some APIs force another one, which MessagesNote() names. kBytes: generic only.
  MessageStrategy messages = MessageStrategy::kReused;
  Serializer serializer = Serializer::kProtobuf;  // pooled: generic only
  WriteHint write_hint = WriteHint::kNone;        // for server-streaming calls; a server does not take kCorked
  Compression compression = Compression::kNone;   // of responses; an in-process channel does not compress
  Security security;                              // of all addresses; the TCP echo is plaintext
  std::vector<ChannelArg> channel_args;
  Nanos drain_ns = 2 * kNanosPerSecond;
  ServerLimits limits;
  ServiceTimeConfig service_time;
  std::optional<StandIn> stand_in;   // kGeneric only
  std::optional<int> tcp_echo_port;  // port of a raw TCP ping-pong, a lower bound for gRPC; 0: a free one
  bool deadlock_detection = false;   // abseil's detection was left on; the server only reports this
};

// Counts of calls over the life of the server; while it runs, calls that have not ended count as failed. A call is one
// RPC. A message is one response passed to the library: a unary or client-streaming call has one, other streams any
// number.
struct ServerCounts {
  uint64_t calls_started = 0;
  uint64_t calls_ok = 0;      // the library reported that it sent the status
  uint64_t calls_failed = 0;  // cancelled, broken or refused
  uint64_t messages = 0;
};

// StartServer() makes it. Only one thread at a time may call Shutdown() or the destructor.
class PingServer {
 public:
  explicit PingServer(const ServerConfig& config);
  virtual ~PingServer();
  // Stops accepting, gives calls in flight config.drain_ns to end, cancels the remaining calls, joins all threads.
  // Blocks, beyond the drain as long as handlers run and the library has calls. The destructor calls it if needed.
  virtual void Shutdown() = 0;
  // Any thread, any time; approximate while the server runs.
  virtual ServerCounts Counts() const = 0;
  // Messages of each completion queue, and posted requests that wait for a call. Empty and absent if the library owns
  // the queues.
  virtual std::vector<uint64_t> MessagesPerQueue() const { return {}; }
  virtual std::optional<int64_t> PostedRequests() const { return std::nullopt; }
  // Names, for people, the strategy that the API forces instead of config.messages; empty if it forces none.
  virtual std::string MessagesNote() const { return ""; }
  // Returns a channel to this server that uses no socket.
  virtual std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) = 0;

  // Registers an HTTP front end that takes the same calls at `address`, for the description of the server. `messages`
  // returns how many responses the front end made without this server (0 if it passes all calls on). Any thread; any
  // thread may call `messages`, which must live until Shutdown() has returned.
  void AddHttpFrontEnd(const Target& address, std::function<uint64_t()> messages);
  std::vector<Target> http_front_ends() const;
  // Returns Counts().messages plus those of the front ends.
  uint64_t Messages() const;

  // Returns the addresses that the server listens on, ports resolved.
  const std::vector<Target>& listening() const { return listening_; }
  int tcp_echo_port() const;  // 0: there is none; only for the thread that started the server
  ServiceTimes& times() { return *times_; }
  const ServiceLoad& load() const { return *load_; }

 protected:
  std::vector<Target> listening_;

 private:
  friend absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config);
  const std::unique_ptr<ServiceTimes> times_;
  const std::unique_ptr<const ServiceLoad> load_;
  std::unique_ptr<TcpEchoServer> tcp_echo_;

  struct HttpFrontEnd {
    Target address;
    std::function<uint64_t()> messages;
  };
  mutable std::mutex mutex_;
  std::vector<HttpFrontEnd> http_front_ends_;  // guarded by mutex_
};

// Starts a server, which accepts calls when the function returns. Errors are one line: NOT_FOUND for a host that does
// not resolve, UNAVAILABLE when an address cannot be bound (taken, not permitted, not of this machine),
// RESOURCE_EXHAUSTED when the system has no thread for the server. If the library cannot start one of its own threads,
// it aborts.
absl::StatusOr<std::unique_ptr<PingServer>> StartServer(const ServerConfig& config);

}  // namespace cqbench
