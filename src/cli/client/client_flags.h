// The client's command line.
#pragma once

#include "cqbench/reporter.h"
#include "cqbench/run_config.h"
#include "src/cli/client/rank_flags.h"
#include "src/cli/flags/allocation_flags.h"
#include "src/cli/flags/flags.h"
#include "src/load/run/runner.h"
#include "src/workload/dynamic/call.h"

namespace cqbench {

struct ClientOptions {
  RunConfig run;
  CallSpec call;  // without a method: run.method
  RunGoals goals;
  bool show_evidence = false;
  bool with_csv = false;
  bool per_worker_stats = false;
  Format format = Format::kTable;
  std::string output;              // empty: standard output
  std::vector<std::string> notes;  // for standard error
  double max_error_rate = 0;
  AllocationOptions allocations;
  bool deadlock_detection = false;
  RankOptions ranks;
};

// Reads @FILE of --service-config; touches nothing else.
Parsed<ClientOptions> ParseClientFlags(int argc, const char* const* argv);
// The same of one of several clients, which a launcher has told who it is.
Parsed<ClientOptions> ParseClientFlags(int argc, const char* const* argv, const RankId& launched);

}  // namespace cqbench
