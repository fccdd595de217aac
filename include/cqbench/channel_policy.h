// Over how many channels and connections the in-flight calls of a point go.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/enum_names.h"

namespace cqbench {

struct ChannelPolicy {
  enum class Kind {
    kShared,        // one channel for all slots
    kPerSlot,       // a channel per slot, all with the same arguments: gRPC puts them on one connection
    kDistinctArgs,  // a channel per slot, each with an argument of its own: a connection each
    kLocalPool,     // a channel per slot with GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL: a connection each
    kPool,          // `pool_size` channels with connections of their own, slots spread round robin
  };
  Kind kind = Kind::kPerSlot;
  int pool_size = 0;     // kPool only
  int max_channels = 0;  // upper bound for the kinds with a channel per slot; 0: none

  // "shared", "per-slot", "distinct-args", "local-pool" or "pool:N".
  std::string ToString() const;
};

constexpr auto NamesOf(ChannelPolicy::Kind) {
  return std::to_array<EnumName<ChannelPolicy::Kind>>({{ChannelPolicy::Kind::kShared, "shared"},
                                                       {ChannelPolicy::Kind::kPerSlot, "per-slot"},
                                                       {ChannelPolicy::Kind::kDistinctArgs, "distinct-args"},
                                                       {ChannelPolicy::Kind::kLocalPool, "local-pool"},
                                                       {ChannelPolicy::Kind::kPool, "pool"}});
}
// INVALID_ARGUMENT when the text is none of the above, or N is not in 1..10000.
absl::StatusOr<ChannelPolicy> ParseChannelPolicy(absl::string_view text);

// The channels that a policy makes for a number of slots.
struct ChannelPlan {
  struct Channel {
    int host = 0;                   // index of the target
    bool local_pool = false;        // sets GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL
    int distinguishing_value = -1;  // value of an argument that no other channel has; -1: no such argument
  };
  std::vector<Channel> channels;  // slot i uses channels[i % channels.size()]
  int expected_connections = 0;
};

// `slots` and `hosts` are at least 1. Channels are spread over the hosts round robin; "one connection" is one per
// host.
ChannelPlan PlanChannels(const ChannelPolicy& policy, int slots, int hosts);

// Returns one line if some channels stay idle, because there are fewer slots at some load levels, or if the upper bound
// on channels has no effect at any level; otherwise empty.
std::string DescribeIdleChannels(const ChannelPolicy& policy, const std::vector<int>& slots);

// Returns the thread that drives slot i of a point. Slots go to threads in turn, and the turn shifts by one when the
// same pairs of channel and thread would repeat. Each thread gets its share of the slots, and as many threads as
// possible drive each channel. Otherwise pool:4 on two threads would pin each channel to one thread, and pool:3 would
// not.
int ThreadOfSlot(int slot, int channels, int threads);

}  // namespace cqbench
