#include "cqbench/channel_policy.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cqbench {
namespace {

using Kind = ChannelPolicy::Kind;
constexpr int kMaxPool = 10'000;

int NumChannels(const ChannelPolicy& policy, int inflight, int hosts) {
  switch (policy.kind) {
    case Kind::kShared:
      return std::min(inflight, hosts);
    case Kind::kPool:
      return policy.pool_size;
    case Kind::kPerWorker:
    case Kind::kDistinctArgs:
    case Kind::kLocalPool:
      break;
  }
  return policy.max_channels > 0 ? std::min(inflight, policy.max_channels) : inflight;
}

}  // namespace

std::string ChannelPolicy::ToString() const {
  switch (kind) {
    case Kind::kShared:
      return "shared";
    case Kind::kPerWorker:
      return "per-worker";
    case Kind::kDistinctArgs:
      return "distinct-args";
    case Kind::kLocalPool:
      return "local-pool";
    case Kind::kPool:
      return absl::StrCat("pool:", pool_size);
  }
  return "?";
}

absl::StatusOr<ChannelPolicy> ParseChannelPolicy(absl::string_view text) {
  for (Kind kind : {Kind::kShared, Kind::kPerWorker, Kind::kDistinctArgs, Kind::kLocalPool}) {
    if (ChannelPolicy policy{kind}; policy.ToString() == text) return policy;
  }
  absl::string_view number = text;
  ChannelPolicy pool{Kind::kPool};
  if (absl::ConsumePrefix(&number, "pool:") && absl::SimpleAtoi(number, &pool.pool_size) && pool.pool_size >= 1 &&
      pool.pool_size <= kMaxPool) {
    return pool;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text,
                                                 "' is not a channel policy: shared, per-worker, distinct-args, "
                                                 "local-pool or pool:N with N from 1 to ",
                                                 kMaxPool));
}

ChannelPlan PlanChannels(const ChannelPolicy& policy, int inflight, int hosts) {
  ChannelPlan plan;
  const int channels = NumChannels(policy, inflight, hosts);
  for (int i = 0; i < channels; ++i) {
    ChannelPlan::Channel channel;
    channel.host = i % hosts;
    channel.local_pool = policy.kind == Kind::kLocalPool || policy.kind == Kind::kPool;
    if (policy.kind == Kind::kDistinctArgs) channel.distinguishing_value = i;
    plan.channels.push_back(channel);
  }
  const bool together = policy.kind == Kind::kShared || policy.kind == Kind::kPerWorker;
  plan.expected_connections = together ? std::min(channels, hosts) : channels;
  return plan;
}

}  // namespace cqbench
