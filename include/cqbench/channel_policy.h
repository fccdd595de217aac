// Over how many channels and connections the in-flight calls of a point go.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cqbench {

struct ChannelPolicy {
  enum class Kind {
    kShared,        // one channel for all workers
    kPerWorker,     // a channel per worker, all with the same arguments: gRPC puts them on one connection
    kDistinctArgs,  // a channel per worker, each with an argument of its own: a connection each
    kLocalPool,     // a channel per worker with GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL: a connection each
    kPool,          // `pool_size` channels with connections of their own, workers spread round robin
  };
  Kind kind = Kind::kPerWorker;
  int pool_size = 0;     // kPool only
  int max_channels = 0;  // upper bound for the kinds with a channel per worker; 0: none

  // "shared", "per-worker", "distinct-args", "local-pool" or "pool:N".
  std::string ToString() const;
};

// INVALID_ARGUMENT when the text is none of the above, or N is not in 1..10000.
absl::StatusOr<ChannelPolicy> ParseChannelPolicy(absl::string_view text);

// What a policy means for one in-flight count.
struct ChannelPlan {
  struct Channel {
    int host = 0;                   // index of the target
    bool local_pool = false;        // sets GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL
    int distinguishing_value = -1;  // value of an argument that no other channel has; -1: no such argument
  };
  std::vector<Channel> channels;  // worker i uses channels[i % channels.size()]
  int expected_connections = 0;
};

// `inflight` and `hosts` are at least 1. Channels are spread over the hosts round robin; "one connection" is one per
// host.
ChannelPlan PlanChannels(const ChannelPolicy& policy, int inflight, int hosts);

}  // namespace cqbench
