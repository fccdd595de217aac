// Several real clients that measure together: one window, shares that add up, and results that remain if one dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>

#include "src/base/clock.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/rank_peer.h"

namespace cqbench::smoke {
namespace {

class RanksTest : public RankPeerTest {
 protected:
  // Starts a rank of `count`. `launcher`: a prefix of its command line.
  void Begin(int count, const Flags& more, const Flags& launcher = {}, bool terminal = false) {
    const auto index = std::to_string(ranks_.size());
    const Flags who = {"--host",       SharedServer("cq").address(),
                       "--api",        "cq",
                       "--ranks",      std::to_string(count),
                       "--rendezvous", folder_,
                       "--rank",       index};
    ranks_.push_back(std::make_unique<Process>(launcher + ClientCommand(who + more),
                                               Process::Options{.error_is_terminal = terminal}));
  }
  std::vector<ClientRun> FinishAll() {
    std::vector<ClientRun> runs;
    for (const auto& rank : ranks_) runs.push_back(Finish(*rank));
    return runs;
  }

  // Starts two clients that share only the start time.
  std::vector<ClientRun> RunAt(std::chrono::system_clock::time_point start) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(start.time_since_epoch()).count();
    const std::string when = std::to_string(since / 1000) + "." + std::to_string(1000 + since % 1000).substr(1);
    const Flags both = {"--host",     SharedServer("cq").address(),
                        "--api",      "cq",
                        "--ranks",    "2",
                        "--start-at", when,
                        "--inflight", "2",
                        "--format",   "json"};
    ranks_.clear();
    for (const char* index : {"0", "1"}) {
      ranks_.push_back(std::make_unique<Process>(ClientCommand(both + Flags{"--rank", index} + ShortInterval())));
    }
    return FinishAll();
  }

  std::vector<std::unique_ptr<Process>> ranks_;
};

TEST_F(RanksTest, OneWindowAndSharesThatAddUp) {
  for (int i = 0; i < 3; ++i) Begin(3, Flags{"--inflight-list", "4,8"} + ShortInterval());
  for (const ClientRun& run : FinishAll()) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("of 3: what this client did itself"));
  }
  for (size_t point : {0, 1}) {
    ExpectOneWindow(point, 3, point == 0 ? 4 : 8);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(FileOf(i).at("context").at("servers").size(), i == 0 ? 1u : 0u) << "one asks the server for all";
      const Json warnings = PointOf(i, point).at("warnings");
      for (const Json& warning : warnings) EXPECT_NE(warning.at("code"), "other-client");
    }
  }
}

TEST_F(RanksTest, RatesAreDividedAndSchedulesDiffer) {
  for (int i = 0; i < 2; ++i) Begin(2, Flags{"--rate", "301", "--seed", "7"} + ShortInterval());
  for (const ClientRun& run : FinishAll()) EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(PointOf(0).at("target_rate_per_second"), 151);
  EXPECT_EQ(PointOf(1).at("target_rate_per_second"), 150);
  EXPECT_EQ(FileOf(0).at("context").at("schedule_seed"), 7);
  EXPECT_NE(PointOf(0).at("schedule_hash"), PointOf(1).at("schedule_hash"));
}

TEST_F(RanksTest, AClockAThousandSecondsAhead) {
  const auto ahead = Ahead();
  if (!ahead) GTEST_SKIP() << "no time namespaces here";
  Begin(2, Flags{"--inflight", "2"} + ShortInterval());
  Begin(2, Flags{"--inflight", "2"} + ShortInterval(), *ahead);
  for (const ClientRun& run : FinishAll()) EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectAThousandSecondsAhead();
}

// The killed rank loses its own point, but not those before it; the others measure this point and those that follow.
TEST_F(RanksTest, ARankThatIsKilledCostsNobodyElseAnything) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill cannot be told";
  const Flags flags = {"--inflight-list", "2,4,6", "--warmup", "50ms", "--interval", "700ms", "--rank-timeout", "1"};
  Begin(2, flags);
  Begin(2, flags, {}, /*terminal=*/true);
  ASSERT_TRUE(WaitUntilMeasuring(*ranks_[1], 2));
  ranks_[1]->Signal(SIGKILL);
  EXPECT_EQ(Finish(*ranks_[0]).exit_code, 0);
  for (size_t point : {0, 1, 2}) ExpectClean(PointOf(0, point));
  const Json left = FileOf(1);
  EXPECT_EQ(left.at("benchmarks").size(), 1u);
  EXPECT_EQ(left.at("context").at("partial"), true);
  ExpectClean(PointOf(1));
}

