#!/usr/bin/env bash
# What is worth setting here: tries every knob of scripts/knobs.toml on a workload (channel arguments, GRPC_EXPERIMENTS,
# variables, allocators, threads, queues, ...), confirms what looks better side by side with the defaults, and ranks it
# with what it costs and the lines to paste. Says so when nothing is worth setting. Ten minutes after the build.
#
# Usage: scripts/tune.sh [OPTION...] [-- FLAGS OF THE CLIENT]     --help says which options; --list shows the knobs
#   --bin DIR has programs that are built already, and then nothing is installed or built
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages "${PYTHON_PACKAGES[@]}"
python_venv
if ! has_flag "--list --bin -h --help" "$@"; then
  install_all
  build_preset release grpc_ping_server grpc_ping_client
  ! has_flag "--build=sid sid" "$@" || "$ROOT/scripts/newgrpc.sh" --build-only
fi
exec_cqbench tune "$@"
