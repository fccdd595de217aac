#include "src/cli/schema/figure_files.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/result/figure_catalogue.h"
#include "src/result/notice.h"

namespace cqbench {
namespace {

using Json = nlohmann::ordered_json;

std::string Quoted(absl::string_view text) {
  return Json(std::string(text)).dump();
}

// Medians over repetitions have these and no others.
bool IsLatency(const Figure& f) {
  return f.name == "throughput_per_second" || absl::StartsWith(f.name, "latency_");
}
bool IsOther(const Figure& f) {
  return !IsLatency(f);
}
bool IsAny(const Figure&) {
  return true;
}

// A line per figure, so that a change of one is a line of the difference.
std::string Lines(absl::string_view indent, std::string line(const Figure&), bool wanted(const Figure&)) {
  std::vector<std::string> lines;
  for (const Figure& figure : FigureCatalogue()) {
    if (wanted(figure)) lines.push_back(absl::StrCat(indent, line(figure)));
  }
  return absl::StrJoin(lines, ",\n");
}

std::string ListOf(const std::vector<NoticeCode>& codes) {
  return absl::StrJoin(codes, ", ",
                       [](std::string* out, const NoticeCode& c) { absl::StrAppend(out, Quoted(c.code)); });
}

std::string PageOf(const std::vector<NoticeCode>& codes) {
  std::string table = "| Code | Meaning |\n|---|---|\n";
  for (const NoticeCode& each : codes) absl::StrAppend(&table, "| `", each.code, "` | ", each.meaning, " |\n");
  return table;
}

std::string ForPython(const Figure& f) {
  Json json = {{"name", f.name},
               {"side", std::string(ToString(f.side))},
               {"kind", std::string(ToString(f.kind))},
               {"unit", f.unit},
               {"shown_unit", f.shown_unit},
               {"scale", f.scale},
               {"better", std::string(ToString(f.better))},
               {"merge", std::string(ToString(f.merge))},
               {"needs", std::string(ToString(f.needs))},
               {"title", f.title},
               {"description", f.description}};
  if (f.merge == MergeRule::kQuotient) {
    json["numerator"] = f.quotient.numerator;
    json["denominator"] = f.quotient.denominator;
  }
  return json.dump();
}

std::string ForSchema(const Figure& f) {
  return absl::StrFormat("%s: {\"description\": %s, \"$ref\": \"#/$defs/%s\"}", Quoted(f.name), Quoted(f.description),
                         ToString(f.kind));
}

std::string RanksOf(const Figure& f) {
  if (f.merge != MergeRule::kQuotient) return std::string(ToString(f.merge));
  const auto& [numerator, denominator] = f.quotient;
  if (numerator.empty()) return absl::StrCat("mean, weighted by ", denominator);
  if (denominator.empty()) return absl::StrCat("harmonic mean, weighted by ", numerator);
  const bool is_sum = absl::StrContains(numerator, " + ");
  return absl::StrCat(is_sum ? "(" : "", numerator, is_sum ? ")" : "", " / ", denominator);
}

std::string ForPeople(const Figure& f) {
  const std::string unit = f.unit.empty() ? std::string(ToString(f.kind)) : f.unit;
  return absl::StrFormat("| `%s` | %s | %s | %s | %s |\n", f.name, unit, ToString(f.better), RanksOf(f), f.description);
}

}  // namespace

std::string FiguresJson() {
  return absl::StrCat("{\"figures\": [\n", Lines("  ", ForPython, IsAny), "\n]}\n");
}

std::string FiguresPage() {
  std::string page =
      "# Figures\n"
      "\n"
      "<!-- Written by cqbench_schema from src/result/figure_rows.cc and notice.cc. -->\n"
      "\n"
      "Every figure that a point of a result may have. A figure that could not be measured is absent. Shares and "
      "ratios\n"
      "are fractions of 1. *Ranks* is how the figures of several client processes become one: none means that the\n"
      "figure is absent from their merged result.\n"
      "\n"
      "| Figure | Unit or kind | Better | Ranks | Description |\n"
      "|---|---|---|---|---|\n";
  for (const Figure& figure : FigureCatalogue()) absl::StrAppend(&page, ForPeople(figure));
  absl::StrAppend(&page, "\n## Warnings\n\nA point with a warning is unreliable.\n\n", PageOf(WarningCodes()),
                  "\n## Notes\n\nA note explains a point, which is reliable all the same.\n\n", PageOf(NoteCodes()));
  return page;
}

absl::StatusOr<std::string> ResultSchema(absl::string_view by_hand) {
  std::string schema(by_hand);
  const int places = absl::StrReplaceAll({{"        \"@latencies@\": {}", Lines("        ", ForSchema, IsLatency)},
                                          {"        \"@figures@\": {}", Lines("        ", ForSchema, IsOther)},
                                          {"\"@warnings@\"", ListOf(WarningCodes())},
                                          {"\"@notes@\"", ListOf(NoteCodes())}},
                                         &schema);
  if (places != 4)
    return absl::InvalidArgumentError("it has @latencies@, @figures@, @warnings@ and @notes@, each once");
  if (Json::parse(schema, nullptr, /*allow_exceptions=*/false).is_discarded()) {
    return absl::InvalidArgumentError("the schema is not JSON");
  }
  return schema;
}

}  // namespace cqbench
