#!/usr/bin/env bash
# Runs an experiment that a TOML file describes: variants of client and server, each repeated, in random order, with a
# fresh server and client process every time. Installs what is missing and builds first, then prints a table with the
# medians of every variant.
#
# Usage: scripts/experiment.sh NAME|FILE.toml [OPTION...]
#   NAME                one of scripts/experiments/, such as headline; --list shows them
#   --repetitions N     instead of the file's
#   --seed N            of the random order, instead of the file's
#   --results DIR       where the folder of results is made (default results/)
#   --resume DIR        go on in this folder of results: what has a whole result there is not run again
#   --bin DIR           programs that are built already; nothing is installed or built
#   --plan              say what would be run, where, in which order and how long, and stop
#   --list              the experiments that are there, with the question each answers
#   --help
# Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8, for variants without a pinning of their
#   own (default: as the experiment says, or different NUMA nodes, or different cores).
# Results: results/<name>-<date>-<time>/ with raw/<variant>/<repetition>.json, logs/, summary.txt, manifest.json.
#   Nothing is overwritten: a unit that is run again leaves its old file beside the new one, as NN.json.1.
# The file: scripts/cqbench/experiment_file.py says what can be in it; scripts/experiments/ has examples.
# Ctrl-C keeps and prints what was measured. Exit status: 0; 1 a unit failed or nothing could be started; 2 usage or a
#   bad file; 130 interrupted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=yes
for argument in "$@"; do
  case $argument in
    -h | --help)
      show_help "$0"
      exit
      ;;
    --plan | --list | --bin | --bin=*) build=no ;;
  esac
done

need_packages "${PYTHON_PACKAGES[@]}"
python_venv
export PYTHONPATH=$ROOT/scripts PYTHONDONTWRITEBYTECODE=1
experiment() { "$ROOT/.venv/bin/python" -m cqbench.experiment "$@"; }

if [[ $build == yes ]]; then
  builds=$(experiment --builds "$@")
  install_all
  build_preset release grpc_ping_server grpc_ping_client
  if [[ $builds == *sid* ]]; then
    "$ROOT/scripts/newgrpc.sh" --build-only || say "no newest gRPC: the variants with build \"sid\" will fail"
  fi
fi
exec "$ROOT/.venv/bin/python" -m cqbench.experiment "$@"
