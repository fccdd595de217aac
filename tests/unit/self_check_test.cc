// Every warning that follows from samples and counts appears at its threshold and not just below.
#include "src/observe/checks/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/point_check.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(PointCheck, FindsNothingInAGoodPoint) {
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PointCheck, FindsNothingInAPointWithoutEvidence) {
  PointResult bare;
  bare.window_ns = kNanosPerSecond;
  bare.completed = 1'000'000;
  CheckPoint(config_, servers_, bare);
  EXPECT_THAT(bare.warnings, IsEmpty());
  EXPECT_THAT(bare.notes, IsEmpty());
}

TEST_F(PointCheck, SaysNothingOfAPointThatMeasuredNothing) {
  Set("client", "_cores_used", 4);
  ASSERT_EQ(Notes().size(), 1u);
  const uint64_t completed = std::exchange(point_.completed, 0);
  EXPECT_THAT(Notes(), IsEmpty());
  point_.completed = completed;
  point_.window_ns = 0;
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(PointCheck, KeepsWhatIsKnownAlready) {
  point_.warnings = {{"connections", "2 of 1"}};
  point_.notes = {{"not-measured", "no TCP_INFO"}};
  EXPECT_THAT(Warnings(), ElementsAre(Is("connections")));
  EXPECT_THAT(Notes(), ElementsAre(Is("not-measured")));
}

TEST_F(PointCheck, ClientThatUsesItsCpusUpIsSaturatedWithoutAWarning) {
  Set("client", "_cores_used", 3.79);
  EXPECT_THAT(Notes(), IsEmpty());
  Set("client", "_cores_used", 3.8);
  EXPECT_THAT(Notes(), ElementsAre(Notice{"client-cpu-saturated",
                                          "the client uses 3.80 of 4 CPU(s): this measures CPU, not the connection"}));
  EXPECT_THAT(Warnings(), IsEmpty());
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Notes(), IsEmpty()) << "spinning uses them up whatever there is to do";
  config_.poll = PollMode::kBlock;
  config_.schedule.pace = Pace::kSpin;
  EXPECT_THAT(Notes(), ElementsAre(Is("client-cpu-saturated"))) << "there is no pacer in a closed loop";
  point_.load.rate = 100'000;
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(PointCheck, ServerThatUsesItsCpusUp) {
  Set("server", "_cores_used", 3.79);
  EXPECT_THAT(Notes(), IsEmpty());
  Set("server", "_cores_used", 3.8);
  EXPECT_THAT(Notes(), ElementsAre(Is("server-cpu-saturated", "the server uses 3.80 of 4 CPU(s)")));
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Notes(), ElementsAre(Is("server-cpu-saturated"))) << "the client spins, the server does not";
  servers_[0].set_poll("spin");
  EXPECT_THAT(Notes(), IsEmpty());
}

// A tenth of four CPUs, plus three ticks of 10 ms of each CPU in 10 s: 0.412.
TEST_F(PointCheck, OtherProcessesOnTheCpusOfEitherEnd) {
  for (const std::string side : {"client", "server"}) {
    Set(side, "_cpus_busy", 1.411);
    EXPECT_THAT(Warnings(), IsEmpty());
    Set(side, "_cpus_busy", 1.42);
    EXPECT_THAT(Warnings(),
                ElementsAre(Notice{"other-processes", "other processes used 0.42 of the 4 CPU(s) of the " + side}));
    Set(side, "_cpus_busy", 1);
  }
}

TEST_F(PointCheck, ShortWindowsForgiveMoreOfOtherProcesses) {
  Set("client", "_cpus_busy", 1.42);
  point_.window_ns = kNanosPerSecond;
  point_.latency->mean_ns = 5'000;
  EXPECT_THAT(Warnings(), IsEmpty()) << "three ticks are 3 % of a second";
  Set("client", "_cpus_busy", 1.53);
  EXPECT_THAT(Warnings(), ElementsAre(Is("other-processes", "other processes")));
}

