#include "src/cli/client/evidence_flags.h"

#include <climits>

namespace cqbench {

EvidenceFlags::EvidenceFlags(CLI::App& app, RunConfig& run, bool& show) : run_(run) {
  auto* shown =
      app.add_flag("--evidence", show, "Show connections, CPU and context switches of both ends below the table.");
  auto* none = app.add_flag("--no-evidence", none_, "Do not sample connections, CPU and servers.")->excludes(shown);
  app.add_flag("--breakdown", run.breakdown,
               "Time the parts of every 16th call on both ends, and print what timing costs.")
      ->excludes(none);
  app.add_flag("--lower-bound", run.lower_bound,
               "Measure lower bounds, too: raw TCP (--tcp-echo-port), Unix socket, in-process.")
      ->excludes(none);
  auto* pid = AddNumber(app, "--server-pid", run.server_pid, 1, INT_MAX,
                        "Process id of a local server without control service, to sample its CPU time.")
                  ->type_name("PID")
                  ->excludes(none);
  control_option_ =
      app.add_option("--control", control_,
                     "Address of the control service of grpc_ping_server (default: --host; none over HTTP).")
          ->type_name("HOST:PORT")
          ->excludes(none)
          ->excludes(pid);
}

void EvidenceFlags::Resolve() {
  run_.evidence = !none_;
  if (control_option_->count() == 0) return;
  auto targets = ParseTargets(control_, 0);
  if (!targets.ok()) BadCombination("--control", std::string(targets.status().message()));
  run_.control = *std::move(targets);
}

}  // namespace cqbench
