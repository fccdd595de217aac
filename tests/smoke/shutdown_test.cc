// How servers end, and whether their counts are right.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "cqbench/proto/health.grpc.pb.h"
#include "cqbench/proto/ping.grpc.pb.h"
#include "tests/smoke/harness.h"
#include "tests/smoke/parameters.h"
#include "tests/smoke/process_cpu.h"

namespace cqbench::smoke {
namespace {

using Ydb::Debug::V1::DebugService;
using Ydb::Debug::V1::PlainGrpcRequest;
using Ydb::Debug::V1::PlainGrpcResponse;

class ShutdownTest : public testing::TestWithParam<std::string> {
 protected:
  Flags Api(const Flags& more = {}) const { return Flags{"--api", GetParam()} + more; }
};

TEST_P(ShutdownTest, IdleServerEndsOnEitherSignal) {
  for (int signal : {SIGINT, SIGTERM}) {
    Server server(Api());
    const Served served = server.Stop(signal);
    EXPECT_EQ(served.calls, 0u);
    EXPECT_EQ(served.failed, 0u);
    EXPECT_EQ(server.process().err(), "");
  }
}

TEST_P(ShutdownTest, CountsAgreeWithAUnaryClient) {
  Server server(Api());
  const Json point = RunShortly(server, {"--inflight", "4"}).CleanPoint();
  const Served served = server.Stop(SIGTERM);
  EXPECT_GE(served.calls, point.at("completed"));
  EXPECT_EQ(served.ok, served.calls);
  EXPECT_EQ(served.failed, 0u);
  EXPECT_EQ(served.messages, served.calls);
}

TEST_P(ShutdownTest, CountsAgreeWithAStreamingClient) {
  Server server(Api());
  const Json point = RunShortly(server, {"--inflight", "4", "--streaming"}).CleanPoint();
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.calls, 4u);  // one stream per slot
  EXPECT_EQ(served.ok, 4u);
  EXPECT_EQ(served.failed, 0u);
  EXPECT_GE(served.messages, point.at("completed"));
}

TEST_P(ShutdownTest, ServerUnderLoadEnds) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to stop the server cannot be told";
  for (const bool streaming : {false, true}) {
    SCOPED_TRACE(streaming ? "streaming" : "unary");
    Server server(Api({"--drain", "300ms"}));
    Flags flags = {"--host",   server.address(), "--api",      "cq", "--inflight", "4",
                   "--warmup", "50ms",           "--interval", "60", "--format",   "json"};
    if (streaming) flags.emplace_back("--streaming");
    Process client(ClientCommand(flags), {.error_is_terminal = true});
    ASSERT_TRUE(WaitUntilMeasuring(client));
    const Served served = server.Stop(streaming ? SIGINT : SIGTERM);
    EXPECT_EQ(served.ok + served.failed, served.calls);
    EXPECT_TRUE(WaitUntilFailed(client));  // a server that shuts down refuses calls
    const Json point = Interrupt(client).Point();
    ASSERT_TRUE(point.is_object());
    EXPECT_GE(served.messages, point.at("completed"));
    if (streaming) {
      // The end of the drain cut off the four streams, so they count as failed.
      EXPECT_GE(served.calls, 4u);
      EXPECT_EQ(served.ok, 0u);
    }
  }
}

TEST_P(ShutdownTest, OpenStreamAndHealthWatchDoNotHoldItUp) {
  Server server(Api({"--drain", "300ms"}));
  const auto channel = ChannelTo(server.address());

  grpc::ClientContext stream_context;
  const auto stub = DebugService::NewStub(channel);
  const auto stream = stub->PingStream(&stream_context);
  PlainGrpcResponse pong;
  ASSERT_TRUE(stream->Write(PlainGrpcRequest()));
  ASSERT_TRUE(stream->Read(&pong));

  grpc::ClientContext watch_context;
  grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse health;
  const auto watch = grpc::health::v1::Health::NewStub(channel)->Watch(&watch_context, request);
  ASSERT_TRUE(watch->Read(&health));
  EXPECT_EQ(health.status(), grpc::health::v1::HealthCheckResponse::SERVING);

  const Served served = server.Stop(SIGINT);
  EXPECT_EQ(served.calls, 1u);  // the one call of the workloads
  EXPECT_EQ(served.messages, 1u);
  EXPECT_EQ(served.ok, 0u);
  EXPECT_EQ(served.failed, 1u);
  EXPECT_FALSE(stream->Read(&pong));
  EXPECT_FALSE(stream->Finish().ok());
  while (watch->Read(&health)) {
  }
  watch->Finish();
}

