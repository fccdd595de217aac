# shellcheck shell=bash
# What the scripts share: messages, packages, builds, the Python environment. Sourced, never run:
#   source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# Callers set `set -euo pipefail` themselves.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Names in Debian and Ubuntu. gRPC's packages have a list of their own, because newgrpc.sh takes them from another
# suite.
BUILD_PACKAGES=(g++ cmake ninja-build ccache pkg-config)
GRPC_PACKAGES=(libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libprotoc-dev)
LIBRARY_PACKAGES=(libabsl-dev libcli11-dev libbenchmark-dev libgtest-dev libgmock-dev nlohmann-json3-dev
  libboost-dev libnghttp2-dev libssl-dev openssl zlib1g-dev)
MPI_PACKAGES=(libopenmpi-dev openmpi-bin)  # only for grpc_ping_client_mpi
# A test compares ss with cqbench's reading of TCP_INFO; the others are HTTP clients for tests of the HTTP front end.
TEST_PACKAGES=(iproute2 curl nghttp2-client)
COST_PACKAGES=(linux-perf strace valgrind)  # `cqbench cost` counts with these
CLANG_PACKAGES=(clang-14 libclang-rt-14-dev)  # for the preset asan: tests and fuzzing
BROWSER_PACKAGES=(chromium)  # for tests of the report; not in newgrpc.sh's root, which does not run them
# shellcheck disable=SC2034  # used by the scripts that source this file
PYTHON_PACKAGES=(python3 python3-venv)

# say WORDS...: prints a message on stderr, because stdout belongs to the program that a script runs.
say() { printf '== %s\n' "$*" >&2; }

# die WORDS...: prints one line on stderr and exits with status 1.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# usage WORDS...: the same for a wrong command line, with status 2. WORDS name the flag, the value and what is accepted.
usage() {
  printf '%s: %s (see --help)\n' "${0##*/}" "$*" >&2
  exit 2
}

# show_help FILE: prints the comment at the head of a script, which is its help.
show_help() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"; }

# has_flag "FLAG..." ARG...: true if one of the flags, or FLAG=VALUE, is among ARG... before a `--`; the client's own
# flags follow the `--`.
has_flag() {
  local flags=" $1 " argument
  shift
  for argument in "$@"; do
    [[ $argument != -- ]] || return 1
    [[ $flags != *" $argument "* && $flags != *" ${argument%%=*} "* ]] || return 0
  done
  return 1
}

# help_if_asked FILE ARG...: shows a script's help and exits if an ARG asks for help.
help_if_asked() {
  local file=$1
  shift
  ! has_flag "-h --help" "$@" || {
    show_help "$file"
    exit
  }
}

# missing_packages PKG...: prints the packages that dpkg does not list as installed, one per line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || echo "$package"
  done
}

# as_root CMD...: runs CMD as root, without ever asking for a password; 1 if that is not possible.
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -n "$@"
  fi
}

# apt_install LOG PKG...: installs packages, waits for a dpkg run elsewhere, and writes output to LOG only.
apt_install() {
  local log=$1
  shift
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends \
    "$@" </dev/null >>"$log" 2>&1
}

# need_packages PKG...: installs missing packages through apt-get; silent if none is missing. Dies with the command to
# type if it cannot install them. CQBENCH_NO_INSTALL=1 skips the check: for dependencies that do not come from packages.
need_packages() {
  [[ ${CQBENCH_NO_INSTALL:-} != 1 ]] || return 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not Debian or Ubuntu: install the equivalents of $*, then set CQBENCH_NO_INSTALL=1"
  fi
  local missing log
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  as_root true 2>/dev/null || die "run first, as root: apt-get install ${missing[*]}"

  say "installing ${missing[*]}"
  log=$(mktemp)
  # The package lists are fetched only if the installation fails with the present ones: absent on a new machine, or old.
  if ! apt_install "$log" "${missing[@]}"; then
    as_root apt-get -q update </dev/null >>"$log" 2>&1 || true
    apt_install "$log" "${missing[@]}" || {
      tail -n 20 "$log" >&2
      die "apt-get could not install ${missing[*]} (its whole output: $log)"
    }
  fi
  rm -f "$log"
}

# install_all [PKG...]: installs everything that building and measuring needs, and PKG, which only tests need.
install_all() {
  need_packages "${BUILD_PACKAGES[@]}" "${GRPC_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${PYTHON_PACKAGES[@]}" "$@"
}

# install_for_tests: does the same with all that tests need. A browser that exists already replaces the package.
install_for_tests() {
  install_all "${TEST_PACKAGES[@]}" "${COST_PACKAGES[@]}" "${MPI_PACKAGES[@]}"
  command -v chromium >/dev/null || need_packages "${BROWSER_PACKAGES[@]}"
}

