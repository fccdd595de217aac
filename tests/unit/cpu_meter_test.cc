// A server's CPU time becomes a figure only if it is plausible.
#include "src/observe/evidence/cpu_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cqbench/proto/control.grpc.pb.h"
#include "tests/in_process_server.h"

namespace cqbench {
namespace {

// Each of its samples reports more CPU time than the one before, by a fixed amount.
class GrowingControl final : public control::v1::Control::Service {
 public:
  explicit GrowingControl(Nanos by) : by_(by) {}

 private:
  grpc::Status Describe(grpc::ServerContext* /*context*/, const control::v1::DescribeRequest* /*request*/,
                        control::v1::ServerDescription* answer) override {
    answer->set_api("cq");
    answer->set_build_type("release");
    answer->add_cpus(0);
    return grpc::Status::OK;
  }
  grpc::Status Sample(grpc::ServerContext* /*context*/, const control::v1::SampleRequest* /*request*/,
                      control::v1::Sample* answer) override {
    answer->set_taken_at_ns(NowNs());
    answer->mutable_process()->set_user_ns(used_ += by_);
    return grpc::Status::OK;
  }
  const Nanos by_;
  Nanos used_ = 0;
};

PointResult MeterOf(GrowingControl control) {
  const InProcessServer server(control);
  RunConfig config;
  config.targets = {*ParseTarget("127.0.0.1", server.port())};
  ControlClients clients(config, grpc::InsecureChannelCredentials());
  PointResult point;
  point.completed = 10;
  point.window_ns = kNanosPerSecond;
  CpuMeter(&clients).Report(1000, point);
  return point;
}

TEST(CpuMeterTest, CpuThatCanBeIsAFigure) {
  const PointResult point = MeterOf(GrowingControl(kNanosPerMicro));
  EXPECT_TRUE(point.figures.Get("server_cores_used"));
  EXPECT_THAT(point.notes, testing::IsEmpty());
}

TEST(CpuMeterTest, CpuThatCannotBeIsANote) {
  for (const Nanos by : {-kNanosPerSecond, 3600 * kNanosPerSecond}) {
    const PointResult point = MeterOf(GrowingControl(by));
    EXPECT_FALSE(point.figures.Get("server_cores_used"));
    EXPECT_TRUE(point.figures.Get("client_cores_used"));
    EXPECT_THAT(point.notes,
                testing::ElementsAre(testing::Field(
                    &Notice::text, testing::StartsWith("server: what its control service says cannot be ("))));
  }
}

}  // namespace
}  // namespace cqbench
