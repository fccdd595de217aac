#!/usr/bin/env bash
# Throws inputs that nobody thought of at everything that reads what others wrote: addresses, quantities and flags,
# configuration files, histograms, reports of other ranks, protobuf's wire format, HTTP/2 settings, the control service's
# messages, descriptors, results, experiments. libFuzzer with clang, AddressSanitizer and UndefinedBehaviorSanitizer for C++,
# Atheris for Python; the targets are in tests/fuzz.
#
# Usage: scripts/fuzz.sh [--seconds N | --inputs N] [TARGET...]     all targets when none is named, 60 seconds each
#   --seconds N   for each target
#   --inputs N    for each target, however long that takes
#   --jobs N      targets at the same time (default: CPUs)
#   --list        their names
#   --help
# What was found interesting is kept in build/fuzz/corpus and gone on from the next time. An input that breaks something
# is left in build/fuzz/found, and its target named; to run it again: build/asan/fuzz/cqbench_TARGET_fuzz FILE
# (.venv/bin/python tests/fuzz/TARGET_fuzz.py FILE). Exit status: 0; 1 something was found; 2 usage.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FOLDER=$ROOT/build/fuzz

# The names of targets written in the language with this ending.
targets() {
  local file
  for file in "$ROOT"/tests/fuzz/*_fuzz."$1"; do
    file=${file##*/}
    echo "${file%_fuzz."$1"}"
  done
}

# run_target NAME LIMIT: says how it went in one line; 1 when something was found.
run_target() {
  local name=$1 limit=$2 program=("$ROOT/build/asan/fuzz/cqbench_${1}_fuzz") log=$FOLDER/$1.log seeds
  if [[ ! -e ${program[0]} ]]; then
    program=("$ROOT/.venv/bin/python" "$ROOT/tests/fuzz/${name}_fuzz.py")
    export PYTHONPATH=$ROOT/scripts PYTHONDONTWRITEBYTECODE=1
  fi
  case $name in
    experiment) seeds=$ROOT/scripts/experiments ;;
    result) seeds=$ROOT/tests/golden/expected ;;
    *) seeds=$ROOT/tests/fuzz/corpus/$name ;;
  esac
  mkdir -p "$FOLDER/corpus/$name" "$FOLDER/found"
  if "${program[@]}" "$limit" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$FOLDER/found/$name-" "$FOLDER/corpus/$name" "$seeds" </dev/null >"$log" 2>&1; then
    awk -v name="$name" '/^stat::number_of_executed_units/ { printf "%-16s %12d inputs, nothing found\n", name, $2 }' "$log"
  else
    grep -E "ERROR: |SUMMARY: |runtime error|does not hold|Error: |Test unit written" "$log" | sed "s/^/$name: /" >&2
    printf '%-16s found something: %s\n' "$name" "$log"
    return 1
  fi
}

limit=-max_total_time=60
jobs=$(nproc)
mapfile -t compiled < <(targets cc)
mapfile -t all < <(targets cc; targets py)
wanted=()
while (($#)); do
  case $1 in
    -h | --help)
      show_help "$0"
      exit
      ;;
    --list)
      printf '%s\n' "${all[@]}"
      exit
      ;;
    --seconds | --inputs | --jobs)
      [[ ${2:-} =~ ^[1-9][0-9]{0,9}$ ]] || usage "$1 '${2:-}': a whole number above 0 is accepted"
      case $1 in
        --seconds) limit=-max_total_time=$2 ;;
        --inputs) limit=-runs=$2 ;;
        --jobs) jobs=$2 ;;
      esac
      shift
      ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || usage "there is no target '$1': ${all[*]}"
      wanted+=("$1")
      ;;
  esac
  shift
done
((${#wanted[@]})) || wanted=("${all[@]}")

need_packages "${BUILD_PACKAGES[@]}" "${GRPC_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${PYTHON_PACKAGES[@]}" "${CLANG_PACKAGES[@]}"
python_venv build fuzz
programs=()
for name in "${wanted[@]}"; do
  [[ " ${compiled[*]} " != *" $name "* ]] || programs+=("cqbench_${name}_fuzz")
done
((${#programs[@]} == 0)) || build_preset asan "${programs[@]}"

export -f run_target
export ROOT FOLDER
printf '%s\n' "${wanted[@]}" | xargs -P "$jobs" -I{} bash -c 'run_target "$@"' - {} "$limit" || exit 1
