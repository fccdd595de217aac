#!/usr/bin/env bash
# What is worth setting here: tries every knob of scripts/knobs.toml on a workload (channel arguments, GRPC_EXPERIMENTS,
# variables, allocators, threads, queues, ...), confirms what looks better side by side with the defaults, and ranks it
# with what it costs and the lines to paste. Says so when nothing is worth setting. Ten minutes after the build.
#
# Usage: scripts/tune.sh [OPTION...] [-- FLAGS OF THE CLIENT]
#   --objective WHAT    throughput (default), p50, p99, or cpu: per call, of both ends
#   --inflight N        calls in flight (default 48); or
#   --rate R            calls per second, open loop; not for throughput
#   --budget DURATION   for all of it (default 10m)
#   --warmup, --interval DURATION   of each unit (default 100ms, 400ms)
#   --server-flags FLAGS  of the server; never changed, as little as what follows after --
#   --end END           which is tuned: client, server, both (default)
#   --build BUILD       release (default), or sid: Debian's newest gRPC, by newgrpc.sh
#   --knobs FILE        another catalogue
#   --only KIND,...     channel-arg, environment, experiment, flag, allocator
#   --exclude NAME      not this one; repeatable
#   --risk RISK         none, some (default), all: also what breaks a feature, such as deadlines
#   --seed N            of all that is drawn
#   --results DIR       where the folder of results is made (default results/)
#   --resume DIR        go on in this folder
#   --bin DIR           programs that are built already; nothing is installed or built
#   --plan              say what would be tried and what not, and stop
#   --list              all knobs, and which have a reader in the installed gRPC
#   --help
# Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8.
# Results: results/tune-DATE-TIME/ with tune.txt, tune.json, knobs.toml and a folder for each stage.
# Exit status: 0, whatever came out; 1 nothing could be measured; 2 usage; 130 interrupted: --resume goes on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=yes sid=
for argument in "$@"; do
  case $argument in
    --) break ;; # the client's own flags follow
    -h | --help)
      show_help "$0"
      exit
      ;;
    --bin | --bin=*) build=no ;;
    sid | --build=sid) sid=yes ;;
  esac
done

need_packages "${PYTHON_PACKAGES[@]}"
python_venv
if [[ $build == yes ]]; then
  install_all
  build_preset release grpc_ping_server grpc_ping_client
  [[ -z $sid ]] || "$ROOT/scripts/newgrpc.sh" --build-only
fi
exec_cqbench tune "$@"
