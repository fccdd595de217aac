# shellcheck shell=bash
# How the scripts run tests. Sourced after scripts/lib.sh.

# show_ctest: reads ctest's output. Counts the entries that passed (on a terminal in one line that is redrawn, elsewhere at
# each tenth) and passes on all other lines: failures as a whole, and ctest's closing lines. awk would read in blocks.
show_ctest() {
  local line tenth=0 entry passed='^ *([0-9]+)/([0-9]+) +Test +#[0-9]+: ([^ ]+) .* (Passed|\*\*\*Skipped) '
  while IFS= read -r line; do
    [[ ! $line =~ ^\ *Start\ +[0-9]+:\  ]] || continue
    if [[ $line =~ $passed ]]; then
      entry="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
      if [[ -t 2 ]]; then
        printf '\r\033[K%s: %s' "$entry" "${BASH_REMATCH[3]}" >&2
      elif ((10 * BASH_REMATCH[1] / BASH_REMATCH[2] > tenth)); then
        tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        printf '%s\n' "$entry"
      fi
      continue
    fi
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
    printf '%s\n' "$line"
  done
}

# summarize_tests LOG SECONDS: reads ctest's LastTest.log. Prints the tests that were skipped, each with its entry and the
# reason, as pytest and GoogleTest report them, and then one line of totals.
summarize_tests() {
  awk -v seconds="$2" '
    function skip(reason, times) {
      if (!((entry, reason) in seen)) lines[++kinds] = entry SUBSEP reason
      seen[entry, reason] += times
      skipped += times
    }
    /^[0-9]+\/[0-9]+ Testing: / { entry = $3 }
    is_reason { skip($0, 1); is_reason = 0 }
    /: Skipped$/ { is_reason = 1 }
    /^SKIPPED \[[0-9]+\] / {
      times = substr($2, 2) + 0
      sub(/^SKIPPED \[[0-9]+\] [^ ]+ /, "")
      skip($0, times)
    }
    /^Test Passed\.$/ { ++passed }
    /^Test (Failed|Timeout|Not Run)/ { ++failed }
    END {
      if (kinds) print "\nSkipped:"
      for (i = 1; i <= kinds; ++i) {
        split(lines[i], part, SUBSEP)
        print "  " part[1] ": " part[2] (seen[lines[i]] > 1 ? " (" seen[lines[i]] " tests)" : "")
      }
      printf "\n%d entries passed, %d failed, %d tests skipped, %d s\n", passed, failed, skipped, seconds
    }' "$1"
}

CTEST=(ctest)  # a caller may put a command before it

# run_ctest PRESET CTEST-ARGUMENT...: runs tests of build/PRESET. Returns ctest's status.
run_ctest() {
  local preset=$1 begin=$SECONDS status=0 log=$ROOT/build/$1/Testing/Temporary/LastTest.log
  shift
  rm -f "$log"
  (cd "$ROOT" && "${CTEST[@]}" --preset "$preset" --no-tests=error --no-label-summary "$@") 2>&1 | show_ctest || status=${PIPESTATUS[0]}
  [[ ! -e $log ]] || summarize_tests "$log" $((SECONDS - begin))
  return "$status"
}

# refuse_loaded_machine: dies if the machine has one CPU, or if programs use more than a tenth of a CPU in two seconds.
refuse_loaded_machine() {
  (($(nproc) >= 2)) || die "--measure needs two CPUs; this machine has one"
  local busy
  sleep 1  # what the build did last
  busy=$(
    { head -n 1 /proc/stat; sleep 2; head -n 1 /proc/stat; } |
      awk -v hz="$(getconf CLK_TCK)" '{ used = $2 + $3 + $4 + $9 } NR == 1 { first = used } END { printf "%.2f", (used - first) / hz / 2 }'
  )
  awk -v busy="$busy" 'BEGIN { exit busy > 0.1 }' ||
    die "--measure needs a quiet machine: other programs use $busy CPUs; at most 0.1 is accepted"
}
