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

void PrintTo(const Finding& finding, std::ostream* os) {
  *os << finding.code << ": " << finding.text;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A finding with that code, and that in its text.
testing::Matcher<Finding> Is(const std::string& code, const std::string& text = "") {
  return testing::AllOf(testing::Field(&Finding::code, code), testing::Field(&Finding::text, HasSubstr(text)));
}

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
    point_.load.slots = 5;
    point_.window_ns = 10 * kNanosPerSecond;
    point_.completed = 1'000'000;
    point_.latency.emplace().count = 1'000'000;
    point_.latency->mean_ns = 50'000;  // 5 slots x 10 s / 1,000,000
    for (const char* side : {"client", "server"}) {
      Set(side, "_cpus_allowed", 4);
      Set(side, "_cores_used", 1);
      Set(side, "_cpus_busy", 1);
    }
    point_.figures.Set("server_rpcs", 1'000'000);
    SetSlices(std::vector<double>(10, 100'000));
    for (auto* cpus : {&point_.client_cpus, &point_.server_cpus}) cpus->push_back({0, 0.5, 0.5, 0, 0});
  }

  void Set(std::string side, const std::string& name, double value) { point_.figures.Set(side + name, value); }
  // One slice a second.
  void SetSlices(const std::vector<double>& per_second) {
    point_.slice_ns = kNanosPerSecond;
    point_.slices.clear();
    for (double rate : per_second) point_.slices.push_back({static_cast<uint64_t>(rate), 0, 0, 0, 0});
  }
  std::vector<Finding> Doubts() { return Checked().suspect; }
  std::vector<Finding> Limits() { return Checked().limits; }
  PointResult Checked() const {
    PointResult point = point_;
    CheckPoint(config_, servers_, point);
    return point;
  }

  PointResult point_;
  RunConfig config_;
  std::vector<ServerInfo> servers_ = {Server(Placement::kOwnCpus)};
};

TEST_F(PointCheck, FindsNothingInAGoodPoint) {
  EXPECT_THAT(Doubts(), IsEmpty());
}

TEST_F(PointCheck, FindsNothingInAPointWithoutEvidence) {
  PointResult bare;
  bare.window_ns = kNanosPerSecond;
  bare.completed = 1'000'000;
  CheckPoint(config_, servers_, bare);
  EXPECT_THAT(bare.suspect, IsEmpty());
  EXPECT_THAT(bare.limits, IsEmpty());
}

TEST_F(PointCheck, SaysNothingOfAPointThatMeasuredNothing) {
  Set("client", "_cores_used", 4);
  ASSERT_EQ(Limits().size(), 1u);
  const uint64_t completed = std::exchange(point_.completed, 0);
  EXPECT_THAT(Limits(), IsEmpty());
  point_.completed = completed;
  point_.window_ns = 0;
  EXPECT_THAT(Limits(), IsEmpty());
}

TEST_F(PointCheck, LooksAnewEachTime) {
  point_.suspect = {{"old", "news"}};
  point_.limits = {{"old", "news"}};
  EXPECT_THAT(Doubts(), IsEmpty());
  EXPECT_THAT(Limits(), IsEmpty());
}

TEST_F(PointCheck, ClientThatUsesItsCpusUpIsALimitAndNoDoubt) {
  Set("client", "_cores_used", 3.79);
  EXPECT_THAT(Limits(), IsEmpty());
  Set("client", "_cores_used", 3.8);
  EXPECT_THAT(Limits(), ElementsAre(Finding{
                            "client-cpu", "the client uses 3.80 of 4 CPU(s): this measures CPU, not the connection"}));
  EXPECT_THAT(Doubts(), IsEmpty());
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Limits(), IsEmpty()) << "spinning uses them up whatever there is to do";
  config_.poll = PollMode::kBlock;
  config_.schedule.pace = Pace::kSpin;
  EXPECT_THAT(Limits(), ElementsAre(Is("client-cpu"))) << "there is no pacer in a closed loop";
  point_.load.rate = 100'000;
  EXPECT_THAT(Limits(), IsEmpty());
}

