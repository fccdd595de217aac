// The table of the source post, plus connections, errors and what went wrong.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cqbench/reporter.h"
#include "cqbench/statistics.h"
#include "src/report/text_table.h"

namespace cqbench {
namespace {

// With the repetitions' interval where there is one.
std::string WithError(std::string value, const PointStatistics* statistics, const std::string& figure, double scale,
                      int digits) {
  const Spread* spread = statistics ? statistics->Find(figure) : nullptr;
  if (spread == nullptr || !spread->ci95) return value;
  const double error = std::max(spread->ci95->high - spread->median, spread->median - spread->ci95->low);
  return absl::StrFormat("%s ± %.*f", value, digits, error * scale);
}

Row PointRow(const PointResult& p, const PointStatistics* statistics) {
  const auto micros = [&](Nanos LatencyStats::*field, const char* figure) -> std::string {
    if (!p.latency || !p.latency->Knows(field)) return "-";
    const double value = static_cast<double>((*p.latency).*field) / static_cast<double>(kNanosPerMicro);
    return WithError(absl::StrFormat("%.1f", value), statistics, figure, 1e-3, 1);
  };
  return {absl::StrCat(p.inflight, p.partial ? "*" : ""),
          p.completed > 0
              ? WithError(absl::StrFormat("%.2f", p.ThroughputPerSecond()), statistics, "throughput_per_second", 1, 2)
              : "-",
          micros(&LatencyStats::p50_ns, "latency_p50_ns"),
          micros(&LatencyStats::p90_ns, "latency_p90_ns"),
          micros(&LatencyStats::p99_ns, "latency_p99_ns"),
          micros(&LatencyStats::p999_ns, "latency_p99_9_ns"),
          micros(&LatencyStats::max_ns, "latency_max_ns"),
          p.connections ? absl::StrCat(*p.connections) : "-",
          absl::StrCat(p.Failed())};
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
  for (const std::string& reason : p.suspect) absl::StrAppend(text, where, "suspect: ", reason, "\n");
}

// The run's and the points', each once; those that are not every point's with where they belong.
std::vector<std::string> AllNotes(std::vector<std::string> notes, const std::vector<PointResult>& points) {
  for (const PointResult& point : points) {
    for (const std::string& note : point.notes) {
      const bool everywhere = std::all_of(points.begin(), points.end(), [&](const PointResult& p) {
        return std::find(p.notes.begin(), p.notes.end(), note) != p.notes.end();
      });
      const std::string line = everywhere ? note : absl::StrCat("in-flight ", point.inflight, ": ", note);
      if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
    }
  }
  return notes;
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
  const std::vector<PointStatistics> statistics = DescribePoints(result.points);
  const bool suspect = std::any_of(points.begin(), points.end(), [](auto& p) { return !p.suspect.empty(); });
  if (suspect) rows.front().emplace_back("Suspect");
  for (const PointResult& point : points) {
    const auto mine = std::find_if(statistics.begin(), statistics.end(),
                                   [&](const PointStatistics& s) { return s.inflight == point.inflight; });
    Row& row = rows.emplace_back(PointRow(point, mine == statistics.end() ? nullptr : &*mine));
    if (suspect) row.emplace_back(point.suspect.empty() ? "" : "yes");
  }
  absl::StrAppend(&text, AlignTable(rows));
  for (const PointResult& point : points) AppendNotes(&text, point);
  for (const std::string& reason : result.suspect) absl::StrAppend(&text, "every point: suspect: ", reason, "\n");
  if (std::any_of(points.begin(), points.end(), [](const PointResult& p) { return p.partial; })) {
    absl::StrAppend(&text, "* interrupted: measured for a part of the interval only\n");
  }
  if (c.repetitions >= static_cast<int>(kMinForInterval)) {
    absl::StrAppend(&text, "±: longer side of the 95 % interval (", kIntervalMethod, ")\n");
  } else if (c.repetitions > 1) {
    absl::StrAppend(&text, "no ±: a 95 % interval needs at least ", kMinForInterval, " repetitions\n");
  }
  for (const std::string& note : AllNotes(result.notes, points)) absl::StrAppend(&text, "note: ", note, "\n");
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
  return absl::StrCat("Per-Worker Throughput Statistics, in-flight ", point.inflight, ":\n", AlignTable(rows));
}

}  // namespace cqbench
