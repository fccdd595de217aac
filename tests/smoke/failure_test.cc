// Servers that do not exist, end or restart, and too few descriptors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/in_process_server.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

// The connection is refused, so the client does not wait.
TEST(NoServerTest, IsSaidAtOnce) {
  const BoundSocket nobody;
  for (const std::string& api : kClientApis) {
    const ClientRun run =
        RunClient({"--host", nobody.address(), "--api", api, "--connect-timeout", "20", "--inflight-list", "1,2,3"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    ExpectOneLine(run.err, {"cannot connect", nobody.address(), "Connection refused"});
    EXPECT_LT(run.took, kGrace);
  }
}

TEST(NoServerTest, IsWaitedForOnRequest) {
  const BoundSocket nobody;
  // The client skips the other points of the sweep: three points would take three timeouts.
  const ClientRun run = RunClient(
      {"--host", nobody.address(), "--wait-for-server", "--connect-timeout", "500ms", "--inflight-list", "1,2,3"});
  EXPECT_EQ(run.exit_code, 1);
  ExpectOneLine(run.err, {"cannot connect", nobody.address(), "500ms"});
  EXPECT_GE(run.took, Seconds(0.5));
  EXPECT_LT(run.took, Seconds(0.5) + kGrace);
}

TEST(NoServerTest, UnixSocketThatIsNotThere) {
  const TemporaryDirectory directory;
  const std::string address = "unix:" + directory.path() + "/none";
  const ClientRun run = RunClient({"--host", address, "--connect-timeout", "500ms", "--inflight", "2"});
  EXPECT_EQ(run.exit_code, 1);
  ExpectOneLine(run.err, {"cannot connect", address});
}

// The peer accepts connections and does not speak HTTP/2.
TEST(NoServerTest, MutePeerIsNotWaitedForForever) {
  BoundSocket mute;
  mute.Listen();
  const ClientRun run = RunClient({"--host", mute.address(), "--connect-timeout", "500ms", "--inflight", "2"});
  EXPECT_EQ(run.exit_code, 1);
  ExpectOneLine(run.err, {"cannot connect", mute.address()});
  EXPECT_LT(run.took, Seconds(0.5) + kGrace);
}

// The JSON contains the failed point with the reason, as readers of the file expect.
TEST(NoServerTest, JsonSaysSo) {
  const BoundSocket nobody;
  const ClientRun run =
      RunClient({"--host", nobody.address(), "--connect-timeout", "200ms", "--inflight", "1", "--format", "json"});
  EXPECT_EQ(run.exit_code, 1);
  const Json point = run.Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("error_occurred"), true);
  EXPECT_THAT(point.at("error_message").get<std::string>(), testing::HasSubstr("cannot connect"));
}

class NoMethodTest : public testing::TestWithParam<ApiAndMode> {};

// The client fails before it measures: with these times the test would otherwise not end.
TEST_P(NoMethodTest, EndsTheRunAtOnce) {
  grpc::CallbackGenericService nothing;  // responds to every call with UNIMPLEMENTED
  const InProcessServer server(nothing);
  const auto& [api, mode] = GetParam();
  for (const char* warmup : {"60", "0"}) {
    const ClientRun run = RunClient({"--host", server.address(), "--api", api, "--method", mode, "--inflight-list",
                                     "3,4", "--interval", "60", "--warmup", warmup});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    ExpectOneLine(run.err, {"no method /Ydb.Debug.V1.DebugService/Ping", "UNIMPLEMENTED"});
    EXPECT_LT(run.took, kGrace);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NoMethodTest, EveryApiAndMode(), ClientName);

// So long that a signal to the server comes within the window, even with sanitizers on a busy machine.
constexpr int kWindowMs = kSanitized ? 5000 : 2500;

class LostServerTest : public testing::TestWithParam<ApiAndMode> {
 protected:
  void SetUp() override {
    if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill the server cannot be told";
  }
  // A client on a terminal, whose progress shows when to act.
  static std::unique_ptr<Process> StartClient(const Server& server, const Flags& more) {
    const auto& [api, mode] = GetParam();
    Flags flags = {"--host", server.address(),   "--api",        api, "--warmup", "50ms", "--format",
                   "json",   "--channel-policy", "distinct-args"};
    if (mode == "streaming") flags.emplace_back("--streaming");
    return std::make_unique<Process>(ClientCommand(flags + more), Process::Options{.error_is_terminal = true});
  }
};

TEST_P(LostServerTest, PointHasItsErrorsAndTheSweepGoesOn) {
  Server server;
  const auto client = StartClient(
      server, {"--interval", std::to_string(kWindowMs) + "ms", "--connect-timeout", "300ms", "--inflight-list", "3,4"});
  ASSERT_TRUE(WaitUntilMeasuring(*client));
  server.process().Signal(SIGKILL);
  const ClientRun run = Finish(*client);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_LT(run.took, Seconds(kWindowMs / 1000.0 + 0.3) + kGrace);
  const Json result = run.Parsed();
  ASSERT_TRUE(result.is_object());
  EXPECT_FALSE(result.at("context").at("partial"));
  const Json points = run.Points();
  ASSERT_EQ(points.size(), 2u);
  const Json& cut = points.at(0);
  EXPECT_GT(cut.at("completed"), 0) << cut;
  EXPECT_GT(CountOf(cut, "UNAVAILABLE"), 0u) << cut << run.err;  // which has every line of progress
  EXPECT_EQ(CountOf(cut, "UNAVAILABLE"), cut.at("failed")) << cut;
  EXPECT_NE(cut.at("errors").at(0).at("first_message"), "");
  EXPECT_EQ(cut.at("unfinished"), 0) << cut;
  // A slot backs off after a failure, so the client does not send a hundred thousand calls a second to a dead server.
  EXPECT_LT(cut.at("failed"), 3 * kWindowMs / 10 + 100) << cut;
  const Json& rest = points.at(1);
  EXPECT_EQ(rest.at("completed"), 0) << rest;
  EXPECT_THAT(rest.at("error_message").get<std::string>(), testing::HasSubstr("cannot connect"));
}

TEST_P(LostServerTest, RestartedServerServesALaterPoint) {
  std::optional<Server> server(std::in_place);
  const std::string port = server->port();
  const auto client = StartClient(*server, {"--interval", std::to_string(kWindowMs) + "ms", "--wait-for-server",
                                            "--connect-timeout", "20", "--inflight-list", "3,2"});
  ASSERT_TRUE(WaitUntilMeasuring(*client));
  server->process().Signal(SIGKILL);
  ASSERT_EQ(server->process().Wait(kPatience), -SIGKILL);
  server.emplace(Flags{"--port", port});
  // On a busy machine calls after the restart took 1.9 s.
  ASSERT_TRUE(WaitUntilMeasuring(*client, 2));
  const Json points = Interrupt(*client).Points();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_GT(points.at(0).at("failed"), 0) << points.at(0) << client->err();
  EXPECT_GT(points.at(1).at("completed"), 0) << points.at(1);
  EXPECT_EQ(points.at(1).at("failed"), 0) << points.at(1);
  EXPECT_EQ(points.at(1).at("connections"), 2);
}

INSTANTIATE_TEST_SUITE_P(All, LostServerTest, EveryApiAndMode(), ClientName);

TEST(LostServerTableTest, WhatWasMeasuredIsPrinted) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill the server cannot be told";
  Server server;
  Process client(ClientCommand({"--host", server.address(), "--inflight-list", "2,3", "--warmup", "50ms", "--interval",
                                "1", "--connect-timeout", "300ms"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  server.process().Signal(SIGKILL);
  const ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, testing::HasSubstr("Benchmark Results Summary"));
  EXPECT_THAT(run.out, testing::ContainsRegex("in-flight 2: [0-9]+ x UNAVAILABLE, first: ."));
  EXPECT_THAT(run.out, testing::HasSubstr("in-flight 3: not measured: cannot connect"));
}

// An allowed share of failed calls does not make the exit status 1, but a point without any result does.
TEST(LostServerTableTest, MaxErrorRateForgivesErrors) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill the server cannot be told";
  Server server;
  Process client(ClientCommand({"--host", server.address(), "--inflight", "2", "--warmup", "50ms", "--interval", "1",
                                "--max-error-rate", "1"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  server.process().Signal(SIGKILL);
  const ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, testing::HasSubstr("x UNAVAILABLE"));
}

TEST(DescriptorsTest, TooFewAreSaidBeforeTheRun) {
  const ClientRun run = RunClient({"--host", SharedServer("cq").address(), "--inflight", "200", "--api", "cq",
                                   "--channel-policy", "local-pool", "--format", "json"},
                                  {.max_descriptors = 100});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  ExpectOneLine(run.err, {"file descriptors", "200", "100", "ulimit -n"});
}

TEST(DescriptorsTest, FewConnectionsFitIntoTheSameLimit) {
  const Json point = RunClient(Flags{"--host", SharedServer("cq").address(), "--inflight", "200", "--api", "cq",
                                     "--channel-policy", "pool:4", "--format", "json"} +
                                   Short(),
                               {.max_descriptors = 100})
                         .CleanPoint();
  EXPECT_EQ(point.at("connections"), 4);
}

}  // namespace
}  // namespace cqbench::smoke
