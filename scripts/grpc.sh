#!/usr/bin/env bash
# Makes a gRPC of a version, built in a chosen way, in a prefix of its own, and the programs with it. The source is
# Debian's source package; abseil, protobuf, re2, c-ares, OpenSSL and zlib are packages of the same system. The system's
# gRPC and the sources of its apt stay as they are. The first call takes about a quarter of an hour on two cores. Later
# calls find the prefix by its stamp (gRPC, compiler, flags, libraries) and build what changed in cqbench. The last line
# of the output is the prefix, for CMAKE_PREFIX_PATH; the programs are in build/grpc-NAME/bin.
#
# Usage: scripts/grpc.sh VERSION [OPTION...]      a version that Debian has: scripts/grpc.sh 1.51.1 --lto --native
#        scripts/grpc.sh --grpc DIR [OPTION...]   a checkout of gRPC
#   --release         compile with -O3 -DNDEBUG and link statically; the other options add to it (default)
#   --lto             optimize across source files when the programs are linked
#   --pgo             optimize gRPC with a profile of the programs: echo with payloads through the callback API
#   --native          compile for this machine's CPU
#   --debug-symbols   add symbols for debuggers and profilers
#   --suite SUITE     build inside a root file system of a Debian suite, with its compiler and libraries. Needs root on
#                     Debian. experimental: the root of scripts/newgrpc.sh. Default: the system itself
#   --jobs N          compilers at a time (default: CPUs)
#   --plan            print what would be made and whether it exists
# The programs are compiled with the same options, except --pgo.
#
# A program that was built inside a root runs inside:
#   CQBENCH_SID_BUILD=grpc-1.83.0-experimental-release scripts/newgrpc.sh --run grpc_ping_client --inflight 1
# CQBENCH_SID_ROOT chooses the root of another suite; --plan prints its folder.
#
# Environment: CQBENCH_GRPC_DIR  folder of sources and prefixes (default /var/cache/cqbench/grpc; inside a root always
#                                that folder of the root). If a folder in it is removed, the next call makes it again
#              CQBENCH_SID_ROOT, CQBENCH_DEBIAN_MIRROR  as for scripts/newgrpc.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/scripts/suite_root.sh"

FOLDER_INSIDE=/var/cache/cqbench/grpc
FOLDER=${CQBENCH_GRPC_DIR:-$FOLDER_INSIDE}
WAYS=(lto pgo native debug-symbols)
# The packages that gRPC is compiled with. Their versions are in the stamp.
LIBRARIES=(libabsl-dev libprotobuf-dev libre2-dev libc-ares-dev libssl-dev zlib1g-dev)
# The profile's load, which is in the stamp.
TRAINING_SERVER=(--api callback)
TRAINING_CLIENT=(--api callback --workload echo --request-bytes 1KiB --response-bytes 1KiB --inflight-list "1,48"
  --warmup 0 --interval 5s)

