#!/usr/bin/env bash
# YDB's experiment on this machine: what does it cost when all calls share one TCP connection? Installs what is missing,
# builds, measures a shared and separate connections side by side at 1 to 48 calls in flight, unary and streaming, with
# the synchronous and the event-driven (completion queue) client, seven times in random order with a fresh server each
# time, and says what holds this machine back and what to set. Less than four minutes after the build.
#
# Usage: scripts/bench.sh [OPTION...]
#   --full              the post's durations instead: 5 s warm-up, 10 s interval, 1 to 48 in flight, once (about 48 min)
#   --host HOST[:PORT]  measure a server on another machine (default port 2137); none is started here
#   --inflight N,N,...  calls in flight
#   --warmup DURATION   before each point, such as 500ms
#   --interval DURATION measured at each point
#   --repetitions N     how often everything is measured; the verdict takes six
#   --seed N            of the random order
#   --results DIR       where the folder of results is made (default results/)
#   --resume DIR        go on in this folder of results
#   --bin DIR           programs that are built already; nothing is installed or built
#   --plan              say what would be run, where, in which order and how long, and stop
#   --help
# It is scripts/experiment.sh with the experiment headline, or ydb-full: see there for the environment, the results and
# the exit status.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment=(headline)
options=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      show_help "$0"
      exit
      ;;
    --full) experiment=(ydb-full) ;;
    --resume | --resume=*)
      experiment=() # the folder says which
      options+=("$argument")
      ;;
    *) options+=("$argument") ;;
  esac
done
exec "$ROOT/scripts/experiment.sh" ${experiment[@]+"${experiment[@]}"} ${options[@]+"${options[@]}"}
