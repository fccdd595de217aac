#!/usr/bin/env bash
# One page to look at and to send to somebody: the command `cqbench report`, with what it needs installed first.
# Usage: scripts/report.sh [OPTION...] RESULTS...     --help says which options
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_cqbench report "$@"
