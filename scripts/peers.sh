#!/usr/bin/env bash
# Our client against h2load, ghz and sockperf: on the same server, server on one core and client on another, in
# interleaved rounds; and grpc-go's own benchmain next to our two ends, with the allocations of both. Prints medians, the
# rounds' ratios and whether each reaches its target. Peers that are not installed, or not in the version that the targets
# are for, are named and left out. About five minutes after the build.
#
# Usage: scripts/peers.sh [OPTION...]
#   --rounds N     how often everything is measured (default 5; fewer are too few for a claim)
#   --seconds N    of each measurement, whole seconds (default 2)
#   --output FILE  the raw numbers as JSON
#   --files        instead: our streams of chunks beside nginx with a static file, CPU of the server per Gbit/s
#   --bin DIR      programs that are built already; nothing is installed or built
#   --lineup       instead, our client against ghz with the scenarios of scripts/experiment.sh lineup, on each server
#   --transcoding  instead, our client against h2load over HTTP/1.1 and h2c, on our front and on grpc-gateway's
#   --plan         say what would be run, where and how long, and stop
#   --help
# Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8 (default: one core each).
# Exit status: 0, targets reached or not; 1 something could not be measured; 2 usage; 130 interrupted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

help_if_asked "$0" "$@"
need_packages "${PYTHON_PACKAGES[@]}"
python_venv
PATH=$PATH:${GOPATH:-${HOME:-/root}/go}/bin # where `go install` puts ghz and benchmain
if ! has_flag "--plan --bin" "$@"; then
  (exec_cqbench peers --plan "$@") 2>/dev/null || exec_cqbench peers --plan "$@"
  install_all
  targets=(grpc_ping_server grpc_ping_client)
  has_flag "--lineup --transcoding" "$@" || targets+=(grpc_ping_server_counting grpc_ping_client_counting)
  build_preset release "${targets[@]}"
  if has_flag --lineup "$@"; then
    "$ROOT/scripts/lineup/build.sh" || say "no Go servers: ours are measured alone"
  fi
  if has_flag --transcoding "$@"; then
    "$ROOT/scripts/grpc-gateway/build.sh" || say "no Go server: ours is measured alone"
  fi
fi
exec_cqbench peers "$@"
