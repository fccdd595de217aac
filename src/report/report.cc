#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"

namespace cqbench {

std::string SeriesName(const RunContext& context) {
  const MethodInfo& method = context.method;
  std::string name = absl::StrCat(method.workload, "/", method.name, "/", context.api, "/", context.policy);
  if (!context.messages.empty() && context.messages != "reused") absl::StrAppend(&name, "/", context.messages);
  if (context.stub == "generic" && context.messages != "bytes")
    absl::StrAppend(&name, "/", context.codec == "pooled" ? "pooled" : "generic");
  if (context.open_loop) absl::StrAppend(&name, "/open");
  return name;
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
