#!/usr/bin/env bash
# Builds the sanitizer presets and runs the C++ tests with them: asan (addresses, leaks, undefined behaviour) and tsan
# (data races). A finding is shown whichever process it was in. Tests are not repeated.
# Usage: scripts/sanitize.sh [asan|tsan]... [-- CTEST ARGUMENT...]     both presets when none is named
#   scripts/sanitize.sh tsan -- -R Histogram
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/tests/ctest.sh"

# set_options FOLDER: where each process leaves what it finds.
set_options() {
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:log_path=$1/finding
  export UBSAN_OPTIONS=print_stacktrace=1
  # The distribution's gRPC is not instrumented; sanitizers/ says what follows from that. A longer history finds the other
  # side of more races.
  export TSAN_OPTIONS=suppressions=$ROOT/scripts/sanitizers/tsan.supp:ignore_noninstrumented_modules=1:history_size=4
  export TSAN_OPTIONS=$TSAN_OPTIONS:log_path=$1/finding
}

# The library that tells ThreadSanitizer what gRPC's tags order.
EDGES=$ROOT/build/tsan/libgrpc_edges.so

build_edges() {
  local flags
  read -ra flags <<<"$(pkg-config --cflags grpc)"
  g++ -std=c++20 -O2 -g -fPIC -shared -Wall -Wextra "${flags[@]}" "$ROOT/scripts/sanitizers/grpc_edges.cc" -o "$EDGES"
}

# show_findings FOLDER: 1 when there are any. A list of the leaks that are suppressed is none.
show_findings() {
  local file found=0
  for file in "$1"/finding.*; do
    grep -qsE "Sanitizer|runtime error" "$file" || continue
    found=1
    printf '\n%s:\n' "${file##*/}" >&2
    cat "$file" >&2
  done
  return "$found"
}

# run_preset PRESET [CTEST ARGUMENT...]: leaves the Python tests out, because a sanitizer sees nothing of them, and the
# tests that measure.
run_preset() (
  preset=$1 findings=$ROOT/build/$1/findings status=0
  shift
  say "sanitizer build: $preset"
  build_preset "$preset"
  rm -rf "$findings"
  mkdir -p "$findings"
  set_options "$findings"
  if [[ $preset == tsan ]]; then
    build_edges
    CTEST=(env "LD_PRELOAD=$EDGES" ctest)
  fi
  run_ctest "$preset" -LE '^(scripts|measure)$' "$@" || status=$?
  show_findings "$findings" || status=1
  exit "$status"
)

main() {
  local presets=() preset
  while (($#)) && [[ $1 != -- ]]; do
    case $1 in
      asan | tsan) presets+=("$1") ;;
      *) die "unknown argument '$1'; see --help" ;;
    esac
    shift
  done
  (($# == 0)) || shift
  ((${#presets[@]})) || presets=(asan tsan)
  # These tests wait more than they compute.
  export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-3}
  install_all "${TEST_PACKAGES[@]}" "${CLANG_PACKAGES[@]}"
  for preset in "${presets[@]}"; do run_preset "$preset" "$@"; done
}

# ThreadSanitizer of g++ 12 and 13 cannot map its shadow memory where the kernel randomises addresses by more than 28
# bits. There the whole script runs without randomisation: building, too, runs the test programs to list their tests.
use_fixed_addresses() {
  local bits=/proc/sys/vm/mmap_rnd_bits machine
  machine=$(uname -m)
  [[ -z ${CQBENCH_FIXED_ADDRESSES:-} && -r $bits ]] && (($(<"$bits") > 28)) || return 0
  setarch "$machine" -R true 2>/dev/null || return 0
  CQBENCH_FIXED_ADDRESSES=1 exec setarch "$machine" -R bash "$0" "$@"
}

case ${1:-} in
  -h | --help) show_help "$0" ;;
  *)
    use_fixed_addresses "$@"
    main "$@"
    ;;
esac
