// The table of the source post, plus connections, errors and what went wrong.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/reporter.h"

namespace cqbench {
namespace {

using Row = std::vector<std::string>;

std::string Micros(const std::optional<LatencyStats>& latency, Nanos LatencyStats::*field) {
  if (!latency) return "-";
  return absl::StrFormat("%.1f", static_cast<double>((*latency).*field) / static_cast<double>(kNanosPerMicro));
}

Row PointRow(const PointResult& p) {
  return {absl::StrCat(p.inflight, p.partial ? "*" : ""),
          p.completed > 0 ? absl::StrFormat("%.2f", p.ThroughputPerSecond()) : "-",
          Micros(p.latency, &LatencyStats::p50_ns),
          Micros(p.latency, &LatencyStats::p90_ns),
          Micros(p.latency, &LatencyStats::p99_ns),
          Micros(p.latency, &LatencyStats::p999_ns),
          Micros(p.latency, &LatencyStats::max_ns),
          p.connections ? absl::StrCat(*p.connections) : "-",
          absl::StrCat(p.Failed())};
}

// Columns as wide as their widest cell, numbers to the right.
std::string Align(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < widths.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " | ", std::string(widths[i] - rows[r][i].size(), ' '), rows[r][i]);
    }
    absl::StrAppend(&text, "\n");
    if (r > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : "-+-", std::string(widths[i], '-'));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

void AppendNotes(std::string* text, const PointResult& p) {
  const std::string where = absl::StrCat("in-flight ", p.inflight, ": ");
  if (!p.failure.empty()) absl::StrAppend(text, where, "not measured: ", p.failure, "\n");
  for (const ErrorCount& error : p.errors) {
    absl::StrAppend(text, where, error.count, " x ", error.code,
                    error.first_message.empty() ? "" : ", first: ", error.first_message, "\n");
  }
  if (p.unfinished > 0) absl::StrAppend(text, where, p.unfinished, " call(s) did not end and were cancelled\n");
  for (const std::string& warning : p.warnings) absl::StrAppend(text, where, "warning: ", warning, "\n");
}

}  // namespace

std::string FormatTable(const Result& result) {
  const RunContext& c = result.context;
  std::string text =
      absl::StrCat("Benchmark Results Summary: ", SeriesName(c), " on ", c.target, ", gRPC ", c.grpc_version,
                   c.repetitions > 1 ? absl::StrCat(", median of ", c.repetitions, " repetitions") : "", "\n");
  std::vector<Row> rows = {{"In-flight", "Throughput (req/s)", "P50 (us)", "P90 (us)", "P99 (us)", "P99.9 (us)",
                            "P100 (us)", "Connections", "Errors"}};
  const std::vector<PointResult> points = MedianOverRepetitions(result.points);
  for (const PointResult& point : points) rows.push_back(PointRow(point));
  absl::StrAppend(&text, Align(rows));
  for (const PointResult& point : points) AppendNotes(&text, point);
  if (std::any_of(points.begin(), points.end(), [](const PointResult& p) { return p.partial; })) {
    absl::StrAppend(&text, "* interrupted: measured for a part of the interval only\n");
  }
  if (result.partial) absl::StrAppend(&text, "PARTIAL RESULT: the run was interrupted before its end\n");
  return text;
}

std::string FormatWorkerTable(const Result& result) {
  if (result.points.empty()) return "";
  const PointResult& point = result.points.back();
  std::vector<Row> rows = {{"Worker ID", "Throughput (req/s)"}};
  for (size_t i = 0; i < point.completed_per_worker.size(); ++i) {
    const double seconds = ToSeconds(point.window_ns);
    rows.push_back(
        {absl::StrCat(i),
         seconds > 0 ? absl::StrFormat("%.2f", static_cast<double>(point.completed_per_worker[i]) / seconds) : "-"});
  }
  return absl::StrCat("Per-Worker Throughput Statistics, in-flight ", point.inflight, ":\n", Align(rows));
}

}  // namespace cqbench
