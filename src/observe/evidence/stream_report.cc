#include "src/observe/evidence/stream_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {
namespace {

constexpr double kBitsOfGbit = 1e9;
// Below this share of it a byte rate was missed.
constexpr double kReached = 0.97;

std::string Gbits(double bytes_per_second) {
  return absl::StrFormat("%.3g Gbit/s", 8 * bytes_per_second / kBitsOfGbit);
}

}  // namespace

void ReportGaps(const Histogram& gaps, Figures& figures) {
  if (gaps.Count() == 0) return;
  figures.Set("chunk_gap_mean_ns", gaps.Mean());
  figures.Set("chunk_gap_p50_ns", static_cast<double>(gaps.ValueAtPercentile(50)));
  figures.Set("chunk_gap_p99_ns", static_cast<double>(gaps.ValueAtPercentile(99)));
  figures.Set("chunk_gap_max_ns", static_cast<double>(gaps.Max()));
}

void ReportMessages(const RunConfig& config, const Measurement& measurement, PointResult& point) {
  const uint64_t per_call = ChunkBytesPerCall(config.method, config.message);
  if (!config.method.streams_chunks() || measurement.window_ns <= 0) return;
  const double seconds = ToSeconds(measurement.window_ns);
  const uint64_t messages = measurement.messages ? measurement.messages->messages : 0;
  const double chunk = static_cast<double>(per_call) / config.message.stream_messages;
  const double bytes = static_cast<double>(messages) * chunk / seconds;
  point.figures.Set("chunks_per_second", static_cast<double>(messages) / seconds);
  point.figures.Set("payload_bytes_per_second", bytes);
  if (measurement.messages) ReportGaps(measurement.messages->gaps, point.figures);
  if (!point.load.open()) return;
  const double target = point.load.rate * static_cast<double>(per_call);
  point.figures.Set("payload_bytes_target_per_second", target);
  // By where the window cuts the schedule, a stream more or less is in it.
  if (bytes >= kReached * target - static_cast<double>(per_call) / seconds) return;
  point.notes.push_back({kRateMissed, absl::StrCat("the byte rate was missed: ", Gbits(bytes), " of ", Gbits(target),
                                                   ", so the CPU figures are those of the rate that was reached")});
}

void ReportCoresPerGbit(PointResult& point) {
  const auto bytes = point.figures.Get("payload_bytes_per_second");
  if (!bytes || *bytes <= 0) return;
  for (const Side side : {Side::kClient, Side::kServer}) {
    const auto cores = point.figures.Get(NameOf(side, "client_cores_used"));
    if (!cores) continue;
    point.figures.Set(NameOf(side, "client_cores_per_gbit_per_second"), *cores / (8 * *bytes / kBitsOfGbit));
  }
}

}  // namespace cqbench