TEST_F(PointCheck, ServerThatUsesItsCpusUp) {
  Set("server", "_cores_used", 3.79);
  EXPECT_THAT(Limits(), IsEmpty());
  Set("server", "_cores_used", 3.8);
  EXPECT_THAT(Limits(), ElementsAre(Is("server-cpu", "the server uses 3.80 of 4 CPU(s)")));
  config_.poll = PollMode::kSpin;
  EXPECT_THAT(Limits(), ElementsAre(Is("server-cpu"))) << "the client spins, the server does not";
  servers_[0].poll = "spin";
  EXPECT_THAT(Limits(), IsEmpty());
}

// A tenth of four CPUs, and three ticks of 10 ms of each of them in 10 s: 0.412.
TEST_F(PointCheck, OtherProcessesOnTheCpusOfEitherEnd) {
  for (const std::string side : {"client", "server"}) {
    Set(side, "_cpus_busy", 1.411);
    EXPECT_THAT(Doubts(), IsEmpty());
    Set(side, "_cpus_busy", 1.42);
    EXPECT_THAT(Doubts(),
                ElementsAre(Finding{"other-processes", "other processes used 0.42 of the 4 CPU(s) of the " + side}));
    Set(side, "_cpus_busy", 1);
  }
}

TEST_F(PointCheck, ShortWindowsForgiveMoreOfOtherProcesses) {
  Set("client", "_cpus_busy", 1.42);
  point_.window_ns = kNanosPerSecond;
  point_.latency->mean_ns = 5'000;
  EXPECT_THAT(Doubts(), IsEmpty()) << "three ticks are 3 % of a second";
  Set("client", "_cpus_busy", 1.53);
  EXPECT_THAT(Doubts(), ElementsAre(Is("other-processes", "other processes")));
}

TEST_F(PointCheck, TheOtherEndIsNoOtherProcessOnSharedCpus) {
  Set("client", "_cores_used", 1);
  Set("server", "_cores_used", 2);
  Set("client", "_cpus_busy", 3);
  Set("server", "_cpus_busy", 3);
  servers_ = {Server(Placement::kSharedCpus)};
  EXPECT_THAT(Doubts(), IsEmpty());
  for (Placement apart : {Placement::kOwnCpus, Placement::kOtherMachine}) {
    servers_ = {Server(apart)};
    EXPECT_THAT(Doubts(),
                ElementsAre(Finding{"other-processes", "other processes used 2.00 of the 4 CPU(s) of the client"},
                            Finding{"other-processes", "other processes used 1.00 of the 4 CPU(s) of the server"}));
  }
  Set("client", "_cpus_busy", 3.5);
  servers_ = {Server(Placement::kSharedCpus)};
  EXPECT_THAT(Doubts(),
              ElementsAre(Finding{"other-processes", "other processes used 0.50 of the 4 CPU(s) of the client"}));
}

TEST_F(PointCheck, AServerThatDidNotDescribeItselfMayBeTheOtherProcess) {
  Set("client", "_cpus_busy", 4);
  servers_.clear();
  EXPECT_THAT(Doubts(), IsEmpty());
}

TEST_F(PointCheck, TimeThatTheHypervisorTook) {
  point_.client_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  point_.server_cpus.push_back({1, 0.5, 0.5, 0, 0.0099});
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.client_cpus[1].steal = 0.01;
  EXPECT_THAT(Doubts(), ElementsAre(Finding{"steal", "the hypervisor took 1 % of a CPU of the client"}));
  point_.server_cpus[0].steal = 0.5;
  EXPECT_THAT(Doubts(), ElementsAre(Is("steal", "of the client"),
                                    Finding{"steal", "the hypervisor took 50 % of a CPU of the server"}));
}

