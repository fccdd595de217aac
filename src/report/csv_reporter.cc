// Comma-separated values: the block of the source post, and one line per point and repetition with everything.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cqbench/reporter.h"
#include "src/report/load_table.h"

namespace cqbench {
namespace {

// Absent figures are empty cells.
std::string Micros(const std::optional<LatencyStats>& stats, Nanos LatencyStats::*field) {
  if (!stats || !stats->Knows(field)) return "";
  return absl::StrFormat("%.1f", static_cast<double>((*stats).*field) / static_cast<double>(kNanosPerMicro));
}

std::vector<std::string> PostColumns(const PointResult& p) {
  std::vector<std::string> cells = {absl::StrCat(p.load.slots),
                                    p.completed > 0 ? absl::StrFormat("%.2f", p.ThroughputPerSecond()) : ""};
  for (Nanos LatencyStats::*field : {&LatencyStats::p50_ns, &LatencyStats::p90_ns, &LatencyStats::p99_ns,
                                     &LatencyStats::p999_ns, &LatencyStats::max_ns}) {
    cells.push_back(Micros(p.latency, field));
  }
  return cells;
}

std::string Quoted(absl::string_view text) {
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) return std::string(text);
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Every figure that any point has; those of the process's CPU time have had their columns for longer.
std::vector<std::string> FigureNames(const std::vector<PointResult>& points) {
  std::vector<std::string> names;
  for (const PointResult& p : points) {
    for (const auto& [name, value] : p.figures) {
      if (name == "client_cpu_user_ns" || name == "client_cpu_system_ns") continue;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

template <typename T>
std::string OrEmpty(const std::optional<T>& value) {
  return value ? absl::StrCat(*value) : "";
}

std::string Notices(const std::vector<Notice>& notices) {
  return Quoted(absl::StrJoin(notices, "; ", [](std::string* out, const Notice& notice) {
    absl::StrAppend(out, notice.code, ": ", notice.text);
  }));
}

void AppendFirstEdition(std::vector<std::string>& cells, const RunContext& context, const PointResult& p) {
  const bool mean = p.latency && p.latency->KnowsMean();
  cells.push_back(mean ? absl::StrFormat("%.3f", p.latency->mean_ns / 1e3) : "");
  cells.push_back(mean ? absl::StrFormat("%.3f", p.latency->stddev_ns / 1e3) : "");
  cells.push_back(Micros(p.latency, &LatencyStats::min_ns));
  cells.push_back(OrEmpty(p.connections));
  for (int value : {p.expected_connections, p.channels, p.threads}) cells.push_back(absl::StrCat(value));
  for (uint64_t value : {p.completed, p.Failed(), p.counts.unfinished}) cells.push_back(absl::StrCat(value));
  cells.push_back(absl::StrCat(p.window_ns));
  for (const char* name : {"client_cpu_user_ns", "client_cpu_system_ns"}) {
    const auto cpu = p.figures.Get(name);
    cells.push_back(cpu ? absl::StrFormat("%.0f", *cpu) : "");
  }
  cells.push_back(absl::StrCat(p.repetition));
  cells.push_back(p.start_time);
  cells.push_back(p.partial ? "true" : "false");
  cells.push_back(Quoted(SeriesName(context)));
  cells.push_back(Quoted(absl::StrJoin(
      p.errors, "; ", [](std::string* out, const ErrorCount& e) { absl::StrAppend(out, e.code, ":", e.count); })));
  cells.push_back(Notices(p.warnings));
  cells.push_back(Notices(p.notes));
  cells.push_back(Quoted(p.failure));
}

constexpr char kSecondEdition[] =
    ",target_rate_per_second,calls_due,calls_sent,calls_dropped,calls_unsent,calls_ok,latency_censored,sent_p50,"
    "sent_p90,sent_p99,sent_p99_9,sent_p100,sent_mean_us,pacer_lateness_p50_ns,pacer_lateness_p99_ns,"
    "pacer_lateness_max_ns,slot_wait_mean_ns,slot_wait_p99_ns,slot_wait_max_ns,objective_met";

// The cells of an open loop are empty in a closed loop.
void AppendSecondEdition(std::vector<std::string>& cells, const PointResult& p) {
  const CallCounts& c = p.counts;
  cells.push_back(p.load.open() ? absl::StrFormat("%.2f", p.load.rate) : "");
  for (uint64_t value : {c.due, c.sent, c.dropped, c.unsent, c.ok}) cells.push_back(absl::StrCat(value));
  cells.push_back(absl::StrCat(p.latency ? p.latency->at_least : 0));
  const std::optional<LatencyStats> sent = p.open_loop ? p.open_loop->from_sent : std::nullopt;
  for (Nanos LatencyStats::*field : {&LatencyStats::p50_ns, &LatencyStats::p90_ns, &LatencyStats::p99_ns,
                                     &LatencyStats::p999_ns, &LatencyStats::max_ns}) {
    cells.push_back(Micros(sent, field));
  }
  cells.push_back(sent && sent->KnowsMean() ? absl::StrFormat("%.3f", sent->mean_ns / 1e3) : "");
  for (Nanos OpenLoopResult::*field :
       {&OpenLoopResult::lateness_p50_ns, &OpenLoopResult::lateness_p99_ns, &OpenLoopResult::lateness_max_ns,
        &OpenLoopResult::slot_wait_mean_ns, &OpenLoopResult::slot_wait_p99_ns, &OpenLoopResult::slot_wait_max_ns}) {
    cells.push_back(p.open_loop ? absl::StrCat((*p.open_loop).*field) : "");
  }
  cells.push_back(p.objective_met ? "true" : "false");
}

}  // namespace

std::string FormatPostCsv(const Result& result) {
  const bool open = result.context.open_loop();
  std::string text = absl::StrCat("CSV Results:\n", open ? "rate" : "inflight", ",throughput,p50,p90,p99,p99_9,p100\n");
  for (const PointResult& point : MedianOverRepetitions(result.points)) {
    std::vector<std::string> cells = PostColumns(point);
    if (open) cells.front() = LoadCell(point.load);
    absl::StrAppend(&text, absl::StrJoin(cells, ","), "\n");
  }
  return text;
}

std::string FormatCsv(const Result& result) {
  const std::vector<std::string> figures = FigureNames(result.points);
  std::string text =
      "inflight,throughput,p50,p90,p99,p99_9,p100,mean_us,stddev_us,min_us,connections,expected_connections,channels,"
      "threads,completed,failed,unfinished,window_ns,cpu_user_ns,cpu_system_ns,repetition,start_time,partial,series,"
      "errors,warnings,notes,failure";
  for (const std::string& name : figures) absl::StrAppend(&text, ",", name);
  absl::StrAppend(&text, kSecondEdition, "\n");
  for (const PointResult& p : result.points) {
    std::vector<std::string> cells = PostColumns(p);
    AppendFirstEdition(cells, result.context, p);
    for (const std::string& name : figures) cells.push_back(OrEmpty(p.figures.Get(name)));
    AppendSecondEdition(cells, p);
    absl::StrAppend(&text, absl::StrJoin(cells, ","), "\n");
  }
  return text;
}

}  // namespace cqbench
