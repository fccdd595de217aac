// Go benchmark text, as golang.org/x/perf/cmd/benchstat reads it: one line per point and repetition, so that benchstat
// sees the repetitions as samples.

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cqbench/reporter.h"

namespace cqbench {

std::string FormatGoBench(const Result& result) {
  const RunContext& c = result.context;
  std::string name = c.workload;
  name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
  const std::string series = absl::StrCat("Benchmark", name, "/mode=", c.mode, "/api=", c.api,
                                          "/policy=", absl::StrReplaceAll(c.policy, {{":", "-"}}));
  std::string text = absl::StrCat("goos: linux\npkg: cqbench\ncpu: ", c.cpu_model, "\ngrpc: ", c.grpc_version, "\n");
  for (const PointResult& p : result.points) {
    if (p.completed == 0) {
      absl::StrAppend(&text, "# ", series, "/inflight=", p.inflight, ": not measured: ", p.failure, "\n");
      continue;
    }
    if (p.partial)
      absl::StrAppend(&text, "# the next line was interrupted: measured for a part of the interval only\n");
    absl::StrAppendFormat(&text, "%s/inflight=%d %d %.2f ns/op %.2f rps", series, p.inflight, p.completed,
                          static_cast<double>(p.window_ns) / static_cast<double>(p.completed), p.ThroughputPerSecond());
    constexpr std::pair<const char*, Nanos LatencyStats::*> kPercentiles[] = {{"p50-ns", &LatencyStats::p50_ns},
                                                                              {"p90-ns", &LatencyStats::p90_ns},
                                                                              {"p99-ns", &LatencyStats::p99_ns},
                                                                              {"p99.9-ns", &LatencyStats::p999_ns}};
    for (const auto& [unit, field] : kPercentiles) {
      if (p.latency && p.latency->Knows(field)) absl::StrAppendFormat(&text, " %d %s", (*p.latency).*field, unit);
    }
    if (const auto cpu = p.CpuPerRpcNs()) absl::StrAppendFormat(&text, " %.2f cpu-ns/op", *cpu);
    if (const auto cpu = p.figures.Get("server_cpu_per_rpc_ns")) {
      absl::StrAppendFormat(&text, " %.2f server-cpu-ns/op", *cpu);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace cqbench
