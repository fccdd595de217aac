#include "src/observe/evidence/wire_report.h"

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

// Of all calls that were completed in the window, one way. Chunks are counted one by one, as those of a stream belong
// to several windows.
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
  for (const char* way : {"sent", "received"}) {
    const std::string name = absl::StrCat("client_bytes_", way);
    const auto bytes = point.figures.Get(name);
    if (!bytes || point.completed == 0) continue;
    point.figures.Set(absl::StrCat(name, "_per_rpc"), *bytes / static_cast<double>(point.completed));
    const double payload = PayloadBytes(config, point, absl::string_view(way) == "sent");
    if (payload > 0) point.figures.Set(absl::StrCat(name, "_per_payload_byte"), *bytes / payload);
  }
}

}  // namespace cqbench
