# shellcheck shell=bash
# Root file systems of Debian suites, for newgrpc.sh and grpc.sh: made with debootstrap, used through chroot. The system's
# own packages do not change. Sourced after lib.sh, never run. Needs root on Debian.
# Environment: CQBENCH_SID_ROOT, CQBENCH_DEBIAN_MIRROR, CQBENCH_SID_SHARED; newgrpc.sh describes them.

# shellcheck disable=SC2034  # used by grpc.sh
SUITES=(experimental sid testing stable oldstable)
# The file in a root that lists its installed packages. It is written last: a root without it is unfinished, or
# another program made it.
MARKER=etc/cqbench-root

# use_suite SUITE: sets the suite, its root, and the build directory, which is the working directory inside. The root of
# experimental is sid with gRPC and protobuf of experimental.
use_suite() {
  SUITE=$1
  SUITE_ROOT=${CQBENCH_SID_ROOT:-/var/cache/cqbench/sid-root}
  [[ $SUITE == experimental ]] || SUITE_ROOT=${SUITE_ROOT%/*}/root-$SUITE
  UNFINISHED=$SUITE_ROOT.unfinished
  BUILD=${ROOT:?}/build/sid
}

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
    exec chroot "$root" /usr/bin/env -C /cqbench/build -u CQBENCH_SID_ROOT -u CQBENCH_SID_BUILD -u CQBENCH_SID_SHARED \
      HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/cqbench/build/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' inside "$root" "$ROOT" "$BUILD" "${CQBENCH_SID_SHARED:-}" "$@"
}

# query ROOT APT-CACHE ARGUMENT...: asks the root's package lists.
query() { (inside "$1" apt-cache "${@:2}"); }

# candidate ROOT PACKAGE: prints the version that apt would install; empty if there is none.
candidate() { query "$1" policy "$2" | sed -n 's/^  Candidate: //p' | grep -v '^(none)$' || true; }

# host_proxy: prints the host's apt proxies as apt configuration; empty if it has none.
host_proxy() { apt-config dump Acquire::http::Proxy Acquire::https::Proxy 2>/dev/null | grep -v '""' || true; }

bootstrap() {
  local root=$1 mirror=$2 log=$3 base=${SUITE/experimental/sid} http_proxy=${http_proxy:-}
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  export http_proxy
  say "debootstrap $base from $mirror"
  # Mirrors over https need ca-certificates.
  debootstrap --variant=minbase --include=ca-certificates "$base" "$root" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "debootstrap of $base from $mirror failed (its whole output: $log)"
  }
  mkdir -p "$root/cqbench/source" "$root/cqbench/build"
}

# configure_apt ROOT MIRROR: enables the suite; for experimental sid, and experimental for gRPC and protobuf alone. The
# expiry date of a suite is ignored, because it may have passed if the mirror lags; signatures are still checked.
configure_apt() {
  local root=$1 mirror=$2
  printf 'deb [check-valid-until=no] %s %s main\n' "$mirror" "${SUITE/experimental/sid}" >"$root/etc/apt/sources.list"
  if [[ $SUITE == experimental ]]; then
    printf 'deb [check-valid-until=no] %s %s main\n' "$mirror" experimental >>"$root/etc/apt/sources.list"
    printf 'Package: src:grpc src:protobuf\nPin: release a=experimental\nPin-Priority: 990\n' \
      >"$root/etc/apt/preferences.d/cqbench"
  fi
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
  [[ -n $version ]] || die "$absl, which $runtime $grpc depends on, is not in Debian's suite $SUITE"
  query "$root" show "libabsl-dev=$version" >/dev/null 2>&1 ||
    die "libabsl-dev $version, the headers of $absl, is not in Debian's suite $SUITE"
  echo "libabsl-dev=$version"
}

install_packages() {
  local root=$1 log=$2 absl others
  (inside "$root" apt-get -q update) >>"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get update of $SUITE failed in $root (its whole output: $log)"
  }
  mapfile -t others < <(printf '%s\n' "${BUILD_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${COST_PACKAGES[@]}" | grep -vx libabsl-dev)
  require_in_suite "$root" "$SUITE" "${GRPC_PACKAGES[@]}"
  require_in_suite "$root" "${SUITE/experimental/sid}" "${others[@]}"
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
  mkdir -p "$(dirname "$SUITE_ROOT")"
  remove_root "$UNFINISHED"
  bootstrap "$UNFINISHED" "$mirror" "$SUITE_ROOT.log"
  configure_apt "$UNFINISHED" "$mirror"
  install_packages "$UNFINISHED" "$SUITE_ROOT.log"
  mv "$UNFINISHED" "$SUITE_ROOT"
  say "the root file system is ready: $SUITE_ROOT"
}

# ensure_root: creates the root or installs packages that it lacks; only one process does this at a time.
ensure_root() {
  mkdir -p "$(dirname "$SUITE_ROOT")"
  exec 9>"$SUITE_ROOT.lock"
  flock -n 9 || die "another run is making $SUITE_ROOT"
  if [[ ! -e $SUITE_ROOT ]]; then
    create_root 9>&-
  elif [[ ! -e $SUITE_ROOT/$MARKER ]]; then
    die "$SUITE_ROOT was not made by this script; set CQBENCH_SID_ROOT to another place"
  elif ! cmp -s <(wanted_packages) "$SUITE_ROOT/$MARKER"; then
    install_packages "$SUITE_ROOT" "$SUITE_ROOT.log" 9>&-
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
