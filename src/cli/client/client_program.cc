#include "src/cli/client/client_program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cqbench/reporter.h"
#include "src/base/interrupt.h"
#include "src/base/last_resort.h"
#include "src/base/reachability.h"
#include "src/base/sockets.h"
#include "src/channel/tls.h"
#include "src/cli/client/client_flags.h"
#include "src/cli/client/describe_run.h"
#include "src/cli/client/progress.h"
#include "src/cli/flags/output_file.h"
#include "src/cli/flags/tls_flags.h"
#include "src/http/client/http_engine.h"
#include "src/load/run/runner.h"
#include "src/observe/checks/self_check.h"
#include "src/observe/sampling/environment.h"
#include "src/observe/sampling/process.h"
#include "src/ranks/live_merge.h"
#include "src/ranks/rank_files.h"
#include "src/ranks/rank_report.h"

namespace cqbench {
namespace {

int Complain(absl::string_view what, int exit_code) {
  std::fprintf(stderr, "grpc_ping_client: %.*s\n", static_cast<int>(what.size()), what.data());
  return exit_code;
}

// " (Connection refused)" of the target that was asked for the method, the first; empty where that is not why.
std::string ExplainUnreachable(const RunConfig& run) {
  const TlsTrial trial = run.security.tls ? TryTls(run.targets.front(), run.security) : TlsTrial();
  if (trial.lasting) return absl::StrCat(" (", trial.why, ")");
  const auto endpoints = ResolveTargets({run.targets.front()});
  if (run.security.tls || !endpoints.ok() || !IsUnreachable(*endpoints)) return "";
  return absl::StrCat(" (", ExplainNoConnection(*endpoints), ")");
}

// gRPC 1.51 takes the status of each response in its filter for retries, whether there is one or not.
std::string ExplainLikelyAbort(const RunConfig& run) {
  const auto is_off = [](const ChannelArg& arg) {
    const int* const number = std::get_if<int>(&arg.value);
    return arg.key == "grpc.enable_retries" && number != nullptr && *number == 0;
  };
  const std::vector<ChannelArg>& args = run.channel_args;
  if (IsHttp(run.api) || !absl::StartsWith(GrpcVersion(), "1.51.") || std::any_of(args.begin(), args.end(), is_off)) {
    return "";
  }
  return absl::StrCat("gRPC ", GrpcVersion(),
                      " aborts when a response ends without grpc-status, as one without any headers of gRPC's does: "
                      "--channel-arg grpc.enable_retries=0 avoids it");
}

// A result made of what is known by now.
void Take(const SweepResult& sweep, Result& result) {
  result.points = sweep.points;
  result.lower_bounds = sweep.lower_bounds;
  result.servers = sweep.servers;
  result.peer_settings = sweep.peer_settings;
  result.notes = sweep.notes;
  result.find_rate = sweep.find_rate;
  result.partial = sweep.partial;
  TakeNegotiated(sweep.points, result.context);
  result.context.repetitions = std::max(sweep.repetitions, 1);
}

std::string ForStandardOutput(const ClientOptions& options, const Result& result) {
  if (options.output.empty() && options.format != Format::kTable) return FormatResult(result, options.format);
  std::string text = FormatTable(result);
  if (options.show_evidence) absl::StrAppend(&text, FormatEvidence(result));
  absl::StrAppend(&text, FormatExtras(result));
  if (options.with_csv) absl::StrAppend(&text, "\n", FormatPostCsv(result));
  if (result.allocation_sites) absl::StrAppend(&text, FormatAllocationSites("client", *result.allocation_sites));
  if (options.per_worker_stats) absl::StrAppend(&text, "\n", FormatSlotTable(result));
  return text;
}

// Returns why the exit status is 1, missed objectives aside, or "".
std::string Fault(const ClientOptions& options, const PointResult& point) {
  if (!point.failure.empty()) return point.failure;
  // The trials of a search are meant to miss.
  if (options.goals.find_rate || point.ErrorRate() <= options.max_error_rate) return "";
  const CallCounts& counts = point.counts;
  return absl::StrCat(counts.failed, " failed, ", counts.unfinished, " unfinished, ", counts.unsent,
                      " unsent calls, a share of ", point.ErrorRate(), " is above --max-error-rate ",
                      options.max_error_rate);
}

// The same for --max-allocs-per-rpc. Both ends together where the server counts, too.
std::string TooManyAllocations(double most, const PointResult& point) {
  const auto client = point.figures.Get("client_allocations_per_rpc");
  const auto server = point.figures.Get("server_allocations_per_rpc");
  if (!point.failure.empty()) return "";
  if (!client) return "--max-allocs-per-rpc: allocations were not counted";
  if (*client + server.value_or(0) <= most) return "";
  return absl::StrCat(*client + server.value_or(0), " allocations per call (client ", *client, ", server ",
                      server ? absl::StrCat(*server) : "not counted", ") are above --max-allocs-per-rpc ", most);
}

// Complains, a line each, about what makes the exit status 1.
int Judge(const ClientOptions& options, const SweepResult& sweep) {
  int exit_code = 0;
  const double most_allocations = options.allocations.max_per_rpc;
  bool half_counted = false;
  for (const PointResult& point : sweep.points) {
    const std::string fault = Fault(options, point);
    if (!fault.empty()) exit_code = Complain(absl::StrCat(point.load.Label(), ": ", fault), kExitFailure);
    if (most_allocations < 0) continue;
    const std::string too_many = TooManyAllocations(most_allocations, point);
    if (!too_many.empty()) exit_code = Complain(absl::StrCat(point.load.Label(), ": ", too_many), kExitFailure);
    half_counted = half_counted || !point.figures.Get("server_allocations_per_rpc");
  }
  if (half_counted) {
    Complain(
        "--max-allocs-per-rpc: the server does not count its allocations (grpc_ping_server_counting does): the "
        "client's alone were held against it",
        0);
  }
  for (const std::string& miss : sweep.misses) {
    exit_code = Complain(absl::StrCat("--objective: ", miss), kExitFailure);
  }
  return exit_code;
}

// Instead of a run. Returns the exit status.
int MergeRanks(const ClientOptions& options) {
  const auto is_output = [&](const std::string& path) {
    std::error_code absent;
    return std::filesystem::equivalent(path, options.output, absent);
  };
  const std::vector<std::string>& files = options.ranks.merge;
  if (std::any_of(files.begin(), files.end(), is_output)) {
    return Complain(absl::StrCat("--output: '", options.output, "' is one of the files that are merged"), kExitUsage);
  }
  const auto result = MergeRankFiles(files);
  if (!result.ok()) return Complain(result.status().message(), kExitUsage);
  if (!options.output.empty()) {
    OutputFile output;
    absl::Status written = output.Open(options.output);
    if (written.ok()) written = output.Commit(FormatResult(*result, options.format));
    if (!written.ok()) return Complain(absl::StrCat("--output: ", written.message()), kExitUsage);
  }
  std::fputs(ForStandardOutput(options, *result).c_str(), stdout);
  return 0;
}

class Client {
 public:
  // `quiet`: another rank writes to the same standard output, and to the file of --output.
  Client(int argc, const char* const* argv, ClientOptions options, Ranks* ranks, bool quiet)
      : argc_(argc),
        argv_(argv),
        options_(std::move(options)),
        allocations_(options_.allocations),
        ranks_(ranks),
        quiet_(quiet) {
    if (ranks != nullptr) merge_.emplace(*ranks, options_.goals.objective);
    if (quiet) options_.output.clear();
  }

