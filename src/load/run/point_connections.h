// The connections of one point: the client makes them, counts them, and tells those of the control service apart.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cqbench/result.h"
#include "src/base/interrupt.h"
#include "src/channel/channel_pool.h"
#include "src/load/run/runner.h"
#include "src/observe/control/control_client.h"
#include "src/observe/sampling/connections.h"

namespace cqbench {

// Everything that a point needs for its measurement. All of it must outlive the point.
struct PointSetting {
  const RunConfig& config;
  const std::vector<Endpoint>& endpoints;  // of the targets; empty for a channel without sockets
  Interrupt& interrupt;
  const ProgressCallback& progress;
  const std::shared_ptr<grpc::ChannelCredentials>& credentials;  // of the run
  ControlClients* servers = nullptr;                             // nullptr: they are not asked
  std::function<ChannelPool()> make_pool = nullptr;              // instead of connecting to the targets
  Ranks* ranks = nullptr;                                        // nullptr: nobody else measures with us
  std::function<void()> on_connected = nullptr;  // called at each point, before its first call; may be empty
};

// All calls from the runner's thread.
class PointConnections {
 public:
  // Both must outlive it. The highest number of connections, their figures and notes go to `point`.
  PointConnections(const PointSetting& setting, PointResult& point)
      : setting_(setting), config_(setting.config), point_(point) {}

  // Connects as the plan says. Returns nullptr where the engine connects by itself. Blocks for at most
  // config.connect_timeout_ns and the time that it takes to explain why there is no connection. `timed`: the figures of
  // connecting are reported.
  absl::StatusOr<std::unique_ptr<ChannelPool>> Connect(const ChannelPlan& plan, bool timed);
  // Newer releases try the addresses of a name in parallel. An attempt that lost may stay established for a moment:
  // waits up to a second for its end.
  void WaitForLostAttempts();
  // Returns the connections that carry measured calls; absent when they cannot be read. A channel may open further
  // connections under load: the highest count of all calls is the point's.
  std::optional<std::vector<OpenConnection>> Read();
  // Excludes from Read() the sockets that have come since `measured` was read: they are the control service's.
  void Exclude(const std::vector<OpenConnection>& measured);

 private:
  bool MayGiveUp(const Target& target) const;
  std::string ExplainFailure(const Target& target) const;
  void WaitForOldConnections();
  void WaitWhileMoreThan(int connections, Nanos pause);

  const PointSetting& setting_;
  const RunConfig& config_;
  PointResult& point_;
  std::set<uint64_t> excluded_;  // by the socket's id
};

}  // namespace cqbench