TEST_F(PointCheck, TwoTicksAreTooFewToBlameTheHypervisor) {
  point_.window_ns = kNanosPerSecond;
  point_.latency->mean_ns = 5'000;
  point_.client_cpus[0].steal = 0.02;
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.client_cpus[0].steal = 0.031;
  EXPECT_THAT(Doubts(), ElementsAre(Finding{"steal", "the hypervisor took 3 % of a CPU of the client"}));
}

class Steadiness : public PointCheck {
 protected:
  void HaveFewCalls() {
    point_.completed = 2500;  // chance is five, or ten, times a fiftieth
    point_.latency->mean_ns = 20e6;
    point_.figures.Set("server_rpcs", 2500);
  }
  // Throughput of the first tenth, of the rest of the first half and of the second half.
  std::vector<Finding> CheckSlices(double first, double rest_of_first_half, double second_half) {
    std::vector<double> slices(10, 1000 * second_half);
    for (size_t i = 0; i < 5; ++i) slices[i] = 1000 * rest_of_first_half;
    slices[0] = 1000 * first;
    SetSlices(slices);
    return Doubts();
  }
};

TEST_F(Steadiness, DriftOfMoreThanATwentieth) {
  EXPECT_THAT(CheckSlices(100, 100, 104.9), IsEmpty());
  EXPECT_THAT(CheckSlices(100, 100, 105.1),
              ElementsAre(Finding{"drift", "throughput drifts: +5 % from the first to the second half of the window"}));
  EXPECT_THAT(CheckSlices(105.2, 105.2, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(120, 120, 100), ElementsAre(Is("drift", "throughput drifts: -17 %")));
}

TEST_F(Steadiness, FewCallsDriftByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckSlices(100, 100, 109.9), IsEmpty());
  EXPECT_THAT(CheckSlices(100, 100, 111), ElementsAre(Is("drift", "drifts: +11 %")));
}

