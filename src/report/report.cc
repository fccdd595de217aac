#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"

namespace cqbench {

std::string SeriesName(const RunContext& context) {
  return absl::StrCat(context.workload, "/", context.mode, "/", context.api, "/", context.policy);
}

std::string FormatResult(const Result& result, Format format) {
  switch (format) {
    case Format::kCsv:
      return FormatCsv(result);
    case Format::kJson:
      return FormatJson(result);
    case Format::kGoBench:
      return FormatGoBench(result);
    case Format::kTable:
      break;
  }
  return FormatTable(result);
}

}  // namespace cqbench
