#include "src/ranks/rank_report.h"

#include <utility>

#include "src/core/bytes.h"
#include "src/core/measurement_bytes.h"

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
  if (!reader.AtEnd() || !report.point.rank) {
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
