#!/usr/bin/env bash
# Runs an experiment: variants of client and server, each repeated, side by side in random order, with a fresh server and
# client process every time. Installs what is missing and builds first; ends with a verdict on what the shared connection
# costs, or with the medians of every variant where none is compared, and a report to look at.
#
# Usage: scripts/experiment.sh NAME|FILE.toml [OPTION...]
#        scripts/experiment.sh --vary NAME=V1,V2,... [OPTION...] [-- FLAGS OF THE CLIENT]
#   NAME                one of scripts/experiments/, such as headline; --list shows them
#   --vary NAME=V1,...  your own case: a flag of the client, server:FLAG, env:NAME (a variable of the client) or
#                       server-env:NAME, with each of these values; several are a product. A list with a ';' in it is
#                       divided there, and its values may have commas
#   --server-flags FLAGS  with --vary: of all servers
#   --save FILE.toml    write what is run as a new file
#   --repetitions N     instead of the file's
#   --seed N            of the random order, instead of the file's
#   --inflight N,N,...  calls in flight, instead of the file's (closed loop)
#   --rate R,R,...      calls per second, instead of the file's (open loop)
#   --warmup DURATION   before each point, instead of the file's: a number of seconds, or 500ms
#   --interval DURATION measured at each point, instead of the file's
#   --count-allocations run the counting programs: allocations per call, in a pass behind each measured one
#   --host HOST[:PORT]  measure the server that is there already (default port 2137); none is started here. For
#                       experiments that vary the client only
#   --ranks N           as so many client processes, on this machine or others; cluster.sh has the options beside it
#   --results DIR       where the folder of results is made (default results/)
#   --resume DIR        go on in this folder of results: what has a whole result there is not run again
#   --bin DIR           programs that are built already; nothing is installed or built
#   --plan              check the flags, say what would be run, where, in which order and how long, and stop
#   --list              the experiments that are there, with the question each answers
#   --template          a file to begin with
#   --keys              what a file may say: every key with its type and default
#   --help
# Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8, for variants without a pinning of their
#   own (default: as the experiment says, or different NUMA nodes, or different cores). CQBENCH_TOXIPROXY: a
#   toxiproxy-server to use for experiments with a slower network; by default one is installed in build/tools, with Go.
# Results: results/<name>-<date>-<time>/ with raw/<variant>/<repetition>-<load>.json, logs/, manifest.json, and made
#   from them summary.txt (medians), results.csv (all points), verdict.txt, verdict.json, report.html.
#   No result is overwritten: a unit that is run again leaves its old file beside the new one, as NN-LOAD.json.1.
# Ctrl-C keeps what was measured and ends with verdict and report of that, marked partial. Exit status: 0; 1 a unit
#   failed, nothing could be started, or verdict or report could not be made; 2 usage or a bad file; 130 interrupted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# install_toxiproxy VERSION FOLDER: into that folder alone. It has the name of its package, `server`.
install_toxiproxy() {
  local version=$1 folder=$2 module=github.com/Shopify/toxiproxy/v2 log
  [[ ! -x $folder/server ]] || return 0
  command -v go >/dev/null || die "this experiment needs toxiproxy, and building that needs Go: apt-get install" \
    "golang-go, or set CQBENCH_TOXIPROXY to a toxiproxy-server that is there already"
  say "installing toxiproxy $version in $folder"
  log=$(mktemp)
  GOBIN=$folder go install -ldflags "-X $module.Version=$version" \
    "$module/cmd/server@v$version" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "go could not install toxiproxy $version (its whole output: $log)"
  }
  rm -f "$log"
}

help_if_asked "$0" "$@"
need_packages "${PYTHON_PACKAGES[@]}"
python_venv
if ! has_flag "--plan --list --template --keys --bin" "$@"; then
  needs=$(exec_cqbench run --needs "$@") go_servers=()
  while read -r what version folder; do
    [[ $what != toxiproxy ]] || install_toxiproxy "$version" "$folder"
    # Those of ours that Go builds; any other program is the caller's to build.
    [[ ! "$what $version" =~ ^program\ build/(lineup|grpc-gateway)/ ]] || go_servers+=("${BASH_REMATCH[1]}")
  done <<<"$needs"
  install_all
  targets=(grpc_ping_server grpc_ping_client)
  [[ $needs != *"counting programs"* ]] || targets+=(grpc_ping_server_counting grpc_ping_client_counting)
  if [[ $needs == *"MPI client"* ]]; then
    need_packages "${MPI_PACKAGES[@]}" # before the build is configured, which looks for it
    targets+=(grpc_ping_client_mpi)
  fi
  build_preset release "${targets[@]}"
  for server in ${go_servers[@]+"${go_servers[@]}"}; do
    "$ROOT/scripts/$server/build.sh" || say "no Go server: the variants with it cannot be run, the others are"
  done
  if [[ $needs == *"build sid"* ]]; then
    "$ROOT/scripts/newgrpc.sh" --build-only ||
      say "no newest gRPC (scripts/newgrpc.sh makes it): the variants with build \"sid\" cannot be run"
  fi
fi
exec_cqbench run "$@"
