// Servers whose start fails half-way because the system has no thread left: nothing hangs, and no call uses a dead
// server.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "cqbench/proto/ping.grpc.pb.h"
#include "cqbench/server.h"
#include "tests/failing_threads.h"

namespace cqbench {
namespace {

using Ydb::Debug::V1::DebugService;
using Ydb::Debug::V1::PlainGrpcResponse;

constexpr int kQueues = 3;
constexpr int kThreadsPerQueue = 2;

ServerConfig Config(ServerApi api) {
  ServerConfig config;
  config.listen = {*ParseTarget("127.0.0.1:0", 0)};
  config.api = api;
  config.num_cqs = kQueues;
  config.workers_per_cq = kThreadsPerQueue;
  config.drain_ns = 300 * kNanosPerMilli;
  return config;
}

class ServerStartTest : public testing::TestWithParam<ServerApi> {
 protected:
  ~ServerStartTest() override {
    threads_left = -1;
    before_failing = [] {};
  }
  static void ExpectNoThreads(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("thread"));
    EXPECT_THAT(std::string(status.message()), testing::Not(testing::HasSubstr("\n")));
  }
  static void ExpectToServe(ServerApi api) {
    threads_left = -1;
    auto server = StartServer(Config(api));
    ASSERT_TRUE(server.ok()) << server.status();
    const auto stub = DebugService::NewStub((*server)->InProcessChannel({}));
    grpc::ClientContext context;
    PlainGrpcResponse response;
    EXPECT_TRUE(stub->PingPlainGrpc(&context, {}, &response).ok());
    // The test does not call Shutdown(), so the destructor must.
  }
};

TEST_P(ServerStartTest, AThreadThatCannotBeMadeIsAnErrorInOneLine) {
  for (int made = 0; made < kQueues * kThreadsPerQueue; ++made) {
    SCOPED_TRACE(made);
    threads_left = made;
    const auto server = StartServer(Config(GetParam()));
    ASSERT_FALSE(server.ok());
    ExpectNoThreads(server.status());
  }
  ExpectToServe(GetParam());
}

// The port is open before the last thread has started.
TEST_P(ServerStartTest, CallsOfAServerThatDoesNotComeUpEnd) {
  constexpr int kCalls = 30;
  std::unique_ptr<DebugService::Stub> stub;
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<PlainGrpcResponse> responses(kCalls);
  std::atomic<int> ended{0};
  ServerConfig config = Config(GetParam());
  config.listen = {*ParseTarget("unix:server_start_test." + std::to_string(getpid()), 0)};
  before_failing = [&] {
    const auto channel = grpc::CreateChannel(config.listen.front().ToString(), grpc::InsecureChannelCredentials());
    stub = DebugService::NewStub(channel);
    for (size_t i = 0; i < kCalls; ++i) {
      static const Ydb::Debug::V1::PlainGrpcRequest request;
      stub->async()->PingPlainGrpc(&contexts[i], &request, &responses[i], [&](const grpc::Status&) { ++ended; });
    }
    // Calls reach queues that have a thread, and queues that have none, within this time.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  threads_left = kThreadsPerQueue;  // enough for the first queue
  ExpectNoThreads(StartServer(config).status());
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ended < kCalls && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ended, kCalls);
  before_failing = [] {};
  ExpectToServe(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Queues, ServerStartTest, testing::Values(ServerApi::kCq, ServerApi::kGeneric),
                         [](const auto& tested) { return std::string(ToString(tested.param)); });

TEST(ServerStart, TheTcpEchosThreadMayBeMissingToo) {
  for (ServerApi api : {ServerApi::kCq, ServerApi::kCallback, ServerApi::kSync}) {
    ServerConfig config = Config(api);
    config.tcp_echo_port = 0;
    threads_left = 0;
    const auto server = StartServer(config);
    threads_left = -1;
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable) << server.status();
  }
}

// A call in flight gets the drain time even if the destructor ends the server.
TEST(ServerStart, DestroyingAServerEndsIt) {
  for (ServerApi api : {ServerApi::kCq, ServerApi::kCallback, ServerApi::kSync, ServerApi::kGeneric}) {
    auto server = StartServer(Config(api));
    ASSERT_TRUE(server.ok()) << server.status();
    const auto stub = DebugService::NewStub(
        grpc::CreateChannel((*server)->listening().front().ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    const auto stream = stub->PingStream(&context);
    PlainGrpcResponse response;
    ASSERT_TRUE(stream->Write({}));
    ASSERT_TRUE(stream->Read(&response));
    const auto begin = std::chrono::steady_clock::now();
    server->reset();
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, std::chrono::milliseconds(300));
    EXPECT_LT(took, std::chrono::seconds(20));
    EXPECT_FALSE(stream->Read(&response));
    EXPECT_FALSE(stream->Finish().ok());
  }
}

}  // namespace
}  // namespace cqbench
