// The table of the source post, plus connections, errors and what went wrong.

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cqbench/reporter.h"
#include "src/report/context_names.h"
#include "src/report/load_table.h"
#include "src/report/rank_table.h"
#include "src/report/text_table.h"
#include "src/result/statistics.h"

namespace cqbench {
namespace {

using Points = std::vector<PointResult>;

// Appends the interval over repetitions, if there is one.
std::string WithError(std::string value, const PointStatistics* statistics, const std::string& figure, double scale,
                      int digits) {
  const Summary* summary = statistics ? statistics->Find(figure) : nullptr;
  if (summary == nullptr || !summary->ci95) return value;
  const double error = std::max(summary->ci95->high - summary->median, summary->median - summary->ci95->low);
  return absl::StrFormat("%s ± %.*f", value, digits, error * scale);
}

// The cells of one point that every table has.
class PointCells {
 public:
  PointCells(const PointResult& point, const PointStatistics* statistics) : p_(point), statistics_(statistics) {}

  std::string Load() const { return absl::StrCat(LoadCell(p_.load), p_.partial ? "*" : ""); }
  std::string Throughput() const {
    if (p_.completed == 0) return "-";
    return WithError(absl::StrFormat("%.2f", p_.ThroughputPerSecond()), statistics_, "throughput_per_second", 1, 2);
  }
  std::string FromDue(Nanos LatencyStats::*field, absl::string_view name) const {
    return Latency(p_.latency, field, absl::StrCat("latency_", name));
  }
  std::string FromSent(Nanos LatencyStats::*field, absl::string_view name) const {
    return Latency(p_.open_loop ? p_.open_loop->from_sent : std::nullopt, field,
                   absl::StrCat("latency_from_sent_", name));
  }

 private:
  std::string Latency(const std::optional<LatencyStats>& stats, Nanos LatencyStats::*field,
                      const std::string& figure) const {
    if (!stats || !stats->Knows(field)) return "-";
    const double micros = static_cast<double>((*stats).*field) / static_cast<double>(kNanosPerMicro);
    return WithError(absl::StrFormat("%.1f", micros), statistics_, figure, 1e-3, 1);
  }

