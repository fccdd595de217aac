// Every reason for distrust: there from its limit on, and not just below.
#include "cqbench/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cqbench/environment.h"
#include "cqbench/process.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Where this process and `server_` may run, as far as the checks know.
enum class Placement { kSharedCpus, kOwnCpus, kOtherMachine };

ServerInfo Server(Placement placement) {
  ServerInfo server;
  server.boot_id = placement == Placement::kOtherMachine ? "another boot" : DescribeEnvironment(0, nullptr).boot_id;
  server.cpus = placement == Placement::kOwnCpus ? std::vector<int>{1'000'000} : AllowedCpus();
  return server;
}

class PointCheck : public testing::Test {
 protected:
  // Nothing is wrong with it.
  PointCheck() {
    point_.inflight = 5;
    point_.window_ns = 10 * kNanosPerSecond;
    point_.completed = 1'000'000;
    point_.latency.emplace().count = 1'000'000;
    for (const char* side : {"client", "server"}) {
      Set(side, "_cpus_allowed", 4);
      Set(side, "_cores_used", 1);
      Set(side, "_cpus_busy", 1);
    }
    point_.figures.Set("server_rpcs", 1'000'000);
    point_.slices_per_second.assign(10, 100'000);
    for (auto* cpus : {&point_.client_cpus, &point_.server_cpus}) cpus->push_back({0, 0.5, 0.5, 0, 0});
  }

  void Set(std::string side, const std::string& name, double value) { point_.figures.Set(side + name, value); }
  std::vector<std::string> Check() const { return CheckPoint(point_, config_, servers_); }

  PointResult point_;
  RunConfig config_;
  std::vector<ServerInfo> servers_ = {Server(Placement::kOwnCpus)};
};

TEST_F(PointCheck, FindsNothingInAGoodPoint) {
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, FindsNothingInAPointWithoutEvidence) {
  PointResult bare;
  bare.window_ns = kNanosPerSecond;
  bare.completed = 1'000'000;
  EXPECT_THAT(CheckPoint(bare, config_, servers_), IsEmpty());
}

TEST_F(PointCheck, SaysNothingOfAPointThatMeasuredNothing) {
  Set("client", "_cores_used", 4);
  ASSERT_EQ(Check().size(), 1u);
  const uint64_t completed = std::exchange(point_.completed, 0);
  EXPECT_THAT(Check(), IsEmpty());
  point_.completed = completed;
  point_.window_ns = 0;
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, ClientThatUsesItsCpusUp) {
  Set("client", "_cores_used", 3.79);
  EXPECT_THAT(Check(), IsEmpty());
  Set("client", "_cores_used", 3.8);
  EXPECT_THAT(Check(),
              ElementsAre("CPU-bound: this measures CPU, not the connection: the client uses 3.80 of 4 CPU(s)"));
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Check(), IsEmpty()) << "spinning uses them up whatever there is to do";
}

TEST_F(PointCheck, ServerThatUsesItsCpusUp) {
  Set("server", "_cores_used", 3.79);
  EXPECT_THAT(Check(), IsEmpty());
  Set("server", "_cores_used", 3.8);
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("the server uses 3.80 of 4 CPU(s)")));
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("the server uses"))) << "the client spins, the server does not";
  servers_[0].poll = "spin";
  EXPECT_THAT(Check(), IsEmpty());
}

// A tenth of four CPUs, and three ticks of 10 ms of each of them in 10 s: 0.412.
TEST_F(PointCheck, OtherProcessesOnTheCpusOfEitherEnd) {
  for (const std::string side : {"client", "server"}) {
    Set(side, "_cpus_busy", 1.411);
    EXPECT_THAT(Check(), IsEmpty());
    Set(side, "_cpus_busy", 1.42);
    EXPECT_THAT(Check(), ElementsAre("other processes used 0.42 of the 4 CPU(s) of the " + side));
    Set(side, "_cpus_busy", 1);
  }
}

TEST_F(PointCheck, ShortWindowsForgiveMoreOfOtherProcesses) {
  Set("client", "_cpus_busy", 1.42);
  point_.window_ns = kNanosPerSecond;
  EXPECT_THAT(Check(), IsEmpty()) << "three ticks are 3 % of a second";
  Set("client", "_cpus_busy", 1.53);
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("other processes")));
}