  // The exit status.
  int Run(Interrupt& interrupt) {
    const int exit_code = MeasureAndReport(interrupt);
    if (ranks_ != nullptr) ranks_->Leave();
    return exit_code;
  }

 private:
  int MeasureAndReport(Interrupt& interrupt) {
    for (const auto step : {&Client::Begin, &Client::FindServers, &Client::FindMethod, &Client::OpenFiles}) {
      if (const int exit_code = (this->*step)(); exit_code != 0) return exit_code;
    }
    if (const absl::Status begun = allocations_.Begin(); !begun.ok()) return Complain(begun.message(), kExitUsage);
    const SweepResult sweep = Measure(interrupt);
    Take(sweep, result_);
    int exit_code = Judge(options_, sweep);
    const absl::Status reported = allocations_.End(result_.allocation_sites);
    if (!reported.ok()) exit_code = Complain(reported.message(), kExitFailure);
    if (result_.partial && interrupt.signal() == 0) exit_code = kExitFailure;  // the last point has said why
    if (!Write()) exit_code = kExitFailure;
    return interrupt.signal() != 0 ? 128 + interrupt.signal() : exit_code;
  }

  // This and what follows to Measure() ends with a complaint and an exit status, or with 0.
  int Begin() {
    if (options_.run.poll == PollMode::kNonPolling && !PollsByItself()) {
      return Complain(absl::StrCat("--poll: non-polling needs a library that polls in threads of its own, gRPC 1.83 "
                                   "with event_engine_client on; this is gRPC ",
                                   GrpcVersion()),
                      kExitUsage);
    }
    QuietLibraries();
    if (const absl::Status begun = BeginTls(options_.run.security); !begun.ok()) {
      return Complain(begun.message(), absl::IsInvalidArgument(begun) ? kExitUsage : kExitFailure);
    }
    if (const std::string why = WarnOfCertificate(options_.run.security); !why.empty()) Complain("warning: " + why, 0);
    return 0;
  }

