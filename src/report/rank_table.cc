// A row for each of several client processes that measured a point together, and the range over them.
#include "src/report/rank_table.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/report/load_table.h"
#include "src/report/text_table.h"

namespace cqbench {
namespace {

using RankOfTable = RanksResult::Row;

constexpr size_t kMaxRows = 64;  // of a point; of more ranks, only the range is shown

struct RankColumn {
  const char* title;
  const char* format;  // printf, of a double
  std::function<std::optional<double>(const RankOfTable&)> get;
};

std::optional<double> Times(double scale, const auto& value) {
  return value ? std::optional<double>(static_cast<double>(*value) * scale) : std::nullopt;
}

// The time from a window boundary until a thread of the rank was seen awake.
std::optional<double> Late(const RankOfTable& r, Nanos RankTiming::*seen, Nanos RankTiming::*boundary) {
  const auto& timing = r.rank.timing;
  return timing ? std::optional<double>(static_cast<double>((*timing).*seen - (*timing).*boundary) * 1e-3)
                : std::nullopt;
}

const std::vector<RankColumn>& RankColumns() {
  static const std::vector<RankColumn> kColumns = {
      {"Throughput (req/s)", "%.2f",
       [](const RankOfTable& r) { return std::optional<double>(r.throughput_per_second); }},
      {"P99 (µs)", "%.1f", [](const RankOfTable& r) { return Times(1e-3, r.p99_ns); }},
      {"Cores", "%.2f", [](const RankOfTable& r) { return Times(1, r.cores_used); }},
      {"CPU µs/RPC", "%.2f", [](const RankOfTable& r) { return Times(1e-3, r.cpu_per_rpc_ns); }},
      {"Connections", "%.0f", [](const RankOfTable& r) { return Times(1, r.connections); }},
      {"Awake +µs", "%.0f",
       [](const RankOfTable& r) { return Late(r, &RankTiming::awake_open_ns, &RankTiming::announced_open_ns); }},
      {"at end", "%.0f",
       [](const RankOfTable& r) { return Late(r, &RankTiming::awake_close_ns, &RankTiming::announced_close_ns); }},
  };
  return kColumns;
}

std::string Cell(const RankColumn& column, std::optional<double> value) {
  return value ? absl::StrFormat(*absl::ParsedFormat<'f'>::New(column.format), *value) : "-";
}

// Minimum, median and maximum of each column.
void AddRange(const RanksResult& ranks, const std::string& load, std::vector<Row>& rows) {
  constexpr std::pair<const char*, double> kPlaces[] = {{"minimum", 0}, {"median", 0.5}, {"maximum", 1}};
  for (const auto& [name, place] : kPlaces) {
    Row row = {load, name, "", ""};
    for (const RankColumn& column : RankColumns()) {
      std::vector<double> values;
      for (const RankOfTable& rank : ranks.rows) {
        if (const auto value = column.get(rank)) values.push_back(*value);
      }
      std::sort(values.begin(), values.end());
      const auto at =
          static_cast<size_t>(place * static_cast<double>(values.size() - std::min<size_t>(values.size(), 1)));
      row.push_back(Cell(column, values.empty() ? std::nullopt : std::optional<double>(values[at])));
    }
    row.insert(row.end(), 2, "");
    rows.push_back(std::move(row));
  }
}

void AddRanks(const PointResult& point, std::vector<Row>& rows) {
  const std::string load = LoadCell(point.load);
  if (point.ranks->rows.size() <= kMaxRows) {
    for (const RankOfTable& rank : point.ranks->rows) {
      Row row = {load, absl::StrCat(rank.rank.index, rank.partial ? "*" : ""), rank.rank.host, rank.rank.cpus_allowed};
      for (const RankColumn& column : RankColumns()) row.push_back(Cell(column, column.get(rank)));
      row.push_back(Codes(rank.warnings));
      row.push_back(SaturatedResources(rank.notes));
      rows.push_back(std::move(row));
    }
  }
  if (point.ranks->rows.size() > 1) AddRange(*point.ranks, load, rows);
}

}  // namespace

std::string FormatRanks(const RunContext& context, const std::vector<PointResult>& points) {
  Row title = {LoadTitle(context), "Rank", "Host", "CPUs"};
  for (const RankColumn& column : RankColumns()) title.emplace_back(column.title);
  title.insert(title.end(), {"Warnings", "Saturated"});
  std::vector<Row> rows = {title};
  Nanos skew = 0, bound = 0;
  int count = 0;
  for (const PointResult& point : points) {
    if (!point.ranks) continue;
    AddRanks(point, rows);
    skew = std::max({skew, point.ranks->skew_open_ns, point.ranks->skew_close_ns});
    count = point.ranks->count;
    for (const RankOfTable& rank : point.ranks->rows) {
      if (rank.rank.timing) bound = std::max(bound, rank.rank.timing->offset_bound_ns);
    }
  }
  if (rows.size() == 1) return "";
  return absl::StrFormat(
      "\n%d ranks measured together; windows opened and closed at most %.0f µs apart, by clocks that are known to %.1f "
      "µs "
      "(awake: seen so long after it had opened, and closed)\n%s",
      count, static_cast<double>(skew) * 1e-3, static_cast<double>(bound) * 1e-3, AlignTable(rows));
}

}  // namespace cqbench