  const PointResult& p_;
  const PointStatistics* statistics_;
};

Row TitleRow(const RunContext& c) {
  Row row = {LoadTitle(c), c.open_loop() ? "Achieved (req/s)" : "Throughput (req/s)",
             "P50 (µs)",   "P90 (µs)",
             "P99 (µs)",   "P99.9 (µs)",
             "P100 (µs)"};
  if (c.open_loop()) row.insert(row.end(), {"sent P50 (µs)", "sent P99 (µs)"});
  row.insert(row.end(), {"Connections", "Errors"});
  return row;
}

Row PointRow(const RunContext& c, const PointResult& p, const PointStatistics* statistics) {
  const PointCells cells(p, statistics);
  Row row = {cells.Load(),
             cells.Throughput(),
             cells.FromDue(&LatencyStats::p50_ns, "p50_ns"),
             cells.FromDue(&LatencyStats::p90_ns, "p90_ns"),
             cells.FromDue(&LatencyStats::p99_ns, "p99_ns"),
             cells.FromDue(&LatencyStats::p999_ns, "p99_9_ns"),
             cells.FromDue(&LatencyStats::max_ns, "max_ns")};
  if (c.open_loop()) {
    row.push_back(cells.FromSent(&LatencyStats::p50_ns, "p50_ns"));
    row.push_back(cells.FromSent(&LatencyStats::p99_ns, "p99_ns"));
  }
  row.push_back(p.connections ? absl::StrCat(*p.connections) : "-");
  row.push_back(absl::StrCat(p.Failed()));
  return row;
}

// A column that is shown if any point has something in it.
void AddColumn(const char* title, const Points& points, const std::function<std::string(const PointResult&)>& cell,
               std::vector<Row>& rows) {
  std::vector<std::string> cells;
  for (const PointResult& point : points) cells.push_back(cell(point));
  if (std::all_of(cells.begin(), cells.end(), [](const std::string& text) { return text.empty(); })) return;
  rows.front().emplace_back(title);
  for (size_t i = 0; i < points.size(); ++i) rows[i + 1].push_back(std::move(cells[i]));
}

// Columns for the objective, warnings and saturated resources; the texts are below the table.
void AddVerdicts(std::vector<Row>& rows, const RunContext& c, const Points& points) {
  if (!c.objective.empty()) {
    rows.front().push_back(c.objective);
    for (size_t i = 0; i < points.size(); ++i) rows[i + 1].emplace_back(points[i].objective_met ? "met" : "missed");
  }
  AddColumn(
      "Warnings", points, [](const PointResult& p) { return Codes(p.warnings); }, rows);
  AddColumn(
      "Saturated", points, [](const PointResult& p) { return SaturatedResources(p.notes); }, rows);
}

void AppendNotes(std::string* text, const PointResult& p) {
  const std::string where = absl::StrCat(p.load.Label(), ": ");
  if (!p.failure.empty()) absl::StrAppend(text, where, "not measured: ", p.failure, "\n");
  for (const ErrorCount& error : p.errors) {
    absl::StrAppend(text, where, error.count, " x ", error.code,
                    error.first_message.empty() ? "" : ", first: ", error.first_message, "\n");
  }
  for (const Notice& warning : p.warnings) {
    absl::StrAppend(text, where, "warning: ", warning.code, ": ", warning.text, "\n");
  }
}

// The run's and the points', each once; those that are not every point's with where they belong.
std::vector<std::string> AllNotes(const std::vector<Notice>& of_run, const Points& points) {
  std::vector<std::string> notes;
  for (const Notice& note : of_run) notes.push_back(absl::StrCat(note.code, ": ", note.text));
  for (const PointResult& point : points) {
    for (const Notice& note : point.notes) {
      const bool everywhere = std::all_of(points.begin(), points.end(), [&](const PointResult& p) {
        return std::find(p.notes.begin(), p.notes.end(), note) != p.notes.end();
      });
      const std::string line =
          absl::StrCat(everywhere ? "" : point.load.Label(), everywhere ? "" : ": ", note.code, ": ", note.text);
      if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
    }
  }
  return notes;
}

std::string MainTable(const Result& result, const Points& points) {
  const RunContext& c = result.context;
  std::vector<Row> rows = {TitleRow(c)};
  const std::vector<PointStatistics> statistics = DescribePoints(result.points);
  for (const PointResult& point : points) {
    const auto mine = std::find_if(statistics.begin(), statistics.end(),
                                   [&](const PointStatistics& s) { return s.load == point.load; });
    rows.push_back(PointRow(c, point, mine == statistics.end() ? nullptr : &*mine));
  }
  AddVerdicts(rows, c, points);
  return AlignTable(rows);
}

// The negotiated TLS parameters, in the order in which they were first seen.
std::string SecurityWords(const RunContext& c) {
  if (!c.run.security.tls) return "";
  std::vector<std::string> kinds;
  for (const NegotiatedTls& each : c.negotiated) {
    kinds.push_back(absl::StrCat(each.mutual ? "mutual " : "", each.version, " ", each.cipher,
                                 each.alpn.empty() ? "" : absl::StrCat(" ALPN ", each.alpn)));
  }
  return absl::StrCat(", ", kinds.empty() ? "TLS" : absl::StrJoin(kinds, " and "));
}

// The wire settings that differ from the default.
std::string WireWords(const RunConfig& run) {
  const std::string metadata = ToString(run.generated_metadata);
  const bool compressed = run.compression.algorithm != Compression::kNone;
  return absl::StrCat(compressed ? absl::StrCat(", compression ", ToString(run.compression)) : "",
                      metadata.empty() ? "" : ", metadata ", metadata, run.deadline_ns ? "" : ", no deadline");
}

std::string GrpcWords(const Environment& environment) {
  const std::string build = ToString(environment.grpc_build);
  return absl::StrCat("gRPC ", environment.grpc_version, build.empty() ? "" : absl::StrCat(" (", build, ")"));
}

}  // namespace

std::string FormatTable(const Result& result) {
  const RunContext& c = result.context;
  const Points points = MedianOverRepetitions(result.points);
  std::string text = absl::StrCat("Benchmark Results Summary: ", SeriesName(c), " on ", TargetNames(c.run), ", ",
                                  c.run.http == nullptr ? GrpcWords(c.environment) : HttpVersion(c.run),
                                  SecurityWords(c), WireWords(c.run),
                                  c.repetitions > 1 ? absl::StrCat(", median of ", c.repetitions, " repetitions") : "",
                                  "\n", MainTable(result, points));
  if (!result.points.empty() && result.points.front().rank) {
    const RankResult& rank = *result.points.front().rank;
    absl::StrAppend(&text, "rank ", rank.index, " of ", rank.count, ": what this client did itself\n");
  }
  const bool misses_ranks = std::any_of(points.begin(), points.end(),
                                        [](const PointResult& p) { return p.ranks && !p.ranks->missing.empty(); });
  const char* const or_ranks = misses_ranks ? ", or without some of the ranks" : "";
  if (c.open_loop())
    absl::StrAppend(&text, "latencies are from the scheduled time; sent: from when the call was sent\n");
  if (c.run.total > 0) {
    absl::StrAppend(&text, "each point ended when ", c.run.total, " calls were done (--total), or with its interval\n");
  }
  for (const PointResult& point : points) AppendNotes(&text, point);
  for (const Notice& warning : result.warnings) {
    absl::StrAppend(&text, "every point: warning: ", warning.code, ": ", warning.text, "\n");
  }
  if (std::any_of(points.begin(), points.end(), [](const PointResult& p) { return p.partial; })) {
    absl::StrAppend(&text, "* interrupted: measured for a part of the interval only", or_ranks, "\n");
  }
  if (c.repetitions >= static_cast<int>(kMinForInterval)) {
    absl::StrAppend(&text, "±: longer side of the 95 % interval (", kIntervalMethod, ")\n");
  } else if (c.repetitions > 1) {
    absl::StrAppend(&text, "no ±: a 95 % interval needs at least ", kMinForInterval, " repetitions\n");
  }
  for (const std::string& note : AllNotes(result.notes, points)) absl::StrAppend(&text, "note: ", note, "\n");
  absl::StrAppend(&text, FormatPacing(c, points), FormatRanks(c, result.points));
  if (result.find_rate) absl::StrAppend(&text, FormatFindRate(*result.find_rate));
  if (result.partial) absl::StrAppend(&text, "PARTIAL RESULT: the run was interrupted before its end", or_ranks, "\n");
  return text;
}

std::string FormatSlotTable(const Result& result) {
  if (result.points.empty()) return "";
  const PointResult& point = result.points.back();
  std::vector<Row> rows = {{"Slot", "Throughput (req/s)"}};
  for (size_t i = 0; i < point.completed_per_slot.size(); ++i) {
    const double seconds = ToSeconds(point.window_ns);
    rows.push_back(
        {absl::StrCat(i),
         seconds > 0 ? absl::StrFormat("%.2f", static_cast<double>(point.completed_per_slot[i]) / seconds) : "-"});
  }
  return absl::StrCat("Throughput per slot, ", point.load.Label(), ":\n", AlignTable(rows));
}

}  // namespace cqbench
