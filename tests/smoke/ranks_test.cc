// Several real clients that measure together: one window, shares that add up, and what is left when one of them dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cqbench/clock.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {
namespace {

class RanksTest : public testing::Test {
 protected:
  RanksTest() {
    std::string name = testing::TempDir() + "ranks-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RanksTest() override { std::filesystem::remove_all(folder_); }

  // Begins a rank of `count`. `launcher`: what its command line begins with.
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
  // What a rank has left.
  Json FileOf(int rank) const {
    std::ifstream file(folder_ + "/rank-" + std::to_string(rank) + ".json");
    const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(json.is_object()) << "of rank " << rank;
    return json;
  }
  Json PointOf(int rank, size_t point = 0) const { return FileOf(rank).at("benchmarks").at(point); }

  std::string folder_;
  std::vector<std::unique_ptr<Process>> ranks_;
};

TEST_F(RanksTest, OneWindowAndSharesThatAddUp) {
  for (int i = 0; i < 3; ++i) Begin(3, Flags{"--inflight-list", "4,8"} + ShortInterval());
  for (const ClientRun& run : FinishAll()) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("of 3: what this client did itself"));
  }
  for (size_t point : {0, 1}) {
    int inflight = 0;
    const Json first = PointOf(0, point).at("rank");
    for (int i = 0; i < 3; ++i) {
      const Json measured = PointOf(i, point), rank = measured.at("rank");
      ExpectClean(measured);
      ExpectIdentities(measured);
      inflight += measured.at("inflight").get<int>();
      EXPECT_EQ(rank.at("index"), i);
      EXPECT_EQ(rank.at("count"), 3);
      EXPECT_EQ(rank.at("announced_open_ns"), first.at("announced_open_ns"));
      EXPECT_EQ(rank.at("announced_close_ns"), first.at("announced_close_ns"));
      EXPECT_GE(rank.at("window_open_ns"), rank.at("announced_open_ns"));
      EXPECT_GE(rank.at("window_close_ns"), rank.at("announced_close_ns"));
      EXPECT_EQ(measured.at("window_ns"),
                rank.at("announced_close_ns").get<Nanos>() - rank.at("announced_open_ns").get<Nanos>());
      EXPECT_EQ(FileOf(i).at("context").at("servers").size(), i == 0 ? 1u : 0u) << "one asks the server for all";
      for (const Json& doubt : measured.at("suspect")) EXPECT_NE(doubt.at("code"), "other-client");
    }
    EXPECT_EQ(inflight, point == 0 ? 4 : 8);
  }
}

TEST_F(RanksTest, RatesAreDividedAndSchedulesDiffer) {
  for (int i = 0; i < 2; ++i) Begin(2, Flags{"--rate", "301", "--seed", "7"} + ShortInterval());
  for (const ClientRun& run : FinishAll()) EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(PointOf(0).at("rate_asked_per_second"), 151);
  EXPECT_EQ(PointOf(1).at("rate_asked_per_second"), 150);
  EXPECT_EQ(FileOf(0).at("context").at("schedule_seed"), 7);
  EXPECT_NE(PointOf(0).at("schedule_hash"), PointOf(1).at("schedule_hash"));
}

// As on a machine that was started long before the others.
TEST_F(RanksTest, AClockAThousandSecondsAhead) {
  const Flags elsewhere = {"/usr/bin/unshare", "--time", "--monotonic", "1000"};
  Process allowed(elsewhere + Flags{"/bin/true"});
  if (allowed.Wait(kPatience) != 0) GTEST_SKIP() << "no time namespaces here: " << allowed.err();
  Begin(2, Flags{"--inflight", "2"} + ShortInterval());
  Begin(2, Flags{"--inflight", "2"} + ShortInterval(), elsewhere);
  for (const ClientRun& run : FinishAll()) EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json first = PointOf(0).at("rank"), second = PointOf(1).at("rank");
  constexpr Nanos kAhead = 1000 * kNanosPerSecond;
  EXPECT_LE(std::abs(second.at("offset_ns").get<Nanos>() + kAhead), second.at("offset_bound_ns").get<Nanos>());
  EXPECT_LT(second.at("offset_bound_ns"), kNanosPerMilli);
  EXPECT_EQ(second.at("announced_open_ns"), first.at("announced_open_ns"));
  ExpectClean(PointOf(1));
}

// Its own point is lost; the others measure this one and those that follow.
TEST_F(RanksTest, ARankThatIsKilledCostsNobodyElseAnything) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill cannot be told";
  const Flags flags = {"--inflight-list", "2,4", "--warmup", "100ms", "--interval", "1", "--rank-timeout", "1"};
  Begin(2, flags);
  Begin(2, flags, {}, /*terminal=*/true);
  ASSERT_TRUE(WaitUntilMeasuring(*ranks_[1]));
  ranks_[1]->Signal(SIGKILL);
  EXPECT_EQ(Finish(*ranks_[0]).exit_code, 0);
  ExpectClean(PointOf(0, 0));
  ExpectClean(PointOf(0, 1));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/rank-1.json"));
}

TEST_F(RanksTest, ARankThatIsKilledLaterLeavesItsPoints) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill cannot be told";
  const Flags flags = {"--inflight-list", "2,4", "--warmup", "100ms", "--interval", "1"};
  Begin(2, flags);
  Begin(2, flags, {}, /*terminal=*/true);
  ASSERT_TRUE(WaitUntilMeasuring(*ranks_[1], 2));
  ranks_[1]->Signal(SIGKILL);
  EXPECT_EQ(Finish(*ranks_[0]).exit_code, 0);
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

// A rank that was not there when the window opened says so.
TEST_F(RanksTest, StoppedAcrossTheOpening) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to stop cannot be told";
  const Flags flags = {"--inflight", "2", "--warmup", "2", "--interval", "3"};
  for (int i = 0; i < 2; ++i) Begin(2, flags, {}, true);
  ASSERT_TRUE(
      ranks_[1]->WaitUntil([&] { return ranks_[1]->err().find("warming up") != std::string::npos; }, kPatience));
  ranks_[1]->Signal(SIGSTOP);
  // The other is a second into the window.
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

// No folder: each writes its result where it is told to.
TEST_F(RanksTest, AtAGivenTime) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto start = std::to_string(
      (std::chrono::duration_cast<std::chrono::seconds>(now) + std::chrono::duration_cast<std::chrono::seconds>(kGrace))
          .count());
  std::vector<std::unique_ptr<Process>> ranks;
  for (const char* index : {"0", "1"}) {
    const Flags flags = {"--host",     SharedServer("cq").address(),
                         "--api",      "cq",
                         "--ranks",    "2",
                         "--rank",     index,
                         "--start-at", start,
                         "--inflight", "2",
                         "--format",   "json"};
    ranks.push_back(std::make_unique<Process>(ClientCommand(flags + ShortInterval())));
  }
  for (const auto& rank : ranks) {
    const ClientRun run = Finish(*rank);
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
