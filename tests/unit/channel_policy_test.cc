// The channels and connections of each policy.
#include "cqbench/channel_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// gRPC may use one connection for channels with equal keys.
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
  EXPECT_EQ(kind_of("per-slot"), Kind::kPerSlot);
  EXPECT_EQ(kind_of("distinct-args"), Kind::kDistinctArgs);
  EXPECT_EQ(kind_of("local-pool"), Kind::kLocalPool);
  EXPECT_EQ(kind_of("pool:4"), Kind::kPool);
  for (const char* text : {"shared", "per-slot", "distinct-args", "local-pool", "pool:1", "pool:10000"}) {
    EXPECT_EQ(ParseChannelPolicy(text).value().ToString(), text);
  }
  EXPECT_EQ(ParseChannelPolicy("pool:4").value().pool_size, 4);
}

TEST(ParseChannelPolicy, RefusesEverythingElseAndSaysWhatIsAccepted) {
  for (const char* text : {"", "Shared", "shared ", "pool", "pool:", "pool:0", "pool:-1", "pool:10001", "pool:x",
                           "pool:1x", "pool:99999999999999999999", "pool:?", "per_slot", "per-worker"}) {
    const auto policy = ParseChannelPolicy(text);
    ASSERT_FALSE(policy.ok()) << text;
    EXPECT_THAT(std::string(policy.status().message()), HasSubstr(absl::StrCat("'", text, "'")));
    EXPECT_THAT(std::string(policy.status().message()), HasSubstr("local-pool or pool:N"));
  }
}

TEST(PlanChannels, PromisesOneOneNNAndNConnections) {
  for (int slots : {1, 2, 48, 1000}) {
    EXPECT_EQ(PlanChannels({Kind::kShared}, slots, 1).expected_connections, 1);
    EXPECT_EQ(PlanChannels({Kind::kPerSlot}, slots, 1).expected_connections, 1);
    EXPECT_EQ(PlanChannels({Kind::kDistinctArgs}, slots, 1).expected_connections, slots);
    EXPECT_EQ(PlanChannels({Kind::kLocalPool}, slots, 1).expected_connections, slots);
    EXPECT_EQ(PlanChannels({Kind::kPool, 7}, slots, 1).expected_connections, 7);
  }
}

TEST(PlanChannels, SharedIsOneChannelHoweverManySlots) {
  for (int slots : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kShared}, slots, 1);
    ASSERT_EQ(plan.channels.size(), 1u);
    EXPECT_FALSE(plan.channels[0].local_pool);
    EXPECT_EQ(plan.channels[0].distinguishing_value, -1);
  }
}

TEST(PlanChannels, PerSlotIsAChannelEachWithNothingToTellThemApart) {
  for (int slots : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kPerSlot}, slots, 1);
    EXPECT_EQ(plan.channels.size(), static_cast<size_t>(slots));
    EXPECT_EQ(DistinctConnections(plan).size(), 1u);
  }
}

TEST(PlanChannels, DistinctArgsGivesEachChannelAValueOfItsOwn) {
  for (int slots : {1, 2, 48}) {
    const ChannelPlan plan = PlanChannels({Kind::kDistinctArgs}, slots, 1);
    std::set<int> values;
    for (const auto& channel : plan.channels) {
      EXPECT_GE(channel.distinguishing_value, 0);
      EXPECT_FALSE(channel.local_pool);
      values.insert(channel.distinguishing_value);
    }
    EXPECT_EQ(values.size(), static_cast<size_t>(slots));
  }
}

TEST(PlanChannels, LocalPoolAndPoolUseTheLocalSubchannelPool) {
  for (const ChannelPolicy& policy : {ChannelPolicy{Kind::kLocalPool}, ChannelPolicy{Kind::kPool, 3}}) {
    const ChannelPlan plan = PlanChannels(policy, 3, 1);
    ASSERT_EQ(plan.channels.size(), 3u);
    for (const auto& channel : plan.channels) EXPECT_TRUE(channel.local_pool);
  }
}

TEST(PlanChannels, PoolHasItsSizeWhetherThereAreFewerOrMoreSlots) {
  for (int slots : {1, 4, 100}) {
    EXPECT_EQ(PlanChannels({Kind::kPool, 4}, slots, 1).channels.size(), 4u);
  }
}

TEST(PlanChannels, ChannelsGoRoundTheHosts) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kPerSlot}, 5, 2)), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kLocalPool}, 4, 3)), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kPool, 3}, 1, 2)), ElementsAre(0, 1, 0));
}

TEST(PlanChannels, SharedIsOneChannelPerHost) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kShared}, 48, 3)), ElementsAre(0, 1, 2));
  EXPECT_EQ(PlanChannels({Kind::kShared}, 48, 3).expected_connections, 3);
  EXPECT_EQ(PlanChannels({Kind::kPerSlot}, 48, 3).expected_connections, 3);
}

TEST(PlanChannels, HostsThatNoSlotReachesGetNoConnection) {
  EXPECT_THAT(HostsOf(PlanChannels({Kind::kShared}, 1, 3)), ElementsAre(0));
  EXPECT_EQ(PlanChannels({Kind::kShared}, 1, 3).expected_connections, 1);
  EXPECT_EQ(PlanChannels({Kind::kPerSlot}, 2, 3).expected_connections, 2);
}

