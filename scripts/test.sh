#!/usr/bin/env bash
# Installs what is missing, builds the release preset and runs tests under ctest.
# Usage: scripts/test.sh [--all | --measure] [CTEST ARGUMENT...]
#   scripts/test.sh            what must pass on every machine, quiet or busy: about 6 minutes after the build
#   scripts/test.sh --all      also real processes at length, other programs (browser, Go, valgrind, perf), simulations
#   scripts/test.sh --measure  compares real time with theory. Needs two CPUs that nothing else uses: refuses a loaded
#                              machine. Run it by hand or at night
#   scripts/test.sh -L unit    one kind of test of a tier: unit, golden, smoke, process or scripts
#   scripts/test.sh -R report  entries whose name matches; -N lists them
# An entry is a program or a file of many tests; a failure names the test. Tests are not repeated. Failures, ctest's
# closing lines, the tests that were skipped with the reason, and totals are at the end. tests/tiers.cmake has the tier
# of each entry. One test: build/release/tests/unit/cqbench_core_test --gtest_filter='Histogram*'
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/tests/ctest.sh"

tier=quick
case ${1:-} in
  -h | --help)
    show_help "$0"
    exit
    ;;
  --all | --measure)
    tier=${1#--}
    shift
    ;;
esac

# Three at a time on any machine: the tests wait for about a sixth of their time, and keep two cores busy for the rest.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-3}
case $tier in
  quick)
    select=(-L '^quick$')
    install_all "${TEST_PACKAGES[@]}"
    ;;
  all)
    select=(-LE '^measure$')
    install_for_tests
    ;;
  measure)
    select=(-L '^measure$')
    export CTEST_PARALLEL_LEVEL=1
    install_all "${TEST_PACKAGES[@]}" "${COST_PACKAGES[@]}"
    ;;
esac
python_venv test
build_preset release
[[ $tier != measure ]] || refuse_loaded_machine
run_ctest release "${select[@]}" "$@"
