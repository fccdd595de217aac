#include "src/cli/client/evidence_flags.h"

#include <climits>

#include "absl/strings/str_cat.h"

namespace cqbench {

EvidenceFlags::EvidenceFlags(CLI::App& app, RunConfig& run, bool& show) : run_(run) {
  auto* shown = app.add_flag("--evidence", show,
                             "show connections, CPU and hand-offs of both ends below the table; JSON always has them");
  auto* none = app.add_flag("--no-evidence", none_, "do not look at connections, CPU and servers")->excludes(shown);
  breakdown_ = app.add_flag("--breakdown", run.breakdown,
                            "time the parts of every 16th call, on both ends; what that costs is printed")
                   ->excludes(none);
  baseline_ =
      app.add_flag("--baseline", run.baseline,
                   "also measure the floor: raw TCP (needs the server's --tcp-echo-port), a Unix socket, in-process")
          ->excludes(none);
  auto* pid = AddNumber(app, "--server-pid", run.server_pid, 1, INT_MAX,
                        "process of a server on this machine that has no control service: its CPU time is read "
                        "from outside, at the edges of the window")
                  ->type_name("PID")
                  ->excludes(none);
  control_option_ =
      app.add_option("--control", control_,
                     "gRPC address of grpc_ping_server, where its own figures are asked for: of one that is reached "
                     "over HTTP or through a proxy; several separated by commas (default: --host, unless over HTTP)")
          ->type_name("HOST:PORT")
          ->excludes(none)
          ->excludes(pid);
}

void EvidenceFlags::Resolve() {
  run_.evidence = !none_;
  for (const CLI::Option* option : {breakdown_, baseline_}) {
    if (option->count() == 0 || !IsHttp(run_.api)) continue;
    BadCombination(option->get_name(), absl::StrCat("is gRPC's, not for --api ", ToString(run_.api)));
  }
  if (control_option_->count() == 0) return;
  auto targets = ParseTargets(control_, 0);
  if (!targets.ok()) BadCombination("--control", std::string(targets.status().message()));
  for (const Target& target : *targets) {
    if (!target.is_unix() && target.port == 0) {
      BadCombination("--control",
                     absl::StrCat("'", control_, "' has no port: HOST:PORT, with 1 to 65535, is accepted"));
    }
  }
  run_.control = *std::move(targets);
}

}  // namespace cqbench