  int FindServers() {
    auto endpoints = CheckRunnable(options_.run);
    if (absl::IsNotFound(endpoints.status())) {
      return Complain(absl::StrCat("--host: ", endpoints.status().message()), kExitUsage);
    }
    if (!endpoints.ok()) return Complain(endpoints.status().message(), kExitFailure);
    endpoints_ = *std::move(endpoints);
    if (const auto control = ResolveTargets(options_.run.control); !control.ok()) {
      return Complain(absl::StrCat("--control: ", control.status().message()), kExitUsage);
    }
    return 0;
  }

  int FindMethod() {
    CallContext call;
    if (!options_.call.method.empty()) {
      const auto facts = AskForMethod();
      if (!facts.ok()) {
        const absl::Status& why = facts.status();
        const bool typed_wrong = absl::IsNotFound(why) || absl::IsInvalidArgument(why);
        const std::string unreachable = absl::IsUnavailable(why) ? ExplainUnreachable(options_.run) : "";
        return Complain(absl::StrCat(why.message(), unreachable), typed_wrong ? kExitUsage : kExitFailure);
      }
      DescribeCall(options_.call, *facts, call);
    }
    result_.context = DescribeRun(argc_, argv_, options_);
    result_.context.call = call;
    return 0;
  }

  absl::StatusOr<CallFacts> AskForMethod() {
    const StepLimit limit("asking for the method", 2 * options_.run.connect_timeout_ns + StepLimit::kSlack);
    return ResolveCall(options_.call, options_.run);
  }

  int OpenFiles() {
    if (!options_.output.empty()) {
      if (const absl::Status opened = output_.Open(options_.output); !opened.ok()) {
        return Complain(absl::StrCat("--output: ", opened.message()), kExitUsage);
      }
    }
    if (!options_.ranks.rendezvous.empty()) {
      const absl::Status opened =
          rank_file_.Open(absl::StrCat(options_.ranks.rendezvous, "/rank-", options_.ranks.id->index, ".json"));
      if (!opened.ok()) return Complain(absl::StrCat("--rendezvous: ", opened.message()), kExitUsage);
    }
    return 0;
  }

  SweepResult Measure(Interrupt& interrupt) {
    ProgressLine progress;
    RunObserver observer;
    observer.progress = [&](const ProgressUpdate& update) { progress.Show(update); };
    const auto complain_once = [&](const absl::Status& saved) {
      if (saved.ok() || std::exchange(complained_, true)) return;
      progress.Clear();
      Complain(absl::StrCat(saved.message(), "; the run goes on"), kExitFailure);
    };
    if (ranks_ != nullptr) {
      observer.on_point = [&](const SweepResult& sweep) { TakePart(sweep); };
      observer.on_measurement = [&](const PointResult& point, const Measurement& measurement) {
        complain_once(SaveRank(point, measurement));
        merge_->Add(result_.rank_reports.back());
        complain_once(SaveOutput());
      };
    } else if (!options_.output.empty()) {
      observer.on_point = [&](const SweepResult& sweep) {
        TakePart(sweep);
        complain_once(SaveOutput());
      };
    } else {
      observer.on_point = [&](const SweepResult& sweep) {
        TakePart(sweep);
        SayAtLastResort(ForStandardOutput(options_, result_));
      };
    }
    return RunSweep(options_.run, endpoints_, options_.goals, interrupt, observer, ranks_);
  }

  // Takes the result so far, in case the run does not reach its end.
  void TakePart(const SweepResult& sweep) {
    Take(sweep, result_);
    CheckRun();
    result_.partial = true;
  }

