# The tier of every test, known here alone. scripts/test.sh runs `quick`, with --all `quick` and `long`, with --measure
# `measure`.
#   quick     what must pass on every machine, quiet or busy: every entry that is not named below
#   long      real processes at length, programs of others (a browser, Go, valgrind, perf, MPI), simulated error rates
#   measure   compares real time with theory, or counts with samples: needs a quiet machine
# Names are those of `ctest -N`: unit.PROGRAM, golden.PROGRAM, smoke.SOURCE or process.SOURCE, and scripts.TOPIC or
# scripts.FILE: a Python file that is named here is an entry of its own; the others of one topic are one.
# tests/scripts/test_tiers.py checks it.
set(CQBENCH_LONG
    scripts.bench_run scripts.browser scripts.cluster_real scripts.cluster_run scripts.compare_errors scripts.cost_planted
    scripts.cost_program scripts.cost_rates scripts.cost_real scripts.cost_resume scripts.error_rates
    scripts.experiment_failures scripts.experiment_network scripts.experiment_resume scripts.faults scripts.grpc_gateway
    scripts.peers scripts.soak scripts.soak_rates scripts.tune_errors scripts.tune_real scripts.tune_run process.methods
    process.mpi_ranks)
set(CQBENCH_MEASURE scripts.cost_sampled scripts.planted_live process.ground_truth process.known_queue)

# The tests of tests/smoke that `ctest -L smoke` runs, one at a time in less than a minute: each API with each other one,
# TLS, Ctrl-C, output and usage. The others of that folder have the label `process`.
set(CQBENCH_SMOKE blob call interrupt matrix not_built output tls usage)

# cqbench_kind(KIND FOLDER STEM): sets KIND to the label of the tests in FOLDER/STEM_test.cc or of the program cqbench_STEM_test.
function(cqbench_kind kind folder stem)
  set(${kind} ${folder} PARENT_SCOPE)
  if(folder STREQUAL "smoke" AND NOT stem IN_LIST CQBENCH_SMOKE)
    set(${kind} process PARENT_SCOPE)
  endif()
endfunction()

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
