#!/usr/bin/env bash
# What holds this machine back, in words: whether the shared connection is the bottleneck and from which in-flight count
# on, what separate connections bring and cost, what to set, or what to measure for want of evidence. Reads results with
# repetitions; the rules are in scripts/cqbench/verdict_rules.py.
#
# Usage: scripts/verdict.sh [--all] [--format text|json] RESULTS...
#   RESULTS        folders of bench.sh or of an experiment, or JSON files of grpc_ping_client
#   --all          every finding in full, instead of a summary that fits a screen
#   --format json  all numbers and the names of the rules that fired
#   --help
# Exit status: 0, whatever the verdict; 2 usage or unreadable results.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_module verdict "$@"
