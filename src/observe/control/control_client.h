// The client's side of the control service: descriptions and samples of the servers that are measured.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/support/status.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cqbench/result.h"
#include "cqbench/run_config.h"
#include "src/observe/sampling/sample.h"

namespace cqbench {

// A server's response.
struct ServerMoment {
  Sample sample;
  std::string boot_id;  // as it described itself
  size_t cpus = 0;      // that it may run on, as it described itself; 0: it did not say
  std::string refused;  // why the response is of no use, whatever the other sample has; empty: it may be
  Nanos asked_ns = 0;   // by the client's clock; the sample was taken in between
  Nanos received_ns = 0;
};

struct ServerSwitches {
  bool time_calls = false;
  bool count_allocations = false;
};

// One channel per server (which may listen on several of the targets), each with a connection of its own that carries
// nothing else. All calls from one thread.
class ControlClients {
 public:
  // `credentials`: those of the run.
  ControlClients(const RunConfig& config, std::shared_ptr<grpc::ChannelCredentials> credentials);
  // The addresses at which the servers are asked: at config.control, or at the targets; nowhere over HTTP, as no target
  // is gRPC's.
  static const std::vector<Target>& Addresses(const RunConfig& config);
  ControlClients(const ControlClients&) = delete;
  ControlClients& operator=(const ControlClients&) = delete;
  ~ControlClients();

  // Connects to every server and asks it to describe itself. Returns whether all of them answer; otherwise none is
  // sampled at this point. When one does not know the service there is a note about it, and none is asked again in this
  // run; any other failure is this point's only, a description that cannot be or cannot be read included. For every
  // point anew, after its channels are connected: so its connections are known before these are there.
  bool Connect();
  // Why the last Connect() returned false, for the notes of the point; empty when notes() say it.
  const std::string& absence() const { return absence_; }
  void Disconnect();

  // All servers sample themselves now, one response each in the order of servers(); empty unless all answered in time.
  // A response that cannot be read, or has times that cannot be, is there as a moment that is refused. The calls are
  // made on a thread of their own, so that a server that does not answer holds nothing up. `switches` take effect after
  // the sample. No allocation of the server is counted while it samples itself, but those of the call are, from the end
  // of one sample to the begin of the next.
  using Moments = std::vector<ServerMoment>;
  std::future<Moments> SampleAll(std::optional<ServerSwitches> switches);

  // Filled by the first Connect() that succeeds.
  const std::vector<ServerDescription>& servers() const { return servers_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Server;
  void NoResponse(const std::string& address, const grpc::Status& status);

  const RunConfig& config_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::vector<std::unique_ptr<Server>> connected_;
  std::vector<ServerDescription> servers_;
  std::vector<std::string> notes_;
  std::string absence_;
  bool given_up_ = false;
};

}  // namespace cqbench
