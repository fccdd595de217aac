#include "src/ranks/rank_merge.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cqbench/ranks.h"
#include "src/observe/evidence/stream_report.h"
#include "src/observe/sampling/sample.h"
#include "src/ranks/rank_figures.h"
#include "src/ranks/rank_warnings.h"

namespace cqbench {
namespace {

constexpr char kCongestionControl[] = "client_congestion_control";

// Rates that were cut into parts add up to the one that was asked for, but for their rounding.
Load WholeLoad(const RankPoints& points) {
  Load whole{0, 0};
  for (const PointResult* point : points) {
    whole.slots += point->load.slots;
    whole.rate += point->load.rate;
  }
  double rounded = 0;
  if (absl::SimpleAtod(absl::StrFormat("%.12g", whole.rate), &rounded)) whole.rate = rounded;
  return whole;
}

void AddConnections(const RankPoints& points, PointResult& whole) {
  whole.connections = 0;
  for (const PointResult* point : points) {
    for (std::vector<int> channels : point->channels_of_thread) {
      for (int& channel : channels) channel += whole.channels;
      whole.channels_of_thread.push_back(std::move(channels));
    }
    whole.channels += point->channels;
    whole.threads += point->threads;
    whole.expected_connections += point->expected_connections;
    if (!point->connections || !whole.connections) {
      whole.connections.reset();
    } else {
      *whole.connections += *point->connections;
    }
  }
}

std::vector<Notice> CollectNotes(const RankPoints& points) {
  std::vector<NoticesOfRank> notes;
  for (const PointResult* point : points) notes.emplace_back(point->rank->index, point->notes);
  return CollectNotices(notes);
}

// The server's are those that one rank asked for.
void AddFacts(const RankPoints& points, PointResult& whole) {
  std::set<std::string> controls;
  for (const PointResult* point : points) {
    for (const auto& [name, value] : point->facts) {
      if (absl::StartsWith(name, "server_")) whole.facts.emplace_back(name, value);
      if (name != kCongestionControl) continue;
      for (const auto& control : absl::StrSplit(value, ", ", absl::SkipEmpty())) controls.emplace(control);
    }
  }
  if (!controls.empty()) whole.facts.emplace_back(kCongestionControl, absl::StrJoin(controls, ", "));
}

// CPUs of all machines, and how many there are and were busy. Ranks of one machine see the same CPUs.
void AddCpus(const RankPoints& points, PointResult& whole) {
  for (const PointResult* point : points) {
    if (whole.server_cpus.empty()) whole.server_cpus = point->server_cpus;
  }
  const auto has_none = [](const PointResult* point) { return point->client_cpus.empty(); };
  if (std::any_of(points.begin(), points.end(), has_none)) return;
  std::vector<std::string> hosts;
  std::map<int, CpuShares> cpus;
  for (const PointResult* point : points) {
    const auto host = std::find(hosts.begin(), hosts.end(), point->rank->host);
    const auto first = static_cast<int>(host - hosts.begin()) * kCpuIds;
    if (host == hosts.end()) hosts.push_back(point->rank->host);
    for (CpuShares cpu : point->client_cpus) {
      cpu.cpu += first;
      cpus.emplace(cpu.cpu, cpu);
    }
  }
  double busy = 0;
  for (const auto& [number, cpu] : cpus) {
    whole.client_cpus.push_back(cpu);
    busy += cpu.busy;
  }
  whole.figures.Set("client_cpus_allowed", static_cast<double>(cpus.size()));
  whole.figures.Set("client_cpus_busy", RoundedFigure(busy));
}

std::string FailureOf(const RankPoints& points) {
  std::vector<std::string> reasons;
  for (const PointResult* point : points) {
    const bool known = std::find(reasons.begin(), reasons.end(), point->failure) != reasons.end();
    if (!point->failure.empty() && !known) reasons.push_back(point->failure);
  }
  return reasons.empty() ? "no call succeeded on any rank" : absl::StrJoin(reasons, "; ");
}

RanksResult::Row RowOf(const PointResult& point, const std::string& straggles) {
  RanksResult::Row row;
  row.rank = *point.rank;
  row.load = point.load;
  row.throughput_per_second = point.ThroughputPerSecond();
  row.completed = point.completed;
  row.failed = point.counts.failed;
  if (point.latency && point.latency->Knows(&LatencyStats::p99_ns)) row.p99_ns = point.latency->p99_ns;
  row.cores_used = point.figures.Get("client_cores_used");
  row.cpu_per_rpc_ns = point.figures.Get("client_cpu_per_rpc_ns");
  row.connections = point.connections;
  row.warnings = OwnWarnings(point.warnings);
  if (!straggles.empty()) row.warnings.push_back({kStraggler, straggles});
  row.notes = point.notes;
  row.partial = point.partial;
  return row;
}

class Merger {
 public:
  explicit Merger(const std::vector<std::string>& by_rank) : count_(static_cast<int>(by_rank.size())) {
    for (size_t rank = 0; rank < by_rank.size(); ++rank) {
      if (by_rank[rank].empty()) continue;
      auto report = DecodeRankReport(by_rank[rank]);
      if (report.ok()) {
        reports_.push_back(*std::move(report));
      } else {
        unread_.push_back(absl::StrCat("rank ", rank, " is not merged: ", report.status().message()));
      }
    }
    for (const RankReport& report : reports_) {
      if (report.point.window_ns > 0) there_.push_back(&report.point);
    }
    // A rank that never began is as good as missing, and says why, unless no rank measured anything.
    if (there_.empty()) {
      for (const RankReport& report : reports_) there_.push_back(&report.point);
    }
  }

