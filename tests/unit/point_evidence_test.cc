// Figures from the samples of a point, and the times of sampling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/observe/evidence/evidence.h"
#include "src/observe/evidence/evidence_report.h"
#include "src/observe/evidence/server_sum.h"
#include "tests/unit/text_message.h"

namespace cqbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Nanos kSecond = kNanosPerSecond;

ProcessSamples OneSecondApart() {
  ProcessSamples samples;
  samples.begin.set_taken_at_ns(100 * kSecond);
  samples.end.set_taken_at_ns(101 * kSecond);
  return samples;
}

PointResult Point() {
  PointResult point;
  point.window_ns = kSecond;
  point.completed = 100;
  return point;
}

class ReportEvidenceTest : public testing::Test {
 protected:
  PointResult Report(const PointSamples& samples, bool counting = false) {
    PointResult point = Point();
    ReportEvidence({config_, plan_, counting, {1600, 110}}, samples, measurement_, point);
    return point;
  }
  RunConfig config_;
  ChannelPlan plan_;
  Measurement measurement_;
};

TEST_F(ReportEvidenceTest, SaysHowFarOffTheWindowTheSamplesWere) {
  PointSamples samples;
  samples.client = OneSecondApart();
  samples.client.before_ns = 1200;
  samples.client.after_ns = 3400;
  samples.servers = {OneSecondApart()};
  samples.servers[0].before_ns = -5600;
  samples.servers[0].after_ns = 7800;
  const PointResult point = Report(samples);
  EXPECT_EQ(point.figures.Get("client_sample_before_ns"), 1200);
  EXPECT_EQ(point.figures.Get("client_sample_after_ns"), 3400);
  EXPECT_EQ(point.figures.Get("server_sample_before_ns"), -5600);
  EXPECT_EQ(point.figures.Get("server_sample_after_ns"), 7800);
}

