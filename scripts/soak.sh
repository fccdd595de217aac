#!/usr/bin/env bash
# All methods, channel policies and APIs in random order for hours, against servers that live through it and one that is
# killed and started again; ends with whether memory, descriptors, threads or latencies drifted. Builds first.
#
# Usage: scripts/soak.sh [--hours H] [OPTION...]     24 hours unless told otherwise; --help says which options
#   --bin DIR has programs that are built already, and then nothing is installed or built
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! has_flag "--bin -h --help" "$@"; then
  install_all
  build_preset release grpc_ping_server grpc_ping_client
fi
run_cqbench soak "$@"
