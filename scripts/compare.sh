#!/usr/bin/env bash
# Is B faster or slower than A? Compares two result files (grpc_ping_client --format json) or two results folders point
# by point: medians, change with its 95 % interval, and whether the change is more than noise (Mann-Whitney U over the
# repetitions, corrected for the number of points). Takes repetitions: about ten for twenty points.
#
# Usage: scripts/compare.sh [OPTION...] A B
#   A, B                file or folder: before and after. Of a folder all *.json below it count, except manifest.json
#                       and verdict.json; where it holds raw/, only raw/<variant>/*.json. Runs of the same variant,
#                       workload, method, API, channel policy, messages and calls in flight (in an open loop the rate
#                       that is asked) are repetitions of one point. Open and closed loops are never compared.
#   --metric LIST       of throughput, p50, p99, p50-sent, p99-sent (of an open loop: latency from when a call was sent;
#                       p50 and p99 count from when it was due), client-cpu, server-cpu (CPU time per RPC), or all
#                       (default throughput,p50,p99,p50-sent,p99-sent)
#   --alpha NUMBER      chance of calling any point of a metric different when nothing is (default 0.05)
#   --format FORMAT     text (default) or json
#   --fail-if-slower P%          exit status 1 when the throughput of a point is really lower, by P % or more
#   --fail-if-latency-higher P%  the same for a higher P99. Both also fail where they cannot decide: at a point with too
#                                few repetitions, or with figures in A and none in B
#   --anyway            compare even what was measured on another machine or with other settings
#   --help
# Exit status: 0; 1 a gate (--fail-if-...) is closed; 2 usage, unreadable results, nothing in common, or A and B cannot
#   be compared.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_module compare "$@"
