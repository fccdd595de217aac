// Go benchmark text, as golang.org/x/perf/cmd/benchstat reads it: one line per point and repetition, so that benchstat
// sees the repetitions as samples.

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cqbench/reporter.h"
#include "src/report/context_names.h"

namespace cqbench {

namespace {

// Slashes and "=" are benchstat's own.
std::string Series(const RunContext& c) {
  const RunConfig& run = c.run;
  std::string name = run.method.workload;
  if (!name.empty()) name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
  std::string series = absl::StrCat("Benchmark", name, "/method=", run.method.name, "/api=", ToString(run.api),
                                    "/policy=", absl::StrReplaceAll(run.policy.ToString(), {{":", "-"}}));
  if (const auto messages = OtherMessages(run); !messages.empty()) absl::StrAppend(&series, "/messages=", messages);
  if (!OtherStub(run).empty()) absl::StrAppend(&series, "/stub=", ToString(run.stub));
  if (run.http == nullptr && run.serializer != Serializer::kProtobuf)
    absl::StrAppend(&series, "/serializer=", ToString(run.serializer));
  if (c.open_loop()) absl::StrAppend(&series, "/loop=open");
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
  std::string text = absl::StrCat("goos: linux\npkg: cqbench\ncpu: ", c.environment.cpu_model,
                                  c.run.http == nullptr ? absl::StrCat("\ngrpc: ", c.environment.grpc_version)
                                                        : absl::StrCat("\nhttp: ", HttpVersion(c.run)),
                                  "\n");
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
                      " call(s) never ended: percentiles that they could change are missing\n");
    }
    absl::StrAppendFormat(&text, "%s %d %.2f ns/op %.2f rps", name, p.completed,
                          static_cast<double>(p.window_ns) / static_cast<double>(p.completed), p.ThroughputPerSecond());
    if (p.load.open()) absl::StrAppendFormat(&text, " %.2f target-rps", p.load.rate);
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
