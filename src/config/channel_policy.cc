#include "cqbench/channel_policy.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace cqbench {
namespace {

using Kind = ChannelPolicy::Kind;
constexpr int kMaxPool = 10'000;

int NumChannels(const ChannelPolicy& policy, int slots, int hosts) {
  switch (policy.kind) {
    case Kind::kShared:
      return std::min(slots, hosts);
    case Kind::kPool:
      return policy.pool_size;
    case Kind::kPerSlot:
    case Kind::kDistinctArgs:
    case Kind::kLocalPool:
      break;
  }
  return policy.max_channels > 0 ? std::min(slots, policy.max_channels) : slots;
}

}  // namespace

std::string ChannelPolicy::ToString() const {
  const absl::string_view name = cqbench::ToString(kind);
  return kind == Kind::kPool ? absl::StrCat(name, ":", pool_size) : std::string(name);
}

absl::StatusOr<ChannelPolicy> ParseChannelPolicy(absl::string_view text) {
  const auto kind = FromString<Kind>(text);
  if (kind && *kind != Kind::kPool) return ChannelPolicy{*kind};
  absl::string_view number = text;
  ChannelPolicy pool{Kind::kPool};
  if (absl::ConsumePrefix(&number, "pool:") && absl::SimpleAtoi(number, &pool.pool_size) && pool.pool_size >= 1 &&
      pool.pool_size <= kMaxPool) {
    return pool;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text,
                                                 "' is not a channel policy: shared, per-slot, distinct-args, "
                                                 "local-pool or pool:N with N from 1 to ",
                                                 kMaxPool));
}

ChannelPlan PlanChannels(const ChannelPolicy& policy, int slots, int hosts) {
  ChannelPlan plan;
  const int channels = NumChannels(policy, slots, hosts);
  for (int i = 0; i < channels; ++i) {
    ChannelPlan::Channel channel;
    channel.host = i % hosts;
    channel.local_pool = policy.kind == Kind::kLocalPool || policy.kind == Kind::kPool;
    if (policy.kind == Kind::kDistinctArgs) channel.distinguishing_value = i;
    plan.channels.push_back(channel);
  }
  const bool together = policy.kind == Kind::kShared || policy.kind == Kind::kPerSlot;
  plan.expected_connections = together ? std::min(channels, hosts) : channels;
  return plan;
}

std::string DescribeIdleChannels(const ChannelPolicy& policy, const std::vector<int>& slots) {
  if (policy.kind == Kind::kPool) {
    std::set<int> fewer;
    for (int count : slots) {
      if (count < policy.pool_size) fewer.insert(count);
    }
    if (fewer.empty()) return "";
    return absl::StrCat(policy.ToString(), " has more channels than calls in flight (", absl::StrJoin(fewer, ", "),
                        "): the others carry nothing");
  }
  const int most = slots.empty() ? 0 : *std::max_element(slots.begin(), slots.end());
  if (policy.max_channels <= most) return "";
  return absl::StrCat("at most ", policy.max_channels, " channels is no bound: there are never more than ", most,
                      " calls in flight, with a channel each");
}

int ThreadOfSlot(int slot, int channels, int threads) {
  // After one least common multiple, the pairs of channel and thread begin to repeat.
  const int64_t period = std::lcm(int64_t{channels}, int64_t{threads});
  return static_cast<int>((slot + slot / period) % threads);
}

}  // namespace cqbench