  absl::Status SaveRank(const PointResult& point, const Measurement& measurement) {
    const RunConfig& run = result_.context.run;
    result_.rank_reports.push_back(EncodeRankReport(point, measurement, {result_.warnings, run.total, run.skip_first}));
    if (options_.ranks.rendezvous.empty()) return absl::OkStatus();
    const absl::Status replaced = rank_file_.Replace(FormatJson(result_));
    return replaced.ok() ? replaced : absl::UnavailableError(absl::StrCat("--rendezvous: ", replaced.message()));
  }

  Result Merged() const { return merge_ ? merge_->Merged(result_) : result_; }

  absl::Status SaveOutput() {
    if (options_.output.empty()) return absl::OkStatus();
    const absl::Status replaced = output_.Replace(FormatResult(Merged(), options_.format));
    return replaced.ok() ? replaced : absl::UnavailableError(absl::StrCat("--output: ", replaced.message()));
  }

  void CheckRun() {
    if (options_.run.evidence)
      result_.warnings = CheckSetting(result_.context.environment, AllowedCpus(), result_.servers);
  }

  // False after a complaint.
  bool Write() {
    CheckRun();
    const Result shown = Merged();
    // A table of nothing says less than the complaint alone.
    const bool measured = std::any_of(shown.points.begin(), shown.points.end(),
                                      [](const PointResult& p) { return p.completed > 0 || p.Failed() > 0; });
    const bool table = options_.format == Format::kTable || !options_.output.empty();
    bool written = true;
    bool lost = false;
    if (!options_.output.empty()) {
      const absl::Status committed = output_.Commit(FormatResult(shown, options_.format));
      lost = !committed.ok();
      if (lost) Complain(absl::StrCat("--output: ", committed.message(), ": the result is on standard output"), 0);
    }
    if (!options_.ranks.rendezvous.empty()) {
      const absl::Status committed = rank_file_.Commit(FormatJson(result_));
      if (!committed.ok()) written = Complain(absl::StrCat("--rendezvous: ", committed.message()), 0) != 0;
    }
    if (lost) {
      written = false;
      std::fputs(FormatResult(shown, options_.format).c_str(), stdout);
    } else if ((measured || !table) && !quiet_) {
      std::fputs(ForStandardOutput(options_, shown).c_str(), stdout);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      written = Complain(absl::StrCat("cannot write to standard output: ", std::strerror(errno)), 0) != 0;
    }
    return written;
  }

  const int argc_;
  const char* const* const argv_;
  ClientOptions options_;
  std::vector<Endpoint> endpoints_;
  Result result_;
  OutputFile output_;
  OutputFile rank_file_;  // rank-N.json
  AllocationReport allocations_;
  Ranks* const ranks_;
  std::optional<LiveMerge> merge_;
  const bool quiet_;
  bool complained_ = false;  // that the result could not be saved
};

}  // namespace

int RunClientProgram(int argc, const char* const* argv, Interrupt& interrupt, Ranks* launched) {
  const Parsed<ClientOptions> parsed =
      launched ? ParseClientFlags(argc, argv, launched->id()) : ParseClientFlags(argc, argv);
  const bool quiet = launched && launched->id().index > 0;
  if (!parsed.options) {
    if (!quiet) std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  for (const std::string& note : parsed.options->notes) {
    if (!quiet) Complain(note, 0);
  }
  if (!parsed.options->ranks.merge.empty()) return quiet ? 0 : MergeRanks(*parsed.options);
  if (const absl::Status enough = CheckThreadsAndMemory(); !enough.ok())
    return Complain(enough.message(), kExitFailure);
  ExplainAbort(ExplainLikelyAbort(parsed.options->run));
  if (const absl::Status http = RegisterHttpEngines(); !http.ok() && IsHttp(parsed.options->run.api)) {
    return Complain(absl::StrCat("--api: ", ToString(parsed.options->run.api), ": ", http.message()), kExitUsage);
  }
  SetDeadlockDetection(parsed.options->deadlock_detection);
  WarnOfUnknownChannelArgs("grpc_ping_client", parsed.options->run.channel_args);
  if (launched) return Client(argc, argv, *parsed.options, launched, quiet).Run(interrupt);
  const auto ranks = MakeRanks(parsed.options->ranks);
  if (!ranks.ok()) return Complain(ranks.status().message(), kExitUsage);
  return Client(argc, argv, *parsed.options, ranks->get(), quiet).Run(interrupt);
}

}  // namespace cqbench
