// Allocations per RPC exclude those of the probe and of the control service. This runs in the program that counts.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cqbench/server.h"
#include "src/observe/allocations/allocations.h"
#include "src/observe/evidence/evidence.h"
#include "src/server/services/control_service.h"

namespace cqbench {
namespace {

void Allocate(int times) {
  for (int i = 0; i < times; ++i) {
    auto* volatile memory = new char[100];
    delete[] memory;
  }
}

class FakeServer final : public PingServer {
 public:
  FakeServer() : PingServer(ServerConfig()) {}
  void Shutdown() override {}
  ServerCounts Counts() const override {
    ServerCounts counts;
    counts.messages = messages;
    return counts;
  }
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& /*arguments*/) override {
    return nullptr;
  }
  uint64_t messages = 0;
};

control::v1::SampleRequest Switch(bool count) {
  control::v1::SampleRequest request;
  request.mutable_switches()->set_count_allocations(count);
  return request;
}

class ControlSampleTest : public testing::Test {
 protected:
  ControlSampleTest() : backend_({}, server_) { backend_.Open(); }
  ~ControlSampleTest() override { SetCountingAllocations(false); }
  control::v1::Sample Sample(const control::v1::SampleRequest& request) {
    control::v1::Sample answer;
    EXPECT_TRUE(backend_.Sample(peer_, request, answer).ok());
    return answer;
  }

  // Made beforehand, since making it allocates.
  const std::string peer_ = "ipv4:127.0.0.1:1";
  const control::v1::SampleRequest on_ = Switch(true), off_ = Switch(false), as_is_;
  FakeServer server_;
  ControlBackend backend_;
};

TEST_F(ControlSampleTest, CountsWhatHappensBetweenSamplesAndNothingElse) {
  const auto begin = Sample(on_);
  Allocate(7);
  const auto end = Sample(off_);
  EXPECT_EQ(end.allocations().allocations() - begin.allocations().allocations(), 7u);
  EXPECT_EQ(end.allocations().bytes() - begin.allocations().bytes(), 700u);
  Allocate(3);
  EXPECT_EQ(Sample(as_is_).allocations().allocations(), end.allocations().allocations()) << "it was switched off";
}

TEST_F(ControlSampleTest, ASampleInBetweenChangesNothing) {
  const auto begin = Sample(on_);
  Allocate(5);
  Sample(as_is_);
  Allocate(6);
  const auto end = Sample(off_);
  EXPECT_EQ(end.allocations().allocations() - begin.allocations().allocations(), 11u);
}

class ClientCountingTest : public testing::Test {
 protected:
  ~ClientCountingTest() override { SetCountingAllocations(false); }
};

TEST_F(ClientCountingTest, TheProbesOwnAllocationsAreLeftOut) {
  RunConfig config;
  config.evidence = true;
  const ChannelPlan plan;
  RunWindow window;
  PointEvidence evidence(config, plan, window, /*servers=*/nullptr, /*counting=*/true);
  evidence.Rehearse(std::nullopt);
  uint64_t completed = 100;
  evidence.Begin([&] { return completed; });
  const Nanos open = NowNs();
  Allocate(20);
  completed += 10;
  window.Set(open, NowNs());
  evidence.End([&] { return completed; });
  Allocate(9);
  PointResult point;
  point.completed = 12;  // from another period
  point.window_ns = window.close_ns() - window.open_ns();
  evidence.Report(Measurement(), TimingCost(), point);
  EXPECT_EQ(point.figures.Get("client_allocations_per_rpc"), 2);
  EXPECT_EQ(point.figures.Get("client_allocated_bytes_per_rpc"), 200);
}

}  // namespace
}  // namespace cqbench