TEST_F(PointCheck, TheOtherEndIsNoOtherProcessOnSharedCpus) {
  Set("client", "_cores_used", 1);
  Set("server", "_cores_used", 2);
  Set("client", "_cpus_busy", 3);
  Set("server", "_cpus_busy", 3);
  servers_ = {Server(Placement::kSameCpus)};
  EXPECT_THAT(Warnings(), IsEmpty());
  for (Placement apart : {Placement::kOwnCpus, Placement::kOtherMachine}) {
    servers_ = {Server(apart)};
    EXPECT_THAT(Warnings(),
                ElementsAre(Notice{"other-processes", "other processes used 2.00 of the 4 CPU(s) of the client"},
                            Notice{"other-processes", "other processes used 1.00 of the 4 CPU(s) of the server"}));
  }
  Set("client", "_cpus_busy", 3.5);
  servers_ = {Server(Placement::kSameCpus)};
  EXPECT_THAT(Warnings(),
              ElementsAre(Notice{"other-processes", "other processes used 0.50 of the 4 CPU(s) of the client"}));
}

TEST_F(PointCheck, AServerThatDidNotDescribeItselfMayBeTheOtherProcess) {
  Set("client", "_cpus_busy", 4);
  servers_.clear();
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PointCheck, TimeThatTheHypervisorTook) {
  point_.client_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  point_.server_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.client_cpus[1].steal = 0.01;
  EXPECT_THAT(Warnings(), ElementsAre(Notice{"steal", "the hypervisor took 1 % of a CPU of the client"}));
  point_.server_cpus[0].steal = 0.5;
  EXPECT_THAT(Warnings(), ElementsAre(Is("steal", "of the client"),
                                      Notice{"steal", "the hypervisor took 50 % of a CPU of the server"}));
}

TEST_F(PointCheck, TwoTicksAreTooFewToBlameTheHypervisor) {
  point_.window_ns = kNanosPerSecond;
  point_.latency->mean_ns = 5'000;
  point_.client_cpus[0].steal = 0.02;
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.client_cpus[0].steal = 0.031;
  EXPECT_THAT(Warnings(), ElementsAre(Notice{"steal", "the hypervisor took 3 % of a CPU of the client"}));
}

std::vector<Notice> StreamNotes(PointResult point, const std::vector<std::optional<uint32_t>>& limits) {
  std::vector<PeerSettings> servers;
  for (const auto& limit : limits) servers.push_back({"server:1", {limit, {}, {}, {}}, ""});
  CheckStreams(servers, point);
  return point.notes;
}

TEST_F(PointCheck, CallsThatWaitForAStreamAreNoted) {
  point_.load.slots = 16;
  point_.connections = 2;
  EXPECT_THAT(StreamNotes(point_, {8}), IsEmpty());
  EXPECT_THAT(StreamNotes(point_, {7}),
              ElementsAre(Notice{"stream-limit",
                                 "the server allows 7 concurrent stream(s) per connection: 16 calls in flight on 2 "
                                 "connection(s) wait for a stream"}));
  EXPECT_THAT(StreamNotes(point_, {100, std::nullopt, 7}), ElementsAre(Is("stream-limit", "allows 7 ")));
  EXPECT_THAT(StreamNotes(point_, {}), IsEmpty());
  EXPECT_THAT(StreamNotes(point_, {std::nullopt}), IsEmpty()) << "no limit";
  EXPECT_THAT(StreamNotes(point_, {UINT32_MAX}), IsEmpty());
  point_.connections.reset();
  EXPECT_THAT(StreamNotes(point_, {7}), IsEmpty()) << "and no connection is expected";
  point_.expected_connections = 1;
  EXPECT_THAT(StreamNotes(point_, {15}), ElementsAre(Is("stream-limit", "on 1 connection(s)")));
  point_.window_ns = 0;
  EXPECT_THAT(StreamNotes(point_, {15}), IsEmpty()) << "nothing was measured";
}

// An open loop's slots are a maximum, and calls that wait for a slot have no stream yet.
TEST_F(PointCheck, AnOpenLoopWaitsForStreamsIfThatManyAreOutstanding) {
  point_.load = {16, 1000};
  point_.connections = 1;
  OpenLoopResult& open = point_.open_loop.emplace();
  open.outstanding_first_half = 3;
  open.outstanding_second_half = 8;
  EXPECT_THAT(StreamNotes(point_, {8}), IsEmpty());
  EXPECT_THAT(StreamNotes(point_, {7}), ElementsAre(Is("stream-limit", "connection: calls in flight on 1")));
  open.outstanding_first_half = 300;
  EXPECT_THAT(StreamNotes(point_, {16}), IsEmpty());
  EXPECT_THAT(StreamNotes(point_, {15}), ElementsAre(Is("stream-limit")));
}

