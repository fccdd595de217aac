// The sweep, against servers in this process: what ends it, which progress it reports, which goals it checks.
#include "src/load/run/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cqbench/engine.h"
#include "cqbench/schedule.h"
#include "cqbench/server.h"
#include "src/base/interrupt.h"
#include "src/http/client/http_engine.h"
#include "tests/smoke/sockets.h"

namespace cqbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

testing::Matcher<Notice> Text(const std::string& part) {
  return testing::Field(&Notice::text, HasSubstr(part));
}

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    config_.method = AllMethodInfos().front();
    config_.api = ClientApi::kCq;
    config_.points = {{1, 0}};
    config_.warmup_ns = 50 * kNanosPerMilli;
    config_.interval_ns = 200 * kNanosPerMilli;
    config_.deadline_ns = 15 * kNanosPerSecond;
    config_.connect_timeout_ns = 300 * kNanosPerMilli;
    observer_.progress = [](const ProgressUpdate&) {};
    observer_.on_point = [this](const SweepResult& sweep) { seen_.push_back(sweep); };
  }
  ~RunnerTest() override {
    if (server_) server_->Shutdown();
  }
  void Serve() {
    ServerConfig config;
    config.listen = {*ParseTarget("127.0.0.1", 0)};
    auto server = StartServer(config);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    config_.targets = server_->listening();
  }
  SweepResult Run() {
    const auto endpoints = CheckRunnable(config_);
    EXPECT_TRUE(endpoints.ok());
    return RunSweep(config_, *endpoints, goals_, interrupt_, observer_);
  }

  Interrupt interrupt_;
  RunConfig config_;
  RunGoals goals_;
  RunObserver observer_;
  std::vector<SweepResult> seen_;
  std::unique_ptr<PingServer> server_;
};

TEST_F(RunnerTest, EveryPointIsToldOfWhenItHasEnded) {
  Serve();
  config_.points = {{1, 0}, {2, 0}};
  config_.repetitions = 2;
  const SweepResult result = Run();
  ASSERT_EQ(seen_.size(), 4u);
  for (size_t i = 0; i < seen_.size(); ++i) {
    ASSERT_EQ(seen_[i].points.size(), i + 1);
    EXPECT_GT(seen_[i].points[i].completed, 0u);
    EXPECT_EQ(seen_[i].servers.size(), 1u);
    EXPECT_EQ(seen_[i].repetitions, i < 2 ? 1 : 2);
  }
  EXPECT_EQ(result.points.size(), 4u);
  EXPECT_EQ(result.repetitions, 2);
  EXPECT_FALSE(result.partial);
}

TEST_F(RunnerTest, TotalEndsThePointsBeforeTheirInterval) {
  Serve();
  config_.points = {{1, 0}, {3, 0}};
  config_.interval_ns = 600 * kNanosPerSecond;
  config_.total = 100;
  for (const ClientApi api : {ClientApi::kSync, ClientApi::kCq, ClientApi::kCallback}) {
    config_.api = api;
    const SweepResult result = Run();
    ASSERT_EQ(result.points.size(), 2u);
    EXPECT_FALSE(result.partial);
    for (const PointResult& point : result.points) {
      EXPECT_GE(point.completed, config_.total);
      EXPECT_LT(point.window_ns, config_.interval_ns / 10);
      EXPECT_DOUBLE_EQ(point.ThroughputPerSecond(), static_cast<double>(point.completed) / ToSeconds(point.window_ns));
      EXPECT_EQ(point.failure, "");
      EXPECT_FALSE(point.partial);
      EXPECT_THAT(point.notes, Not(Contains(Text("--total"))));
    }
  }
}

TEST_F(RunnerTest, ATotalThatIsNotReachedIsSaid) {
  Serve();
  config_.total = 1'000'000'000;
  const SweepResult result = Run();
  ASSERT_EQ(result.points.size(), 1u);
  EXPECT_EQ(result.points[0].window_ns, config_.interval_ns);
  EXPECT_FALSE(result.points[0].partial);
  EXPECT_THAT(result.points[0].notes, Contains(Text("before 1000000000 calls were done (--total)")));
}

// The server has responded to all calls, but the result does not count those that were skipped.
TEST_F(RunnerTest, TheFirstCallsAreLeftOut) {
  for (const ClientApi api : {ClientApi::kSync, ClientApi::kCq, ClientApi::kCallback}) {
    Serve();
    config_.api = api;
    config_.points = {{3, 0}};
    config_.warmup_ns = 0;
    config_.interval_ns = 600 * kNanosPerSecond;
    config_.skip_first = 500;
    config_.total = 100;
    const SweepResult result = Run();
    ASSERT_EQ(result.points.size(), 1u);
    const PointResult& point = result.points[0];
    EXPECT_GE(point.completed, config_.total);
    EXPECT_LT(point.window_ns, config_.interval_ns / 10);
    EXPECT_THAT(point.notes, Not(Contains(Text("--skip-first"))));
    EXPECT_GE(server_->Counts().messages, config_.skip_first + point.completed);
    server_->Shutdown();
  }
}

TEST_F(RunnerTest, TooFewFirstCallsAreSaid) {
  Serve();
  config_.skip_first = 1'000'000'000;
  const SweepResult result = Run();
  ASSERT_EQ(result.points.size(), 1u);
  EXPECT_EQ(result.points[0].window_ns, config_.interval_ns);
  EXPECT_GT(result.points[0].completed, 0u);
  EXPECT_THAT(result.points[0].notes, Contains(Text("(--skip-first 1000000000)")));
}

