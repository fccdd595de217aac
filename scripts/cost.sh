#!/usr/bin/env bash
# What one call costs, counted: system calls (strace), allocations, instructions by library and function (callgrind),
# CPU time, of client and server apart. Installs what is missing and builds first; about two minutes after the build.
#
# Usage: scripts/cost.sh [OPTION...] [-- FLAGS OF THE CLIENT]
#        scripts/cost.sh --program -- PROGRAM... {calls} ...    a program of your own, which makes so many calls
#        scripts/cost.sh --resume DIR                           goes on after Ctrl-C, in the folder of results
#   --help says which options; --bin DIR has programs that are built already, and then nothing is built
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages "${PYTHON_PACKAGES[@]}" "${COST_PACKAGES[@]}"
python_venv
if ! has_flag "--plan --bin --program -h --help" "$@"; then
  install_all
  build_preset release grpc_ping_server grpc_ping_client grpc_ping_server_counting grpc_ping_client_counting
  ! has_flag "--build=sid sid" "$@" || "$ROOT/scripts/newgrpc.sh" --build-only
fi
exec_cqbench cost "$@"
