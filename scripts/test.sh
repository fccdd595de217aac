#!/usr/bin/env bash
# Installs what is missing, builds the release preset and runs every test under ctest.
# Usage: scripts/test.sh [CTEST ARGUMENT...]
#   scripts/test.sh -L unit          one kind of test: unit, golden, smoke or scripts
#   scripts/test.sh -R Histogram     tests whose name matches
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case ${1:-} in
  -h | --help)
    show_help "$0"
    exit
    ;;
esac

install_for_tests
python_venv test
build_preset release

# Two at a time on any machine: the smoke tests are client and server processes that keep two cores busy.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}
cd "$ROOT"
exec ctest --preset release --no-tests=error "$@"
