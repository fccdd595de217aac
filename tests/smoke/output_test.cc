// The client writes --output after every point, so it loses at most the current point if it is killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/config/messages.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/sockets.h"

namespace cqbench::smoke {
namespace {

class OutputTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill the client cannot be told";
  }
  std::string Path() const { return directory_.path() + "/result.json"; }
  std::string Content() const {
    std::ifstream file(Path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Json Result() const { return Json::parse(Content(), nullptr, /*allow_exceptions=*/false); }
  std::unique_ptr<Process> Start(const Flags& more) const {
    return std::make_unique<Process>(ClientCommand(Flags{"--host", SharedServer("cq").address(), "--api", "cq",
                                                         "--warmup", "50ms", "--format", "json", "--output", Path()} +
                                                   more),
                                     Process::Options{.error_is_terminal = true});
  }
  static void Kill(Process& client) {
    client.Signal(SIGKILL);
    EXPECT_EQ(client.Wait(kPatience), -SIGKILL);
  }

  const TemporaryDirectory directory_;
};

TEST_F(OutputTest, APointThatHasEndedSurvivesKill) {
  const auto client = Start({"--inflight-list", "1,2", "--interval", "1"});
  ASSERT_TRUE(WaitUntilMeasuring(*client, 2));
  Kill(*client);
  const Json result = Result();
  ASSERT_TRUE(result.is_object()) << Content();
  EXPECT_EQ(result.at("context").at("partial"), true);
  ASSERT_EQ(result.at("benchmarks").size(), 1u);
  ExpectClean(result.at("benchmarks").at(0));
  EXPECT_FALSE(result.at("context").at("servers").empty()) << "everything that is known by then";
}

TEST_F(OutputTest, AnOldResultSurvivesUntilTheFirstPointHasEnded) {
  std::ofstream(Path()) << "old";
  const auto client = Start({"--inflight", "1", "--interval", "60"});
  ASSERT_TRUE(WaitUntilMeasuring(*client));
  Kill(*client);
  EXPECT_EQ(Content(), "old");
  const auto files = std::filesystem::directory_iterator(directory_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no other file is left";
}

TEST_F(OutputTest, AtTheEndTheResultIsWhole) {
  const auto client = Start({"--inflight-list", "1,2", "--total", "100"});
  EXPECT_EQ(Finish(*client).exit_code, 0);
  const Json result = Result();
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result.at("context").at("partial"), false);
  EXPECT_EQ(result.at("benchmarks").size(), 2u);
}

// A pipe or a device gets one result at the end, not one for every point.
TEST_F(OutputTest, WhatIsNoFileIsWrittenOnce) {
  const ClientRun run = RunClient(Flags{"--host", SharedServer("cq").address(), "--inflight-list", "1,2", "--format",
                                        "json", "--per-worker-stats", "--output", "/dev/stderr"} +
                                  Short());
  EXPECT_EQ(run.exit_code, 0);
  const Json result = Json::parse(run.err, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(result.is_object()) << run.err;
  EXPECT_EQ(result.at("benchmarks").size(), 2u);
}

TEST(ObjectiveTest, MissedOnesAreSaidAndMakeTheStatusOne) {
  const Flags flags = Flags{"--host", SharedServer("cq").address(), "--inflight-list", "1,2"} + Short();
  const ClientRun met = RunClient(flags + Flags{"--objective", "p50<10s,errors<1%"});
  EXPECT_EQ(met.exit_code, 0) << met.err;
  EXPECT_EQ(met.err, "");
  const ClientRun missed = RunClient(flags + Flags{"--objective", "p50<1us"});
  EXPECT_EQ(missed.exit_code, 1);
  const std::vector<std::string> lines = Lines(missed.err);
  ASSERT_EQ(lines.size(), 2u) << missed.err;
  EXPECT_THAT(lines[0], testing::AllOf(testing::HasSubstr("--objective"), testing::HasSubstr("in-flight 1")));
  EXPECT_THAT(lines[1], testing::AllOf(testing::HasSubstr("--objective"), testing::HasSubstr("in-flight 2")));
}

}  // namespace
}  // namespace cqbench::smoke
