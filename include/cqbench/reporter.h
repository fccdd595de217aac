// Turns a result into text. Reporters know results, not how they were measured.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cqbench/result.h"
#include "src/base/enum_names.h"

namespace cqbench {

enum class Format { kTable, kCsv, kJson, kGoBench };
constexpr auto NamesOf(Format) {
  return std::to_array<EnumName<Format>>(
      {{Format::kTable, "table"}, {Format::kCsv, "csv"}, {Format::kJson, "json"}, {Format::kGoBench, "gobench"}});
}

// The table of the YDB post, plus connections, errors and, below it, all faults. In an open loop its points are rates,
// latencies from sent follow those from due, and a second table shows how well the schedule was kept.
std::string FormatTable(const Result& result);
// Tables of the evidence, each only where there is something to show: connections, CPU (--evidence) ...
std::string FormatEvidence(const Result& result);
// ... and what was asked for by flags of its own: breakdown, allocations, lower bounds.
std::string FormatExtras(const Result& result);
// Allocation sites of a program (--allocation-sites): the first by bytes, and by count. `who`: "client".
std::string FormatAllocationSites(const std::string& who, const AllocationSites& described);
// Throughput per slot of the last point (--per-worker-stats).
std::string FormatSlotTable(const Result& result);
// The CSV block of the source post's `--with-csv`, column for column; in an open loop its first one is the rate.
std::string FormatPostCsv(const Result& result);
// One line per point and repetition with every scalar figure; starts with the columns of the post. New columns come at
// the end.
std::string FormatCsv(const Result& result);
// Google Benchmark's file layout with our figures as further keys.
std::string FormatJson(const Result& result);
// Go benchmark lines for benchstat.
std::string FormatGoBench(const Result& result);

std::string FormatResult(const Result& result, Format format);

// "ping/unary/cq/local-pool": what stays the same over the sweep. What is not the default follows: messages, stub,
// "open".
std::string SeriesName(const RunContext& context);

}  // namespace cqbench
