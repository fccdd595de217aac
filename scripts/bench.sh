#!/usr/bin/env bash
# YDB's experiment on this machine: what does it cost when all calls share one TCP connection? `cqbench run headline`,
# two minutes after the build; with --full `cqbench run ydb-full`, the post's durations, once, about 48 minutes.
set -euo pipefail

experiment=(headline) options=()
for argument in "$@"; do
  case $argument in
    --full) experiment=(ydb-full) ;;
    --resume | --resume=*) experiment=() ;;& # the folder says which
    *) options+=("$argument") ;;
  esac
done
exec "$(dirname "${BASH_SOURCE[0]}")/cqbench.sh" run "${experiment[@]}" "${options[@]}"