# parse ARG...: sets version, checkout, ways, suite, jobs and plan.
parse() {
  version='' checkout='' ways='' suite='' jobs=$(nproc) plan=0
  while (($#)); do
    case $1 in
      --release) ;;
      --lto | --pgo | --native | --debug-symbols) ways+=" ${1#--}" ;;
      --plan) plan=1 ;;
      --suite)
        [[ -n ${2:-} && " ${SUITES[*]} " == *" $2 "* ]] || usage "--suite '${2:-}': accepted are ${SUITES[*]}"
        suite=$2
        shift
        ;;
      --grpc)
        [[ -n ${2:-} && -d $2/include/grpcpp && -e $2/CMakeLists.txt ]] ||
          usage "--grpc '${2:-}': a folder with gRPC's source is accepted"
        checkout=$(cd "$2" && pwd)
        shift
        ;;
      --jobs)
        [[ ${2:-} =~ ^[1-9][0-9]{0,3}$ ]] || usage "--jobs '${2:-}': a whole number from 1 to 9999 is accepted"
        jobs=$2
        shift
        ;;
      -*) usage "$1: no such flag; accepted are --release ${WAYS[*]/#/--} --suite --grpc --jobs --plan" ;;
      *)
        [[ $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || usage "VERSION '$1': three numbers such as 1.51.1 are accepted"
        [[ -z $version ]] || usage "VERSION '$1': one is accepted, and $version is another"
        version=$1
        ;;
    esac
    shift
  done
  [[ -n $version$checkout ]] || usage "VERSION is missing: three numbers such as 1.51.1, or --grpc DIR, are accepted"
  [[ -z $version || -z $checkout ]] || usage "--grpc '$checkout': not accepted together with VERSION $version"
}

is_way() { [[ " $ways " == *" $1 "* ]]; }

# describe: sets the folders, and the flags of gRPC (flags) and of the programs (own_flags).
describe() {
  local way names=''
  for way in "${WAYS[@]}"; do
    ! is_way "$way" || names+=-$way
  done
  name=${version:-${label##*/}}${suite:+-$suite}${names:--release}
  own_flags=''
  ! is_way lto || own_flags+=' -flto'
  ! is_way native || own_flags+=' -march=native'
  ! is_way debug-symbols || own_flags+=' -g'
  flags="-O3 -DNDEBUG$own_flags"
  prefix=$FOLDER/prefix/$name
  build=$FOLDER/build/$name
  programs=${CQBENCH_GRPC_PROGRAMS:-$ROOT/build/grpc-$name}
}

# fetched_source: prints the folder of the newest fetched revision of this version; empty if there is none.
fetched_source() {
  find "$FOLDER/source" -maxdepth 1 -name "grpc-$version-*" 2>/dev/null | sort -V | tail -n 1 || true
}

# apt_sources: prints the system's archives of Debian as lines for source packages.
apt_sources() {
  local options='check-valid-until=no signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
  apt-get indextargets --format "deb-src [$options] \$(REPO_URI) \$(RELEASE) main" 'Created-By: Packages' \
    'Origin: Debian' 'Component: main' | sort -u
}

# configure_apt_sources DIR: writes an apt configuration with package lists of its own, so that /etc/apt stays as it is.
configure_apt_sources() {
  local dir=$1
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  printf '%s\n' "Dir::Etc::SourceList \"$dir/sources.list\";" 'Dir::Etc::SourceParts "-";' \
    "Dir::State::Lists \"$dir/lists\";" "Dir::Cache \"$dir/cache\";" 'APT::Sandbox::User "root";' >"$dir/apt.conf"
  apt_sources >"$dir/sources.list"
  # Without package lists, as on a new machine, apt does not know which archives are Debian's.
  if [[ ! -s $dir/sources.list ]]; then
    as_root apt-get -q update >/dev/null 2>&1 || true
    apt_sources >"$dir/sources.list"
  fi
  [[ -s $dir/sources.list ]] || die "apt on this machine names no archive of Debian: gRPC's source package is there"
}

# fetch_source: unpacks Debian's source package of this version, with Debian's patches, in FOLDER/source/grpc-REVISION.
fetch_source() {
  local apt=$FOLDER/apt unfinished=$FOLDER/source/unfinished revisions revision
  need_packages dpkg-dev
  configure_apt_sources "$apt"
  say "fetching the source package of gRPC $version"
  APT_CONFIG=$apt/apt.conf apt-get -q update >"$apt/log" 2>&1 ||
    die "apt-get could not fetch the lists of source packages: $(tail -n 1 "$apt/log") (its whole output: $apt/log)"
  revisions=$(APT_CONFIG=$apt/apt.conf apt-cache showsrc --only-source grpc | sed -n 's/^Version: //p' | sort -uV)
  revision=$(grep "^${version//./\\.}-" <<<"$revisions" | tail -n 1) ||
    usage "VERSION '$version': accepted are those of Debian's source packages here:" \
      "$(cut -d - -f 1 <<<"$revisions" | uniq | paste -s -d ' '); --suite and --grpc have others"
  rm -rf "$unfinished"
  mkdir -p "$unfinished"
  (cd "$unfinished" && APT_CONFIG=$apt/apt.conf apt-get -q source "grpc=$revision") >"$apt/log" 2>&1 ||
    die "apt-get could not fetch the source of gRPC $revision: $(grep -m 1 '^E:' "$apt/log") (its whole output: $apt/log)"
  mv "$unfinished/grpc-$version" "$FOLDER/source/grpc-$revision"
  rm -rf "$unfinished"
}

# stamp: prints what the prefix depends on, a line each.
stamp() {
  printf 'gRPC: %s\n' "${label:-${source##*/grpc-}}"
  printf 'compiler: %s\n' "$(g++ --version | sed -n 1p)"
  printf 'flags: %s\n' "$flags"
  ! is_way native || printf 'CPU: %s\n' "$(g++ -march=native -Q --help=target | sha256sum | cut -c 1-16)"
  ! is_way pgo || printf 'profile: %s\n' "server ${TRAINING_SERVER[*]}, client ${TRAINING_CLIENT[*]}"
  # shellcheck disable=SC2016  # expanded by dpkg-query
  dpkg-query -W -f 'library: ${Package} ${Version}\n' "${LIBRARIES[@]}" 2>/dev/null || true
}

# state: prints whether the prefix exists as it would be made now.
state() {
  if [[ -n $checkout ]]; then
    echo "to be made from what changed in the checkout"
  elif [[ -z $source || ! -e $prefix/stamp ]]; then
    echo "to be made"
  elif cmp -s <(stamp) "$prefix/stamp"; then
    echo "exists"
  else
    echo "to be made again; new are: $(stamp | grep -vxFf "$prefix/stamp" | paste -s -d ';')"
  fi
}

show_plan() {
  local revision=${source##*/grpc-} profile=none
  ! is_way pgo || profile="grpc_ping_client ${TRAINING_CLIENT[*]}"
  printf '%-9s %s\n' gRPC "${label:-"Debian's source package ${revision:-of $version, to be fetched}"}" \
    compiler "$(g++ --version 2>/dev/null | sed -n 1p || true)" flags "$flags" profile "$profile" \
    programs "$programs/bin" state "$(state)"
  echo "$prefix"
}

# empty_archives: makes an empty archive for each library that gRPC installs and the programs do not need. CMake refuses
# gRPC's package if one of its files is missing.
empty_archives() {
  local archive
  while read -r archive; do
    [[ -e $archive ]] || ar rc "$archive" || return
  done < <(grep -rhoP --include=cmake_install.cmake 'TYPE STATIC_LIBRARY.* FILES "\K[^"]+' "$build")
}

# grpc_steps FLAGS: compiles gRPC with these flags into the prefix; for with_progress, in which `set -e` has no effect.
grpc_steps() {
  local library packages=()
  for library in ABSL CARES PROTOBUF RE2 SSL ZLIB; do packages+=(-D "gRPC_${library}_PROVIDER=package"); done
  cmake -G Ninja -S "$source" -B "$build" -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER=gcc -D CMAKE_CXX_COMPILER=g++ \
    -D CMAKE_C_FLAGS_RELEASE="$1" -D CMAKE_CXX_FLAGS_RELEASE="$1" -D CMAKE_CXX_STANDARD=17 "${archivers[@]}" \
    -D CMAKE_INSTALL_PREFIX="$prefix" -D BUILD_SHARED_LIBS=OFF -D gRPC_INSTALL=ON \
    -D gRPC_BUILD_TESTS=OFF -D gRPC_BUILD_CODEGEN=OFF -D gRPC_BUILD_CSHARP_EXT=OFF \
    -D gRPC_BACKWARDS_COMPATIBILITY_MODE=OFF "${packages[@]}" &&
    NINJA_STATUS='[%f/%t] ' cmake --build "$build" -j "$jobs" --target grpc++ &&
    empty_archives && cmake --install "$build" >/dev/null
}

# program_steps FOLDER LINKER_FLAGS TARGET...: builds the programs with the prefix; for with_progress, as grpc_steps.
program_steps() {
  cmake --preset release -S "$ROOT" -B "$1" -D CMAKE_C_COMPILER=gcc -D CMAKE_CXX_COMPILER=g++ "${archivers[@]}" \
    -D CMAKE_PREFIX_PATH="$prefix" -D CQBENCH_LINK=static -D CQBENCH_WERROR=OFF -D CQBENCH_BUILD_TESTS=OFF \
    -D CQBENCH_BUILD_MICROBENCH=OFF -D CQBENCH_GOOGLEAPIS_DIR="$googleapis" -D CMAKE_CXX_FLAGS="${own_flags# }" \
    -D CMAKE_EXE_LINKER_FLAGS="$2" &&
    NINJA_STATUS='[%f/%t] ' cmake --build "$1" -j "$jobs" --target "${@:3}"
}

# build_programs FOLDER LINKER_FLAGS TARGET...: does the same with progress and a log. Object files of another stamp are
# removed, because CMake does not compile them again for another release of the compiler.
build_programs() {
  mkdir -p "$1"
  if ! cmp -s <(stamp) "$1/stamp"; then
    find "$1" -name '*.o' -delete
    rm -rf "$1/CMakeCache.txt" "$1/CMakeFiles"
    stamp >"$1/stamp"
  fi
  with_progress "building the programs with gRPC $name" "$1/build.log" program_steps "$@"
}

# train BIN: runs the profile's load with the programs in BIN, which write the profile next to gRPC's object files.
train() {
  local bin=$1 server port='' tries
  find "$build" -name '*.gcda' -delete
  "$bin/grpc_ping_server" --port 0 "${TRAINING_SERVER[@]}" >"$build/server.log" 2>&1 &
  server=$!
  # shellcheck disable=SC2064  # this process
  trap "kill $server 2>/dev/null" EXIT
  for ((tries = 0; tries < 100 && ${#port} == 0; ++tries)); do
    sleep 0.1
    port=$(grep -oP '^listening on .*:\K[0-9]+' "$build/server.log") || true
  done
  [[ -n $port ]] || die "the profile's server does not listen after 10 s (its output: $build/server.log)"
  "$bin/grpc_ping_client" --port "$port" "${TRAINING_CLIENT[@]}" >"$build/client.log" 2>&1 ||
    die "the profile's client failed (its output: $build/client.log)"
  trap - EXIT
  kill "$server"
  wait "$server" || die "the profile's server failed (its output: $build/server.log)"
  [[ -n $(find "$build" -name '*.gcda' -print -quit) ]] || die "the programs wrote no profile in $build"
}

# make_prefix: compiles gRPC into the prefix. The stamp is written last: a prefix without one is unfinished. A build with
# the same stamp that was interrupted is continued.
make_prefix() {
  local log=$FOLDER/$name.log
  if ! cmp -s <(stamp) "$build/stamp"; then
    rm -rf "$build" "$prefix"
    mkdir -p "$build"
    stamp >"$build/stamp"
  fi
  rm -f "$prefix/stamp"
  if is_way pgo; then
    # Threads count at the same time. Code that the profile's load does not run is compiled as without a profile.
    with_progress "compiling gRPC $name for its profile" "$log" grpc_steps "$flags -fprofile-generate -fprofile-update=atomic"
    build_programs "$build/programs" "$linker_flags -fprofile-generate" grpc_ping_server grpc_ping_client
    say "running the profile's load"
    train "$build/programs/bin"
    with_progress "compiling gRPC $name with its profile" "$log" grpc_steps \
      "$flags -fprofile-use -fprofile-partial-training -fprofile-correction -Wno-missing-profile"
  else
    with_progress "compiling gRPC $name" "$log" grpc_steps "$flags"
  fi
  stamp >"$prefix/stamp"
  [[ -n $checkout ]] || rm -rf "$build"
}

# make_here: makes the prefix and the programs with this system's compiler; one run at a time for each way.
make_here() {
  local linker_flags='' archivers=() googleapis=${CQBENCH_GOOGLEAPIS_DIR:-}
  need_packages "${BUILD_PACKAGES[@]}" "${GRPC_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${LIBRARIES[@]}"
  mkdir -p "$FOLDER/source" 2>/dev/null || true
  [[ -w $FOLDER ]] || die "$FOLDER cannot be written: set CQBENCH_GRPC_DIR"
  if [[ -z $googleapis ]]; then
    need_packages "${PYTHON_PACKAGES[@]}"
    python_venv build
    googleapis=$(googleapis_dir)
  fi
  if is_way lto; then
    linker_flags=-flto=$jobs
    archivers=(-D CMAKE_AR="$(command -v gcc-ar)" -D CMAKE_RANLIB="$(command -v gcc-ranlib)")
  fi
  exec 9>"$FOLDER/$name.lock"
  flock -n 9 || die "another run is making $prefix"
  if [[ -z $source ]]; then
    exec 8<"$FOLDER/source"
    flock 8 # another run may be fetching the same
    source=$(fetched_source)
    [[ -n $source ]] || fetch_source 8>&- 9>&-
    source=$(fetched_source)
    exec 8>&-
  fi
  [[ $(state) == exists ]] || make_prefix 9>&-
  build_programs "$programs" "$linker_flags" grpc_ping_server grpc_ping_client grpc_ping_server_counting \
    grpc_ping_client_counting 9>&-
  exec 9>&-
  echo "$prefix"
}

# run_inside ARG...: runs this script in the root of the suite, where the programs' folder is /cqbench/build, and a
# checkout /cqbench/shared.
run_inside() {
  local what=("$version") way
  [[ -z $checkout ]] || what=(--grpc /cqbench/shared)
  for way in $ways; do what+=("--$way"); done
  CQBENCH_SID_SHARED=$checkout inside "$SUITE_ROOT" CQBENCH_GRPC_DIR="$FOLDER_INSIDE" CQBENCH_GRPC_LABEL="$label" \
    CQBENCH_GRPC_PROGRAMS=/cqbench/build CQBENCH_GOOGLEAPIS_DIR=/cqbench/build/googleapis \
    bash /cqbench/source/scripts/grpc.sh "${what[@]}" --jobs "$jobs" "$@"
}

# in_suite: makes the prefix and the programs inside the root of the suite, or prints the plan. The folders that it
# prints are those outside of the root.
in_suite() {
  local output
  use_suite "$suite"
  BUILD=$programs
  if ((plan)) && [[ ! -e $SUITE_ROOT/$MARKER ]]; then
    printf '%-9s %s\n' gRPC "${label:-"Debian's source package of $version, to be fetched"}" flags "$flags" \
      programs "$programs/bin" state "to be made, after a root of Debian $suite in $SUITE_ROOT"
    echo "$SUITE_ROOT$FOLDER_INSIDE/prefix/${name/-$suite/}"
    return
  fi
  require_root_on_debian
  if ((plan)); then
    output=$(run_inside --plan)
    rmdir "$BUILD" 2>/dev/null || true # made for the mount; a build that exists is not empty
  else
    ensure_root
    copy_googleapis
    output=$(run_inside)
  fi
  sed "s|^/|$SUITE_ROOT/|; s|/cqbench/build|$programs|" <<<"$output"
}

main() {
  local source='' label
  help_if_asked "$0" "$@"
  parse "$@"
  label=${CQBENCH_GRPC_LABEL:-$checkout}
  describe
  # The stamp has all flags: those of the environment are not used.
  unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
  if [[ -n $suite ]]; then
    in_suite
  else
    source=${checkout:-$(fetched_source)}
    if ((plan)); then show_plan; else make_here; fi
  fi
  ((plan)) || [[ -n ${CQBENCH_GRPC_PROGRAMS:-} ]] || say "the programs are in $programs/bin"
}

main "$@"
