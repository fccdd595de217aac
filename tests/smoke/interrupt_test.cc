// SIGINT and SIGTERM end a run early: what was measured is printed and marked partial.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

class InterruptTest : public testing::TestWithParam<ApiAndMode> {
 protected:
  void SetUp() override {
    if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  }
  static Flags Command(const Flags& more) {
    const auto& [api, mode] = GetParam();
    Flags flags = {"--host", SharedServer("cq").address(), "--api", api, "--warmup", "50ms", "--deadline", "20"};
    if (mode == "streaming") flags.emplace_back("--streaming");
    return ClientCommand(flags + more);
  }
};

TEST_P(InterruptTest, PartialResultAsJson) {
  Process client(Command({"--inflight-list", "2,3", "--interval", "60", "--format", "json"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  const ClientRun run = Interrupt(client);
  const Json result = run.Parsed();
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result.at("context").at("partial"), true);
  const Json point = run.Point();  // the client does not try the second point
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("partial"), true);
  EXPECT_GT(point.at("completed"), 0);
  EXPECT_EQ(point.at("failed"), 0) << point;
  EXPECT_GT(point.at("latency_max_ns"), 0);
  EXPECT_LT(point.at("window_ns"), int64_t{60} * 1'000'000'000);
}

TEST_P(InterruptTest, PartialResultAsTable) {
  Process client(Command({"--inflight", "2", "--interval", "60", "--with-csv"}), {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  client.Signal(SIGTERM);
  const ClientRun run = Finish(client);
  EXPECT_EQ(run.exit_code, 143);
  EXPECT_THAT(run.out, testing::HasSubstr("PARTIAL RESULT"));
  EXPECT_THAT(run.out, testing::ContainsRegex("\n *2\\* \\| +[0-9.]+ \\|"));
  EXPECT_THAT(run.out, testing::ContainsRegex("CSV Results:\n[^\n]*\n2,[0-9.]+,"));
}

INSTANTIATE_TEST_SUITE_P(All, InterruptTest, EveryApiAndMode(), ClientName);

TEST(InterruptEarlyTest, WhileConnecting) {
  BoundSocket mute;
  mute.Listen();
  Process client(ClientCommand({"--host", mute.address(), "--connect-timeout", "600", "--inflight", "1"}));
  ASSERT_TRUE(mute.WaitForConnection());
  EXPECT_EQ(Interrupt(client).out, "");
}

// Returns true if the program blocks SIGINT. A forked process and a starting sanitizer block all signals for a moment;
// the program itself never blocks SIGUSR1.
bool HoldsInterrupts(const Process& process) {
  const auto bit = [](int signal) { return uint64_t{1} << (signal - 1); };
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("SigBlk:", 0) != 0) continue;
    return (std::stoull(line.substr(7), nullptr, 16) & (bit(SIGINT) | bit(SIGUSR1))) == bit(SIGINT);
  }
  return false;
}

TEST(InterruptEarlyTest, WhileConnectingOverHttp) {
  if (!CQBENCH_HTTP) GTEST_SKIP() << "HTTP is not built";
  const BoundSocket refuses;
  for (const char* api : {"http1", "http2"}) {
    Process client(ClientCommand({"--host", refuses.address(), "--api", api, "--http-request", "GET /",
                                  "--wait-for-server", "--connect-timeout", "600", "--inflight", "1"}));
    const auto patience = std::chrono::steady_clock::now() + kPatience;
    while (!HoldsInterrupts(client) && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_THAT(Interrupt(client).err, testing::HasSubstr("interrupted while connecting"));
  }
}

TEST(InterruptEarlyTest, WhileWarmingUp) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  Process client(
      ClientCommand({"--host", SharedServer("cq").address(), "--warmup", "600", "--inflight", "1", "--format", "json"}),
      {.error_is_terminal = true});
  ASSERT_TRUE(client.WaitUntil([&] { return client.err().find("warming up") != std::string::npos; }, kPatience));
  const Json point = Interrupt(client).Point();
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point.at("partial"), true);
  EXPECT_EQ(point.at("completed"), 0) << point;
}

// A finished point stays complete.
TEST(InterruptEarlyTest, SecondPointKeepsTheFirst) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  // 640 calls of 20 ms: the first point takes 0.2 s, the second 13 s, however busy the machine is.
  const Server server({"--api", "sync", "--service-time", "0.02", "--service-time-mode", "wait"});
  Process client(ClientCommand({"--host", server.address(), "--warmup", "50ms", "--interval", "60", "--total", "640",
                                "--inflight-list", "64,1,2", "--format", "json"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client, 2));
  const Json points = Interrupt(client).Points();
  ASSERT_EQ(points.size(), 2u);
  ExpectClean(points.at(0));
  EXPECT_EQ(points.at(1).at("partial"), true);
}

}  // namespace
}  // namespace cqbench::smoke