  RankSetting Setting() const {
    RankSetting all;
    for (const RankReport& report : reports_) {
      all.total_calls += report.setting.total_calls;
      all.skip_first += report.setting.skip_first;
      for (const Notice& warning : report.setting.warnings) {
        if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end()) {
          all.warnings.push_back(warning);
        }
      }
    }
    return all;
  }

  PointResult Merge(const Objective& objective) const {
    const Measurement all = MergeMeasurements();
    PointResult whole;
    whole.load = WholeLoad(there_);
    whole.repetition = there_.front()->repetition;
    whole.start_time = (*std::min_element(there_.begin(), there_.end(), [](auto* a, auto* b) {
                         return a->start_time < b->start_time;
                       }))->start_time;
    AddConnections(there_, whole);
    Describe(all, whole);
    if (whole.open_loop) AddOutstanding(*whole.open_loop);
    whole.figures = MergeFigures(there_, whole);
    if (all.messages) ReportGaps(all.messages->gaps, whole.figures);
    ReportCoresPerGbit(whole);
    AddCpus(there_, whole);
    AddFacts(there_, whole);
    whole.notes = CollectNotes(there_);
    AddSilent(whole);
    AddLeftOut(whole);
    if (whole.completed == 0) whole.failure = FailureOf(there_);
    whole.objective_met = whole.failure.empty() && (objective.empty() || Misses(objective, all).empty());
    Judge(whole);
    return whole;
  }

 private:
  bool IsThere(const PointResult& point) const {
    return std::find(there_.begin(), there_.end(), &point) != there_.end();
  }

  Measurement MergeMeasurements() const {
    Measurement all;
    for (const RankReport& report : reports_) {
      if (IsThere(report.point)) all.Merge(report.measurement);
    }
    // A rank that was interrupted has fewer time buckets, so that the last ones would lack its calls.
    for (const RankReport& report : reports_) {
      const Measurement& m = report.measurement;
      const bool alike = m.bucket_ns == all.bucket_ns && m.time_buckets.size() == all.time_buckets.size();
      if (IsThere(report.point) && !alike) all.time_buckets.clear();
    }
    return all;
  }

  // Calls that are outstanding at a time add up over ranks, but not over the samples of one.
  void AddOutstanding(OpenLoopResult& open) const {
    open.outstanding_first_half = open.outstanding_second_half = 0;
    for (const RankReport& report : reports_) {
      if (!IsThere(report.point) || !report.measurement.pacing) continue;
      open.outstanding_first_half += report.measurement.pacing->outstanding[0].Mean();
      open.outstanding_second_half += report.measurement.pacing->outstanding[1].Mean();
    }
    open.outstanding_first_half = RoundedFigure(open.outstanding_first_half);
    open.outstanding_second_half = RoundedFigure(open.outstanding_second_half);
  }

  // Figures that cannot be made from those of the ranks.
  void AddLeftOut(PointResult& whole) const {
    std::set<std::string> names;
    if (whole.open_loop) names = {"arrival_gap_correlation", "arrival_gap_variation"};
    for (const PointResult* point : there_) {
      for (const auto& [name, value] : point->figures) {
        if (!whole.figures.Get(name)) names.insert(name);
      }
    }
    if (names.empty()) return;
    whole.notes.push_back({kNotMeasured, absl::StrCat("not merged over ranks: ", absl::StrJoin(names, ", "))});
  }

  void AddSilent(PointResult& whole) const {
    for (const RankReport& report : reports_) {
      const PointResult& point = report.point;
      if (IsThere(point)) continue;
      whole.notes.push_back({kNotMeasured, absl::StrCat("rank ", point.rank->index, " measured nothing: ",
                                                        point.failure.empty() ? "no reason given" : point.failure)});
    }
  }

  void Judge(PointResult& whole) const {
    RanksResult ranks;
    ranks.count = count_;
    for (int rank = 0; rank < count_; ++rank) {
      const auto is_it = [rank](const PointResult* point) { return point->rank->index == rank; };
      if (std::none_of(there_.begin(), there_.end(), is_it)) ranks.missing.push_back(rank);
    }
    ranks.window_ns = whole.window_ns;
    ranks.skew_open_ns = Skew(there_, WindowBoundary::kOpen);
    ranks.skew_close_ns = Skew(there_, WindowBoundary::kClose);
    const std::vector<std::string> stragglers = Stragglers(there_);
    for (size_t i = 0; i < there_.size(); ++i) ranks.rows.push_back(RowOf(*there_[i], stragglers[i]));
    const RankSetting& first = reports_.front().setting;
    const CountedBoundaries counted{first.skip_first > 0, first.skip_first + first.total_calls > 0};
    whole.warnings = RankWarnings(there_, stragglers, whole, ranks, counted);
    for (const std::string& text : unread_) whole.warnings.push_back({kMissingRanks, text});
    whole.partial = !ranks.missing.empty() ||
                    std::any_of(there_.begin(), there_.end(), [](const PointResult* point) { return point->partial; });
    whole.ranks = std::move(ranks);
  }

  const int count_;
  std::vector<RankReport> reports_;
  std::vector<std::string> unread_;
  RankPoints there_;
};

}  // namespace

PointResult MergeRanks(const std::vector<std::string>& by_rank, const Objective& objective, RankSetting& setting) {
  const Merger merger(by_rank);
  setting = merger.Setting();
  return merger.Merge(objective);
}

}  // namespace cqbench