TEST_F(RanksTest, PartialResultsOfAll) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to interrupt cannot be told";
  for (int i = 0; i < 2; ++i) Begin(2, {"--inflight", "2", "--warmup", "100ms", "--interval", "60"}, {}, true);
  for (const auto& rank : ranks_) ASSERT_TRUE(WaitUntilMeasuring(*rank));
  ranks_[0]->Signal(SIGTERM);
  ranks_[1]->Signal(SIGINT);
  const std::vector<ClientRun> runs = FinishAll();
  EXPECT_EQ(runs[0].exit_code, 143);
  EXPECT_EQ(runs[1].exit_code, 130);
  for (int i = 0; i < 2; ++i) {
    const Json point = PointOf(i), rank = point.at("rank");
    EXPECT_EQ(point.at("partial"), true);
    EXPECT_GT(point.at("completed"), 0);
    EXPECT_LT(rank.at("window_close_ns"), rank.at("announced_close_ns"));
  }
}

// A rank that was stopped when the window opened reports this.
TEST_F(RanksTest, StoppedAcrossTheOpening) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to stop cannot be told";
  const Flags flags = {"--inflight", "2", "--warmup", kSanitized ? "2" : "1", "--interval", "1.5"};
  for (int i = 0; i < 2; ++i) Begin(2, flags, {}, true);
  ASSERT_TRUE(
      ranks_[1]->WaitUntil([&] { return ranks_[1]->err().find("warming up") != std::string::npos; }, kPatience));
  ranks_[1]->Signal(SIGSTOP);
  // The other rank is a second into the window.
  ASSERT_TRUE(
      ranks_[0]->WaitUntil([&] { return ranks_[0]->err().find("measuring 1.") != std::string::npos; }, kPatience));
  ranks_[1]->Signal(SIGCONT);
  for (const ClientRun& run : FinishAll()) EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto late = [&](int i) {
    const Json rank = PointOf(i).at("rank");
    return rank.at("window_open_ns").get<Nanos>() - rank.at("announced_open_ns").get<Nanos>();
  };
  EXPECT_GT(late(1), kNanosPerSecond / 2);
  EXPECT_LT(late(0), late(1));
}

TEST_F(RanksTest, AFolderOfAnotherRun) {
  Begin(1, Flags{"--inflight", "1"} + ShortInterval());
  EXPECT_EQ(Finish(*ranks_[0]).exit_code, 0);
  ranks_.clear();
  Begin(1, Flags{"--inflight", "1"} + ShortInterval());
  const ClientRun again = Finish(*ranks_[0]);
  EXPECT_EQ(again.exit_code, 2);
  ExpectOneLine(again.err, {"--rendezvous", folder_, "another run"});
}

// There is no folder: each rank writes its own result. The test tries later start times until the machine is fast
// enough.
TEST_F(RanksTest, AtAGivenTime) {
  std::vector<ClientRun> runs;
  const auto too_late = [](const ClientRun& run) { return run.err.find("too late") != std::string::npos; };
  for (int ahead = 1; ahead <= 27; ahead *= 3) {
    runs = RunAt(std::chrono::system_clock::now() + std::chrono::seconds(ahead));
    if (std::none_of(runs.begin(), runs.end(), too_late)) break;
  }
  for (const ClientRun& run : runs) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json point = run.Point();
    ASSERT_TRUE(point.is_object());
    ExpectClean(point);
    EXPECT_EQ(point.at("inflight"), 1);
    EXPECT_GT(point.at("rank").at("announced_open_ns"), 0) << "times count from the start";
    EXPECT_LT(point.at("rank").at("announced_open_ns"), kNanosPerSecond);
  }
}

TEST_F(RanksTest, TooLateForTheTime) {
  Process late(ClientCommand({"--host", SharedServer("cq").address(), "--ranks", "2", "--rank", "1", "--inflight", "2",
                              "--start-at", "1700000000"}));
  const ClientRun run = Finish(late);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, testing::HasSubstr("too late for --start-at"));
}

}  // namespace
}  // namespace cqbench::smoke
