#!/usr/bin/env bash
# Is B faster or slower than A, point by point, beyond noise? The command `cqbench compare`, with what it needs installed
# first.
# Usage: scripts/compare.sh [OPTION...] A B     --help says which options
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_cqbench compare "$@"
