// Shared by tests of several clients that measure together: the folder into which each rank writes its result.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "src/base/clock.h"
#include "tests/smoke/harness.h"

namespace cqbench::smoke {

class RankPeerTest : public testing::Test {
 protected:
  RankPeerTest() {
    std::string name = testing::TempDir() + "ranks-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RankPeerTest() override { std::filesystem::remove_all(folder_); }

  // Returns the result of a rank; absent if the file does not exist yet.
  std::optional<Json> TryFileOf(int rank) const {
    std::ifstream file(folder_ + "/rank-" + std::to_string(rank) + ".json");
    if (!file) return std::nullopt;
    return std::optional<Json>(std::in_place, Json::parse(file, nullptr, /*allow_exceptions=*/false));
  }
  Json FileOf(int rank) const {
    const auto file = TryFileOf(rank);
    EXPECT_TRUE(file && file->is_object()) << "of rank " << rank;
    return file.value_or(Json());
  }
  Json PointOf(int rank, size_t point = 0) const { return FileOf(rank).at("benchmarks").at(point); }
  // Returns the process of a rank once it has measured a point.
  pid_t AwaitPid(int rank) const {
    using Clock = std::chrono::steady_clock;
    const auto give_up = Clock::now() + kPatience;
    while (!TryFileOf(rank) && Clock::now() < give_up) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return PointOf(rank).at("rank").at("pid").get<pid_t>();
  }
  // Expects that `count` ranks agreed on one window for a point, and that their shares of the calls in flight add up.
  void ExpectOneWindow(size_t point, int count, int inflight) const {
    const Json first = PointOf(0, point).at("rank");
    for (int i = 0; i < count; ++i) {
      const Json measured = PointOf(i, point), rank = measured.at("rank");
      ExpectClean(measured);
      ExpectIdentities(measured);
      inflight -= measured.at("inflight").get<int>();
      EXPECT_EQ(rank.at("index"), i);
      EXPECT_EQ(rank.at("count"), count);
      EXPECT_EQ(rank.at("announced_open_ns"), first.at("announced_open_ns"));
      EXPECT_EQ(rank.at("announced_close_ns"), first.at("announced_close_ns"));
      EXPECT_GE(rank.at("window_open_ns"), rank.at("announced_open_ns"));
      EXPECT_GE(rank.at("awake_open_ns"), rank.at("window_open_ns"));
      EXPECT_GE(rank.at("awake_close_ns"), rank.at("announced_close_ns"));
      EXPECT_EQ(measured.at("window_ns"),
                rank.at("announced_close_ns").get<Nanos>() - rank.at("announced_open_ns").get<Nanos>());
    }
    EXPECT_EQ(inflight, 0) << "is left or too much";
  }
  // Expects that rank 1 of two was started with Ahead(), which simulates a machine with an earlier boot.
  void ExpectAThousandSecondsAhead() const {
    const Json first = PointOf(0).at("rank"), second = PointOf(1).at("rank");
    constexpr Nanos kAhead = 1000 * kNanosPerSecond;
    EXPECT_LE(std::abs(second.at("offset_ns").get<Nanos>() + kAhead), second.at("offset_bound_ns").get<Nanos>());
    EXPECT_LT(second.at("offset_bound_ns"), 10 * kNanosPerMilli);
    EXPECT_EQ(second.at("announced_open_ns"), first.at("announced_open_ns"));
    ExpectClean(PointOf(1));
  }
  // Returns the command prefix; absent if the system has no time namespaces.
  static std::optional<Flags> Ahead() {
    const Flags elsewhere = {"/usr/bin/unshare", "--time", "--monotonic", "1000"};
    Process allowed(elsewhere + Flags{"/bin/true"});
    return allowed.Wait(kPatience) == 0 ? std::optional<Flags>(elsewhere) : std::nullopt;
  }

  std::string folder_;
};

}  // namespace cqbench::smoke
