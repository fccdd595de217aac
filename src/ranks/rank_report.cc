#include "src/ranks/rank_report.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "cqbench/proto/measurement.pb.h"
#include "cqbench/ranks.h"
#include "src/observe/sampling/sample.h"
#include "src/result/measurement_message.h"

namespace cqbench {
namespace {

namespace proto = measured::v1;
using google::protobuf::RepeatedPtrField;

void Write(const RankTiming& from, proto::Timing& to) {
  to.set_offset_ns(from.offset_ns);
  to.set_offset_bound_ns(from.offset_bound_ns);
  if (from.drift_ns_per_s) to.set_drift_ns_per_s(*from.drift_ns_per_s);
  to.set_announced_open_ns(from.announced_open_ns);
  to.set_announced_close_ns(from.announced_close_ns);
  to.set_window_open_ns(from.window_open_ns);
  to.set_window_close_ns(from.window_close_ns);
  to.set_awake_open_ns(from.awake_open_ns);
  to.set_awake_close_ns(from.awake_close_ns);
}

RankTiming Read(const proto::Timing& from) {
  RankTiming timing{from.offset_ns(),         from.offset_bound_ns(),    std::nullopt,
                    from.announced_open_ns(), from.announced_close_ns(), from.window_open_ns(),
                    from.window_close_ns(),   from.awake_open_ns(),      from.awake_close_ns()};
  if (from.has_drift_ns_per_s()) timing.drift_ns_per_s = from.drift_ns_per_s();
  return timing;
}

void Write(const RankResult& from, proto::Rank& to) {
  to.set_index(from.index);
  to.set_count(from.count);
  to.set_host(from.host);
  to.set_pid(from.pid);
  to.set_cpus_allowed(from.cpus_allowed);
  if (from.timing) Write(*from.timing, *to.mutable_timing());
}

RankResult Read(const proto::Rank& from) {
  RankResult rank{from.index(), from.count(), from.host(), from.pid(), from.cpus_allowed(), std::nullopt};
  if (from.has_timing()) rank.timing = Read(from.timing());
  return rank;
}

void Write(const std::vector<Notice>& from, RepeatedPtrField<proto::Notice>& to) {
  for (const Notice& notice : from) {
    proto::Notice& written = *to.Add();
    written.set_code(notice.code);
    written.set_text(notice.text);
  }
}

std::vector<Notice> Read(const RepeatedPtrField<proto::Notice>& from) {
  std::vector<Notice> notices;
  for (const proto::Notice& notice : from) notices.push_back({notice.code(), notice.text()});
  return notices;
}

void Write(const std::vector<CpuShares>& from, RepeatedPtrField<proto::Cpu>& to) {
  for (const CpuShares& cpu : from) {
    proto::Cpu& written = *to.Add();
    written.set_cpu(cpu.cpu);
    written.set_busy(cpu.busy);
    written.set_idle(cpu.idle);
    written.set_softirq(cpu.softirq);
    written.set_steal(cpu.steal);
  }
}

std::vector<CpuShares> Read(const RepeatedPtrField<proto::Cpu>& from) {
  std::vector<CpuShares> cpus;
  for (const proto::Cpu& cpu : from) cpus.push_back({cpu.cpu(), cpu.busy(), cpu.idle(), cpu.softirq(), cpu.steal()});
  return cpus;
}

void Write(const PointResult& point, proto::RankReport& to) {
  Write(*point.rank, *to.mutable_rank());
  to.mutable_load()->set_slots(point.load.slots);
  to.mutable_load()->set_rate(point.load.rate);
  to.set_repetition(point.repetition);
  to.set_start_time(point.start_time);
  to.set_channels(point.channels);
  to.set_threads(point.threads);
  if (point.connections) to.set_connections(*point.connections);
  to.set_expected_connections(point.expected_connections);
  for (const std::vector<int>& channels : point.channels_of_thread) {
    to.add_channels_of_thread()->mutable_index()->Assign(channels.begin(), channels.end());
  }
  for (const auto& [name, value] : point.figures) {
    proto::Figure& figure = *to.add_figures();
    figure.set_name(name);
    figure.set_value(value);
    const std::vector<double> of_connections = point.figures.OfConnections(name);
    figure.mutable_of_connections()->Assign(of_connections.begin(), of_connections.end());
  }
  for (const auto& [name, value] : point.facts) {
    proto::Fact& fact = *to.add_facts();
    fact.set_name(name);
    fact.set_value(value);
  }
  Write(point.client_cpus, *to.mutable_client_cpus());
  Write(point.server_cpus, *to.mutable_server_cpus());
  Write(point.warnings, *to.mutable_warnings());
  Write(point.notes, *to.mutable_notes());
  to.set_partial(point.partial);
  to.set_failure(point.failure);
}

PointResult ReadPoint(const proto::RankReport& from) {
  PointResult point;
  point.rank = Read(from.rank());
  point.load = {from.load().slots(), from.load().rate()};
  point.repetition = from.repetition();
  point.start_time = from.start_time();
  point.channels = from.channels();
  point.threads = from.threads();
  if (from.has_connections()) point.connections = from.connections();
  point.expected_connections = from.expected_connections();
  for (const proto::Channels& channels : from.channels_of_thread()) {
    point.channels_of_thread.emplace_back(channels.index().begin(), channels.index().end());
  }
  for (const proto::Figure& figure : from.figures()) {
    const auto& each = figure.of_connections();
    point.figures.Set(figure.name(), figure.value());
    if (!each.empty()) point.figures.SetMedian(figure.name(), figure.value(), {each.begin(), each.end()});
  }
  for (const proto::Fact& fact : from.facts()) point.facts.emplace_back(fact.name(), fact.value());
  point.client_cpus = Read(from.client_cpus());
  point.server_cpus = Read(from.server_cpus());
  point.warnings = Read(from.warnings());
  point.notes = Read(from.notes());
  point.partial = from.partial();
  point.failure = from.failure();
  return point;
}

// No client has more, so that sums over ranks do not overflow.
constexpr int kMaxThings = 1 << 20;
constexpr Nanos kMaxNanos = INT64_MAX / 4;

template <class... Numbers>
bool AreCounts(Numbers... numbers) {
  return ((numbers >= 0 && numbers <= kMaxThings) && ...);
}
template <class... Times>
bool AreTimes(Times... times) {
  return ((times >= -kMaxNanos && times <= kMaxNanos) && ...);
}

bool CanBe(const proto::Timing& t) {
  return AreTimes(t.offset_ns(), t.offset_bound_ns(), t.announced_open_ns(), t.announced_close_ns(), t.window_open_ns(),
                  t.window_close_ns(), t.awake_open_ns(), t.awake_close_ns()) &&
         std::isfinite(t.drift_ns_per_s());
}

bool CanBe(const proto::Rank& rank) {
  return rank.index() >= 0 && rank.index() < rank.count() && rank.count() <= kMaxRanks && CanBe(rank.timing());
}

bool AreCpus(const RepeatedPtrField<proto::Cpu>& cpus, int ids) {
  return std::all_of(cpus.begin(), cpus.end(), [ids](const proto::Cpu& cpu) {
    return cpu.cpu() >= 0 && cpu.cpu() < ids && std::isfinite(cpu.busy()) && std::isfinite(cpu.idle()) &&
           std::isfinite(cpu.softirq()) && std::isfinite(cpu.steal());
  });
}

bool CanBe(const proto::RankReport& report) {
  const proto::Load& load = report.load();
  const auto is_number = [](double value) { return std::isfinite(value); };
  const auto is_finite = [&](const proto::Figure& figure) {
    const auto& each = figure.of_connections();
    return std::isfinite(figure.value()) && std::all_of(each.begin(), each.end(), is_number);
  };
  const auto are_channels = [](const proto::Channels& channels) {
    return std::all_of(channels.index().begin(), channels.index().end(), [](int index) { return AreCounts(index); });
  };
  // The setting is written last, so that a message that was cut off lacks it.
  return report.has_measurement() && report.has_setting() && CanBe(report.rank()) && load.slots() > 0 &&
         std::isfinite(load.rate()) && load.rate() >= 0 &&
         AreCounts(load.slots(), report.repetition(), report.channels(), report.threads(), report.connections(),
                   report.expected_connections()) &&
         std::all_of(report.channels_of_thread().begin(), report.channels_of_thread().end(), are_channels) &&
         std::all_of(report.figures().begin(), report.figures().end(), is_finite) &&
         AreCpus(report.client_cpus(), kCpuIds) &&
         AreCpus(report.server_cpus(), INT_MAX);  // several machines have servers
}

}  // namespace

std::string EncodeRankReport(const PointResult& point, const Measurement& measurement, const RankSetting& setting) {
  proto::RankReport report;
  Write(point, report);
  *report.mutable_measurement() = ToMessage(measurement);
  Write(setting.warnings, *report.mutable_setting()->mutable_warnings());
  report.mutable_setting()->set_total_calls(setting.total_calls);
  report.mutable_setting()->set_skip_first(setting.skip_first);
  return report.SerializeAsString();
}

absl::StatusOr<RankReport> DecodeRankReport(absl::string_view bytes) {
  proto::RankReport message;
  const bool parsed = bytes.size() <= INT32_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!parsed || !CanBe(message)) {
    return absl::InvalidArgumentError("its report cannot be read: it was damaged, or it is of another version");
  }
  auto measurement = FromMessage(message.measurement());
  if (!measurement.ok()) return measurement.status();
  RankReport report{ReadPoint(message), *std::move(measurement), {}};
  report.setting = {Read(message.setting().warnings()), message.setting().total_calls(),
                    message.setting().skip_first()};
  const Measurement& m = report.measurement;
  report.point.window_ns = m.window_ns;
  report.point.completed = m.completed;
  report.point.counts = m.counts;
  report.point.latency = Summarize(m.latency, m.at_least.get());
  return report;
}

}  // namespace cqbench
