#!/usr/bin/env bash
# Makes the Python environment, installs and builds what a command needs, and runs it: `cqbench COMMAND ...`. The other
# scripts of commands call this one.
#
# Usage: scripts/cqbench.sh COMMAND [OPTION...]     --help: the commands; COMMAND --help: the options of one
#   --bin DIR has programs that are built already, and then nothing is installed or built
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
  GOBIN=$folder build_logged "toxiproxy $version" "$log" go install -ldflags "-X $module.Version=$version" \
    "$module/cmd/server@v$version"
  rm -f "$log"
}

# prepare_run ARG...: what the experiment needs besides the two programs.
prepare_run() {
  local needs server preset what version folder go_servers=() presets=() targets=(grpc_ping_server grpc_ping_client)
  needs=$(exec_cqbench run --needs "$@")
  while read -r what version folder; do
    [[ $what != toxiproxy ]] || install_toxiproxy "$version" "$folder"
    # Other builds are there already, or their configurations cannot be run.
    [[ $what != build ]] || ! is_preset "$version" || presets+=("$version")
    # Those of ours that Go builds; any other program is the caller's to build.
    [[ ! "$what $version" =~ ^program\ build/(lineup|grpc-gateway)/ ]] || go_servers+=("${BASH_REMATCH[1]}")
  done <<<"$needs"
  install_all
  [[ $needs != *"counting programs"* ]] || targets+=(grpc_ping_server_counting grpc_ping_client_counting)
  if [[ $needs == *"MPI client"* ]]; then
    need_packages "${MPI_PACKAGES[@]}" # before the build is configured, which looks for it
    targets+=(grpc_ping_client_mpi)
  fi
  for preset in ${presets[@]+"${presets[@]}"}; do build_preset "$preset" "${targets[@]}"; done
  for server in ${go_servers[@]+"${go_servers[@]}"}; do
    "$ROOT/scripts/$server/build.sh" || say "no Go server: the configurations with it cannot be run, the others are"
  done
  [[ $needs != *"build sid"* ]] || "$ROOT/scripts/newgrpc.sh" --build-only ||
    say "no gRPC 1.83 (scripts/newgrpc.sh installs it): the configurations with build \"sid\" cannot be run"
}

# prepare_peers ARG...: bad usage is reported before anything is built.
prepare_peers() {
  local server counting=(grpc_ping_server_counting grpc_ping_client_counting)
  (exec_cqbench peers --plan "$@") 2>/dev/null || exec_cqbench peers --plan "$@"
  ! has_flag "--lineup --transcoding" "$@" || counting=()
  install_all
  build_preset release grpc_ping_server grpc_ping_client ${counting[@]+"${counting[@]}"}
  for server in lineup grpc-gateway; do
    has_flag "--${server/grpc-gateway/transcoding}" "$@" || continue
    "$ROOT/scripts/$server/build.sh" || say "no Go servers: ours are measured alone"
  done
}

command=${1:-} both=(grpc_ping_server grpc_ping_client)
only_says="-h --help --bin" # with one of these nothing is built
case $command in
  run) only_says+=" --gate --plan --list --template --keys" ;;
  tune) only_says+=" --list" ;;
  cost)
    only_says+=" --plan --program"
    need_packages "${COST_PACKAGES[@]}"
    both+=(grpc_ping_server_counting grpc_ping_client_counting)
    ;;
  peers)
    only_says+=" --plan"
    PATH=$PATH:${GOPATH:-${HOME:-/root}/go}/bin # where `go install` puts ghz and benchmain
    ;;
esac
need_packages "${PYTHON_PACKAGES[@]}"
python_venv
if ! has_flag "$only_says" "$@"; then
  case $command in
    run | peers) "prepare_$command" "${@:2}" ;;
    tune | cost | soak)
      install_all
      build_preset release "${both[@]}"
      ! has_flag "--build=sid sid" "$@" || "$ROOT/scripts/newgrpc.sh" --build-only
      ;;
  esac
fi
exec_cqbench "$@"
