// Clients that mpirun starts together: one window by compared clocks, and the results that remain if one of them dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/smoke/harness.h"
#include "tests/smoke/rank_peer.h"

#ifndef CQBENCH_MPI_CLIENT
#define CQBENCH_MPI_CLIENT ""
#define CQBENCH_MPIRUN ""
#endif

namespace cqbench::smoke {
namespace {

class MpiRanksTest : public RankPeerTest {
 protected:
  void SetUp() override {
    if (access(CQBENCH_MPI_CLIENT, X_OK) != 0) GTEST_SKIP() << "no MPI was there when this was built";
    if (access(CQBENCH_MPIRUN, X_OK) != 0) GTEST_SKIP() << "no mpirun: '" << CQBENCH_MPIRUN << "'";
  }

  // Allows more ranks than CPUs and binds none. `seconds`: from the first rank that fails to SIGTERM for the others,
  // and from there to SIGKILL.
  Flags Mpirun(const std::string& seconds = "1") const {
    Flags command = {CQBENCH_MPIRUN, "--oversubscribe",           "--bind-to", "none",
                     "--mca",        "odls_base_sigkill_timeout", seconds};
    if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
    return command;
  }
  Flags Client(const Flags& more) const {
    return Flags{CQBENCH_MPI_CLIENT, "--host", SharedServer("cq").address(), "--api", "cq", "--rendezvous", folder_} +
           more;
  }
  // Runs `count` ranks.
  Flags Ranks(int count, const Flags& more) const {
    return Mpirun() + Flags{"-np", std::to_string(count)} + Client(more);
  }
};

// tests/scripts/test_live_merge.py tests that rank 0 writes the sum of all ranks.
TEST_F(MpiRanksTest, OneWindow) {
  Process run(Ranks(3, Flags{"--inflight-list", "4,8"} + ShortInterval()));
  const ClientRun done = Finish(run);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, testing::HasSubstr("\n3 ranks measured together"));
  EXPECT_THAT(done.out, testing::Not(testing::HasSubstr("what this client did itself")));
  for (size_t point : {0, 1}) {
    ExpectOneWindow(point, 3, point == 0 ? 4 : 8);
    for (int i = 0; i < 3; ++i) {
      const Json rank = PointOf(i, point).at("rank");
      EXPECT_LE(std::abs(rank.at("offset_ns").get<Nanos>()), rank.at("offset_bound_ns").get<Nanos>()) << "same clock";
    }
  }
}

TEST_F(MpiRanksTest, AClockAThousandSecondsAhead) {
  const auto ahead = Ahead();
  if (!ahead) GTEST_SKIP() << "no time namespaces here";
  const Flags client = Client(Flags{"--inflight", "2"} + ShortInterval());
  Process run(Mpirun() + Flags{"-np", "1"} + client + Flags{":", "-np", "1"} + *ahead + client);
  const ClientRun done = Finish(run);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  ExpectAThousandSecondsAhead();
}

TEST_F(MpiRanksTest, ARankThatDiesTakesNothingFromTheOthers) {
  Process run(Mpirun("2") + Flags{"-np", "3"} +
              Client({"--inflight-list", "3,6", "--warmup", "50ms", "--interval", "700ms"}));
  const pid_t pid = AwaitPid(2);
  ASSERT_GT(pid, 0);
  kill(pid, SIGKILL);
  const ClientRun done = Finish(run);
  EXPECT_NE(done.exit_code, 0);
  EXPECT_EQ(FileOf(2).at("benchmarks").size(), 1u);
  for (int i = 0; i < 2; ++i) {
    ExpectClean(PointOf(i));
    EXPECT_EQ(FileOf(i).at("context").at("partial"), true);
  }
  EXPECT_THAT(done.out, testing::HasSubstr("warning: missing-ranks: rank 2 of 3 measured nothing"));
}

TEST_F(MpiRanksTest, Sigusr1EndsAllRanks) {
  Process run(Ranks(2, {"--inflight-list", "2,4", "--warmup", "50ms", "--interval", "300ms", "--repetitions", "1000"}));
  AwaitPid(1);
  run.Signal(SIGUSR1);
  const ClientRun done = Finish(run);
  EXPECT_NE(done.exit_code, 0);
  for (int i = 0; i < 2; ++i) {
    ExpectClean(PointOf(i));
    EXPECT_EQ(FileOf(i).at("context").at("partial"), true);
  }
  EXPECT_THAT(done.out, testing::HasSubstr("2 ranks measured together"));
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
