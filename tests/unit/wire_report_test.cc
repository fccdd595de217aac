// Bytes on the wire by call and by byte of payload.
#include "src/observe/evidence/wire_report.h"

#include <gtest/gtest.h>

namespace cqbench {
namespace {

class WireReport : public testing::Test {
 protected:
  WireReport() {
    config_.method.has_payload = true;
    config_.message.request_bytes = 1000;
    config_.message.response_bytes = 4000;
    config_.message.stream_messages = 5;
    point_.completed = 10;
    point_.window_ns = 2 * kNanosPerSecond;
    point_.figures.Set("client_bytes_sent", 20'000);
    point_.figures.Set("client_bytes_received", 10'000);
  }
  std::optional<double> Per(const std::string& what) const { return point_.figures.Get("client_bytes_" + what); }

  RunConfig config_;
  PointResult point_;
};

TEST_F(WireReport, EachDirectionHasItsOwnPayload) {
  ReportWireBytes(config_, point_);
  EXPECT_EQ(Per("sent_per_rpc"), 2000);
  EXPECT_EQ(Per("received_per_rpc"), 1000);
  EXPECT_EQ(Per("sent_per_payload_byte"), 2);
  EXPECT_EQ(Per("received_per_payload_byte"), 0.25);
}

TEST_F(WireReport, AStreamHasThatOfAllItsMessages) {
  config_.method.shape = Shape::kClientStreaming;
  ReportWireBytes(config_, point_);
  EXPECT_EQ(Per("sent_per_payload_byte"), 0.4);
  EXPECT_EQ(Per("received_per_payload_byte"), 0.25);
  config_.method.shape = Shape::kServerStreaming;
  ReportWireBytes(config_, point_);
  EXPECT_EQ(Per("sent_per_payload_byte"), 2);
  EXPECT_EQ(Per("received_per_payload_byte"), 0.05);
}

// Chunks of streams that cross a window boundary count, too.
TEST_F(WireReport, ChunksAreCountedOneByOne) {
  config_.method.shape = Shape::kServerStreaming;
  config_.method.chunks = 1024;
  config_.message.request_bytes = 0;
  point_.figures.Set("payload_bytes_per_second", 1000);
  ReportWireBytes(config_, point_);
  EXPECT_EQ(Per("received_per_payload_byte"), 5);
  EXPECT_EQ(Per("sent_per_payload_byte"), std::nullopt);
}

TEST_F(WireReport, WithoutPayloadOrConnectionsThereIsNothingToDivideBy) {
  config_.method.has_payload = false;
  ReportWireBytes(config_, point_);
  EXPECT_EQ(Per("sent_per_rpc"), 2000);
  EXPECT_EQ(Per("sent_per_payload_byte"), std::nullopt);
  config_.method.has_payload = true;
  point_.figures = Figures();
  ReportWireBytes(config_, point_);
  EXPECT_TRUE(point_.figures.empty());
}

}  // namespace
}  // namespace cqbench