TEST_F(PointCheck, TheOtherEndIsNoOtherProcessOnSharedCpus) {
  Set("client", "_cores_used", 1);
  Set("server", "_cores_used", 2);
  Set("client", "_cpus_busy", 3);
  Set("server", "_cpus_busy", 3);
  servers_ = {Server(Placement::kSharedCpus)};
  EXPECT_THAT(Check(), IsEmpty());
  for (Placement apart : {Placement::kOwnCpus, Placement::kOtherMachine}) {
    servers_ = {Server(apart)};
    EXPECT_THAT(Check(), ElementsAre("other processes used 2.00 of the 4 CPU(s) of the client",
                                     "other processes used 1.00 of the 4 CPU(s) of the server"));
  }
  Set("client", "_cpus_busy", 3.5);
  servers_ = {Server(Placement::kSharedCpus)};
  EXPECT_THAT(Check(), ElementsAre("other processes used 0.50 of the 4 CPU(s) of the client"));
}

TEST_F(PointCheck, AServerThatDidNotDescribeItselfMayBeTheOtherProcess) {
  Set("client", "_cpus_busy", 4);
  servers_.clear();
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, TimeThatTheHypervisorTook) {
  point_.client_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  point_.server_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  EXPECT_THAT(Check(), IsEmpty());
  point_.client_cpus[1].steal = 0.01;
  EXPECT_THAT(Check(), ElementsAre("the hypervisor took 1 % of a CPU of the client"));
  point_.server_cpus[0].steal = 0.5;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("of the client"), "the hypervisor took 50 % of a CPU of the server"));
}

TEST_F(PointCheck, TwoTicksAreTooFewToBlameTheHypervisor) {
  point_.window_ns = kNanosPerSecond;
  point_.client_cpus[0].steal = 0.02;
  EXPECT_THAT(Check(), IsEmpty());
  point_.client_cpus[0].steal = 0.031;
  EXPECT_THAT(Check(), ElementsAre("the hypervisor took 3 % of a CPU of the client"));
}

class Steadiness : public PointCheck {
 protected:
  void HaveFewCalls() {
    point_.completed = 2500;  // chance is four times a fiftieth
    point_.figures.Set("server_rpcs", 2500);
  }
  // Throughput of the first tenth, of the rest of the first half and of the second half.
  std::vector<std::string> CheckSlices(double first, double rest_of_first_half, double second_half) {
    point_.slices_per_second.assign(10, second_half);
    for (size_t i = 0; i < 5; ++i) point_.slices_per_second[i] = rest_of_first_half;
    point_.slices_per_second[0] = first;
    return Check();
  }
};

TEST_F(Steadiness, DriftOfMoreThanATwentieth) {
  EXPECT_THAT(CheckSlices(100, 100, 104.9), IsEmpty());
  EXPECT_THAT(CheckSlices(100, 100, 105.1),
              ElementsAre("throughput drifts: +5 % from the first to the second half of the window"));
  EXPECT_THAT(CheckSlices(105.2, 105.2, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(120, 120, 100), ElementsAre(HasSubstr("throughput drifts: -17 %")));
}

TEST_F(Steadiness, FewCallsDriftByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckSlices(100, 100, 107.9), IsEmpty());
  EXPECT_THAT(CheckSlices(100, 100, 109), ElementsAre(HasSubstr("drifts: +9 %")));
}

TEST_F(Steadiness, FirstTenthThatIsNotLikeTheRest) {
  EXPECT_THAT(CheckSlices(90.1, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(89, 100, 100),
              ElementsAre("not warmed up: throughput of the first tenth of the window is -11 % off the rest"));
  EXPECT_THAT(CheckSlices(109.9, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(150, 100, 100),
              ElementsAre(HasSubstr("not warmed up: throughput of the first tenth of the window is +50 %")))
      << "and it is not drift as well";
}

TEST_F(Steadiness, FirstTenthMayDifferAsTheOthersDo) {
  point_.slices_per_second = {75, 90, 110, 90, 110, 90, 110, 90, 110, 90};
  EXPECT_THAT(Check(), IsEmpty());
  point_.slices_per_second[0] = 65;
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("not warmed up")));
}

TEST_F(Steadiness, FirstTenthOfFewCallsDiffersByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckSlices(85, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(83, 100, 100), ElementsAre(HasSubstr("not warmed up")));
}

TEST_F(Steadiness, StandstillAfterTheFirstTenthHasAFiniteNumber) {
  EXPECT_THAT(CheckSlices(100, 0, 0),
              ElementsAre("throughput drifts: -100 % from the first to the second half of the window"));
}

