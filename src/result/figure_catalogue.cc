#include "src/result/figure_catalogue.h"

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "src/result/figure_rows.h"

namespace cqbench {
namespace {

Side SideOf(absl::string_view name) {
  absl::ConsumePrefix(&name, "breakdown_");
  if (absl::ConsumePrefix(&name, "client_")) return Side::kClient;
  return absl::ConsumePrefix(&name, "server_") ? Side::kServer : Side::kBoth;
}

struct Part {
  const char* suffix;
  const char* title;
  const char* description;
};

constexpr Part kDistribution[] = {
    {"_min", "minimum", "Minimum"}, {"_median", "median", "Median"}, {"_max", "maximum", "Maximum"}};
constexpr Part kTimes[] = {
    {"_samples", "samples", "Number of samples"}, {"_p50_ns", "P50", "Median"}, {"_p99_ns", "P99", "99th percentile"}};

std::string OfSide(Side side, const char* client_names) {
  return side == Side::kServer ? absl::StrReplaceAll(client_names, {{"client_", "server_"}}) : client_names;
}

Figure Whole(const FigureRow& row, const char* name) {
  const Side side = SideOf(name);
  const std::string title = absl::StrCat(ToString(side), side == Side::kBoth ? "" : " ", row.title);
  return {name,
          side,
          row.measure.kind,
          row.measure.unit,
          row.measure.shown_unit,
          row.measure.scale,
          row.better,
          row.merge.rule,
          {OfSide(side, row.merge.numerator), OfSide(side, row.merge.denominator)},
          row.needs,
          title,
          row.description};
}

Figure PartOf(const FigureRow& row, const char* name, const Part& part) {
  Figure figure = Whole(row, name);
  absl::StrAppend(&figure.name, part.suffix);
  absl::StrAppend(&figure.title, ", ", part.title);
  figure.description = absl::StrCat(part.description, ": ", row.description);
  return figure;
}

void Append(const FigureRow& row, const char* name, std::vector<Figure>& all) {
  switch (row.parts) {
    case Parts::kNone:
      all.push_back(Whole(row, name));
      return;
    case Parts::kDistribution:
      for (const Part& part : kDistribution) {
        Figure& figure = all.emplace_back(PartOf(row, name, part));
        const bool is_min = part.suffix == kDistribution[0].suffix, is_max = part.suffix == kDistribution[2].suffix;
        figure.merge = is_min ? MergeRule::kMin : is_max ? MergeRule::kMax : MergeRule::kMedian;
      }
      return;
    case Parts::kTimes:
      for (const Part& part : kTimes) {
        Figure& figure = all.emplace_back(PartOf(row, name, part));
        if (part.suffix != kTimes[0].suffix) continue;
        figure.kind = FigureKind::kCount;
        figure.unit = figure.shown_unit = "";
        figure.scale = 1;
        figure.better = Better::kNeither;
      }
      return;
  }
}

std::vector<Figure> Expand() {
  std::vector<Figure> all;
  for (const FigureRow& row : FigureRows()) {
    for (const char* name : row.names) {
      if (name != nullptr) Append(row, name, all);
    }
  }
  for (Figure& figure : all) {
    const absl::string_view absent = AbsentWithout(figure.needs);
    if (!absent.empty()) absl::StrAppend(&figure.description, " ", absent);
  }
  return all;
}

}  // namespace

absl::string_view ToString(Side side) {
  constexpr const char* kNames[] = {"", "client", "server"};
  return kNames[static_cast<size_t>(side)];
}

absl::string_view ToString(FigureKind kind) {
  constexpr const char* kNames[] = {"count",  "positive_count", "amount", "nanoseconds",
                                    "offset", "share",          "ratio",  "correlation"};
  return kNames[static_cast<size_t>(kind)];
}

absl::string_view ToString(Better better) {
  constexpr const char* kNames[] = {"neither", "more", "less"};
  return kNames[static_cast<size_t>(better)];
}

absl::string_view ToString(MergeRule rule) {
  constexpr const char* kNames[] = {"none", "sum", "min", "max", "median", "quotient"};
  return kNames[static_cast<size_t>(rule)];
}

absl::string_view ToString(Needs needs) {
  constexpr const char* kNames[] = {"nothing", "open_loop", "evidence", "workers",   "tcp",     "connections",
                                    "queues",  "grpc",      "chunks",   "breakdown", "counting"};
  return kNames[static_cast<size_t>(needs)];
}

absl::string_view AbsentWithout(Needs needs) {
  constexpr const char* kTexts[] = {
      "",
      "Absent in a closed loop.",
      "",  // result.schema.json says it of all evidence
      "Absent where the library has the threads.",
      "Absent without TCP connections.",
      "Absent unless the connections are as the channel policy promises.",
      "Absent where the library has the completion queues.",
      "Absent over HTTP.",
      "Absent for methods that stream no chunks.",
      "Absent without --breakdown.",
      "Absent from programs that do not count allocations.",
  };
  return kTexts[static_cast<size_t>(needs)];
}

const std::vector<Figure>& FigureCatalogue() {
  static const std::vector<Figure> all = Expand();
  return all;
}

const Figure* FindFigure(absl::string_view name) {
  static const std::map<absl::string_view, const Figure*> by_name = [] {
    std::map<absl::string_view, const Figure*> map;
    for (const Figure& figure : FigureCatalogue()) map[figure.name] = &figure;
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

absl::string_view NameOf(Side side, absl::string_view client_name) {
  for (const FigureRow& row : FigureRows()) {
    if (row.names[0] != client_name) continue;
    const char* const name = row.names[side == Side::kServer ? 1 : 0];
    if (name != nullptr) return name;
  }
  std::abort();  // the caller names a figure that only one end has, or none
}

}  // namespace cqbench
