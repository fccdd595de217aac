#!/usr/bin/env bash
# `cqbench run` with several client processes, on this machine or on others: --ranks and the options that belong to it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

has_flag "--ranks --resume --list --template --keys -h --help" "$@" || die "--ranks N is missing; see --help"
exec "$ROOT/scripts/cqbench.sh" run "$@"