// A stream whose client has died counts as failed, with every API.
TEST_P(ShutdownTest, StreamsOfAKilledClientAreNotOk) {
  if (!HaveTerminals()) GTEST_SKIP() << "no pseudo-terminals: when to kill the client cannot be told";
  Server server(Api());
  Process client(ClientCommand({"--host", server.address(), "--api", "cq", "--streaming", "--inflight", "4", "--warmup",
                                "50ms", "--interval", "60"}),
                 {.error_is_terminal = true});
  ASSERT_TRUE(WaitUntilMeasuring(client));
  client.Signal(SIGKILL);
  ASSERT_EQ(client.Wait(kPatience), -SIGKILL);
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.calls, 4u);
  EXPECT_EQ(served.ok, 0u);
  EXPECT_EQ(served.failed, 4u);
  EXPECT_GT(served.messages, 0u);
}

TEST_P(ShutdownTest, CancelledStreamIsNotOk) {
  Server server(Api({"--drain", "300ms"}));  // no thread reads the GOAWAY, so the connection stays open
  const auto channel = ChannelTo(server.address());
  grpc::ClientContext context;
  const auto stub = DebugService::NewStub(channel);
  const auto stream = stub->PingStream(&context);
  PlainGrpcResponse pong;
  ASSERT_TRUE(stream->Write(PlainGrpcRequest()));
  ASSERT_TRUE(stream->Read(&pong));
  context.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.ok, 0u);
  EXPECT_EQ(served.failed, 1u);
}

// The server cannot cancel a handler: the process prints its counts and exits while the handler runs.
TEST_P(ShutdownTest, TheDrainIsALimit) {
  Server server(Api({"--drain", "200ms", "--service-time", "1000s"}));
  const auto stub = DebugService::NewStub(ChannelTo(server.address()));
  grpc::Status status;
  std::thread client([&] {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    PlainGrpcResponse response;
    status = stub->PingPlainGrpc(&context, PlainGrpcRequest(), &response);
  });
  const Seconds before = ProcessCpu(server.process().pid());
  while (ProcessCpu(server.process().pid()) < before + Seconds(0.5)) std::this_thread::sleep_for(Seconds(0.01));
  const Served served = server.Stop(SIGTERM);
  client.join();
  EXPECT_EQ(served.calls, 1u);
  EXPECT_EQ(served.messages, 0u);
  EXPECT_FALSE(status.ok());
  ExpectOneLine(server.process().err(), {"after the end of --drain", "calls"});
}

INSTANTIATE_TEST_SUITE_P(All, ShutdownTest, testing::ValuesIn(kServerApis), ServerName);

// Expects that the server worked without a fault for a client with many calls in flight, unary and streaming.
void ExpectToWork(const Flags& flags, const std::string& inflight) {
  Server server(flags);
  for (const char* mode : {"--async", "--streaming"}) {
    RunShortly(server, {"--inflight", inflight, "--local-pool", mode}).CleanPoint();
  }
  const Served served = server.Stop(SIGTERM);
  EXPECT_EQ(served.failed, 0u);
  EXPECT_EQ(served.ok, served.calls);
}

class QueuesTest : public testing::TestWithParam<std::string> {};

TEST_P(QueuesTest, FewPostedRequestsAreEnough) {
  ExpectToWork({"--api", GetParam(), "--callbacks-per-cq", "1", "--num-cqs", "2", "--workers-per-cq", "2"}, "64");
}

// One thread that never sleeps: more than one per core would leave no CPU to the client.
TEST_P(QueuesTest, Spinning) {
  ExpectToWork({"--api", GetParam(), "--poll", "spin"}, "4");
}

INSTANTIATE_TEST_SUITE_P(All, QueuesTest, testing::Values("cq", "generic"), ServerName);

TEST(SyncQueuesTest, TakesQueuesAndThreads) {
  ExpectToWork({"--api", "sync", "--num-cqs", "2", "--workers-per-cq", "2"}, "32");
}

}  // namespace
}  // namespace cqbench::smoke
