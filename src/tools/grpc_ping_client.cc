// The client: flags → config → run → report.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "cqbench/environment.h"
#include "cqbench/interrupt.h"
#include "cqbench/process.h"
#include "cqbench/reporter.h"
#include "cqbench/runner.h"
#include "cqbench/self_check.h"
#include "src/tools/client_flags.h"
#include "src/tools/output_file.h"
#include "src/tools/progress.h"

namespace cqbench {
namespace {

int Complain(absl::string_view what, int exit_code) {
  std::fprintf(stderr, "grpc_ping_client: %.*s\n", static_cast<int>(what.size()), what.data());
  return exit_code;
}

RunContext DescribeRun(int argc, const char* const* argv, const RunConfig& run) {
  RunContext context = DescribeEnvironment(argc, argv);
  context.grpc_version = GrpcVersion();
  context.protobuf_version = ProtobufVersion();
  for (const Target& target : run.targets)
    absl::StrAppend(&context.target, context.target.empty() ? "" : ",", target.ToString());
  context.workload = std::string(ToString(run.workload));
  context.mode = std::string(ToString(run.mode));
  context.api = std::string(ToString(run.api));
  context.poll = std::string(ToString(run.poll));
  context.policy = run.policy.ToString();
  context.warmup_ns = run.warmup_ns;
  context.interval_ns = run.interval_ns;
  context.deadline_ns = run.deadline_ns;
  context.repetitions = run.repetitions;
  context.request_bytes = run.request_bytes;
  context.response_bytes = run.response_bytes;
  for (const ChannelArg& arg : run.channel_args) {
    const int* number = std::get_if<int>(&arg.value);
    context.channel_args.emplace_back(arg.key, number ? absl::StrCat(*number) : std::get<std::string>(arg.value));
  }
  context.service_config = run.service_config;
  return context;
}

std::string ForStandardOutput(const ClientOptions& options, const Result& result) {
  if (options.output.empty() && options.format != Format::kTable) return FormatResult(result, options.format);
  std::string text = FormatTable(result);
  if (options.show_evidence) absl::StrAppend(&text, FormatEvidence(result));
  absl::StrAppend(&text, FormatExtras(result));
  if (options.with_csv) absl::StrAppend(&text, "\n", FormatPostCsv(result));
  if (options.per_worker_stats) absl::StrAppend(&text, "\n", FormatWorkerTable(result));
  return text;
}

// Complains about what makes the exit status 1.
int Judge(const ClientOptions& options, const Result& result) {
  int exit_code = 0;
  for (const PointResult& point : result.points) {
    if (!point.failure.empty()) {
      exit_code = Complain(absl::StrCat("in-flight ", point.inflight, ": ", point.failure), kExitFailure);
    } else if (point.ErrorRate() > options.max_error_rate) {
      exit_code =
          Complain(absl::StrCat("in-flight ", point.inflight, ": ", point.Failed(), " failed calls, a share of ",
                                point.ErrorRate(), " is above --max-error-rate ", options.max_error_rate),
                   kExitFailure);
    }
  }
  return exit_code;
}

int Main(int argc, const char* const* argv) {
  Interrupt interrupt;  // before the library starts threads
  const Parsed<ClientOptions> parsed = ParseClientFlags(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  const ClientOptions& options = *parsed.options;
  SetDeadlockDetection(options.deadlock_detection);
  if (const absl::Status runnable = CheckRunnable(options.run); absl::IsNotFound(runnable)) {
    return Complain(absl::StrCat("--host: ", runnable.message()), kExitUsage);
  } else if (!runnable.ok()) {
    return Complain(runnable.message(), kExitFailure);
  }
  OutputFile output;
  if (!options.output.empty()) {
    if (const absl::Status opened = output.Open(options.output); !opened.ok()) {
      return Complain(absl::StrCat("--output: ", opened.message()), kExitUsage);
    }
  }

  Result result;
  result.context = DescribeRun(argc, argv, options.run);
  result.context.deadlock_detection = options.deadlock_detection;
  {
    ProgressLine progress;
    SweepResult sweep = RunSweep(options.run, interrupt, [&](const ProgressUpdate& update) { progress.Show(update); });
    result.points = std::move(sweep.points);
    result.baselines = std::move(sweep.baselines);
    result.servers = std::move(sweep.servers);
    result.notes = std::move(sweep.notes);
    result.partial = sweep.partial;
    result.context.repetitions = std::max(sweep.repetitions, 1);
  }
  if (options.run.evidence) result.suspect = CheckSetting(result.context, AllowedCpus(), result.servers);

  // A table of nothing says less than the complaint alone.
  const bool measured = std::any_of(result.points.begin(), result.points.end(),
                                    [](const PointResult& p) { return p.completed > 0 || p.Failed() > 0; });
  const bool table = options.format == Format::kTable || !options.output.empty();
  if (measured || !table) std::fputs(ForStandardOutput(options, result).c_str(), stdout);
  int exit_code = Judge(options, result);
  if (!options.output.empty()) {
    if (const absl::Status written = output.Commit(FormatResult(result, options.format)); !written.ok()) {
      exit_code = Complain(absl::StrCat("--output: ", written.message()), kExitFailure);
    }
  }
  if (std::fflush(stdout) != 0) exit_code = Complain("cannot write to standard output", kExitFailure);
  return interrupt.signal() != 0 ? 128 + interrupt.signal() : exit_code;
}

}  // namespace
}  // namespace cqbench

int main(int argc, char** argv) {
  return cqbench::Main(argc, argv);
}
