#!/usr/bin/env bash
# What holds this machine back, in words, from results with repetitions: the command `cqbench verdict`, with what it
# needs installed first.
# Usage: scripts/verdict.sh [OPTION...] RESULTS...     --help says which options
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_cqbench verdict "$@"
