#!/usr/bin/env bash
# YDB's experiment on this machine: what does it cost when all calls share one TCP connection? `cqbench run headline`, less
# than four minutes after the build.
#
# Usage: scripts/bench.sh [--full] [OPTION...]
#   --full    the durations of the YDB post (`cqbench run ydb-full`), once, about 48 minutes
#   OPTION    of `cqbench run`:
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

! has_flag "-h --help" "$@" || show_help "$0"
experiment=(headline) options=()
for argument in "$@"; do
  case $argument in
    --full) experiment=(ydb-full) ;;
    --resume | --resume=*) experiment=() ;;& # the folder says which
    *) options+=("$argument") ;;
  esac
done
exec "$ROOT/scripts/cqbench.sh" run "${experiment[@]}" "${options[@]}"
