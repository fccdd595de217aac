// Comma-separated values: the block of the source post, and one line per point and repetition with everything.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cqbench/reporter.h"

namespace cqbench {
namespace {

// Absent figures are empty cells.
std::string Micros(const PointResult& p, Nanos LatencyStats::*field) {
  if (!p.latency || !p.latency->Knows(field)) return "";
  return absl::StrFormat("%.1f", static_cast<double>((*p.latency).*field) / static_cast<double>(kNanosPerMicro));
}

std::vector<std::string> PostColumns(const PointResult& p) {
  return {absl::StrCat(p.inflight),         p.completed > 0 ? absl::StrFormat("%.2f", p.ThroughputPerSecond()) : "",
          Micros(p, &LatencyStats::p50_ns), Micros(p, &LatencyStats::p90_ns),
          Micros(p, &LatencyStats::p99_ns), Micros(p, &LatencyStats::p999_ns),
          Micros(p, &LatencyStats::max_ns)};
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

}  // namespace

std::string FormatPostCsv(const Result& result) {
  std::string text = "CSV Results:\ninflight,throughput,p50,p90,p99,p99_9,p100\n";
  for (const PointResult& point : MedianOverRepetitions(result.points)) {
    absl::StrAppend(&text, absl::StrJoin(PostColumns(point), ","), "\n");
  }
  return text;
}

std::string FormatCsv(const Result& result) {
  const std::vector<std::string> figures = FigureNames(result.points);
  std::string text =
      "inflight,throughput,p50,p90,p99,p99_9,p100,mean_us,stddev_us,min_us,connections,expected_connections,channels,"
      "threads,completed,failed,unfinished,window_ns,cpu_user_ns,cpu_system_ns,repetition,start_time,partial,series,"
      "errors,warnings,failure,suspect,notes";
  for (const std::string& name : figures) absl::StrAppend(&text, ",", name);
  absl::StrAppend(&text, "\n");
  for (const PointResult& p : result.points) {
    std::vector<std::string> cells = PostColumns(p);
    cells.push_back(p.latency ? absl::StrFormat("%.3f", p.latency->mean_ns / 1e3) : "");
    cells.push_back(p.latency ? absl::StrFormat("%.3f", p.latency->stddev_ns / 1e3) : "");
    cells.push_back(Micros(p, &LatencyStats::min_ns));
    cells.push_back(OrEmpty(p.connections));
    for (int value : {p.expected_connections, p.channels, p.threads}) cells.push_back(absl::StrCat(value));
    for (uint64_t value : {p.completed, p.Failed(), p.unfinished}) cells.push_back(absl::StrCat(value));
    cells.push_back(absl::StrCat(p.window_ns));
    for (const char* name : {"client_cpu_user_ns", "client_cpu_system_ns"}) {
      const auto cpu = p.figures.Get(name);
      cells.push_back(cpu ? absl::StrFormat("%.0f", *cpu) : "");
    }
    cells.push_back(absl::StrCat(p.repetition));
    cells.push_back(p.start_time);
    cells.push_back(p.partial ? "true" : "false");
    cells.push_back(Quoted(SeriesName(result.context)));
    cells.push_back(Quoted(absl::StrJoin(
        p.errors, "; ", [](std::string* out, const ErrorCount& e) { absl::StrAppend(out, e.code, ":", e.count); })));
    cells.push_back(Quoted(absl::StrJoin(p.warnings, "; ")));
    cells.push_back(Quoted(p.failure));
    cells.push_back(Quoted(absl::StrJoin(p.suspect, "; ")));
    cells.push_back(Quoted(absl::StrJoin(p.notes, "; ")));
    for (const std::string& name : figures) cells.push_back(OrEmpty(p.figures.Get(name)));
    absl::StrAppend(&text, absl::StrJoin(cells, ","), "\n");
  }
  return text;
}

}  // namespace cqbench