TEST_F(RunnerTest, ChannelsWithoutASlotAreSaidOnce) {
  Serve();
  config_.points = {{1, 0}, {2, 0}};
  config_.policy = {ChannelPolicy::Kind::kPool, 2};
  EXPECT_THAT(Run().notes, ElementsAre(Text("pool:2 has more channels than calls in flight (1)")));
}

TEST_F(RunnerTest, NobodyThereEndsTheSweep) {
  const smoke::BoundSocket nobody;
  config_.targets = {*ParseTarget("127.0.0.1", nobody.port())};
  config_.points = {{1, 0}, {2, 0}, {3, 0}};
  const SweepResult result = Run();
  ASSERT_EQ(result.points.size(), 1u);
  EXPECT_THAT(result.points[0].failure, HasSubstr("cannot connect"));
  EXPECT_FALSE(result.partial);
}

// The point connected, so the next point is tried, too.
TEST_F(RunnerTest, AFirstPointThatFailsForAnotherReasonDoesNot) {
  Serve();
  const double too_many = 2 * kMaxScheduled / ToSeconds(config_.warmup_ns + config_.interval_ns);
  config_.points = {{1, too_many}, {1, 500}};
  const SweepResult result = Run();
  ASSERT_EQ(result.points.size(), 2u);
  EXPECT_NE(result.points[0].failure, "");
  EXPECT_EQ(result.points[0].window_ns, 0);
  EXPECT_EQ(result.points[1].failure, "");
  EXPECT_GT(result.points[1].completed, 0u);
  EXPECT_EQ(result.points[1].connections, 1) << "the control service's of the point before is no channel's";
  EXPECT_THAT(result.points[1].warnings, Not(Contains(testing::Field(&Notice::code, "connections"))));
}

// No server listens on one of two hosts: the error names this host only, in either order of the hosts.
TEST_F(RunnerTest, TheHostThatCannotBeReachedIsNamed) {
  const bool http = RegisterHttpEngines().ok();
  const smoke::BoundSocket nobody;
  for (const ClientApi api : {ClientApi::kCq, ClientApi::kHttp1}) {
    if (IsHttp(api) && !http) continue;
    for (const bool last : {false, true}) {
      Serve();
      config_.api = api;
      if (api == ClientApi::kHttp1) config_.http = std::make_shared<HttpCall>(HttpCall{"GET", "/", "", ""});
      config_.points = {{2, 0}};
      config_.policy = {ChannelPolicy::Kind::kPool, 2};
      config_.targets.insert(last ? config_.targets.end() : config_.targets.begin(),
                             *ParseTarget("127.0.0.1", nobody.port()));
      const SweepResult result = Run();
      ASSERT_EQ(result.points.size(), 1u);
      EXPECT_THAT(result.points[0].failure, HasSubstr("cannot connect to " + nobody.address()));
      EXPECT_THAT(result.points[0].failure, HasSubstr("(Connection refused)"));
      server_->Shutdown();
    }
  }
}

TEST_F(RunnerTest, NamesAreResolvedBeforeTheRun) {
  config_.targets = {*ParseTarget("no-such-host.invalid", 1)};
  EXPECT_TRUE(absl::IsNotFound(CheckRunnable(config_).status()));
}

TEST_F(RunnerTest, EveryPointIsJudged) {
  Serve();
  config_.points = {{1, 0}, {1, 200}};
  goals_.objective = *ParseObjective("max<10s,errors<1%");
  const SweepResult met = Run();
  EXPECT_THAT(met.misses, IsEmpty());
  for (const PointResult& point : met.points) EXPECT_TRUE(point.objective_met);
  goals_.objective = *ParseObjective("max<1ns");
  const SweepResult missed = Run();
  EXPECT_THAT(missed.misses, ElementsAre(HasSubstr("in-flight 1: "), HasSubstr("rate 200/s: ")));
  for (const PointResult& point : missed.points) EXPECT_FALSE(point.objective_met);
}

TEST_F(RunnerTest, ASearchMeasuresPointsOfItsOwn) {
  Serve();
  config_.interval_ns = 100 * kNanosPerMilli;
  config_.points = {{20, 0}};
  goals_.find_rate = true;
  goals_.objective = *ParseObjective("max<1ns");  // no rate meets it
  goals_.search.start_rate = 200;
  goals_.search.max_rate = 400;
  config_.points = {{20, goals_.search.start_rate}};
  const SweepResult result = Run();
  ASSERT_TRUE(result.find_rate.has_value());
  EXPECT_FALSE(result.find_rate->resolved);
  EXPECT_EQ(result.find_rate->objective, goals_.objective.ToString());
  ASSERT_EQ(result.points.size(), result.find_rate->trials.size());
  EXPECT_THAT(result.misses, IsEmpty()) << "trials are meant to miss";
  EXPECT_EQ(result.points.front().load, (Load{20, 200}));
  ASSERT_GE(result.points.size(), 2u);
  ASSERT_TRUE(result.points[0].open_loop && result.points[1].open_loop);
  EXPECT_NE(result.points[0].open_loop->schedule_hash, result.points[1].open_loop->schedule_hash);
}

}  // namespace
}  // namespace cqbench
