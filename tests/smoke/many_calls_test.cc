// Runs with very many calls over very many connections end.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

// Sanitizers make each call and connection tens of times as expensive.
constexpr int kConnections = kSanitized ? 100 : 1000;
constexpr int kInflight = 10 * kConnections;

class ManyCallsTest : public testing::TestWithParam<ApiAndMode> {};

TEST_P(ManyCallsTest, RunToTheEnd) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < static_cast<rlim_t>(kConnections + 100)) {
    GTEST_SKIP() << "the hard limit of descriptors is " << limit.rlim_max << ", " << kConnections + 100
                 << " are needed";
  }
  const auto& [api, mode] = GetParam();
  Server server;
  Flags flags = {"--host",
                 server.address(),
                 "--api",
                 api,
                 "--channel-policy",
                 "pool:" + std::to_string(kConnections),
                 "--inflight",
                 std::to_string(kInflight),
                 "--deadline",
                 "20s",
                 "--warmup",
                 "1",
                 "--interval",
                 "60",
                 "--total",
                 std::to_string(kInflight),
                 "--connect-timeout",
                 "60",
                 "--format",
                 "json"};
  if (mode == "streaming") flags.emplace_back("--streaming");
  const ClientRun run = RunClient(flags, {}, Seconds(150));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_GT(point.at("completed"), 0);
  EXPECT_EQ(point.at("failed"), 0) << point.at("errors");
  EXPECT_EQ(point.at("unfinished"), 0);
  EXPECT_EQ(point.at("connections"), kConnections);
  for (const Json& warning : point.at("warnings")) EXPECT_NE(warning.at("code"), "connections") << warning;
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.failed, 0u);
  EXPECT_EQ(served.ok, served.calls);
  EXPECT_GE(served.messages, point.at("completed"));
}

INSTANTIATE_TEST_SUITE_P(All, ManyCallsTest,
                         testing::Values(ApiAndMode("cq", "unary"), ApiAndMode("cq", "streaming"),
                                         ApiAndMode("callback", "unary")),
                         ClientName);

}  // namespace
}  // namespace cqbench::smoke