TEST_F(Steadiness, TooFewSlicesSayNothing) {
  point_.slices_per_second = {1, 100, 10'000};
  EXPECT_THAT(Check(), IsEmpty());
  point_.slices_per_second.clear();
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, TooFewCallsForAPercentile) {
  const struct {
    uint64_t count;
    std::vector<std::string> reasons;
  } cases[] = {{19, {"too few calls for P50: 19, it needs 20"}},
               {20, {"too few calls for P90: 20, it needs 100"}},
               {99, {"too few calls for P90: 99, it needs 100"}},
               {100, {"too few calls for P99: 100, it needs 1000"}},
               {999, {"too few calls for P99: 999, it needs 1000"}},
               {9'999, {"too few calls for P99.9: 9999, it needs 10000"}},
               {10'000, {}}};
  for (const auto& [count, reasons] : cases) {
    point_.latency->count = count;
    EXPECT_EQ(Check(), reasons) << count;
  }
  point_.latency.reset();
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, ServerWithMoreConnectionsThanThisClient) {
  point_.figures.Set("client_connections", 4);
  point_.figures.Set("server_connections", 4);
  EXPECT_THAT(Check(), IsEmpty());
  point_.figures.Set("server_connections", 6);
  EXPECT_THAT(Check(), ElementsAre("another client uses the server: it has 2 connections more than this one"));
}

// A quarter more, four times the square root of the calls, and those in flight at either edge.
TEST_F(PointCheck, ServerThatAnsweredMoreThanThisClientAsked) {
  point_.figures.Set("server_rpcs", 1'254'010);
  EXPECT_THAT(Check(), IsEmpty());
  point_.figures.Set("server_rpcs", 1'254'011);
  EXPECT_THAT(Check(), ElementsAre("another client uses the server: it answered 1.25 times as many calls"));
  point_.figures.Set("server_rpcs", 100);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(PointCheck, ReasonsAddUp) {
  Set("client", "_cores_used", 4);
  Set("client", "_cpus_busy", 4);
  point_.latency->count = 10;
  point_.figures.Set("server_rpcs", 3'000'000);
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("CPU-bound"), HasSubstr("too few calls"), HasSubstr("3.00 times")));
}

class SettingCheck : public testing::Test {
 protected:
  SettingCheck() {
    context_.boot_id = "here";
    context_.clock_source = "tsc";
    context_.cpu_scaling_enabled = false;
    server_.boot_id = "here";
    server_.clock_source = "tsc";
    server_.cpus = {2, 3};
  }
  std::vector<std::string> Check() const { return CheckSetting(context_, {0, 1}, {server_}); }

  RunContext context_;
  ServerInfo server_;
};

TEST_F(SettingCheck, FindsNothingOnAGoodMachine) {
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(CheckSetting(context_, {0, 1}, {}), IsEmpty());
}

TEST_F(SettingCheck, ClockThatNeedsASystemCall) {
  for (const char* good : {"tsc", "arch_sys_counter", ""}) {
    context_.clock_source = good;
    EXPECT_THAT(Check(), IsEmpty()) << good;
  }
  context_.clock_source = "hpet";
  EXPECT_THAT(Check(), ElementsAre("the clock source of the client is hpet, not TSC: each look at the clock may be a "
                                   "system call"));
}

TEST_F(SettingCheck, GovernorThatChangesTheFrequency) {
  context_.cpu_scaling_enabled = std::nullopt;
  EXPECT_THAT(Check(), IsEmpty()) << "not known";
  context_.cpu_scaling_enabled = true;
  EXPECT_THAT(Check(), ElementsAre("the CPU frequency governor of the client is not 'performance'"));
}

TEST_F(SettingCheck, CpusThatBothEndsUse) {
  server_.cpus = {1, 2};
  EXPECT_THAT(Check(),
              ElementsAre("client and server share CPUs (0-1 and 1-2): pin them apart with taskset or numactl"));
  server_.boot_id = "there";
  EXPECT_THAT(Check(), IsEmpty()) << "the same numbers on another machine";
}

TEST_F(SettingCheck, ServersMachineIsCheckedWhenItIsAnother) {
  server_.clock_source = "xen";
  server_.cpu_scaling_enabled = true;
  EXPECT_THAT(Check(), IsEmpty()) << "it is the client's machine, which has said what it is";
  server_.boot_id = "there";
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("the clock source of the server is xen"),
                                   "the CPU frequency governor of the server is not 'performance'"));
}

}  // namespace
}  // namespace cqbench