TEST_F(ReportEvidenceTest, WhatAskingAServerAllocatesIsNotTheCalls) {
  PointSamples samples;
  samples.servers = {OneSecondApart()};
  ProcessSamples& server = samples.servers[0];
  SetCounts({1000, 50'000, 40}, server.begin);
  SetCounts({1000 + 90 + 200, 50'000 + 9'000 + 20'000, 40 + 7 + 100}, server.end);
  server.end.set_messages(100);
  server.not_counted = {90, 9'000, 7};
  const PointResult point = Report(samples, /*counting=*/true);
  EXPECT_EQ(point.figures.Get("server_allocations_per_rpc"), 2);
  EXPECT_EQ(point.figures.Get("server_allocated_bytes_per_rpc"), 200);
  EXPECT_EQ(point.figures.Get("server_frees_elsewhere_per_rpc"), 1);
}

TEST_F(ReportEvidenceTest, TheCountingPassReportsNothingElse) {
  PointSamples samples;
  samples.client = OneSecondApart();
  samples.servers = {OneSecondApart()};
  samples.servers_absent = "";
  EXPECT_TRUE(Report(samples, /*counting=*/true).figures.empty());
}

TEST_F(ReportEvidenceTest, ServersThatDidNotAnswerAreNoted) {
  PointSamples samples;
  samples.client = OneSecondApart();
  samples.servers_absent = "its control service did not answer";
  EXPECT_THAT(Report(samples).notes, testing::Contains(testing::Field(
                                         &Notice::text, HasSubstr("server: its control service did not answer"))));
}

TEST_F(ReportEvidenceTest, SamplesOfAnotherStretchOfTimeAreNotReported) {
  PointSamples samples;
  samples.client = OneSecondApart();
  samples.servers = {OneSecondApart()};
  samples.servers[0].end.set_taken_at_ns(101 * kSecond + kSecond / 2);
  const PointResult point = Report(samples);
  EXPECT_EQ(point.figures.Get("server_cores_used"), std::nullopt);
  EXPECT_THAT(point.notes, testing::Contains(testing::Field(&Notice::text, HasSubstr("1.5s apart"))));
}

TEST_F(ReportEvidenceTest, TheCostOfTheBreakdownIsTheEngines) {
  config_.breakdown = true;
  PointSamples samples;
  samples.client = OneSecondApart();
  const PointResult point = Report(samples);
  EXPECT_EQ(point.figures.Get("breakdown_cost_per_timed_rpc_ns"), 1600);
  EXPECT_EQ(point.figures.Get("breakdown_cost_per_rpc_ns"), 110);
}

TEST(SumOfServers, AddsTotalsAndKeepsTheLargestDistance) {
  std::vector<ProcessSamples> servers = {OneSecondApart(), OneSecondApart()};
  servers[0].boot_id = servers[1].boot_id = "one machine";
  servers[0].end.mutable_process()->set_user_ns(5);
  servers[1].end.mutable_process()->set_user_ns(6);
  for (ProcessSamples& server : servers) {
    server.end.MergeFrom(FromText<Sample>(
        R"(process { peak_rss_bytes: 9 } cpus { busy_ns: 10 } threads { id: 1 } connections { id: 2 } messages: 100
           unix_connections: 4 allocations { bytes: 7 } posted_requests: 8 messages_per_queue: [3, 4])"));
  }
  servers[0].before_ns = 100;
  servers[1].before_ns = -300;
  servers[0].after_ns = 900;
  servers[1].after_ns = 400;
  servers[0].not_counted = {1, 10};
  servers[1].not_counted = {2, 20};
  const ProcessSamples sum = SumOfServers(servers);
  EXPECT_EQ(sum.end.taken_at_ns(), 101 * kSecond);
  EXPECT_EQ(sum.end.process().user_ns(), 11);
  EXPECT_EQ(sum.end.process().peak_rss_bytes(), 18u);
  EXPECT_EQ(sum.end.cpus_size(), 1) << "they share it";
  EXPECT_NE(sum.end.threads(0).id(), sum.end.threads(1).id());
  EXPECT_NE(sum.end.connections(0).id(), sum.end.connections(1).id());
  EXPECT_EQ(sum.end.unix_connections(), 8u);
  EXPECT_EQ(sum.end.allocations().bytes(), 14u);
  EXPECT_EQ(sum.end.messages(), 200u);
  EXPECT_EQ(sum.end.posted_requests(), 16);
  EXPECT_EQ(sum.end.messages_per_queue_size(), 4);
  EXPECT_EQ(sum.before_ns, -300);
  EXPECT_EQ(sum.after_ns, 900);
  EXPECT_EQ(sum.not_counted.allocations, 3u);
  EXPECT_EQ(sum.not_counted.bytes, 30u);
  servers[1].boot_id = "another";
  EXPECT_EQ(SumOfServers(servers).end.cpus_size(), 2);
}

// Makes a point of 20 ms.
PointResult SampledPoint() {
  RunConfig config;
  const ChannelPlan plan;
  RunWindow window;
  PointEvidence evidence(config, plan, window, /*servers=*/nullptr, /*counting=*/false);
  evidence.Rehearse(std::nullopt);
  EXPECT_GT(evidence.Lead(), 0);
  EXPECT_LT(evidence.Lead(), kSecond / 5);
  const Nanos open = NowNs() + evidence.Lead();
  window.Set(open, open + 20 * kNanosPerMilli);
  evidence.Begin([] { return 0; });
  while (NowNs() < window.close_ns()) {
  }
  evidence.End([] { return 0; });
  PointResult point = Point();
  evidence.Report(Measurement(), TimingCost(), point);
  return point;
}

// On a busy machine a sample may be late once.
TEST(PointEvidence, SamplesJustOutsideTheWindow) {
  Nanos before = 0;
  for (int attempt = 0; attempt < 5 && before <= 0; ++attempt) {
    const PointResult point = SampledPoint();
    before = static_cast<Nanos>(point.figures.Get("client_sample_before_ns").value());
    EXPECT_GE(point.figures.Get("client_sample_after_ns").value(), 0);
  }
  EXPECT_GT(before, 0);
}

TEST(PointEvidence, OfAPointWithoutAWindowIsNothing) {
  RunConfig config;
  const ChannelPlan plan;
  RunWindow window;
  PointEvidence evidence(config, plan, window, /*servers=*/nullptr, /*counting=*/false);
  evidence.Rehearse(std::nullopt);
  PointResult point;
  evidence.Report(Measurement(), TimingCost(), point);
  EXPECT_TRUE(point.figures.empty());
  EXPECT_THAT(point.notes, IsEmpty());
}

}  // namespace
}  // namespace cqbench