TEST(PlanChannels, MaxChannelsBoundsThePoliciesWithAChannelPerSlot) {
  for (Kind kind : {Kind::kPerSlot, Kind::kDistinctArgs, Kind::kLocalPool}) {
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 48, 1).channels.size(), 4u);
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 3, 1).channels.size(), 3u);
    EXPECT_EQ(PlanChannels({kind, 0, 4}, 48, 1).expected_connections, kind == Kind::kPerSlot ? 1 : 4);
  }
}

TEST(PlanChannels, ExpectedConnectionsAreWhatTheChannelsCanBeToldApartBy) {
  for (const ChannelPolicy& policy :
       {ChannelPolicy{Kind::kShared}, ChannelPolicy{Kind::kPerSlot}, ChannelPolicy{Kind::kDistinctArgs},
        ChannelPolicy{Kind::kLocalPool}, ChannelPolicy{Kind::kPool, 5}, ChannelPolicy{Kind::kDistinctArgs, 0, 3}}) {
    for (int slots : {1, 2, 3, 16}) {
      for (int hosts : {1, 2, 5}) {
        const ChannelPlan plan = PlanChannels(policy, slots, hosts);
        EXPECT_EQ(DistinctConnections(plan).size(), static_cast<size_t>(plan.expected_connections))
            << policy.ToString() << ", " << slots << " slots, " << hosts << " hosts";
      }
    }
  }
}

// Numbers of slots of each thread, and threads of each channel.
struct Spread {
  Spread(int slots, int channels, int threads)
      : slots_of_thread(static_cast<size_t>(threads)),
        threads_of_channel(static_cast<size_t>(channels)),
        slots_of_channel(static_cast<size_t>(channels)) {
    for (int slot = 0; slot < slots; ++slot) {
      const int thread = ThreadOfSlot(slot, channels, threads);
      EXPECT_GE(thread, 0);
      ++slots_of_thread.at(static_cast<size_t>(thread));
      threads_of_channel[static_cast<size_t>(slot % channels)].insert(thread);
      ++slots_of_channel[static_cast<size_t>(slot % channels)];
    }
  }
  std::vector<int> slots_of_thread;
  std::vector<std::set<int>> threads_of_channel;
  std::vector<int> slots_of_channel;
};

TEST(DescribeIdleChannels, APoolThatIsLargerThanTheLoadIsNamedWithIt) {
  const ChannelPolicy pool{Kind::kPool, 8};
  EXPECT_EQ(DescribeIdleChannels(pool, {8, 100}), "");
  EXPECT_EQ(DescribeIdleChannels(pool, {4}),
            "pool:8 has more channels than calls in flight (4): the others carry nothing");
  EXPECT_THAT(DescribeIdleChannels(pool, {7, 1, 7, 8, 100}), HasSubstr("(1, 7)"));
}

TEST(DescribeIdleChannels, ABoundIsNamedWhereItBoundsNothingAtAnyLoad) {
  const ChannelPolicy bounded{Kind::kLocalPool, 0, 8};
  EXPECT_THAT(DescribeIdleChannels(bounded, {1, 4}), HasSubstr("at most 8 channels"));
  EXPECT_EQ(DescribeIdleChannels(bounded, {1, 4, 8}), "");
  EXPECT_EQ(DescribeIdleChannels({Kind::kLocalPool}, {1, 4}), "");
  EXPECT_EQ(DescribeIdleChannels({Kind::kShared}, {1, 4}), "");
}

TEST(ThreadOfSlot, ThreadsGetTheSameNumberOfSlotsWithinOne) {
  for (int threads = 1; threads <= 6; ++threads) {
    for (int channels : {1, 2, 3, 4, 6, 7, 12}) {
      for (int slots = threads; slots <= 100; ++slots) {
        const Spread spread(slots, channels, threads);
        const auto [least, most] = std::minmax_element(spread.slots_of_thread.begin(), spread.slots_of_thread.end());
        EXPECT_LE(*most - *least, 1) << slots << " slots, " << channels << " channels, " << threads << " threads";
      }
    }
  }
}

TEST(ThreadOfSlot, AChannelIsDrivenByAsManyThreadsAsItHasSlots) {
  for (int threads = 1; threads <= 6; ++threads) {
    for (int channels : {1, 2, 3, 4, 6, 7, 12}) {
      for (int slots = 1; slots <= 100; ++slots) {
        const Spread spread(slots, channels, threads);
        for (size_t channel = 0; channel < spread.threads_of_channel.size(); ++channel) {
          EXPECT_EQ(static_cast<int>(spread.threads_of_channel[channel].size()),
                    std::min(threads, spread.slots_of_channel[channel]))
              << "channel " << channel << " of " << channels << ", " << slots << " slots, " << threads << " threads";
        }
      }
    }
  }
}

TEST(ThreadOfSlot, AnEvenPoolOnTwoThreadsIsNotPinned) {
  for (int channels : {2, 3, 4}) {
    for (const std::set<int>& threads : Spread(8, channels, 2).threads_of_channel) {
      EXPECT_THAT(threads, ElementsAre(0, 1)) << "pool:" << channels;
    }
  }
}

TEST(ThreadOfSlot, AThreadPerSlotIsEachSlotsOwn) {
  const Spread spread(/*slots=*/12, /*channels=*/4, /*threads=*/12);
  EXPECT_THAT(spread.slots_of_thread, testing::Each(1));
}

}  // namespace
}  // namespace cqbench
