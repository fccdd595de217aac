#!/usr/bin/env bash
# One page to look at and to send to somebody: the verdict, throughput and latency against calls in flight, latency
# distributions, CPU, connections, batching, the machine, the exact commands. report.html opens without a network.
# Beside it hgrm/ gets the latency distributions for HdrHistogram's plotter, in microseconds, where the results have
# them. An older report is replaced; results are only read.
#
# Usage: scripts/report.sh [--output FILE.html] [--figures DIR] RESULTS...
#   RESULTS        folders of an experiment, or JSON files of grpc_ping_client, or folders of them
#   --output FILE  where the page goes (default report.html in RESULTS, when that is one folder)
#   --figures DIR  every plot as PNG and SVG too, for papers
#   --help
# Standard output: the path of the page. Exit status: 0; 1 something could not be written; 2 usage or unreadable results.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run_module report "$@"
