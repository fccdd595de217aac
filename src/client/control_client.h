// The client's side of the control service: descriptions and samples of the servers that are measured.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cqbench/histogram.h"
#include "cqbench/result.h"
#include "cqbench/run_config.h"
#include "cqbench/sample.h"

namespace cqbench {

// What a server answered; the histograms only while it times calls.
struct ServerMoment {
  Sample sample;
  std::optional<Histogram> handling;
  std::optional<Histogram> finishing;
};

struct ServerSwitches {
  bool time_calls = false;
  bool count_allocations = false;
};

// One channel per server (which may listen on several of the targets), each with a connection of its own that carries
// nothing else. All calls from one thread.
class ControlClients {
 public:
  explicit ControlClients(const RunConfig& config);
  ControlClients(const ControlClients&) = delete;
  ControlClients& operator=(const ControlClients&) = delete;
  ~ControlClients();

  // Connects to every server and, the first time, asks it to describe itself. Returns whether all of them answer. When
  // one does not know the service there is a note about it, and none is asked again in this run. For every point anew,
  // after its channels are connected: so its connections are known before these are there.
  bool Connect();
  void Disconnect();

  // All servers sample themselves now, one answer each in the order of servers(); empty unless all answered in time.
  // The calls are made on a thread of their own, so that a server that does not answer holds nothing up. `switches`
  // take effect after the sample.
  using Moments = std::vector<ServerMoment>;
  std::future<Moments> SampleAll(std::optional<ServerSwitches> switches);

  // Filled by the first Connect() that succeeds.
  const std::vector<ServerInfo>& servers() const { return servers_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Server;
  void GiveUp(std::string why);

  const RunConfig& config_;
  std::vector<std::unique_ptr<Server>> connected_;
  std::vector<ServerInfo> servers_;
  std::vector<std::string> notes_;
  bool given_up_ = false;
};

}  // namespace cqbench
