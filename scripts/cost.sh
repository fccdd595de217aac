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

build=yes newest=
for ((i = 1; i <= $#; i++)); do
  case ${!i} in
    --) break ;; # the client's own flags follow
    --plan | --bin | --bin=* | --program | -h | --help) build=no ;;
    --build=sid | sid) newest=yes ;;
  esac
done

need_packages "${PYTHON_PACKAGES[@]}" "${COST_PACKAGES[@]}"
python_venv
if [[ $build == yes ]]; then
  install_all
  build_preset release grpc_ping_server grpc_ping_client grpc_ping_server_counting grpc_ping_client_counting
  [[ -z $newest ]] || "$ROOT/scripts/newgrpc.sh" --build-only
fi
exec_cqbench cost "$@"
