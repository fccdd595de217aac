// What each policy means in channels and connections.
#include "cqbench/channel_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = ChannelPolicy::Kind;

std::vector<int> HostsOf(const ChannelPlan& plan) {
  std::vector<int> hosts;
  for (const auto& channel : plan.channels) hosts.push_back(channel.host);
  return hosts;
}

// Channels that gRPC could put on one connection have equal keys.
std::set<std::vector<int>> DistinctConnections(const ChannelPlan& plan) {
  std::set<std::vector<int>> keys;
  for (int i = 0; i < static_cast<int>(plan.channels.size()); ++i) {
    const auto& c = plan.channels[static_cast<size_t>(i)];
    keys.insert({c.host, c.distinguishing_value, c.local_pool ? i : -1});
  }
  return keys;
}

TEST(ParseChannelPolicy, ReadsEveryNameAndPrintsItBack) {
  const auto kind_of = [](absl::string_view text) { return ParseChannelPolicy(text).value().kind; };
  EXPECT_EQ(kind_of("shared"), Kind::kShared);
  EXPECT_EQ(kind_of("per-worker"), Kind::kPerWorker);
  EXPECT_EQ(kind_of("distinct-args"), Kind::kDistinctArgs);
  EXPECT_EQ(kind_of("local-pool"), Kind::kLocalPool);
  EXPECT_EQ(kind_of("pool:4"), Kind::kPool);
  for (const char* text : {"shared", "per-worker", "distinct-args", "local-pool", "pool:1", "pool:10000"}) {
    EXPECT_EQ(ParseChannelPolicy(text).value().ToString(), text);
  }
  EXPECT_EQ(ParseChannelPolicy("pool:4").value().pool_size, 4);
}

TEST(ParseChannelPolicy, RefusesEverythingElseAndSaysWhatIsAccepted) {
  for (const char* text : {"", "Shared", "shared ", "pool", "pool:", "pool:0", "pool:-1", "pool:10001", "pool:x",
                           "pool:1x", "pool:99999999999999999999", "pool:?", "per_worker"}) {
    const auto policy = ParseChannelPolicy(text);
    ASSERT_FALSE(policy.ok()) << text;
    EXPECT_THAT(std::string(policy.status().message()), HasSubstr(absl::StrCat("'", text, "'")));
    EXPECT_THAT(std::string(policy.status().message()), HasSubstr("local-pool or pool:N"));
  }
}

TEST(PlanChannels, PromisesOneOneNNAndNConnections) {
  for (int inflight : {1, 2, 48, 1000}) {
    EXPECT_EQ(PlanChannels({Kind::kShared}, inflight, 1).expected_connections, 1);
    EXPECT_EQ(PlanChannels({Kind::kPerWorker}, inflight, 1).expected_connections, 1);
    EXPECT_EQ(PlanChannels({Kind::kDistinctArgs}, inflight, 1).expected_connections, inflight);
    EXPECT_EQ(PlanChannels({Kind::kLocalPool}, inflight, 1).expected_connections, inflight);
    EXPECT_EQ(PlanChannels({Kind::kPool, 7}, inflight, 1).expected_connections, 7);
  }
}

TEST(PlanChannels, SharedIsOneChannelHoweverManyAreInFlight) {
  for (int inflight : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kShared}, inflight, 1);
    ASSERT_EQ(plan.channels.size(), 1u);
    EXPECT_FALSE(plan.channels[0].local_pool);
    EXPECT_EQ(plan.channels[0].distinguishing_value, -1);
  }
}

TEST(PlanChannels, PerWorkerIsAChannelEachWithNothingToTellThemApart) {
  for (int inflight : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kPerWorker}, inflight, 1);
    EXPECT_EQ(plan.channels.size(), static_cast<size_t>(inflight));
    EXPECT_EQ(DistinctConnections(plan).size(), 1u);
  }
}

TEST(PlanChannels, DistinctArgsGivesEachChannelAValueOfItsOwn) {
  for (int inflight : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kDistinctArgs}, inflight, 1);
    std::set<int> values;
    for (const auto& channel : plan.channels) {
      EXPECT_GE(channel.distinguishing_value, 0);
      EXPECT_FALSE(channel.local_pool);
      values.insert(channel.distinguishing_value);
    }
    EXPECT_EQ(values.size(), static_cast<size_t>(inflight));
  }
}

TEST(PlanChannels, LocalPoolAndPoolUseTheLocalSubchannelPool) {
  for (const ChannelPolicy& policy : {ChannelPolicy{Kind::kLocalPool}, ChannelPolicy{Kind::kPool, 3}}) {
    const ChannelPlan plan = PlanChannels(policy, 3, 1);
    ASSERT_EQ(plan.channels.size(), 3u);
    for (const auto& channel : plan.channels) EXPECT_TRUE(channel.local_pool);
  }
}

TEST(PlanChannels, PoolHasItsSizeWhetherFewerOrMoreAreInFlight) {
  for (int inflight : {1, 4, 100}) {
    EXPECT_EQ(PlanChannels({Kind::kPool, 4}, inflight, 1).channels.size(), 4u);
  }
}

TEST(PlanChannels, ChannelsGoRoundTheHosts) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kPerWorker}, 5, 2)), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kLocalPool}, 4, 3)), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kPool, 3}, 1, 2)), ElementsAre(0, 1, 0));
}

TEST(PlanChannels, SharedIsOneChannelPerHost) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kShared}, 48, 3)), ElementsAre(0, 1, 2));
  EXPECT_EQ(PlanChannels({Kind::kShared}, 48, 3).expected_connections, 3);
  EXPECT_EQ(PlanChannels({Kind::kPerWorker}, 48, 3).expected_connections, 3);
}

TEST(PlanChannels, HostsThatNoWorkerReachesGetNoConnection) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kShared}, 1, 3)), ElementsAre(0));
  EXPECT_EQ(PlanChannels({Kind::kShared}, 1, 3).expected_connections, 1);
  EXPECT_EQ(PlanChannels({Kind::kPerWorker}, 2, 3).expected_connections, 2);
}

TEST(PlanChannels, MaxChannelsBoundsThePoliciesWithAChannelPerWorker) {
  for (Kind kind : {Kind::kPerWorker, Kind::kDistinctArgs, Kind::kLocalPool}) {
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 48, 1).channels.size(), 4u);
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 3, 1).channels.size(), 3u);
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 48, 1).expected_connections, kind == Kind::kPerWorker ? 1 : 4);
  }
}

TEST(PlanChannels, ExpectedConnectionsAreWhatTheChannelsCanBeToldApartBy) {
  for (const ChannelPolicy& policy :
       {ChannelPolicy{Kind::kShared}, ChannelPolicy{Kind::kPerWorker}, ChannelPolicy{Kind::kDistinctArgs},
        ChannelPolicy{Kind::kLocalPool}, ChannelPolicy{Kind::kPool, 5}, ChannelPolicy{Kind::kDistinctArgs, 0, 3}}) {
    for (int inflight : {1, 2, 3, 16}) {
      for (int hosts : {1, 2, 5}) {
        const ChannelPlan plan = PlanChannels(policy, inflight, hosts);
        EXPECT_EQ(DistinctConnections(plan).size(), static_cast<size_t>(plan.expected_connections))
            << policy.ToString() << ", " << inflight << " in flight, " << hosts << " hosts";
      }
    }
  }
}

}  // namespace
}  // namespace cqbench
