// Evidence: the two programs report the connections, bytes, queues and servers that the test caused.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "cqbench/proto/ping.grpc.pb.h"
#include "tests/in_process_server.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"

namespace cqbench::smoke {
namespace {

using testing::Contains;
using testing::HasSubstr;

double Figure(const Json& point, const std::string& name) {
  EXPECT_TRUE(point.contains(name)) << name << " in " << point;
  return point.value(name, 0.0);
}

std::vector<std::string> Each(const Json& notices, const char* key) {
  std::vector<std::string> texts;
  for (const Json& notice : notices) texts.push_back(notice.at(key));
  return texts;
}
std::vector<std::string> Texts(const Json& notices) {
  return Each(notices, "text");
}
std::vector<std::string> Codes(const Json& notices) {
  return Each(notices, "code");
}

// Returns by what share a count of that end may be wrong. It is scaled from the time between its two samples to the
// window. Slots make no calls after the window, and a busy machine takes samples late.
double Blur(const Json& point, const std::string& side) {
  const double outside =
      std::abs(Figure(point, side + "_sample_before_ns")) + std::abs(Figure(point, side + "_sample_after_ns"));
  return outside / Figure(point, "window_ns");
}

bool HasFigures(const Json& point, const std::string& prefix) {
  for (const auto& [key, value] : point.items()) {
    if (key.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

// The window is so long that calls at its boundaries, which one sample counts and the other does not, do not matter.
Flags Longer() {
  return {"--warmup", "200ms", "--interval", "1", "--deadline", "15", "--format", "json"};
}

class EvidenceTest : public testing::TestWithParam<std::string> {
 protected:
  Json PointOf(const Flags& flags) {
    const ClientRun run = RunClient(Flags{"--host", SharedServer(GetParam()).address()} + Longer() + flags);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.Point();
  }
};

TEST_P(EvidenceTest, BothEndsAgreeOnOneCallInFlightPerConnection) {
  const Json point = PointOf({"--inflight", "4", "--channel-policy", "local-pool"});
  ExpectClean(point);
  const double completed = Figure(point, "completed");
  EXPECT_EQ(Figure(point, "client_connections"), 4);
  EXPECT_EQ(Figure(point, "server_connections"), 4) << "the control service's own is not one of them";
  EXPECT_NEAR(Figure(point, "server_rpcs") / completed, 1, 0.02 + Blur(point, "server"));
  double sum = 0;
  for (const auto& worker : point.at("completed_per_slot")) sum += worker.get<double>();
  EXPECT_EQ(sum, completed);
  EXPECT_LE(Figure(point, "client_rpcs_per_connection_min"), sum / 4);
  EXPECT_GE(Figure(point, "client_rpcs_per_connection_max"), sum / 4);
  // A call takes a write each way. Sometimes the library sends something else, such as a ping to measure bandwidth.
  EXPECT_NEAR(Figure(point, "client_rpcs_per_segment_sent"), 1, 0.1);
  const double sent = Figure(point, "client_segments_sent_per_connection_median");
  const double blur = Blur(point, "client") + Blur(point, "server");
  EXPECT_NEAR(Figure(point, "server_segments_received_per_connection_median") / sent, 1, 0.05 + blur);
  const double bytes = Figure(point, "client_bytes_sent_per_connection_median");
  EXPECT_NEAR(Figure(point, "server_bytes_received_per_connection_median") / bytes, 1, 0.05 + blur);
  for (const char* side : {"client", "server"}) {
    EXPECT_EQ(Figure(point, std::string(side) + "_connections_with_tcp_nodelay"), 4);
    // Loopback loses nothing, but the kernel may retransmit data that a busy machine acknowledges late.
    EXPECT_LT(Figure(point, std::string(side) + "_retransmissions"), completed * 0.05);
    EXPECT_GT(Figure(point, std::string(side) + "_rtt_smoothed_ns_min"), 0);
    EXPECT_GT(Figure(point, std::string(side) + "_connection_busy_share_min"), 0);
    EXPECT_LT(Figure(point, std::string(side) + "_connection_busy_share_max"), 1);
    EXPECT_NE(point.at(std::string(side) + "_congestion_control"), "");
  }
}

TEST_P(EvidenceTest, OneConnectionCarriesEverything) {
  const Json point = PointOf({"--inflight", "8", "--channel-policy", "shared", "--streaming"});
  ExpectClean(point);
  EXPECT_EQ(Figure(point, "client_connections"), 1);
  EXPECT_EQ(Figure(point, "server_connections"), 1);
  EXPECT_EQ(Figure(point, "client_rpcs_per_connection_min"), Figure(point, "completed"));
  EXPECT_EQ(Figure(point, "client_rpcs_per_connection_max"), Figure(point, "completed"));
}

TEST_P(EvidenceTest, BytesAreThePayloadsAndALittleMore) {
  const Json point =
      PointOf({"--workload", "echo", "--request-bytes", "20000", "--response-bytes", "50000", "--inflight", "1"});
  ExpectClean(point);
  const double completed = Figure(point, "completed");
  const double client = 0.03 + Blur(point, "client"), server = 0.03 + Blur(point, "server");
  EXPECT_NEAR(Figure(point, "client_bytes_sent_per_connection_median") / completed / 20'000, 1.02, client);
  EXPECT_NEAR(Figure(point, "client_bytes_received_per_connection_median") / completed / 50'000, 1.02, client);
  EXPECT_NEAR(Figure(point, "server_bytes_sent_per_connection_median") / completed / 50'000, 1.02, server);
}

TEST_P(EvidenceTest, ProcessesAreDescribed) {
  const Json point = PointOf({"--inflight", "4"});
  for (const std::string side : {"client", "server"}) {
    EXPECT_GT(Figure(point, side + "_cores_used"), 0.01);
    EXPECT_LE(Figure(point, side + "_cores_used"), Figure(point, side + "_cpus_allowed") * 1.05);
    EXPECT_GT(Figure(point, side + "_cpu_per_rpc_ns"), 500);
    EXPECT_GT(Figure(point, side + "_threads"), Figure(point, side + "_threads_workers"));
    EXPECT_GT(Figure(point, side + "_rss_bytes"), 1 << 20);
    EXPECT_GE(Figure(point, side + "_peak_rss_bytes"), 1 << 20);
    EXPECT_TRUE(point.contains(side + "_cpus"));
    // The groups cover all threads, except those that ended, up to the kernel's rounding.
    const double groups = Figure(point, side + "_cpu_workers_ns") + Figure(point, side + "_cpu_library_ns") +
                          Figure(point, side + "_cpu_other_threads_ns");
    const double all = Figure(point, side + "_cpu_user_ns") + Figure(point, side + "_cpu_system_ns");
    EXPECT_NEAR(groups / all, 1, 0.05) << side;
  }
  EXPECT_EQ(Figure(point, "client_threads_workers"), 4);
  EXPECT_GT(Figure(point, "client_voluntary_context_switches_per_rpc"), 0.1) << "a thread sleeps for each call";
}

TEST_P(EvidenceTest, BreakdownTimesPartsOnBothEnds) {
  const Json point = PointOf({"--inflight", "2", "--api", "cq", "--breakdown", "--streaming"});
  ExpectClean(point);
  // One in sixteen of each slot's calls, and of the server's, whose window is a little wider than the client's.
  const double expected = Figure(point, "completed") / 16;
  // Each of two slots rounds.
  EXPECT_NEAR(Figure(point, "breakdown_client_issue_samples"), expected, 0.05 * expected + 2);
  EXPECT_NEAR(Figure(point, "breakdown_client_wait_samples"), expected, 0.05 * expected + 2);
  const double handled = Figure(point, "server_rpcs") / 16;
  EXPECT_NEAR(Figure(point, "breakdown_server_handling_samples"), handled, 0.1 * handled + 2);
  const double p50 = Figure(point, "latency_p50_ns");
  EXPECT_LT(Figure(point, "breakdown_client_issue_p50_ns"), p50);
  EXPECT_LT(Figure(point, "breakdown_client_wait_p50_ns"), p50 * 1.1);
  EXPECT_LT(Figure(point, "breakdown_server_handling_p50_ns"), p50);
  EXPECT_GT(Figure(point, "breakdown_server_handling_p50_ns"), 0);
  EXPECT_GT(Figure(point, "breakdown_cost_per_rpc_ns"), 0);
  EXPECT_GT(Figure(point, "breakdown_clock_ns"), 0);
  double shares = 0;
  for (const char* part : {"client_issue", "server_handling", "network", "unattributed"}) {
    shares += Figure(point, absl::StrCat("breakdown_", part, "_share"));
  }
  EXPECT_GE(shares, 0.999);
  EXPECT_FALSE(HasFigures(PointOf({"--inflight", "2"}), "breakdown_")) << "off again";
}

INSTANTIATE_TEST_SUITE_P(All, EvidenceTest, testing::ValuesIn(kServerApis), ServerName);

TEST(EvidenceOfQueuesTest, EachQueuesShareIsTold) {
  const Server server({"--num-cqs", "3", "--callbacks-per-cq", "7"});
  const ClientRun run =
      RunClient(Flags{"--host", server.address(), "--inflight", "6", "--channel-policy", "local-pool"} + Longer());
  const Json point = run.CleanPoint();
  const double sum = Figure(point, "server_rpcs_per_queue_min") + Figure(point, "server_rpcs_per_queue_median") +
                     Figure(point, "server_rpcs_per_queue_max");
  EXPECT_NEAR(sum / Figure(point, "server_rpcs"), 1, 0.001);
  EXPECT_NEAR(Figure(point, "server_rpcs") / Figure(point, "completed"), 1, 0.02 + Blur(point, "server"));
  EXPECT_EQ(Figure(point, "server_posted_requests"), 3 * (7 + 15))
      << "queues; all of the method in use, one of each other";
  const Json info = run.Parsed().at("context").at("servers").at(0);
  EXPECT_EQ(info.at("api"), "cq");
  EXPECT_EQ(info.at("num_cqs"), 3);
  EXPECT_EQ(info.at("callbacks_per_cq"), 7);
}

// Two addresses of one server are not two servers.
TEST(EvidenceOfServersTest, IsAskedOnceWhateverItsAddresses) {
  const std::string path = absl::StrCat(testing::TempDir(), "/evidence-", getpid(), ".sock");
  Server server({"--listen", "localhost:0", "--listen", absl::StrCat("unix:", path)});
  const ClientRun run =
      RunClient(Flags{"--host", absl::StrCat(server.address(), ",unix:", path), "--inflight", "4"} + Longer());
  const Json point = run.Point();
  EXPECT_EQ(run.Parsed().at("context").at("servers").size(), 1u);
  EXPECT_NEAR(Figure(point, "server_rpcs") / Figure(point, "completed"), 1, 0.02 + Blur(point, "server"));
  EXPECT_EQ(Figure(point, "client_connections"), 1) << "the Unix socket has no TCP_INFO";
}

TEST(EvidenceOfServersTest, TwoServersAreAddedUp) {
  const Server one, two;
  const ClientRun run = RunClient(Flags{"--host", one.address() + "," + two.address(), "--inflight", "4"} + Longer());
  const Json point = run.CleanPoint();
  EXPECT_EQ(run.Parsed().at("context").at("servers").size(), 2u);
  EXPECT_NEAR(Figure(point, "server_rpcs") / Figure(point, "completed"), 1, 0.02 + Blur(point, "server"));
  EXPECT_EQ(Figure(point, "server_connections"), 2);
  EXPECT_EQ(Figure(point, "server_cpus_allowed"), Figure(point, "client_cpus_allowed")) << "they share a machine";
}

TEST(EvidenceOfServersTest, UnixSocketsSayThatTheyHaveNone) {
  const std::string path = absl::StrCat(testing::TempDir(), "/unix-", getpid(), ".sock");
  const Server server({"--listen", absl::StrCat("unix:", path)});
  const Json point = RunClient(Flags{"--host", absl::StrCat("unix:", path), "--inflight", "2"} + Longer()).CleanPoint();
  EXPECT_FALSE(HasFigures(point, "client_connections"));
  EXPECT_THAT(Texts(point.at("notes")), Contains(HasSubstr("client: connections are Unix sockets")));
  EXPECT_GT(Figure(point, "server_cores_used"), 0);
}

// YDB's server has the ping and nothing else.
struct PlainService final : Ydb::Debug::V1::DebugService::Service {
  grpc::Status PingPlainGrpc(grpc::ServerContext* /*context*/, const Ydb::Debug::V1::PlainGrpcRequest* /*request*/,
                             Ydb::Debug::V1::PlainGrpcResponse* /*response*/) override {
    return grpc::Status::OK;
  }
};

TEST(EvidenceOfServersTest, ServerWithoutControlServiceGetsOneNote) {
  PlainService service;
  const InProcessServer server(service);
  const ClientRun run = RunClient(Flags{"--host", server.address(), "--inflight-list", "1,2"} + Longer());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  for (const Json& point : run.Points()) {
    ExpectClean(point);
    EXPECT_FALSE(HasFigures(point, "server_")) << point;
    EXPECT_EQ(Figure(point, "client_connections"), 1);
  }
  const std::vector<std::string> notes = Texts(run.Parsed().at("context").at("notes"));
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("has no control service")));
}

class ServiceTimeTest : public testing::TestWithParam<std::string> {};

// The server reports the service time that the test set, and no call is faster.
TEST_P(ServiceTimeTest, IsSpentOnEveryMessage) {
  for (const char* mode : {"burn", "wait"}) {
    SCOPED_TRACE(mode);
    const Server server({"--api", GetParam(), "--service-time", "2ms", "--service-time-mode", mode});
    for (const Flags& streaming : {Flags{}, Flags{"--streaming"}}) {
      const ClientRun run = RunClient(Flags{"--host", server.address(), "--inflight", "1", "--breakdown", "--warmup",
                                            "0", "--total", "100", "--interval", "60", "--format", "json"} +
                                      streaming);
      const Json point = run.Point();
      EXPECT_GE(Figure(point, "latency_min_ns"), 2e6);
      EXPECT_GE(Figure(point, "breakdown_server_handling_p50_ns"), 2e6 * 0.999) << "up to the histogram's resolution";
      EXPECT_LE(Figure(point, "breakdown_server_handling_p50_ns"), Figure(point, "latency_max_ns"));
      const Json info = run.Parsed().at("context").at("servers").at(0);
      EXPECT_EQ(info.at("service_time_ns"), 2'000'000);
      EXPECT_EQ(info.at("service_time_mode"), mode);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ServiceTimeTest, testing::ValuesIn(kServerApis), ServerName);

TEST(ServiceTimeDistributionTest, ExponentialHasTheMeanAndSpreads) {
  const Server server({"--service-time", "1ms", "--service-time-distribution", "exponential"});
  const Json point = RunClient({"--host", server.address(), "--inflight", "1", "--warmup", "0", "--total", "1000",
                                "--interval", "60", "--format", "json"})
                         .Point();
  // The mean of a thousand exponential times is below 0.85 in one of 10^6 runs, and the median is at 0.69 of the mean.
  // The minimum is below 0.1 and the maximum above 3 but for one of 10^22 runs.
  EXPECT_LT(Figure(point, "latency_min_ns"), 0.6e6);
  EXPECT_GT(Figure(point, "latency_max_ns"), 3e6);
  EXPECT_GT(Figure(point, "latency_mean_ns"), 0.85e6);
  EXPECT_LT(Figure(point, "latency_p50_ns"), Figure(point, "latency_mean_ns"));
}

TEST(NoEvidenceTest, LooksAtNothing) {
  const Json point = RunClient(Flags{"--host", SharedServer("cq").address(), "--no-evidence"} + Longer()).CleanPoint();
  EXPECT_FALSE(HasFigures(point, "server_"));
  EXPECT_FALSE(HasFigures(point, "client_connections"));
  EXPECT_GT(Figure(point, "client_cpu_user_ns") + Figure(point, "client_cpu_system_ns"), 0);
}

TEST(WarningsTest, AnotherClientOnTheSameServerIsNoticed) {
  const Server server;
  Process other(ClientCommand({"--host", server.address(), "--inflight", "4", "--interval", "60"}),
                {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(other));
  const Json point = RunClient(Flags{"--host", server.address(), "--inflight", "2"} + Longer()).Point();
  other.Signal(SIGINT);
  Finish(other);
  EXPECT_THAT(Codes(point.at("warnings")), Contains("other-client"));
}

TEST(WarningsTest, PercentilesOfFewCallsAreNotNumbers) {
  const ClientRun run = RunClient({"--host", SharedServer("cq").address(), "--inflight", "1", "--warmup", "0",
                                   "--total", "5", "--interval", "50", "--format", "json"});
  const Json point = run.Point();
  ASSERT_LT(point.at("latency_samples"), 10'000);
  EXPECT_FALSE(point.contains("latency_p99_9_ns"));
  EXPECT_TRUE(point.contains("latency_max_ns"));
  EXPECT_THAT(Texts(point.at("notes")), Contains(HasSubstr("too few calls for P")));
}

TEST(WarningsTest, TheTableSaysWhichPointsAndWhy) {
  const Server server;
  Process other(ClientCommand({"--host", server.address(), "--inflight", "4", "--interval", "60"}),
                {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(other));
  // If the server responds too late for the window, because the machine stood still, no warning is possible.
  ClientRun run;
  for (int attempt = 0; attempt < 5 && run.out.find("other-client") == std::string::npos; ++attempt) {
    run = RunClient(
        {"--host", server.address(), "--inflight", "1", "--evidence", "--interval", "600ms", "--deadline", "15"});
  }
  other.Signal(SIGINT);
  Finish(other);
  EXPECT_THAT(run.out, HasSubstr("Warnings"));
  EXPECT_THAT(run.out, HasSubstr("in-flight 1: warning: other-client: another client uses the server"));
  EXPECT_THAT(run.out, HasSubstr("Connections: c->s"));
  EXPECT_THAT(run.out, HasSubstr("CPU and context switches"));
}

TEST(RepetitionsTest, IntervalsNeedSix) {
  const Flags flags = Flags{"--host", SharedServer("cq").address(), "--inflight-list", "1,4"} + ShortInterval();
  const Json few = RunClient(flags + Flags{"--repetitions", "5", "--format", "json"}).Parsed();
  EXPECT_FALSE(few.at("statistics").at(0).at("figures").at("throughput_per_second").contains("ci95_low"));
  const Json enough = RunClient(flags + Flags{"--repetitions", "6", "--format", "json"}).Parsed();
  for (const Json& point : enough.at("statistics")) {
    EXPECT_EQ(point.at("repetitions"), 6);
    for (const char* name : {"throughput_per_second", "client_cores_used", "server_cpu_per_rpc_ns", "server_rpcs"}) {
      const Json& figure = point.at("figures").at(name);
      // On a busy machine the server may respond too late for the window of one of the six points.
      if (std::string(name).starts_with("server_") && !figure.contains("ci95_low")) continue;
      EXPECT_LE(figure.at("ci95_low"), figure.at("median")) << name;
      EXPECT_GE(figure.at("ci95_high"), figure.at("median")) << name;
    }
  }
  EXPECT_THAT(RunClient(flags + Flags{"--repetitions", "6"}).out, HasSubstr(" ± "));
}

TEST(UntilStableTest, StopsWhenItIsAndGivesUpAtTheLimit) {
  const Flags flags =
      Flags{"--host", SharedServer("cq").address(), "--inflight", "2", "--format", "json"} + ShortInterval();
  const Json stable = RunClient(flags + Flags{"--until-stable", "100", "--max-repetitions", "50"}).Parsed();
  EXPECT_GE(stable.at("statistics").at(0).at("repetitions"), 6) << "fewer have no interval";
  EXPECT_LT(stable.at("statistics").at(0).at("repetitions"), 50) << "a full machine may take some more than six";
  EXPECT_TRUE(stable.at("context").at("notes").empty());
  const Json never = RunClient(flags + Flags{"--until-stable", "0.1", "--max-repetitions", "7"}).Parsed();
  EXPECT_EQ(never.at("statistics").at(0).at("repetitions"), 7);
  EXPECT_THAT(Texts(never.at("context").at("notes")), Contains(HasSubstr("is not within ±0.1 % after 7 repetitions")));
}

std::vector<std::string> LowerBoundNames(const Json& result) {
  std::vector<std::string> names;
  for (const Json& bound : result.at("lower_bounds")) {
    names.push_back(bound.at("name"));
    EXPECT_GT(bound.at("completed"), 10) << bound;
    EXPECT_TRUE(bound.contains("latency_max_ns")) << bound;
    EXPECT_FALSE(bound.contains("error_message")) << bound;
  }
  return names;
}

TEST(LowerBoundTest, EveryOneThatTheServerOffers) {
  const std::string path = absl::StrCat(testing::TempDir(), "/baseline-", getpid(), ".sock");
  const Server server({"--listen", "localhost:0", "--listen", absl::StrCat("unix:", path), "--tcp-echo-port", "0"});
  // With one call in flight, three of the four connections are idle.
  const Flags flags =
      Flags{"--host", server.address(), "--inflight", "4", "--channel-policy", "pool:4", "--lower-bound"} + Short();
  const ClientRun run = RunClient(flags + Flags{"--format", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json result = run.Parsed();
  EXPECT_THAT(LowerBoundNames(result),
              testing::ElementsAre("grpc", "tcp-block", "tcp-spin", "grpc-unix", "grpc-inproc"));
  // As many bytes as gRPC: the ping has no payload, but frames and headers.
  const Json& grpc = result.at("lower_bounds").at(0);
  const auto bytes = std::llround(Figure(grpc, "client_bytes_sent") / Figure(grpc, "completed"));
  EXPECT_GT(bytes, 10);
  EXPECT_THAT(result.at("lower_bounds").at(1).at("description").get<std::string>(),
              HasSubstr(absl::StrCat(" ", bytes, " + ")));
  EXPECT_THAT(RunClient(flags).out, HasSubstr("x the TCP lower bound"));
}

TEST(LowerBoundTest, WhatIsNotOfferedIsNoted) {
  const ClientRun run = RunClient(Flags{"--host", SharedServer("sync").address(), "--inflight", "2", "--lower-bound"} +
                                  Short() + Flags{"--format", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json result = run.Parsed();
  EXPECT_THAT(LowerBoundNames(result), testing::ElementsAre("grpc", "grpc-inproc"));
  const std::vector<std::string> notes = Texts(result.at("context").at("notes"));
  EXPECT_THAT(notes, Contains(HasSubstr("--tcp-echo-port")));
  EXPECT_THAT(notes, Contains(HasSubstr("--listen unix:PATH")));
}

TEST(InterruptedEvidenceTest, PartialPointKeepsItsEvidence) {
  Process client(ClientCommand({"--host", SharedServer("cq").address(), "--inflight", "4", "--interval", "60",
                                "--format", "json"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  client.Wait(Seconds(1));  // the server's samples must be about as far apart as the window is long
  client.Signal(SIGINT);
  const Json point = Finish(client).Point();
  EXPECT_EQ(point.at("partial"), true);
  EXPECT_EQ(Figure(point, "client_connections"), 1);
  EXPECT_GT(Figure(point, "server_rpcs"), 0);
}

}  // namespace
}  // namespace cqbench::smoke
