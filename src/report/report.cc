#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cqbench/reporter.h"
#include "src/report/context_names.h"

namespace cqbench {

std::string TargetNames(const RunConfig& run) {
  return absl::StrJoin(run.targets, ",", [](std::string* out, const Target& t) { absl::StrAppend(out, t.ToString()); });
}

absl::string_view HttpVersion(const RunConfig& run) {
  return run.http == nullptr ? "" : run.api == ClientApi::kHttp1 ? "HTTP/1.1" : "h2c";
}

absl::string_view OtherMessages(const RunConfig& run) {
  return run.http != nullptr || run.messages == MessageStrategy::kReused ? "" : ToString(run.messages);
}

absl::string_view OtherStub(const RunConfig& run) {
  if (run.http != nullptr || run.stub != StubKind::kGeneric || run.messages == MessageStrategy::kBytes) return "";
  return run.serializer == Serializer::kProtobuf ? ToString(run.stub) : ToString(run.serializer);
}

std::string SeriesName(const RunContext& context) {
  const RunConfig& run = context.run;
  std::string name =
      absl::StrCat(run.method.workload, "/", run.method.name, "/", ToString(run.api), "/", run.policy.ToString());
  for (const absl::string_view other : {OtherMessages(run), OtherStub(run)}) {
    if (!other.empty()) absl::StrAppend(&name, "/", other);
  }
  if (context.open_loop()) absl::StrAppend(&name, "/open");
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
