// Figures of streams of chunks.
#include "src/observe/evidence/stream_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cqbench {
namespace {

class StreamReport : public testing::Test {
 protected:
  StreamReport() {
    config_.method.shape = Shape::kServerStreaming;
    config_.method.chunks = 1024;
    config_.message.response_bytes = 1'000'000;
    config_.message.stream_messages = 5;
    measurement_.window_ns = 2 * kNanosPerSecond;
    measurement_.messages = std::make_unique<MessageTimes>();
    measurement_.messages->messages = 500;
    for (Nanos gap : {100, 200, 300}) measurement_.messages->gaps.Record(gap);
  }

  RunConfig config_;
  Measurement measurement_;
  PointResult point_;
};

TEST_F(StreamReport, CountsChunksAndNotStreams) {
  ReportMessages(config_, measurement_, point_);
  EXPECT_EQ(point_.figures.Get("chunks_per_second"), 250);
  EXPECT_EQ(point_.figures.Get("payload_bytes_per_second"), 250e6);  // 2 Gbit/s
  EXPECT_EQ(point_.figures.Get("chunk_gap_mean_ns"), 200);
  EXPECT_EQ(point_.figures.Get("chunk_gap_max_ns"), 300);
  EXPECT_EQ(point_.figures.Get("payload_bytes_target_per_second"), std::nullopt);
  EXPECT_THAT(point_.notes, testing::IsEmpty());
}

TEST_F(StreamReport, OtherMethodsHaveNoChunks) {
  config_.method.chunks = 0;
  ReportMessages(config_, measurement_, point_);
  ReportCoresPerGbit(point_);
  EXPECT_TRUE(point_.figures.empty());
}

TEST_F(StreamReport, CoresArePerGbitOfPayload) {
  ReportMessages(config_, measurement_, point_);
  point_.figures.Set("client_cores_used", 0.5);
  ReportCoresPerGbit(point_);
  EXPECT_EQ(point_.figures.Get("client_cores_per_gbit_per_second"), 0.25);
  EXPECT_EQ(point_.figures.Get("server_cores_per_gbit_per_second"), std::nullopt) << "it does not say";
}

TEST_F(StreamReport, AByteRateThatIsMissedIsSaid) {
  point_.load.rate = 50;  // streams of 5 MB: 250 MB/s
  ReportMessages(config_, measurement_, point_);
  EXPECT_EQ(point_.figures.Get("payload_bytes_target_per_second"), 250e6);
  EXPECT_THAT(point_.notes, testing::IsEmpty());
  point_.load.rate = 100;
  ReportMessages(config_, measurement_, point_);
  EXPECT_THAT(point_.notes,
              testing::ElementsAre(testing::Field(&Notice::text, testing::HasSubstr("2 Gbit/s of 4 Gbit/s"))));
}

}  // namespace
}  // namespace cqbench
