# The tier of every test, known here alone. scripts/test.sh runs `quick`, with --all `quick` and `long`, with --measure `measure`.
#   quick     what must pass on every machine, quiet or busy: every entry that is not named below
#   long      real processes at length, programs of others (a browser, Go, valgrind, perf, MPI), simulated error rates
#   measure   compares real time with theory, or counts with samples: needs a quiet machine
# Names are those of `ctest -N`: unit.PROGRAM, golden.PROGRAM, smoke.SOURCE, and scripts.TOPIC or scripts.FILE: a Python
# file that is named here is an entry of its own; the others of one topic are one. tests/scripts/test_tiers.py checks it.
set(CQBENCH_LONG
    scripts.bench_run scripts.browser scripts.cluster_real scripts.cluster_run scripts.compare_errors scripts.cost_planted
    scripts.cost_program scripts.cost_real scripts.cost_resume scripts.error_rates scripts.experiment_failures
    scripts.experiment_network scripts.experiment_resume scripts.faults scripts.grpc_gateway scripts.peers scripts.soak
    scripts.tune_errors scripts.tune_real scripts.tune_run smoke.mpi_ranks)
set(CQBENCH_MEASURE scripts.cost_sampled smoke.ground_truth smoke.known_queue)

# cqbench_tier(TIER NAME): sets TIER to the tier of the entry NAME.
function(cqbench_tier tier name)
  set(${tier} quick PARENT_SCOPE)
  if(name IN_LIST CQBENCH_LONG)
    set(${tier} long PARENT_SCOPE)
  elseif(name IN_LIST CQBENCH_MEASURE)
    set(${tier} measure PARENT_SCOPE)
  endif()
endfunction()

# cqbench_label(NAME KIND [PROPERTY VALUE]...): gives the entry NAME its two labels, kind and tier, and other properties.
function(cqbench_label name kind)
  cqbench_tier(tier ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${kind};${tier}" ${ARGN})
endfunction()
