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
#              CQBENCH_DEBIAN_MIRROR archive of Debian (default: that of the host's apt)
#              CQBENCH_SID_SHARED    a folder that --run shows as /cqbench/shared inside
#              CTEST_PARALLEL_LEVEL  tests at a time (default 2)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SID_ROOT=${CQBENCH_SID_ROOT:-/var/cache/cqbench/sid-root}
UNFINISHED=$SID_ROOT.unfinished
BUILD=$ROOT/build/sid
# The file in the root that lists its installed packages. It is written last: a root without it is unfinished, or
# another program made it.
MARKER=etc/cqbench-root

wanted_packages() {
  printf '%s\n' "${BUILD_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${COST_PACKAGES[@]}" "${GRPC_PACKAGES[@]}"
}

require_root_on_debian() {
  ((EUID == 0)) || die "must be run as root: it makes a root file system and uses chroot"
  [[ $(. /etc/os-release && echo "${ID:-}") == debian ]] ||
    die "needs a Debian host: it uses debootstrap with the host's Debian mirror and archive keys"
}

# host_mirrors: prints the Debian archives that the host's apt uses and debootstrap can read.
host_mirrors() {
  apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' \
    'Component: main' | sed -n -E '/^(https?|file):/p'
}

debian_mirror() {
  local mirrors=${CQBENCH_DEBIAN_MIRROR:-}
  [[ -n $mirrors ]] || mirrors=$(host_mirrors)
  if [[ -z $mirrors ]]; then
    # Without package lists, as on a new machine, apt does not know which archives are Debian's.
    apt-get -q update >/dev/null || true
    mirrors=$(host_mirrors)
  fi
  [[ -n $mirrors ]] || die "apt on this machine names no Debian mirror; set CQBENCH_DEBIAN_MIRROR"
  echo "${mirrors%%$'\n'*}"
}

# inside ROOT [ENV=VALUE...] CMD...: runs CMD in the root. The mounts are in a mount namespace that ends with its last
# process, even if it is killed: nothing stays mounted, and removing a root cannot reach into /dev. Everything up to CMD
# is one exec, so a signal to this script's process reaches CMD.
inside() {
  local root=$1
  shift
  mkdir -p "$BUILD"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  [[ -z ${CQBENCH_SID_SHARED:-} ]] || mkdir -p "$root/cqbench/shared"
  # shellcheck disable=SC2016  # expanded by the inner shell
  exec unshare --mount --propagation private bash -euc '
    root=$1 source=$2 build=$3 shared_folder=$4
    shift 4
    for shared in /proc /sys /dev; do mount --rbind "$shared" "$root$shared"; done
    mount --bind "$source" "$root/cqbench/source"
    mount -o remount,bind,ro "$root/cqbench/source"
    mount --bind "$build" "$root/cqbench/build"
    [[ -z $shared_folder ]] || mount --bind "$shared_folder" "$root/cqbench/shared"
    exec chroot "$root" /usr/bin/env -C /cqbench/build -u CQBENCH_SID_ROOT -u CQBENCH_SID_SHARED HOME=/root LC_ALL=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive PATH=/cqbench/build/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' inside "$root" "$ROOT" "$BUILD" "${CQBENCH_SID_SHARED:-}" "$@"
}

# query ROOT APT-CACHE ARGUMENT...: asks the root's package lists.
query() { (inside "$1" apt-cache "${@:2}"); }

# candidate ROOT PACKAGE: prints the version that apt would install; empty if there is none.
candidate() { query "$1" policy "$2" | sed -n 's/^  Candidate: //p' | grep -v '^(none)$' || true; }

# host_proxy: prints the host's apt proxies as apt configuration; empty if it has none.
host_proxy() { apt-config dump Acquire::http::Proxy Acquire::https::Proxy 2>/dev/null | grep -v '""' || true; }

bootstrap() {
  local root=$1 mirror=$2 log=$3 http_proxy=${http_proxy:-}
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  export http_proxy
  say "debootstrap sid from $mirror"
  # Mirrors over https need ca-certificates.
  debootstrap --variant=minbase --include=ca-certificates sid "$root" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "debootstrap of sid from $mirror failed (its whole output: $log)"
  }
  mkdir -p "$root/cqbench/source" "$root/cqbench/build"
}

# configure_apt ROOT MIRROR: enables sid, and experimental for gRPC and protobuf alone. The expiry date of a suite is
# ignored, because it may have passed if the mirror lags; signatures are still checked.
configure_apt() {
  local root=$1 mirror=$2
  printf 'deb [check-valid-until=no] %s %s main\n' "$mirror" sid "$mirror" experimental >"$root/etc/apt/sources.list"
  printf 'Package: src:grpc src:protobuf\nPin: release a=experimental\nPin-Priority: 990\n' \
    >"$root/etc/apt/preferences.d/cqbench"
  printf 'APT::Install-Recommends "false";\n' >"$root/etc/apt/apt.conf.d/90cqbench"
  host_proxy >>"$root/etc/apt/apt.conf.d/90cqbench"
}

