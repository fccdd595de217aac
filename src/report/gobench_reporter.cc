// Go benchmark text, as golang.org/x/perf/cmd/benchstat reads it: one line per point and repetition, so that benchstat
// sees the repetitions as samples.

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cqbench/reporter.h"

namespace cqbench {

namespace {

// Slashes and "=" are benchstat's own.
std::string Series(const RunContext& c) {
  std::string name = c.method.workload;
  if (!name.empty()) name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
  std::string series = absl::StrCat("Benchmark", name, "/method=", c.method.name, "/api=", c.api,
                                    "/policy=", absl::StrReplaceAll(c.policy, {{":", "-"}}));
  if (!c.messages.empty() && c.messages != "reused") absl::StrAppend(&series, "/messages=", c.messages);
  if (c.stub == "generic" && c.messages != "bytes") absl::StrAppend(&series, "/stub=generic");
  if (c.codec == "pooled") absl::StrAppend(&series, "/codec=pooled");
  if (c.open_loop) absl::StrAppend(&series, "/loop=open");
  return series;
}

void AppendLatencies(std::string& text, absl::string_view prefix, const std::optional<LatencyStats>& stats) {
  constexpr std::pair<const char*, Nanos LatencyStats::*> kPercentiles[] = {{"p50-ns", &LatencyStats::p50_ns},
                                                                            {"p90-ns", &LatencyStats::p90_ns},
                                                                            {"p99-ns", &LatencyStats::p99_ns},
                                                                            {"p99.9-ns", &LatencyStats::p999_ns}};
  for (const auto& [unit, field] : kPercentiles) {
    if (stats && stats->Knows(field)) absl::StrAppend(&text, " ", (*stats).*field, " ", prefix, unit);
  }
}

}  // namespace

std::string FormatGoBench(const Result& result) {
  const RunContext& c = result.context;
  const std::string series = Series(c);
  std::string text = absl::StrCat(
      "goos: linux\npkg: cqbench\ncpu: ", c.cpu_model,
      c.http_version.empty() ? "\ngrpc: " : "\nhttp: ", c.http_version.empty() ? c.grpc_version : c.http_version, "\n");
  for (const PointResult& p : result.points) {
    const std::string name = absl::StrCat(series, "/", absl::StrReplaceAll(p.load.Key(), {{":", "="}}));
    if (p.completed == 0) {
      absl::StrAppend(&text, "# ", name, ": not measured: ", p.failure, "\n");
      continue;
    }
    if (p.partial)
      absl::StrAppend(&text, "# the next line was interrupted: measured for a part of the interval only\n");
    if (p.latency && p.latency->at_least > 0) {
      absl::StrAppend(&text, "# in the next line, ", p.latency->at_least,
                      " call(s) have no end: percentiles they could change are missing\n");
    }
    absl::StrAppendFormat(&text, "%s %d %.2f ns/op %.2f rps", name, p.completed,
                          static_cast<double>(p.window_ns) / static_cast<double>(p.completed), p.ThroughputPerSecond());
    if (p.load.open()) absl::StrAppendFormat(&text, " %.2f asked-rps", p.load.rate);
    AppendLatencies(text, "", p.latency);
    if (p.open_loop) AppendLatencies(text, "sent-", p.open_loop->from_sent);
    if (const auto cpu = p.CpuPerRpcNs()) absl::StrAppendFormat(&text, " %.2f cpu-ns/op", *cpu);
    if (const auto cpu = p.figures.Get("server_cpu_per_rpc_ns")) {
      absl::StrAppendFormat(&text, " %.2f server-cpu-ns/op", *cpu);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace cqbench
