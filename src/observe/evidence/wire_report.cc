#include "src/observe/evidence/wire_report.h"

namespace cqbench {
namespace {

// Payload of all calls that were completed in the window, in one direction. Chunks are counted one by one, as those of
// a stream belong to several windows.
double PayloadBytes(const RunConfig& config, const PointResult& point, bool sent) {
  const MessageConfig& message = config.message;
  const bool uploads = config.method.shape == Shape::kClientStreaming;
  if (config.method.streams_chunks() && sent == uploads) {
    return point.figures.Get("payload_bytes_per_second").value_or(0) * ToSeconds(point.window_ns);
  }
  if (!config.method.has_payload) return 0;
  const int messages = sent ? (uploads ? message.stream_messages : 1) : ResponsesPerCall(config.method, message);
  return static_cast<double>(point.completed) * messages * (sent ? message.request_bytes : message.response_bytes);
}

}  // namespace

void ReportWireBytes(const RunConfig& config, PointResult& point) {
  const struct {
    const char *bytes, *per_call, *per_payload_byte;
    bool sent;
  } ways[] = {
      {"client_bytes_sent", "client_bytes_sent_per_rpc", "client_bytes_sent_per_payload_byte", true},
      {"client_bytes_received", "client_bytes_received_per_rpc", "client_bytes_received_per_payload_byte", false},
  };
  for (const auto& way : ways) {
    const auto bytes = point.figures.Get(way.bytes);
    if (!bytes || point.completed == 0) continue;
    point.figures.Set(way.per_call, *bytes / static_cast<double>(point.completed));
    const double payload = PayloadBytes(config, point, way.sent);
    if (payload > 0) point.figures.Set(way.per_payload_byte, *bytes / payload);
  }
}

}  // namespace cqbench
