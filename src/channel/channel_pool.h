// The channels of one point, connected.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cqbench/run_config.h"
#include "src/base/target.h"

namespace cqbench {

// Questions asked while channels connect, on the thread that waits for them. An empty function answers false or "".
struct ConnectHooks {
  std::function<bool()> stop;                        // every 100 ms: whether to give up
  std::function<bool(const Target&)> hopeless;       // after an attempt has failed: whether no other will succeed
  std::function<std::string(const Target&)> reason;  // why there is no connection, for the error
};

// Immutable after Connect(); may be read from any thread. Destroying it closes the connections once no call is left.
class ChannelPool {
 public:
  // Creates the channels of the plan and waits until each is connected. UNAVAILABLE with one line, which names the
  // target, when that does not happen within config.connect_timeout_ns, or when an attempt has failed and the target
  // is hopeless; CANCELLED when `stop()` returned true. `credentials`: those of the run.
  static absl::StatusOr<ChannelPool> Connect(const RunConfig& config, const ChannelPlan& plan,
                                             const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                             const ConnectHooks& hooks);

  // `channels` are connected already.
  explicit ChannelPool(std::vector<std::shared_ptr<grpc::Channel>> channels) : channels_(std::move(channels)) {}

  int size() const { return static_cast<int>(channels_.size()); }
  const std::shared_ptr<grpc::Channel>& operator[](int i) const { return channels_[static_cast<size_t>(i)]; }

 private:
  ChannelPool() = default;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
};

// Limits the received bytes of all channels together to half of the memory that is left at the first call. gRPC
// then ends connections (RESOURCE_EXHAUSTED, "Buffers full"); a limit on messages is looked at when they are there.
void BoundMemory(grpc::ChannelArguments& args);

// Returns the arguments that every channel of the run has.
grpc::ChannelArguments ChannelArguments(const RunConfig& config);

}  // namespace cqbench
