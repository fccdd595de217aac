#include "src/ranks/rank_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/result/bytes.h"
#include "src/result/measurement_bytes.h"

namespace cqbench {

template <class Archive, Like<Finding> T>
void Fields(Archive& archive, T& finding) {
  archive(finding.code);
  archive(finding.text);
}

template <class Archive, Like<RankSetting> T>
void Fields(Archive& archive, T& setting) {
  archive(setting.suspect);
  archive(setting.total_calls);
  archive(setting.skip_first);
}

template <class Archive, Like<RankTiming> T>
void Fields(Archive& archive, T& timing) {
  archive(timing.offset_ns);
  archive(timing.offset_bound_ns);
  archive(timing.drift_ns_per_s);
  archive(timing.announced_open_ns);
  archive(timing.announced_close_ns);
  archive(timing.window_open_ns);
  archive(timing.window_close_ns);
  archive(timing.awake_open_ns);
  archive(timing.awake_close_ns);
}

template <class Archive, Like<RankResult> T>
void Fields(Archive& archive, T& rank) {
  archive(rank.index);
  archive(rank.count);
  archive(rank.host);
  archive(rank.pid);
  archive(rank.cpus_allowed);
  archive(rank.timing);
}

template <class Archive, Like<PointResult> T>
void Fields(Archive& archive, T& point) {
  archive(point.load.slots);
  archive(point.load.rate);
  archive(point.repetition);
  archive(point.start_time);
  archive(point.channels);
  archive(point.threads);
  archive(point.connections);
  archive(point.expected_connections);
  archive(point.warnings);
  archive(point.channels_of_thread);
  archive(point.facts);
  archive(point.notes);
  archive(point.suspect);
  archive(point.limits);
  archive(point.stuck);
  archive(point.partial);
  archive(point.failure);
  archive(point.rank);
}

namespace {

// What no client has, so that what ranks have adds up whatever they say.
constexpr int kMostThings = 1 << 20;
constexpr Nanos kMostNs = INT64_MAX / 4;

bool CanBe(int things) {
  return things >= 0 && things <= kMostThings;
}
bool CanBe(Nanos time_ns) {
  return time_ns >= -kMostNs && time_ns <= kMostNs;
}

bool CanBe(const RankTiming& t) {
  return CanBe(t.offset_ns) && CanBe(t.offset_bound_ns) && std::isfinite(t.drift_ns_per_s.value_or(0)) &&
         CanBe(t.announced_open_ns) && CanBe(t.announced_close_ns) && CanBe(t.window_open_ns) &&
         CanBe(t.window_close_ns) && CanBe(t.awake_open_ns) && CanBe(t.awake_close_ns);
}

bool CanBe(const Pacing& pacing) {
  const auto& halves = pacing.outstanding;
  return CanBe(pacing.pacers) && CanBe(pacing.margin_ns) &&
         std::all_of(halves.begin(), halves.end(), [](const auto& half) { return std::isfinite(half.sum); });
}

bool CanBe(const Measurement& m) {
  return m.window_ns >= 0 && CanBe(m.window_ns) && (!m.pacing || CanBe(*m.pacing));
}

bool CanBe(const PointResult& point) {
  const auto of_thread = [](const std::vector<int>& channels) {
    return std::all_of(channels.begin(), channels.end(), [](int channel) { return CanBe(channel); });
  };
  return point.load.slots > 0 && CanBe(point.load.slots) && std::isfinite(point.load.rate) && point.load.rate >= 0 &&
         CanBe(point.repetition) && CanBe(point.channels) && CanBe(point.threads) &&
         CanBe(point.connections.value_or(0)) && CanBe(point.expected_connections) &&
         std::all_of(point.channels_of_thread.begin(), point.channels_of_thread.end(), of_thread) && point.rank &&
         CanBe(point.rank->index) && CanBe(point.rank->count) && (!point.rank->timing || CanBe(*point.rank->timing));
}

bool CanBe(const std::vector<Figures::Entry>& figures) {
  return std::all_of(figures.begin(), figures.end(), [](const auto& figure) { return std::isfinite(figure.second); });
}

}  // namespace

std::string EncodeRankReport(const PointResult& point, const Measurement& measurement, const RankSetting& setting) {
  ByteWriter writer;
  writer(MeasurementToBytes(measurement));
  writer(point);
  writer(std::vector<Figures::Entry>(point.figures.begin(), point.figures.end()));
  writer(setting);
  return writer.Take();
}

absl::StatusOr<RankReport> DecodeRankReport(absl::string_view bytes) {
  ByteReader reader(bytes);
  std::string measured;
  reader(measured);
  auto measurement = MeasurementFromBytes(measured);
  if (!measurement.ok()) return measurement.status();
  RankReport report;
  std::vector<Figures::Entry> figures;
  reader(report.point);
  reader(figures);
  reader(report.setting);
  if (!reader.AtEnd() || !CanBe(*measurement) || !CanBe(report.point) || !CanBe(figures)) {
    return absl::InvalidArgumentError("what it tells cannot be read: it was damaged, or it is of another build");
  }
  for (const auto& [name, value] : figures) report.point.figures.Set(name, value);
  report.measurement = *std::move(measurement);
  const Measurement& m = report.measurement;
  report.point.window_ns = m.window_ns;
  report.point.completed = m.completed;
  report.point.counts = m.counts;
  report.point.latency = Summarize(m.latency, m.at_least.get());
  return report;
}

}  // namespace cqbench
