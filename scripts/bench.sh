#!/usr/bin/env bash
# YDB's experiment on this machine: what does it cost when all calls share one TCP connection? Installs what is missing,
# builds, starts a server pinned beside the client, sweeps the calls in flight with a shared and with separate
# connections, unary and streaming, with the synchronous and the event-driven (completion queue) client, and prints
# throughput, latency and their ratio. About three minutes after the build.
#
# Usage: scripts/bench.sh [OPTION...]
#   --full              the post's durations: 5 s warm-up, 10 s interval, 1 to 48 in flight (about 1 h 40 min)
#   --host HOST[:PORT]  measure a server on another machine (default port 2137); none is started here
#   --inflight-list N,N,...  calls in flight (default 1,2,4,8,16,32,48)
#   --warmup SECONDS    before each point (default 0.5)
#   --interval SECONDS  measured at each point (default 2.5)
#   --results DIR       where the results folder is made (default results/)
#   --bin DIR           programs that are built already; nothing is installed or built
#   --plan              say what would be run, where and how long, and stop
#   --show DIR|FILE     print the comparison of an earlier run again, and stop
#   --help
# Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8 (default: different NUMA nodes, or
#   different cores).
# Results: results/<date>-<time>/ with a JSON file per series, results.csv, comparison.txt, manifest.json.
# Ctrl-C keeps and prints what was measured. Exit status: 0; 1 a series failed or nothing could be started; 2 usage;
#   130 interrupted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=yes
for argument in "$@"; do
  case $argument in
    -h | --help)
      show_help "$0"
      exit
      ;;
    --plan | --show | --show=* | --bin | --bin=*) build=no ;;
  esac
done

need_packages "${PYTHON_PACKAGES[@]}"
python=$(system_python)
export PYTHONPATH=$ROOT/scripts PYTHONDONTWRITEBYTECODE=1
if [[ $build == yes ]]; then
  "$python" -m cqbench.bench --plan "$@" 2>/dev/null || exec "$python" -m cqbench.bench --plan "$@"
  install_all
  build_preset release grpc_ping_server grpc_ping_client
fi
exec "$python" -m cqbench.bench "$@"
