#include <cassert>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/report/json_parts.h"
#include "src/result/figure_catalogue.h"

namespace cqbench {
namespace {

Json Cpus(const std::vector<CpuShares>& cpus) {
  Json list = Json::array();
  for (const CpuShares& c : cpus) {
    list.push_back({{"cpu", c.cpu},
                    {"busy_share", c.busy},
                    {"idle_share", c.idle},
                    {"softirq_share", c.softirq},
                    {"steal_share", c.steal}});
  }
  return list;
}

void AddCounts(Json& json, const PointResult& p) {
  json["calls_due"] = p.counts.due;
  json["calls_sent"] = p.counts.sent;
  json["calls_dropped"] = p.counts.dropped;
  json["calls_unsent"] = p.counts.unsent;
  json["calls_ok"] = p.counts.ok;
  json["failed"] = p.Failed();
  json["unfinished"] = p.counts.unfinished;
}

void AddOpenLoop(Json& json, const OpenLoopResult& o) {
  json["schedule_hash"] = absl::StrCat(absl::Hex(o.schedule_hash, absl::kZeroPad16));
  if (o.from_sent) AddLatency(json, "latency_from_sent_", *o.from_sent);
  if (!o.from_sent_histogram.empty()) json["latency_from_sent_histogram"] = o.from_sent_histogram;
  json["pacer_lateness_p50_ns"] = o.lateness_p50_ns;
  json["pacer_lateness_p99_ns"] = o.lateness_p99_ns;
  json["pacer_lateness_max_ns"] = o.lateness_max_ns;
  json["slot_wait_mean_ns"] = o.slot_wait_mean_ns;
  json["slot_wait_p99_ns"] = o.slot_wait_p99_ns;
  json["slot_wait_max_ns"] = o.slot_wait_max_ns;
  json["largest_burst"] = o.largest_burst;
  json["outstanding_first_half"] = o.outstanding_first_half;
  json["outstanding_second_half"] = o.outstanding_second_half;
  json["pacers"] = o.pacers;
  json["pacer_margin_ns"] = o.margin_ns;
  if (o.gap_cv) json["arrival_gap_variation"] = *o.gap_cv;
  if (o.gap_correlation) json["arrival_gap_correlation"] = *o.gap_correlation;
}

void AddTimeBuckets(Json& json, const PointResult& p) {
  if (p.time_buckets.empty()) return;
  json["bucket_ns"] = p.bucket_ns;
  const auto add = [&](const char* key, auto TimeBucketResult::*field) {
    json[key] = Json::array();
    for (const TimeBucketResult& bucket : p.time_buckets) json[key].push_back(bucket.*field);
  };
  add("bucket_completed", &TimeBucketResult::completed);
  add("bucket_failed", &TimeBucketResult::failed);
  json["bucket_failed_by_code"] = Json::object();
  for (const TimeBucketFailures& of : p.bucket_failures) json["bucket_failed_by_code"][of.code] = of.counts;
  add("bucket_latency_p50_ns", &TimeBucketResult::p50_ns);
  add("bucket_latency_p99_ns", &TimeBucketResult::p99_ns);
  add("bucket_latency_max_ns", &TimeBucketResult::max_ns);
}

Json Rank(const RankResult& rank) {
  Json json = {{"index", rank.index},
               {"count", rank.count},
               {"host", rank.host},
               {"pid", rank.pid},
               {"cpus_allowed", rank.cpus_allowed}};
  if (!rank.timing) return json;
  const RankTiming& timing = *rank.timing;
  json["offset_ns"] = timing.offset_ns;
  json["offset_bound_ns"] = timing.offset_bound_ns;
  if (timing.drift_ns_per_s) json["drift_ns_per_s"] = *timing.drift_ns_per_s;
  json["announced_open_ns"] = timing.announced_open_ns;
  json["announced_close_ns"] = timing.announced_close_ns;
  json["window_open_ns"] = timing.window_open_ns;
  json["window_close_ns"] = timing.window_close_ns;
  json["awake_open_ns"] = timing.awake_open_ns;
  json["awake_close_ns"] = timing.awake_close_ns;
  return json;
}

Json RankRow(const RanksResult::Row& row) {
  Json json = {{"rank", row.rank.index}, {"host", row.rank.host}, {"pid", row.rank.pid}};
  AddLoad(json, row.load);
  json["throughput_per_second"] = row.throughput_per_second;
  json["completed"] = row.completed;
  json["failed"] = row.failed;
  if (row.p99_ns) json["p99_ns"] = *row.p99_ns;
  if (row.cores_used) json["cores_used"] = JsonNumber(*row.cores_used);
  if (row.cpu_per_rpc_ns) json["cpu_per_rpc_ns"] = JsonNumber(*row.cpu_per_rpc_ns);
  if (!row.rank.cpus_allowed.empty()) json["cpus_allowed"] = row.rank.cpus_allowed;
  if (const auto& timing = row.rank.timing) {
    json["window_open_ns"] = timing->window_open_ns;
    json["window_close_ns"] = timing->window_close_ns;
    json["offset_ns"] = timing->offset_ns;
    json["offset_bound_ns"] = timing->offset_bound_ns;
  }
  json["warnings"] = JsonNotices(row.warnings);
  json["notes"] = JsonNotices(row.notes);
  json["partial"] = row.partial;
  json["connections"] = row.connections ? Json(*row.connections) : Json();
  return json;
}

Json Ranks(const RanksResult& ranks) {
  Json json = {{"count", ranks.count},
               {"missing", ranks.missing},
               {"window_ns", ranks.window_ns},
               {"skew_open_ns", ranks.skew_open_ns},
               {"skew_close_ns", ranks.skew_close_ns},
               {"per_rank", Json::array()}};
  for (const RanksResult::Row& row : ranks.rows) json["per_rank"].push_back(RankRow(row));
  return json;
}

}  // namespace

Json JsonNumber(double value) {
  if (std::abs(value) >= 1000 || value == std::floor(value)) return std::llround(value);
  return value;
}

Json JsonRate(double per_second) {
  if (per_second == std::floor(per_second)) return std::llround(per_second);
  return per_second;
}

Json JsonNotices(const std::vector<Notice>& notices) {
  Json list = Json::array();
  for (const Notice& notice : notices) list.push_back({{"code", notice.code}, {"text", notice.text}});
  return list;
}

void AddLoad(Json& json, const Load& load) {
  json["inflight"] = load.slots;
  if (load.open()) json["target_rate_per_second"] = JsonRate(load.rate);
}

void AddLatency(Json& json, absl::string_view prefix, const LatencyStats& l) {
  const auto key = [&](absl::string_view name) { return absl::StrCat(prefix, name); };
  json[key("samples")] = l.count;
  if (l.at_least > 0) {
    json[key("censored")] = l.at_least;
    json[key("censored_min_age_ns")] = l.least_age_ns.value_or(0);
  }
  if (l.KnowsMean()) {
    json[key("mean_ns")] = l.mean_ns;
    json[key("stddev_ns")] = l.stddev_ns;
  }
  constexpr std::pair<const char*, Nanos LatencyStats::*> kFields[] = {
      {"min_ns", &LatencyStats::min_ns}, {"p50_ns", &LatencyStats::p50_ns}, {"p90_ns", &LatencyStats::p90_ns},
      {"p95_ns", &LatencyStats::p95_ns}, {"p99_ns", &LatencyStats::p99_ns}, {"p99_9_ns", &LatencyStats::p999_ns},
      {"max_ns", &LatencyStats::max_ns},
  };
  for (const auto& [name, field] : kFields) {
    if (l.Knows(field)) json[key(name)] = l.*field;
  }
}

void AddMeasured(Json& json, const PointResult& p) {
  AddLoad(json, p.load);
  json["start_time"] = p.start_time;
  if (p.rank) json["rank"] = Rank(*p.rank);
  if (p.ranks) json["ranks"] = Ranks(*p.ranks);
  json["channels"] = p.channels;
  json["connections"] = p.connections ? Json(*p.connections) : Json();
  json["expected_connections"] = p.expected_connections;
  json["window_ns"] = p.window_ns;
  json["completed"] = p.completed;
  json["throughput_per_second"] = p.ThroughputPerSecond();
  if (p.latency) AddLatency(json, "latency_", *p.latency);
  if (!p.latency_histogram.empty()) json["latency_histogram"] = p.latency_histogram;
  AddCounts(json, p);
  if (p.open_loop) AddOpenLoop(json, *p.open_loop);
  json["errors"] = Json::array();
  for (const ErrorCount& e : p.errors) {
    json["errors"].push_back({{"code", e.code}, {"count", e.count}, {"first_message", e.first_message}});
  }
  json["completed_per_slot"] = p.completed_per_slot;
  json["channels_of_thread"] = p.channels_of_thread;
  AddTimeBuckets(json, p);
  for (const auto& [name, value] : p.figures) {
    assert(FindFigure(name) != nullptr);
    json[name] = JsonNumber(value);
  }
  for (const auto& [name, value] : p.facts) json[name] = value;
  if (!p.client_cpus.empty()) json["client_cpus"] = Cpus(p.client_cpus);
  if (!p.server_cpus.empty()) json["server_cpus"] = Cpus(p.server_cpus);
  json["warnings"] = JsonNotices(p.warnings);
  json["notes"] = JsonNotices(p.notes);
  json["partial"] = p.partial;
}

}  // namespace cqbench
