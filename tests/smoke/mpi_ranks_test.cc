// Clients that mpirun starts together: one window by clocks that were compared, and what is left when one of them dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "cqbench/clock.h"
#include "tests/smoke/harness.h"

#ifndef CQBENCH_MPI_CLIENT
#define CQBENCH_MPI_CLIENT ""
#define CQBENCH_MPIRUN ""
#endif

namespace cqbench::smoke {
namespace {

class MpiRanksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access(CQBENCH_MPI_CLIENT, X_OK) != 0) GTEST_SKIP() << "no MPI was there when this was built";
    if (access(CQBENCH_MPIRUN, X_OK) != 0) GTEST_SKIP() << "no mpirun: '" << CQBENCH_MPIRUN << "'";
    std::string name = testing::TempDir() + "mpi-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // More ranks than CPUs; nothing is bound.
  Flags Mpirun() const {
    Flags command = {CQBENCH_MPIRUN, "--oversubscribe", "--bind-to", "none", "--mca", "odls_base_sigkill_timeout", "3"};
    if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
    return command;
  }
  Flags Client(const Flags& more) const {
    return Flags{CQBENCH_MPI_CLIENT, "--host", SharedServer("cq").address(), "--api", "cq", "--rendezvous", folder_} +
           more;
  }
  // `count` ranks.
  Flags Ranks(int count, const Flags& more) const {
    return Mpirun() + Flags{"-np", std::to_string(count)} + Client(more);
  }

  // What a rank has left; absent when there is nothing yet.
  std::optional<Json> FileOf(int rank) const {
    std::ifstream file(folder_ + "/rank-" + std::to_string(rank) + ".json");
    if (!file) return std::nullopt;
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }
  Json PointOf(int rank, size_t point = 0) const {
    const auto file = FileOf(rank);
    EXPECT_TRUE(file.has_value()) << "of rank " << rank;
    return file ? file->at("benchmarks").at(point) : Json();
  }
  // The process of a rank, as soon as it has measured a point.
  pid_t AwaitPid(int rank) const {
    using Clock = std::chrono::steady_clock;
    const auto give_up = Clock::now() + kPatience;
    while (!FileOf(rank) && Clock::now() < give_up) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return PointOf(rank).at("rank").at("pid").get<pid_t>();
  }

  std::string folder_;
};

TEST_F(MpiRanksTest, OneWindow) {
  Process run(Ranks(3, Flags{"--inflight-list", "4,8"} + ShortInterval()));
  const ClientRun done = Finish(run);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, testing::HasSubstr("rank 0 of 3"));
  EXPECT_THAT(done.out, testing::Not(testing::HasSubstr("rank 1 of 3"))) << "one writes to standard output";
  for (size_t point : {0, 1}) {
    int inflight = 0;
    const Json first = PointOf(0, point).at("rank");
    for (int i = 0; i < 3; ++i) {
      const Json measured = PointOf(i, point), rank = measured.at("rank");
      ExpectClean(measured);
      inflight += measured.at("inflight").get<int>();
      EXPECT_EQ(rank.at("count"), 3);
      EXPECT_EQ(rank.at("announced_open_ns"), first.at("announced_open_ns"));
      EXPECT_EQ(rank.at("announced_close_ns"), first.at("announced_close_ns"));
      EXPECT_LE(std::abs(rank.at("offset_ns").get<Nanos>()), rank.at("offset_bound_ns").get<Nanos>()) << "same clock";
    }
    EXPECT_EQ(inflight, point == 0 ? 4 : 8);
  }
}

TEST_F(MpiRanksTest, AClockAThousandSecondsAhead) {
  const Flags elsewhere = {"/usr/bin/unshare", "--time", "--monotonic", "1000"};
  Process allowed(elsewhere + Flags{"/bin/true"});
  if (allowed.Wait(kPatience) != 0) GTEST_SKIP() << "no time namespaces here: " << allowed.err();
  const Flags client = Client(Flags{"--inflight", "2"} + ShortInterval());
  Process run(Mpirun() + Flags{"-np", "1"} + client + Flags{":", "-np", "1"} + elsewhere + client);
  const ClientRun done = Finish(run);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const Json first = PointOf(0).at("rank"), second = PointOf(1).at("rank");
  constexpr Nanos kAhead = 1000 * kNanosPerSecond;
  EXPECT_LE(std::abs(second.at("offset_ns").get<Nanos>() + kAhead), second.at("offset_bound_ns").get<Nanos>());
  EXPECT_EQ(second.at("announced_open_ns"), first.at("announced_open_ns"));
  ExpectClean(PointOf(1));
}

TEST_F(MpiRanksTest, ARankThatDiesTakesNothingFromTheOthers) {
  Process run(Ranks(3, {"--inflight-list", "3,6", "--warmup", "100ms", "--interval", "1"}));
  const pid_t pid = AwaitPid(2);
  ASSERT_GT(pid, 0);
  kill(pid, SIGKILL);
  const ClientRun done = Finish(run);
  EXPECT_NE(done.exit_code, 0);
  EXPECT_EQ(FileOf(2)->at("benchmarks").size(), 1u);
  for (int i = 0; i < 2; ++i) {
    ExpectClean(PointOf(i));
    EXPECT_EQ(FileOf(i)->at("context").at("partial"), true);
  }
}

TEST_F(MpiRanksTest, Sigusr1EndsAllRanks) {
  Process run(Ranks(2, {"--inflight-list", "2,4", "--warmup", "100ms", "--interval", "1s", "--repetitions", "1000"}));
  AwaitPid(1);
  run.Signal(SIGUSR1);
  const ClientRun done = Finish(run);
  EXPECT_NE(done.exit_code, 0);
  for (int i = 0; i < 2; ++i) {
    ExpectClean(PointOf(i));
    EXPECT_EQ(FileOf(i)->at("context").at("partial"), true);
  }
}

TEST_F(MpiRanksTest, OneLineForAWrongFlag) {
  Process run(Ranks(2, {"--inflight", "1"}));
  const ClientRun done = Finish(run);
  EXPECT_EQ(done.exit_code, 2);
  const auto complaints = [](const std::string& line) { return line.starts_with("grpc_ping_client: "); };
  const std::vector<std::string> lines = Lines(done.err);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), complaints), 1) << done.err;
  EXPECT_THAT(done.err, testing::HasSubstr("2 ranks"));
}

}  // namespace
}  // namespace cqbench::smoke
