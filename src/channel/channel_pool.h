// The channels of one point, connected.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/run_config.h"

namespace cqbench {

// Immutable after Connect(); may be read from any thread. Destroying it closes the connections once no call is left.
class ChannelPool {
 public:
  // Creates the channels of the plan and waits until each is connected. UNAVAILABLE with one line when that does not
  // happen within config.connect_timeout_ns, or when an attempt has failed and `hopeless()`; CANCELLED when `stop()`
  // returned true (both are asked every 100 ms). `credentials`: those of the run.
  static absl::StatusOr<ChannelPool> Connect(const RunConfig& config, const ChannelPlan& plan,
                                             const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                             const std::function<bool()>& stop, const std::function<bool()>& hopeless);

  // Of channels that are connected already.
  explicit ChannelPool(std::vector<std::shared_ptr<grpc::Channel>> channels) : channels_(std::move(channels)) {}

  int size() const { return static_cast<int>(channels_.size()); }
  const std::shared_ptr<grpc::Channel>& operator[](int i) const { return channels_[static_cast<size_t>(i)]; }

 private:
  ChannelPool() = default;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
};

// What received bytes may take in all channels together: half of the memory that is left when it is first asked. gRPC
// then ends connections (RESOURCE_EXHAUSTED, "Buffers full"); a limit on messages is looked at when they are there.
void BoundMemory(grpc::ChannelArguments& args);

// What every channel of the run is made with.
grpc::ChannelArguments ChannelArguments(const RunConfig& config);

}  // namespace cqbench
