// Google Benchmark's JSON layout, so that its compare.py reads our files; our own figures are further keys, with their
// unit in the name.

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"
#include "src/report/json_parts.h"
#include "src/result/statistics.h"

namespace cqbench {
namespace {

// Google Benchmark's times, per completed RPC.
void AddTimes(Json& json, const PointResult& p) {
  json["iterations"] = p.completed;
  if (p.completed > 0) json["real_time"] = static_cast<double>(p.window_ns) / static_cast<double>(p.completed);
  if (const auto cpu = p.CpuPerRpcNs()) json["cpu_time"] = *cpu;
  json["time_unit"] = "ns";
}

Json Run(const Result& result, const PointResult& p, const std::string& name, size_t family_index) {
  Json json = {
      {"name", name},
      {"family_index", 0},
      {"per_family_instance_index", family_index},
      {"run_name", name},
      {"run_type", "iteration"},
      {"repetitions", result.context.repetitions},
      {"repetition_index", p.repetition},
      {"threads", p.threads},
  };
  if (!p.failure.empty()) {
    json["error_occurred"] = true;
    json["error_message"] = p.failure;
  }
  AddTimes(json, p);
  AddMeasured(json, p);
  if (!result.context.objective.empty()) json["objective_met"] = p.objective_met;
  return json;
}

// A lower bound has the keys of a point.
Json Bound(const LowerBound& bound) {
  Json json = {{"name", bound.name},
               {"description", bound.description},
               {"repetition_index", bound.point.repetition},
               {"threads", bound.point.threads}};
  if (!bound.point.failure.empty()) json["error_message"] = bound.point.failure;
  AddMeasured(json, bound.point);
  return json;
}

Json Statistics(const std::vector<PointResult>& points) {
  Json list = Json::array();
  for (const PointStatistics& statistics : DescribePoints(points)) {
    Json figures = Json::object();
    for (const auto& [name, summary] : statistics.figures) {
      Json json = {
          {"median", JsonNumber(summary.median)}, {"min", JsonNumber(summary.min)}, {"max", JsonNumber(summary.max)}};
      if (summary.count > 1) json["stddev"] = JsonNumber(summary.stddev);
      if (summary.ci95) {
        json["ci95_low"] = JsonNumber(summary.ci95->low);
        json["ci95_high"] = JsonNumber(summary.ci95->high);
      }
      figures[name] = std::move(json);
    }
    Json entry;
    AddLoad(entry, statistics.load);
    entry["repetitions"] = statistics.repetitions;
    entry["figures"] = std::move(figures);
    list.push_back(std::move(entry));
  }
  return list;
}

// The median over repetitions is an aggregate, as Google Benchmark writes it.
Json Median(const Result& result, const PointResult& p, const std::string& name, size_t family_index) {
  Json json = {
      {"name", absl::StrCat(name, "_median")},
      {"family_index", 0},
      {"per_family_instance_index", family_index},
      {"run_name", name},
      {"run_type", "aggregate"},
      {"repetitions", result.context.repetitions},
      {"threads", p.threads},
      {"aggregate_name", "median"},
      {"aggregate_unit", "time"},
  };
  AddTimes(json, p);
  AddLoad(json, p.load);
  json["throughput_per_second"] = p.ThroughputPerSecond();
  if (p.latency) AddLatency(json, "latency_", *p.latency);
  if (p.open_loop && p.open_loop->from_sent) AddLatency(json, "latency_from_sent_", *p.open_loop->from_sent);
  return json;
}

Json FindRate(const FindRateResult& found) {
  Json json = {{"objective", found.objective}, {"resolved", found.resolved}};
  if (found.resolved) {
    json["rate_per_second"] = JsonNumber(found.rate);
    json["low"] = JsonNumber(found.low);
    json["high"] = JsonNumber(found.high);
  } else {
    json["unresolved_reason"] = found.unresolved_reason;
  }
  json["trials"] = Json::array();
  for (const RateTrial& trial : found.trials) {
    json["trials"].push_back({{"rate_per_second", JsonRate(trial.rate)},
                              {"met", trial.met},
                              {"client_fault", trial.client_fault},
                              {"reason", trial.why}});
  }
  return json;
}

constexpr size_t kMaxSites = 50;

Json Sites(const AllocationSites& described) {
  Json json = {{"calls", described.calls},     {"allocations", described.allocations},
               {"bytes", described.bytes},     {"sampled_every", described.every},
               {"samples", described.samples}, {"lost_samples", described.lost},
               {"sites", Json::array()}};
  for (const AllocationSite& site : described.sites) {
    if (json["sites"].size() == kMaxSites) break;
    json["sites"].push_back({{"function", site.function},
                             {"caller", site.caller},
                             {"allocations_share", JsonNumber(site.allocations_share)},
                             {"bytes_share", JsonNumber(site.bytes_share)}});
  }
  return json;
}

}  // namespace

std::string FormatJson(const Result& result) {
  Json benchmarks = Json::array();
  const std::vector<PointResult> rows = MedianOverRepetitions(result.points);
  const auto index_of = [&](const Load& load) {
    return static_cast<size_t>(std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.load == load; }) -
                               rows.begin());
  };
  const auto name_of = [&](const PointResult& p) {
    return absl::StrCat(SeriesName(result.context), "/", p.load.Key());
  };
  // compare.py takes the times of every entry of benchmarks[] without asking whether an error occurred, so points
  // without them have a list of their own.
  Json not_measured = Json::array();
  for (const PointResult& p : result.points) {
    (p.completed > 0 ? benchmarks : not_measured).push_back(Run(result, p, name_of(p), index_of(p.load)));
  }
  if (result.context.repetitions > 1) {
    for (const PointResult& p : rows) {
      if (p.completed > 0) benchmarks.push_back(Median(result, p, name_of(p), index_of(p.load)));
    }
  }
  Json json = {{"context", JsonContext(result)},
               {"benchmarks", std::move(benchmarks)},
               {"not_measured", std::move(not_measured)}};
  if (result.context.repetitions > 1) {
    json["statistics_interval"] = kIntervalMethod;
    json["statistics"] = Statistics(result.points);
  }
  if (!result.lower_bounds.empty()) {
    json["lower_bounds"] = Json::array();
    for (const LowerBound& bound : result.lower_bounds) json["lower_bounds"].push_back(Bound(bound));
  }
  if (result.find_rate) json["find_rate"] = FindRate(*result.find_rate);
  if (result.allocation_sites) json["allocation_sites"] = Sites(*result.allocation_sites);
  for (const std::string& report : result.rank_reports) {
    json["rank_reports"].push_back(absl::Base64Escape(report));
  }
  // Messages of failed calls come from the network: bytes that are not UTF-8 are replaced, not thrown over.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cqbench