# require_in_suite ROOT SUITE PACKAGE...: dies with the names of packages that the suite does not have.
require_in_suite() {
  local root=$1 suite=$2 package absent=()
  shift 2
  for package in "$@"; do
    [[ $(query "$root" madison "$package") == *" $suite/main "* ]] || absent+=("$package")
  done
  ((${#absent[@]} == 0)) || die "Debian's suite $suite at this mirror does not have: ${absent[*]}"
}

# matching_absl ROOT: prints libabsl-dev=VERSION of the abseil that libgrpc is linked to. The archive usually has two
# abseils, and headers of one do not link with the runtime of the other. libabsl-dev has the version of its runtime
# package.
matching_absl() {
  local root=$1 grpc runtime absl version
  grpc=$(candidate "$root" libgrpc-dev)
  runtime=$(query "$root" show "libgrpc-dev=$grpc" | grep -m 1 -o -P '^Depends:.*?\Klibgrpc\d+\S*') || true
  [[ -n $runtime ]] || die "libgrpc-dev $grpc names no runtime package libgrpcN among its dependencies"
  absl=$(query "$root" show "$runtime=$grpc" | grep -m 1 -o -P '^Depends:.*?\Klibabsl\d+\S*') || true
  [[ -n $absl ]] || die "$runtime $grpc names no abseil package libabslN among its dependencies"
  version=$(candidate "$root" "$absl")
  [[ -n $version ]] || die "$absl, which $runtime $grpc depends on, is neither in sid nor in experimental"
  query "$root" show "libabsl-dev=$version" >/dev/null 2>&1 ||
    die "libabsl-dev $version, the headers of $absl, is neither in sid nor in experimental"
  echo "libabsl-dev=$version"
}

install_packages() {
  local root=$1 log=$2 absl others
  (inside "$root" apt-get -q update) >>"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get update of sid and experimental failed in $root (its whole output: $log)"
  }
  mapfile -t others < <(printf '%s\n' "${BUILD_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${COST_PACKAGES[@]}" | grep -vx libabsl-dev)
  require_in_suite "$root" experimental "${GRPC_PACKAGES[@]}"
  require_in_suite "$root" sid "${others[@]}"
  absl=$(matching_absl "$root")
  say "installing gRPC $(candidate "$root" libgrpc++-dev), protobuf $(candidate "$root" libprotobuf-dev), $absl"
  (inside "$root" apt-get install -y "${GRPC_PACKAGES[@]}" "$absl" "${others[@]}") >>"$log" 2>&1 </dev/null || {
    tail -n 30 "$log" >&2
    die "apt-get could not install the packages in $root (its whole output: $log)"
  }
  (inside "$root" apt-get clean)
  wanted_packages >"$root/$MARKER"
}

# remove_root DIR: removes the folder, but never crosses into another file system.
remove_root() { rm -rf --one-file-system "$1"; }

# create_root: makes the root under another name and renames it when finished; removes what an interrupted run left.
create_root() {
  local mirror
  need_packages debootstrap
  mirror=$(debian_mirror)
  mkdir -p "$(dirname "$SID_ROOT")"
  remove_root "$UNFINISHED"
  bootstrap "$UNFINISHED" "$mirror" "$SID_ROOT.log"
  configure_apt "$UNFINISHED" "$mirror"
  install_packages "$UNFINISHED" "$SID_ROOT.log"
  mv "$UNFINISHED" "$SID_ROOT"
  say "the root file system is ready: $SID_ROOT"
}

# ensure_root: creates the root or installs packages that it lacks; only one process does this at a time.
ensure_root() {
  mkdir -p "$(dirname "$SID_ROOT")"
  exec 9>"$SID_ROOT.lock"
  flock -n 9 || die "another run is making $SID_ROOT"
  if [[ ! -e $SID_ROOT ]]; then
    create_root 9>&-
  elif [[ ! -e $SID_ROOT/$MARKER ]]; then
    die "$SID_ROOT was not made by this script; set CQBENCH_SID_ROOT to another place"
  elif ! cmp -s <(wanted_packages) "$SID_ROOT/$MARKER"; then
    install_packages "$SID_ROOT" "$SID_ROOT.log" 9>&-
  fi
  exec 9>&-
}

# copy_googleapis: copies google/**/*.proto to the build directory, because the host's environment may be outside of the
# root.
copy_googleapis() {
  local from
  need_packages "${PYTHON_PACKAGES[@]}"
  python_venv build
  from=$(googleapis_dir)
  mkdir -p "$BUILD/googleapis"
  (cd "$from" && cp -r --parents google/api google/cloud google/longrunning google/rpc "$BUILD/googleapis")
}

build() {
  copy_googleapis
  (inside "$SID_ROOT" cmake -S /cqbench/source -B /cqbench/build --preset release \
    -D CQBENCH_GOOGLEAPIS_DIR=/cqbench/build/googleapis) >&2
  (inside "$SID_ROOT" cmake --build /cqbench/build -j "$(nproc)") >&2
}

# The Python tests do not depend on gRPC, and their environment is the host's, so they do not run here.
run_tests() {
  inside "$SID_ROOT" CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-2}" \
    ctest --test-dir /cqbench/build --output-on-failure --no-tests=error -LE '^(scripts|measure)$'
}

run_command() {
  (($#)) || die "--run needs a command; see --help"
  [[ -e $SID_ROOT/$MARKER && -d $BUILD/bin ]] || die "nothing is built yet: run scripts/newgrpc.sh --build-only first"
  inside "$SID_ROOT" "$@"
}

clean() {
  [[ ! -e $SID_ROOT || -e $SID_ROOT/$MARKER ]] || die "$SID_ROOT was not made by this script; not removed"
  remove_root "$SID_ROOT"
  remove_root "$UNFINISHED"
  rm -rf "$SID_ROOT.log" "$SID_ROOT.lock" "$BUILD"
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

main "$@"
