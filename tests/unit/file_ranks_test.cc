// Ranks that agree through files, each on a thread of its own, and ranks that start at a given time.
#include "src/ranks/file_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "src/base/interrupt.h"
#include "src/ranks/start_at.h"
#include "src/ranks/wall_clock.h"

namespace cqbench {
namespace {

using testing::HasSubstr;

constexpr Nanos kPatience = 60 * kNanosPerSecond;
constexpr RankPlan kPlan = {kNanosPerMilli, 100 * kNanosPerMilli, kNanosPerSecond};

class FileRanksTest : public testing::Test {
 protected:
  FileRanksTest() {
    std::string name = testing::TempDir() + "ranks-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FileRanksTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Ranks> Make(int index, int count, Nanos patience = kPatience) const {
    auto ranks = MakeFileRanks({index, count}, folder_, patience);
    EXPECT_TRUE(ranks.ok()) << ranks.status();
    return *std::move(ranks);
  }
  static std::future<absl::StatusOr<RankWindow>> Agree(Ranks& ranks, RankPlan plan = kPlan) {
    return std::async(std::launch::async, [&ranks, plan] {
      Interrupt interrupt;
      return ranks.Agree(plan, interrupt);
    });
  }

  std::string folder_;
};

TEST_F(FileRanksTest, AllOpenAtOneTimeAndFarEnoughAhead) {
  std::vector<std::unique_ptr<Ranks>> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(Make(i, 3));
  for (int point = 0; point < 2; ++point) {
    const Nanos before = NowNs();
    std::vector<std::future<absl::StatusOr<RankWindow>>> agreed;
    for (const auto& rank : ranks) agreed.push_back(Agree(*rank));
    std::vector<RankWindow> windows;
    for (auto& each : agreed) {
      const auto window = each.get();
      ASSERT_TRUE(window.ok()) << window.status();
      windows.push_back(*window);
    }
    for (size_t i = 0; i < ranks.size(); ++i) {
      const RankClock clock = ranks[i]->Compare();
      EXPECT_LE(std::abs(windows[i].open_ns - windows[0].open_ns), clock.bound_ns) << "rank " << i;
      EXPECT_EQ(windows[i].open_ns + clock.offset_ns, windows[0].open_ns) << "rank " << i;
      EXPECT_EQ(windows[i].open_ns - windows[i].start_ns, kPlan.warmup_ns);
      EXPECT_EQ(windows[i].close_ns - windows[i].open_ns, kPlan.interval_ns);
      EXPECT_EQ(clock.drift_ns_per_s, 0) << "one machine";
    }
    EXPECT_GE(windows[0].start_ns, before + Ranks::kLead);
  }
}

TEST_F(FileRanksTest, WhoNeedsTheLongestLeadGetsIt) {
  const auto first = Make(0, 2), second = Make(1, 2);
  const Nanos before = NowNs();
  auto slow = Agree(*second, {kNanosPerSecond, 0, kNanosPerSecond});
  const auto window = Agree(*first).get();
  ASSERT_TRUE(window.ok());
  EXPECT_GE(window->start_ns, before + Ranks::kLead + kNanosPerSecond);
  EXPECT_TRUE(slow.get().ok());
}

TEST_F(FileRanksTest, WhoCannotMeasureIsNotWaitedFor) {
  const auto first = Make(0, 3), second = Make(1, 3), third = Make(2, 3);
  second->Miss("no connection");
  third->Leave();
  EXPECT_TRUE(Agree(*first).get().ok());
  first->Compare();
  auto again = Agree(*second);  // the next point
  EXPECT_TRUE(Agree(*first).get().ok());
  EXPECT_TRUE(again.get().ok());
}

TEST_F(FileRanksTest, WhoIsNotThereInTimeIsLeftOutAndToldSo) {
  const auto first = Make(0, 2, kNanosPerMilli);
  ASSERT_TRUE(Agree(*first).get().ok());
  const auto second = Make(1, 2);
  const auto late = Agree(*second).get();
  EXPECT_EQ(late.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(late.status().message(), HasSubstr("--rank-timeout"));
}

TEST_F(FileRanksTest, NobodyBeginsWithoutTheFirst) {
  const auto second = Make(1, 3), third = Make(2, 3, kNanosPerMilli);
  const auto waited = Agree(*third).get();
  EXPECT_THAT(waited.status().message(), HasSubstr("announced no window"));
  const auto first = Make(0, 3);
  first->Miss("no connection");
  const auto told = Agree(*second).get();
  EXPECT_THAT(told.status().message(), HasSubstr("rank 0 does not measure this point"));
}

TEST_F(FileRanksTest, FoldersOfOtherRunsAreRefused) {
  Make(1, 2);
  const auto again = MakeFileRanks({1, 2}, folder_, kPatience);
  EXPECT_THAT(again.status().message(), HasSubstr("of another run"));
  EXPECT_THAT(again.status().message(), HasSubstr(folder_));
  EXPECT_FALSE(MakeFileRanks({0, 2}, folder_ + "/none", kPatience).ok());
}

// Rank 0's clock is 1000 s ahead, which its announcement shows through the wall clock.
TEST_F(FileRanksTest, AClockThatBeginsElsewhere) {
  constexpr Nanos kAhead = 1000 * kNanosPerSecond;
  const auto second = Make(1, 2);
  std::ifstream begun(folder_ + "/begun-1.json");
  const std::string self((std::istreambuf_iterator<char>(begun)), {});
  const std::string key = "\"token\":";
  const std::string token = std::to_string(std::strtoull(self.c_str() + self.find(key) + key.size(), nullptr, 10));
  const std::string boot_id = self.substr(self.find("\"boot_id\":"), self.find(',') - self.find("\"boot_id\":"));
  const Nanos start = NowNs() + kAhead;
  std::ofstream(folder_ + "/window-1.json")
      << "{" << boot_id << ",\"tokens\":[" << token << "],\"start_ns\":" << start << ",\"open_ns\":" << start + 5
      << ",\"close_ns\":" << start + 9 << ",\"wall_offset_ns\":" << ProbeWallClock().offset_ns - kAhead << "}";
  const auto window = Agree(*second).get();
  ASSERT_TRUE(window.ok()) << window.status();
  const RankClock clock = second->Compare();
  EXPECT_LE(std::abs(clock.offset_ns - kAhead), 100 * kNanosPerMicro);
  EXPECT_EQ(window->start_ns + clock.offset_ns, start);
  EXPECT_EQ(window->close_ns + clock.offset_ns, start + 9);
}

TEST(StartAtRanks, EveryRankByTheWallClock) {
  const Nanos wall = ProbeWallClock().offset_ns + NowNs() + 30 * kNanosPerSecond;
  const auto ranks = MakeStartAtRanks({1, 2}, wall);
  Interrupt interrupt;
  const auto window = ranks->Agree(kPlan, interrupt);
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window->open_ns, window->start_ns + kPlan.warmup_ns);
  const RankClock clock = ranks->Compare();
  EXPECT_EQ(window->start_ns + clock.offset_ns, 0) << "times count from the start";
  EXPECT_GE(clock.bound_ns, WallClockError());
  EXPECT_FALSE(clock.drift_ns_per_s.has_value());
}

TEST(StartAtRanks, TooLate) {
  const Nanos wall = ProbeWallClock().offset_ns + NowNs();
  Interrupt interrupt;
  const auto window = MakeStartAtRanks({1, 2}, wall)->Agree(kPlan, interrupt);
  EXPECT_EQ(window.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(window.status().message(), HasSubstr("too late for --start-at"));
}

}  // namespace
}  // namespace cqbench