TEST_F(Steadiness, FirstTenthThatIsNotLikeTheRest) {
  EXPECT_THAT(CheckSlices(90.1, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(89, 100, 100),
              ElementsAre(Finding{"not-warmed-up",
                                  "not warmed up: throughput of the first 1s of the window is -11 % off the rest"}));
  EXPECT_THAT(CheckSlices(109.9, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(150, 100, 100),
              ElementsAre(Is("not-warmed-up", "not warmed up: throughput of the first 1s of the window is +50 %")))
      << "and it is not drift as well";
}

TEST_F(Steadiness, FirstTenthMayDifferAsTheOthersDo) {
  SetSlices({75, 90, 110, 90, 110, 90, 110, 90, 110, 90});
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.slices[0].completed = 65;
  EXPECT_THAT(Doubts(), ElementsAre(Is("not-warmed-up", "not warmed up")));
}

TEST_F(Steadiness, FirstTenthOfFewCallsDiffersByChance) {
  HaveFewCalls();
  EXPECT_THAT(CheckSlices(81, 100, 100), IsEmpty());
  EXPECT_THAT(CheckSlices(79, 100, 100), ElementsAre(Is("not-warmed-up", "not warmed up")));
}

TEST_F(Steadiness, StandstillAfterTheFirstTenthHasAFiniteNumber) {
  EXPECT_THAT(
      CheckSlices(100, 0, 0),
      ElementsAre(Finding{"drift", "throughput drifts: -100 % from the first to the second half of the window"}));
}

TEST_F(Steadiness, StandstillIsNoNoise) {
  SetSlices({300, 300, 300, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(Doubts(), ElementsAre(Is("not-warmed-up", "+350 %")));
  SetSlices({100, 100, 100, 100, 100, 100, 100, 0, 0, 0});
  EXPECT_THAT(Doubts(), ElementsAre(Is("drift", "-60 %")));
}

TEST_F(Steadiness, SlicesAreJudgedInTenParts) {
  std::vector<double> slices(95, 100);
  for (size_t i = 0; i < 9; ++i) slices[i] = 80;
  SetSlices(slices);
  EXPECT_THAT(Doubts(), ElementsAre(Is("not-warmed-up", "the first 9s of the window is -20 % off the rest")));
  for (size_t i = 1; i < 9; ++i) slices[i] = 100;  // one slice says little
  SetSlices(slices);
  EXPECT_THAT(Doubts(), IsEmpty());
}

TEST_F(Steadiness, TooFewSlicesOrCallsSayNothing) {
  SetSlices({1, 100, 10'000, 1, 1, 1, 1});
  EXPECT_THAT(Doubts(), IsEmpty());
  SetSlices({1, 100, 10'000, 1, 1, 1, 1, 1});
  EXPECT_THAT(Doubts(), ElementsAre(Is("not-warmed-up")));
  point_.figures.Set("server_rpcs", 199);
  point_.completed = 199;  // 25 for each part
  point_.latency->mean_ns = 251e6;
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.slices.clear();
  EXPECT_THAT(Doubts(), IsEmpty());
}

TEST_F(PointCheck, TooFewCallsForAPercentileAreNoted) {
  const struct {
    uint64_t count;
    std::vector<std::string> notes;
  } cases[] = {{19, {"too few calls for P50, which needs 20"}},
               {20, {"too few calls for P90, which needs 100"}},
               {99, {"too few calls for P90, which needs 100"}},
               {100, {"too few calls for P99, which needs 1000"}},
               {999, {"too few calls for P99, which needs 1000"}},
               {9'999, {"too few calls for P99.9, which needs 10000"}},
               {10'000, {}}};
  for (const auto& [count, notes] : cases) {
    point_.latency->count = count;
    EXPECT_EQ(Checked().notes, notes) << count;
    EXPECT_THAT(Doubts(), IsEmpty()) << "withheld is not doubtful";
  }
  point_.latency.reset();
  EXPECT_THAT(Checked().notes, IsEmpty());
}

TEST_F(PointCheck, ServerWithMoreConnectionsThanThisClient) {
  point_.figures.Set("client_connections", 4);
  point_.figures.Set("server_connections", 4);
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.figures.Set("server_connections", 6);
  EXPECT_THAT(
      Doubts(),
      ElementsAre(Finding{"other-client", "another client uses the server: it has 2 connections more than this one"}));
}

// A quarter more, four times the square root of the calls, and those in flight at either edge.
TEST_F(PointCheck, ServerThatAnsweredMoreThanThisClientAsked) {
  point_.figures.Set("server_rpcs", 1'254'010);
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.figures.Set("server_rpcs", 1'254'011);
  EXPECT_THAT(Doubts(), ElementsAre(Finding{"other-client",
                                            "another client uses the server: it answered 1.25 times as many calls"}));
  point_.figures.Set("server_rpcs", 100);
  EXPECT_THAT(Doubts(), IsEmpty());
}

// A server may have answered what this client no longer waited for.
TEST_F(PointCheck, CallsThatFailedHereMayHaveBeenAnsweredThere) {
  point_.figures.Set("server_rpcs", 1'500'000);
  EXPECT_THAT(Doubts(), ElementsAre(Is("other-client")));
  point_.errors = {{"DEADLINE_EXCEEDED", 300'000, ""}};
  EXPECT_THAT(Doubts(), IsEmpty());
}

TEST_F(PointCheck, DoubtsAddUp) {
  Set("client", "_cores_used", 4);
  Set("client", "_cpus_busy", 5);
  point_.figures.Set("server_rpcs", 3'000'000);
  EXPECT_THAT(Doubts(), ElementsAre(Is("other-processes"), Is("other-client", "3.00 times")));
  EXPECT_THAT(Limits(), ElementsAre(Is("client-cpu")));
}

TEST_F(PointCheck, CallsThatNeverEnded) {
  point_.counts.unfinished = 8;
  const std::string withheld = ": counted with their age; percentiles they could change are withheld";
  EXPECT_THAT(Doubts(), ElementsAre(Finding{"unfinished-calls", "8 call(s) never ended" + withheld}));
  point_.counts.unsent = 2;
  EXPECT_THAT(Doubts(),
              ElementsAre(Finding{"unfinished-calls",
                                  "8 call(s) never ended and 2 call(s) that were due were never sent" + withheld}));
  point_.counts.unfinished = 0;
  EXPECT_THAT(Doubts(), ElementsAre(Finding{"unfinished-calls", "2 call(s) that were due were never sent" + withheld}));
  point_.completed = 0;
  EXPECT_THAT(Doubts(), ElementsAre(Is("unfinished-calls"))) << "even when nothing was measured";
}

class LittlesLaw : public PointCheck {
 protected:
  // Of the 5 slots.
  std::vector<Finding> InCalls(double calls) {
    point_.latency->mean_ns = calls * 10'000;  // 10 s / 1,000,000
    return Doubts();
  }
};

TEST_F(LittlesLaw, TimeThatIsInNoCall) {
  EXPECT_THAT(InCalls(4.76), IsEmpty());
  EXPECT_THAT(InCalls(4.74),
              ElementsAre(Finding{"littles-law",
                                  "time goes where nobody looks: throughput x mean latency is 4.74 calls "
                                  "in flight, not 5 (Little's law)"}));
  EXPECT_THAT(InCalls(5.24), IsEmpty());
  EXPECT_THAT(InCalls(5.26), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, OneLongestCallMayCrossTheEdges) {
  point_.latency->max_ns = 200 * kNanosPerMilli;  // 2 % of the window
  EXPECT_THAT(InCalls(4.66), IsEmpty());
  EXPECT_THAT(InCalls(4.64), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, FailedCallsAndTheirRestsTakeTime) {
  config_.deadline_ns = 90 * kNanosPerMilli;
  point_.errors = {{"DEADLINE_EXCEEDED", 25, ""}};  // 25 x (90 + 10) ms of 5 x 10 s: 5 %
  EXPECT_THAT(InCalls(4.51), IsEmpty());
  EXPECT_THAT(InCalls(4.49), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, IsNotAskedOfFewCalls) {
  point_.completed = 99;
  point_.figures.Set("server_rpcs", 99);
  point_.latency->mean_ns = 1e6;
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.completed = 100;
  EXPECT_THAT(Doubts(), ElementsAre(Is("littles-law")));
}

TEST_F(LittlesLaw, IsNotAskedOfHangingCallsOrOpenLoops) {
  point_.counts.unfinished = 1;
  EXPECT_THAT(InCalls(4), ElementsAre(Is("unfinished-calls")));
  point_.counts.unfinished = 0;
  point_.load.rate = 1'000;
  point_.counts.sent = point_.counts.due = 10'000;
  point_.open_loop.emplace();
  EXPECT_THAT(InCalls(0.1), IsEmpty());
}

class OpenLoop : public PointCheck {
 protected:
  // 10,000 calls a second for 10 s, all sent in time and answered in a millisecond.
  OpenLoop() {
    point_.load = {100, 10'000};
    point_.completed = 100'000;
    point_.counts = {100'000, 100'000, 0, 0, 100'000, 0, 0};
    point_.latency->count = 100'000;
    point_.latency->p99_ns = kNanosPerMilli;
    point_.figures.Set("server_rpcs", 100'000);
    SetSlices(std::vector<double>(10, 10'000));
    open().pacers = 1;
    open().gap_cv = 1;
    open().gap_correlation = 0;
  }
  OpenLoopResult& open() { return point_.open_loop ? *point_.open_loop : point_.open_loop.emplace(); }
};

TEST_F(OpenLoop, FindsNothingInAGoodPoint) {
  EXPECT_THAT(Doubts(), IsEmpty());
  EXPECT_THAT(Limits(), IsEmpty());
}

// 3 / sqrt(100,000) is 0.95 %: a percent counts.
TEST_F(OpenLoop, RateThatWasNotReached) {
  point_.counts.sent = 99'001;
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.counts.sent = 98'990;
  EXPECT_THAT(Doubts(),
              ElementsAre(Finding{"rate-not-reached",
                                  "the rate was not reached: 98990 calls sent, 100000 asked for (-1.0 %): the "
                                  "client was measured, not the server"}));
  point_.counts.sent = 101'010;
  EXPECT_THAT(Doubts(), ElementsAre(Is("rate-not-reached", "+1.0 %")));
}

TEST_F(OpenLoop, FewCallsMissTheRateByChance) {
  point_.load.rate = 100;  // 1,000 calls: 9.5 %
  point_.counts.due = point_.counts.sent = 906;
  EXPECT_THAT(Doubts(), IsEmpty());
  point_.counts.sent = 904;
  EXPECT_THAT(Doubts(), ElementsAre(Is("rate-not-reached")));
}

TEST_F(OpenLoop, CallsThatFoundNoSlotAreALimit) {
  point_.counts.sent = 40'000;
  point_.counts.dropped = 60'000;
  EXPECT_THAT(Doubts(), IsEmpty()) << "the client was in time";
  EXPECT_THAT(Limits(), ElementsAre(Finding{"slots",
                                            "all 100 slots were taken at times (--max-outstanding): 60000 of "
                                            "100000 calls were dropped"}));
}

TEST_F(OpenLoop, CallsThatWaitedForASlotAreALimit) {
  open().slot_wait_mean_ns = 1'500;
  open().slot_wait_max_ns = 2'000'000;
  EXPECT_THAT(Doubts(), IsEmpty());
  EXPECT_THAT(Limits(), ElementsAre(Finding{"slots",
                                            "all 100 slots were taken at times (--max-outstanding): calls "
                                            "waited for one, 1.5 us on average, 2000.0 us at most"}));
}

TEST_F(OpenLoop, UnsentCallsAreTheSlotsFaultOnlyWhenTheyWereTaken) {
  point_.counts.sent = 90'000;
  point_.counts.unsent = 10'000;
  EXPECT_THAT(Doubts(), ElementsAre(Is("unfinished-calls"), Is("rate-not-reached")));
  open().slot_wait_max_ns = 1;
  EXPECT_THAT(Doubts(), ElementsAre(Is("unfinished-calls")));
}

TEST_F(OpenLoop, PacerThatWasLate) {
  open().lateness_p99_ns = 100'000;
  EXPECT_THAT(Doubts(), IsEmpty());
  open().lateness_p99_ns = 100'001;
  EXPECT_THAT(Doubts(), ElementsAre(Is("pacer-late", "100 us at P99, of 1000 us from due to done")));
  point_.latency->p99_ns = 1'100'000;
  EXPECT_THAT(Doubts(), IsEmpty()) << "a tenth of it";
  point_.counts = {199, 199, 0, 0, 199, 0, 0};
  point_.load.rate = 19.9;
  open().lateness_p99_ns = kNanosPerSecond;
  EXPECT_THAT(Doubts(), IsEmpty()) << "of too few calls, P99 is the worst accident";
}

TEST_F(OpenLoop, ArrivalsThatAreNotPoisson) {
  for (double cv : {0.86, 1.14}) {
    open().gap_cv = cv;
    EXPECT_THAT(Doubts(), IsEmpty()) << cv;
  }
  for (double cv : {0.84, 1.16}) {
    open().gap_cv = cv;
    EXPECT_THAT(Doubts(), ElementsAre(Is("arrivals-shape", "not Poisson"))) << cv;
  }
  open().gap_cv = 1;
  for (double correlation : {-0.099, 0.099}) {
    open().gap_correlation = correlation;
    EXPECT_THAT(Doubts(), IsEmpty()) << correlation;
  }
  for (double correlation : {-0.101, 0.101}) {
    open().gap_correlation = correlation;
    EXPECT_THAT(Doubts(), ElementsAre(Is("arrivals-shape", "correlate"))) << correlation;
  }
  open().gap_cv.reset();
  EXPECT_THAT(Doubts(), IsEmpty()) << "not known";
}

TEST_F(OpenLoop, ArrivalsThatAreNotConstant) {
  config_.schedule.arrivals = Arrivals::kConstant;
  open().pacers = 3;  // a gap of 300 us each
  open().gap_cv = 0.2;
  EXPECT_THAT(Doubts(), IsEmpty());
  open().gap_cv = 0.21;
  EXPECT_THAT(Doubts(), ElementsAre(Is("arrivals-shape", "not constant")));
  open().pacers = 2;
  EXPECT_THAT(Doubts(), IsEmpty()) << "200 us: lateness within its limit does as much";
}

// 3 x sqrt(100,000) is 949, 1 % is 1,000.
TEST_F(OpenLoop, CallsThatPileUp) {
  open().outstanding_first_half = 2'000;
  open().outstanding_second_half = 3'000;
  EXPECT_THAT(Doubts(), IsEmpty());
  open().outstanding_second_half = 3'001;
  EXPECT_THAT(Doubts(), ElementsAre(Is("backlog-grows",
                                       "2000.0 were outstanding on average in the first half of the "
                                       "window, 3001.0 in the second")));
  open().outstanding_first_half = 10'000;
  open().outstanding_second_half = 12'000;
  EXPECT_THAT(Doubts(), IsEmpty()) << "1.2 times as many";
  open().outstanding_second_half = 12'001;
  EXPECT_THAT(Doubts(), ElementsAre(Is("backlog-grows")));
  std::swap(open().outstanding_first_half, open().outstanding_second_half);
  EXPECT_THAT(Doubts(), IsEmpty());
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
  std::vector<Finding> Check() const { return CheckSetting(context_, {0, 1}, {server_}); }

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
  EXPECT_THAT(Check(),
              ElementsAre(Finding{"clock-source",
                                  "the clock source of the client is hpet, not TSC: each look at the clock may be a "
                                  "system call"}));
}

TEST_F(SettingCheck, GovernorThatChangesTheFrequency) {
  context_.cpu_scaling_enabled = std::nullopt;
  EXPECT_THAT(Check(), IsEmpty()) << "not known";
  context_.cpu_scaling_enabled = true;
  EXPECT_THAT(Check(),
              ElementsAre(Finding{"cpu-scaling", "the CPU frequency governor of the client is not 'performance'"}));
}

TEST_F(SettingCheck, CpusThatBothEndsUse) {
  server_.cpus = {1, 2};
  EXPECT_THAT(Check(), ElementsAre(Finding{
                           "shared-cpus",
                           "client and server share CPUs (0-1 and 1-2): pin them apart with taskset or numactl"}));
  server_.boot_id = "there";
  EXPECT_THAT(Check(), IsEmpty()) << "the same numbers on another machine";
}

TEST_F(SettingCheck, ServersMachineIsCheckedWhenItIsAnother) {
  server_.clock_source = "xen";
  server_.cpu_scaling_enabled = true;
  EXPECT_THAT(Check(), IsEmpty()) << "it is the client's machine, which has said what it is";
  server_.boot_id = "there";
  EXPECT_THAT(Check(),
              ElementsAre(Is("clock-source", "the clock source of the server is xen"),
                          Finding{"cpu-scaling", "the CPU frequency governor of the server is not 'performance'"}));
}

}  // namespace
}  // namespace cqbench
