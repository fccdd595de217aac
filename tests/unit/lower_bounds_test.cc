// Properties that the lower bounds copy from the measured calls and server.
#include "src/load/run/lower_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/observe/sampling/sample_figures.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One call in flight on a pool of four: three connections are idle.
TEST(BytesPerRpc, IsOverAllConnectionsHoweverManyAreIdle) {
  Sample begin, end;
  begin.set_taken_at_ns(10 * kNanosPerSecond);
  end.set_taken_at_ns(11 * kNanosPerSecond);
  for (uint64_t id = 1; id <= 4; ++id) {
    ConnectionSample connection;
    connection.set_id(id);
    connection.set_taken_at_ns(begin.taken_at_ns());
    *begin.add_connections() = connection;
    connection.set_taken_at_ns(end.taken_at_ns());
    if (id == 3) {
      connection.set_bytes_sent(60'000);
      connection.set_bytes_received(55'000);
    }
    *end.add_connections() = connection;
  }
  PointResult point;
  point.completed = 1000;
  AddConnectionFigures(Side::kClient, begin, end, {kNanosPerSecond, point.completed}, point.figures);
  EXPECT_EQ(point.figures.Get("client_bytes_sent_per_connection_median"), 0) << "what it was taken from before";
  EXPECT_EQ(BytesPerRpc(point, "client_bytes_sent"), 60u);
  EXPECT_EQ(BytesPerRpc(point, "client_bytes_received"), 55u);
}

TEST(BytesPerRpc, IsNotKnownWithoutCallsOrFigures) {
  PointResult point;
  EXPECT_EQ(BytesPerRpc(point, "client_bytes_sent"), std::nullopt);
  point.figures.Set("client_bytes_sent", 100);
  EXPECT_EQ(BytesPerRpc(point, "client_bytes_sent"), std::nullopt);
  point.completed = 1000;
  EXPECT_EQ(BytesPerRpc(point, "client_bytes_sent"), 1u) << "at least a byte";
}

ServerDescription Described() {
  ServerDescription server;
  server.set_api("generic");
  server.set_poll("spin");
  server.set_num_cqs(3);
  server.set_workers_per_cq(2);
  server.set_callbacks_per_cq(77);
  server.set_messages("bytes");
  for (const char* arg : {"grpc.max_concurrent_streams=5", "name=value"}) server.add_channel_args(arg);
  server.set_service_time_ns(1000);
  server.set_service_time_distribution("exponential");
  server.set_service_time_mode("wait");
  server.set_grpc_version("1.2.3");
  return server;
}

TEST(CopyOf, IsTheSameServerAgain) {
  const ServerCopy copy = CopyOf(Described(), "1.2.3");
  const ServerConfig& config = copy.config;
  EXPECT_EQ(config.api, ServerApi::kGeneric);
  EXPECT_EQ(config.poll, PollMode::kSpin);
  EXPECT_EQ(config.num_cqs, 3);
  EXPECT_EQ(config.workers_per_cq, 2);
  EXPECT_EQ(config.callbacks_per_cq, 77);
  EXPECT_EQ(config.messages, MessageStrategy::kBytes);
  ASSERT_EQ(config.channel_args.size(), 2u);
  EXPECT_EQ(config.channel_args[0].key, "grpc.max_concurrent_streams");
  EXPECT_EQ(std::get<int>(config.channel_args[0].value), 5);
  EXPECT_EQ(config.service_time.mean_ns, 1000);
  EXPECT_TRUE(config.service_time.exponential);
  EXPECT_TRUE(config.service_time.wait);
  EXPECT_THAT(copy.differences, IsEmpty());
}

TEST(CopyOf, KeepsDefaultsWhereTheApiHasNoUseForNumbers) {
  ServerDescription server = Described();
  server.set_api("callback");
  server.set_poll("");
  server.clear_num_cqs();
  server.clear_workers_per_cq();
  server.clear_callbacks_per_cq();
  server.set_messages("arena");
  const ServerCopy copy = CopyOf(server, "1.2.3");
  EXPECT_EQ(copy.config.api, ServerApi::kCallback);
  EXPECT_EQ(copy.config.num_cqs, ServerConfig().num_cqs);
  EXPECT_EQ(copy.config.workers_per_cq, ServerConfig().workers_per_cq);
  EXPECT_THAT(copy.differences, IsEmpty());
}

TEST(CopyOf, SaysWhatItCouldNotCopy) {
  ServerDescription server = Described();
  server.set_messages("");
  server.clear_channel_args();
  server.add_channel_args("nonsense");
  const ServerCopy copy = CopyOf(server, "4.5.6");
  EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("messages"), HasSubstr("nonsense"),
                                            testing::AllOf(HasSubstr("4.5.6"), HasSubstr("1.2.3"))));
}

}  // namespace
}  // namespace cqbench