# build_preset PRESET [TARGET...]: configures and builds build/PRESET, with one line of progress; the whole output is in
# build/PRESET/build.log. CMake itself uses ccache if available.
build_preset() {
  local preset=$1 targets=() googleapis log=$ROOT/build/$1/build.log
  shift
  (($# == 0)) || targets=(--target "$@")
  python_venv build
  googleapis=$(googleapis_dir)
  mkdir -p "${log%/*}"
  (
    cd "$ROOT" || exit
    with_progress "building $preset" "$log" build_steps "$preset" "$googleapis" ${targets[@]+"${targets[@]}"}
  )
}

# is_preset NAME: true if CMakePresets.json has it, so that build_preset builds build/NAME.
is_preset() { grep -qF "\"configurePreset\": \"$1\"" "$ROOT/CMakePresets.json"; }

# build_steps PRESET GOOGLEAPIS ARG...: for with_progress, in which `set -e` has no effect.
build_steps() {
  cmake --preset "$1" -D CQBENCH_GOOGLEAPIS_DIR="$2" &&
    NINJA_STATUS='[%f/%t] ' cmake --build --preset "$1" -j "$(nproc)" "${@:3}"
}

# with_progress WHAT LOG CMD...: runs CMD with its output in LOG, and shows on stderr how far ninja is: on a terminal in one
# line that is redrawn, else in a line every 30 s. Dies with the errors in LOG if CMD fails.
with_progress() {
  local what=$1 log=$2 process start=$SECONDS shown=$SECONDS status=0 line=''
  shift 2
  set -m # in a process group of its own, so that an interrupted script ends all of it
  ("$@") >"$log" 2>&1 </dev/null &
  process=$!
  set +m
  # shellcheck disable=SC2064  # this process
  trap "kill -- -$process 2>/dev/null; exit 130" INT TERM
  while kill -0 "$process" 2>/dev/null; do
    line=$(ninja_progress "$log" $((SECONDS - start)))
    if [[ -t 2 ]]; then
      printf '\r\033[K== %s%s' "$what" "$line" >&2
    elif [[ -n $line ]] && ((SECONDS - shown >= 30)); then
      say "$what$line"
      shown=$SECONDS
    fi
    sleep 0.5
  done
  wait "$process" || status=$?
  trap - INT TERM
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
  ((status == 0)) && return
  grep -E -m 20 -A 8 'error:|FAILED:|CMake Error' "$log" >&2 || tail -n 20 "$log" >&2
  die "$what failed (the whole output: $log)"
}

# ninja_progress LOG SECONDS: prints ": 57/236, about 2 min left" from ninja's last status line; nothing before the first.
ninja_progress() {
  local done total left
  read -r done total < <(tail -c 4000 "$1" 2>/dev/null | grep -aoE '^\[[0-9]+/[0-9]+\]' | tail -n 1 | tr -d '[]' | tr / ' ') ||
    return 0
  left=$(($2 * (total - done) / (done > 0 ? done : 1)))
  if (($2 < 5)); then
    printf ': %d/%d' "$done" "$total"
  elif ((left >= 90)); then
    printf ': %d/%d, about %d min left' "$done" "$total" $(((left + 30) / 60))
  else
    printf ': %d/%d, about %d s left' "$done" "$total" "$left"
  fi
}

# need_go WHAT: dies if Go or protoc is missing. WHAT: names, for the message, what needs them.
need_go() {
  PATH=$PATH:/usr/local/go/bin  # Go's own archive installs here
  command -v go >/dev/null || die "there is no Go to build $1: apt-get install golang-go, or go.dev/dl"
  command -v protoc >/dev/null || die "there is no protoc to build $1: apt-get install protobuf-compiler"
}

# build_logged WHAT LOG CMD...: runs CMD with its output in LOG alone; dies with the end of LOG if CMD fails. A function
# as CMD must return when a step fails, because `set -e` has no effect in it.
build_logged() {
  local what=$1 log=$2
  shift 2
  ("$@") >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "$what could not be built (its whole output: $log)"
  }
}

# system_python: prints the distribution's own interpreter, because python3-venv belongs to it. The first python3 on
# PATH may be another one (pyenv, conda); it serves if the distribution has none.
system_python() {
  local python
  for python in /usr/bin/python3 "$(command -v python3 || true)"; do
    if [[ -x $python ]] && "$python" -c 'import ensurepip, venv' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  die "no Python 3 with the venv module: apt-get install ${PYTHON_PACKAGES[*]}"
}

# exec_cqbench COMMAND ARG...: replaces the calling script by a command of scripts/cqbench in ROOT/.venv.
exec_cqbench() {
  export PYTHONPATH=$ROOT/scripts PYTHONDONTWRITEBYTECODE=1
  exec "$ROOT/.venv/bin/python" -m cqbench.cli "$@"
}

# googleapis_dir: prints the folder that has google/api/annotations.proto, after `python_venv build`.
googleapis_dir() { "$ROOT/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# python_venv [build] [test]: makes ROOT/.venv with the pinned packages of requirements.txt; build and test add those of
# requirements-build.txt and requirements-test.txt. Silent if it is up to date. All scripts share the environment.
python_venv() {
  local venv=$ROOT/.venv files=(requirements.txt) file kind python dependencies
  for kind in "$@"; do files+=("requirements-$kind.txt"); done
  if ! is_installed requirements.txt || ! "$venv/bin/python" -c '' 2>/dev/null; then
    python=$(system_python)
    say "making .venv with $python"
    "$python" -m venv --clear "$venv"
    mkdir "$venv/pinned"
  fi
  for file in "${files[@]}"; do
    ! is_installed "$file" || continue
    dependencies=()
    [[ $file != requirements-build.txt ]] || dependencies=(--no-deps)
    "$venv/bin/python" -m pip --quiet --disable-pip-version-check install "${dependencies[@]}" \
      -r "$ROOT/scripts/$file" ||
      die "pip could not install scripts/$file"
    # This installs .venv/bin/cqbench for people; the scripts do not need it.
    [[ $file != requirements.txt ]] || "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-deps \
      --no-build-isolation --editable "$ROOT/scripts" || die "pip could not install scripts/cqbench"
    # The file is written last, so that an interrupted installation starts again.
    cp "$ROOT/scripts/$file" "$venv/pinned/$file"
  done
}

# is_installed FILE: true if ROOT/.venv has the packages of this requirements file.
is_installed() { cmp -s "$ROOT/scripts/$1" "$ROOT/.venv/pinned/$1"; }