TEST_F(PointCheck, TooFewCallsForAPercentileAreNoted) {
  const struct {
    uint64_t count;
    std::vector<Notice> notes;
  } cases[] = {{19, {{"too-few-calls", "too few calls for P50, which needs 20"}}},
               {20, {{"too-few-calls", "too few calls for P90, which needs 100"}}},
               {99, {{"too-few-calls", "too few calls for P90, which needs 100"}}},
               {100, {{"too-few-calls", "too few calls for P99, which needs 1000"}}},
               {999, {{"too-few-calls", "too few calls for P99, which needs 1000"}}},
               {9'999, {{"too-few-calls", "too few calls for P99.9, which needs 10000"}}},
               {10'000, {}}};
  for (const auto& [count, notes] : cases) {
    point_.latency->count = count;
    EXPECT_EQ(Checked().notes, notes) << count;
    EXPECT_THAT(Warnings(), IsEmpty()) << "withheld is not unreliable";
  }
  point_.latency.reset();
  EXPECT_THAT(Checked().notes, IsEmpty());
}

TEST_F(PointCheck, ServerWithMoreConnectionsThanThisClient) {
  point_.figures.Set("client_connections", 4);
  point_.figures.Set("server_connections", 4);
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.figures.Set("server_connections", 6);
  EXPECT_THAT(
      Warnings(),
      ElementsAre(Notice{"other-client", "another client uses the server: it has 2 connections more than this one"}));
}

// A proxy may have connections of its own to the server.
TEST_F(PointCheck, ServerWithMoreConnectionsThanAProxyTakes) {
  point_.figures.Set("client_connections", 4);
  point_.figures.Set("server_connections", 6);
  config_.targets = {{"proxy", 8080, ""}};
  config_.control = {{"server", 2137, ""}};
  servers_[0].add_listening("[::]:2137");
  EXPECT_THAT(Warnings(), IsEmpty());
  servers_[0].add_http_front_ends("0.0.0.0:8080");
  EXPECT_THAT(Warnings(), ElementsAre(Is("other-client", "2 connections more")));
  config_.targets = {{"proxy", 8080, ""}, {"other", 8081, ""}};
  EXPECT_THAT(Warnings(), IsEmpty());
}

// Three quarters, minus four times the square root of the calls, and those in flight at either window boundary.
TEST_F(PointCheck, ServerThatAnsweredLessThanThisClientHas) {
  point_.figures.Set("server_rpcs", 745'989);
  EXPECT_THAT(Warnings(), IsEmpty()) << "the server is asked where the calls go";
  config_.control = {{"server", 2137, ""}};
  EXPECT_THAT(Warnings(),
              ElementsAre(Notice{"other-server",
                                 "the server that --control names responded to 0.75 of the calls: it is not the "
                                 "one that was measured, or not alone"}));
  point_.figures.Set("server_rpcs", 745'990);
  EXPECT_THAT(Warnings(), IsEmpty());
}

// The number of messages in a response is known only for this project's methods.
TEST_F(PointCheck, MessagesOfARequestThatIsNoneOfOursAreNotCompared) {
  point_.figures.Set("server_rpcs", 16'000'000);
  config_.http = std::make_shared<const HttpCall>();
  EXPECT_THAT(Warnings(), ElementsAre(Is("other-client", "16.00 times")));
  config_.method.id = MethodInfo::kNotOurs;
  EXPECT_THAT(Warnings(), IsEmpty());
}

// A quarter more, plus four times the square root of the calls, and those in flight at either window boundary.
TEST_F(PointCheck, ServerThatAnsweredMoreThanThisClientAsked) {
  point_.figures.Set("server_rpcs", 1'254'010);
  EXPECT_THAT(Warnings(), IsEmpty());
  point_.figures.Set("server_rpcs", 1'254'011);
  EXPECT_THAT(
      Warnings(),
      ElementsAre(Notice{"other-client", "another client uses the server: it responded to 1.25 times as many calls"}));
  point_.figures.Set("server_rpcs", 100);
  EXPECT_THAT(Warnings(), IsEmpty());
}

// A server may have responded to calls that the client had given up.
TEST_F(PointCheck, CallsThatFailedHereMayHaveBeenAnsweredThere) {
  point_.figures.Set("server_rpcs", 1'500'000);
  EXPECT_THAT(Warnings(), ElementsAre(Is("other-client")));
  point_.errors = {{"DEADLINE_EXCEEDED", 300'000, ""}};
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PointCheck, WarningsAddUp) {
  Set("client", "_cores_used", 4);
  Set("client", "_cpus_busy", 5);
  point_.figures.Set("server_rpcs", 3'000'000);
  EXPECT_THAT(Warnings(), ElementsAre(Is("other-processes"), Is("other-client", "3.00 times")));
  EXPECT_THAT(Notes(), ElementsAre(Is("client-cpu-saturated")));
}

TEST_F(PointCheck, CallsThatNeverEnded) {
  point_.counts.unfinished = 8;
  const std::string withheld = ": counted with their age; percentiles they could change are withheld";
  EXPECT_THAT(Warnings(), ElementsAre(Notice{"unfinished-calls", "8 call(s) never ended" + withheld}));
  point_.counts.unsent = 2;
  EXPECT_THAT(Warnings(),
              ElementsAre(Notice{"unfinished-calls",
                                 "8 call(s) never ended and 2 call(s) that were due were never sent" + withheld}));
  point_.counts.unfinished = 0;
  EXPECT_THAT(Warnings(),
              ElementsAre(Notice{"unfinished-calls", "2 call(s) that were due were never sent" + withheld}));
  point_.completed = 0;
  EXPECT_THAT(Warnings(), ElementsAre(Is("unfinished-calls"))) << "even when nothing was measured";
}

class SettingCheck : public testing::Test {
 protected:
  SettingCheck() {
    environment_.boot_id = "here";
    environment_.clock_source = "tsc";
    environment_.cpu_scaling_enabled = false;
    server_.set_boot_id("here");
    server_.set_clock_source("tsc");
    for (const int cpu : {2, 3}) server_.add_cpus(cpu);
  }
  std::vector<Notice> Check() const { return CheckSetting(environment_, {0, 1}, {server_}); }

  Environment environment_;
  ServerDescription server_;
};

TEST_F(SettingCheck, FindsNothingOnAGoodMachine) {
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(CheckSetting(environment_, {0, 1}, {}), IsEmpty());
}

TEST_F(SettingCheck, ClockThatNeedsASystemCall) {
  for (const char* good : {"tsc", "arch_sys_counter", ""}) {
    environment_.clock_source = good;
    EXPECT_THAT(Check(), IsEmpty()) << good;
  }
  environment_.clock_source = "hpet";
  EXPECT_THAT(Check(),
              ElementsAre(Notice{"clock-source",
                                 "the clock source of the client is hpet, not TSC: each clock reading may be a "
                                 "system call"}));
}

TEST_F(SettingCheck, GovernorThatChangesTheFrequency) {
  environment_.cpu_scaling_enabled = std::nullopt;
  EXPECT_THAT(Check(), IsEmpty()) << "not known";
  environment_.cpu_scaling_enabled = true;
  EXPECT_THAT(Check(),
              ElementsAre(Notice{"cpu-scaling", "the CPU frequency governor of the client is not 'performance'"}));
}

TEST_F(SettingCheck, CpusThatBothEndsUse) {
  server_.set_cpus(0, 1);
  server_.set_cpus(1, 2);
  EXPECT_THAT(Check(), ElementsAre(Notice{
                           "shared-cpus",
                           "client and server share CPUs (0-1 and 1-2): pin them apart with taskset or numactl"}));
  server_.set_boot_id("there");
  EXPECT_THAT(Check(), IsEmpty()) << "the same numbers on another machine";
}

TEST_F(SettingCheck, ServersMachineIsCheckedWhenItIsAnother) {
  server_.set_clock_source("xen");
  server_.set_cpu_scaling_enabled(true);
  EXPECT_THAT(Check(), IsEmpty()) << "it is the client's machine, which has said what it is";
  server_.set_boot_id("there");
  EXPECT_THAT(Check(),
              ElementsAre(Is("clock-source", "the clock source of the server is xen"),
                          Notice{"cpu-scaling", "the CPU frequency governor of the server is not 'performance'"}));
}

}  // namespace
}  // namespace cqbench
