#!/usr/bin/env bash
# Builds and tests cqbench with gRPC of Debian's experimental suite (1.83), on any Debian, without changes to the system's
# own packages. The first run makes a Debian sid userland in a directory (about 1.5 GB), which is used through chroot.
# Needs root on Debian.
#
# Usage: scripts/newgrpc.sh                 make the root if it does not exist, build, run the tests in it
#        scripts/newgrpc.sh --build-only    the same without the tests
#        scripts/newgrpc.sh --run CMD...    run a command inside (after a build); its programs are on PATH:
#                                           scripts/newgrpc.sh --run grpc_ping_client --inflight 1
#        scripts/newgrpc.sh --clean         remove the root and its build directory
#
# The source is mounted read-only. The build directory, build/sid, is the working directory inside, so files that a
# command writes are in build/sid. The network and the devices are the host's.
#
# Environment: CQBENCH_SID_ROOT      folder of the root (default /var/cache/cqbench/sid-root)
#              CQBENCH_SID_BUILD     folder in build/ that --run uses as build directory (default sid)
#              CQBENCH_DEBIAN_MIRROR archive of Debian (default: that of the host's apt)
#              CQBENCH_SID_SHARED    a folder that --run shows as /cqbench/shared inside
#              CTEST_PARALLEL_LEVEL  tests at a time (default 2)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/scripts/suite_root.sh"

build() {
  copy_googleapis
  (inside "$SUITE_ROOT" cmake -S /cqbench/source -B /cqbench/build --preset release \
    -D CQBENCH_GOOGLEAPIS_DIR=/cqbench/build/googleapis) >&2
  (inside "$SUITE_ROOT" cmake --build /cqbench/build -j "$(nproc)") >&2
}

# The Python tests do not depend on gRPC, and their environment is the host's, so they do not run here.
run_tests() {
  inside "$SUITE_ROOT" CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-2}" \
    ctest --test-dir /cqbench/build --output-on-failure --no-tests=error -LE '^(scripts|measure)$'
}

run_command() {
  BUILD=$ROOT/build/${CQBENCH_SID_BUILD:-sid}
  (($#)) || die "--run needs a command; see --help"
  [[ -e $SUITE_ROOT/$MARKER && -d $BUILD/bin ]] || die "nothing is built yet in $BUILD: run scripts/newgrpc.sh --build-only first"
  inside "$SUITE_ROOT" "$@"
}

clean() {
  [[ ! -e $SUITE_ROOT || -e $SUITE_ROOT/$MARKER ]] || die "$SUITE_ROOT was not made by this script; not removed"
  remove_root "$SUITE_ROOT"
  remove_root "$UNFINISHED"
  rm -rf "$SUITE_ROOT.log" "$SUITE_ROOT.lock" "$BUILD"
}

main() {
  case ${1:-} in
    -h | --help)
      show_help "$0"
      exit
      ;;
    '' | --build-only | --run | --clean) require_root_on_debian ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
  case ${1:-} in
    --run) run_command "${@:2}" ;;
    --clean) clean ;;
    *)
      ensure_root
      build
      [[ ${1:-} == --build-only ]] || run_tests
      ;;
  esac
}

use_suite experimental
main "$@"
