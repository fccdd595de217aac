// Every server API with every client API, unary and bidi, and channel policy. Calls complete without an error, over as
// many connections as the policy promises, and their counts add up.

#include <gtest/gtest.h>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

struct Policy {
  const char* name;
  int connections;  // for four calls in flight
};
constexpr Policy kPolicies[] = {{"shared", 1}, {"per-slot", 1}, {"distinct-args", 4}, {"local-pool", 4}, {"pool:3", 3}};

using Combination = std::tuple<std::string, std::string, std::string>;  // server API, client API, mode

class MatrixTest : public testing::TestWithParam<Combination> {};

TEST_P(MatrixTest, EveryPolicyKeepsItsPromise) {
  const auto& [server_api, client_api, mode] = GetParam();
  const std::string& address = SharedServer(server_api).address();
  for (const Policy& policy : kPolicies) {
    // The policies differ in channel arguments, which sanitizers do not check.
    if (kSanitized && policy.name != std::string("pool:3")) continue;
    SCOPED_TRACE(policy.name);
    Flags flags = {"--host", address, "--api", client_api, "--channel-policy", policy.name};
    if (mode == "streaming") flags.push_back("--streaming");
    const ClientRun run = RunClient(flags + Short() + Flags{"--inflight", "4", "--format", "json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const Json result = run.Parsed();
    ASSERT_TRUE(result.is_object());
    EXPECT_EQ(result.at("context").at("api"), client_api);
    EXPECT_EQ(result.at("context").at("method"), mode);
    EXPECT_EQ(result.at("context").at("channel_policy"), policy.name);
    EXPECT_FALSE(result.at("context").at("partial"));
    const Json point = run.CleanPoint();
    ExpectIdentities(point);
    EXPECT_EQ(point.at("inflight"), 4);
    EXPECT_EQ(point.at("connections"), policy.connections);
    EXPECT_EQ(point.at("expected_connections"), policy.connections);
    EXPECT_EQ(point.at("completed_per_slot").size(), 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixTest,
                         testing::Combine(testing::ValuesIn(kServerApis), testing::ValuesIn(kClientApis),
                                          testing::Values("unary", "streaming")),
                         [](const testing::TestParamInfo<Combination>& tested) {
                           return std::get<0>(tested.param) + "Server_" + std::get<1>(tested.param) + "Client_" +
                                  std::get<2>(tested.param);
                         });

}  // namespace
}  // namespace cqbench::smoke
