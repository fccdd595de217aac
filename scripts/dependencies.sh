#!/usr/bin/env bash
# Whether what cqbench stands on has patch releases that this machine, or a version that is pinned here, lacks. What is
# asked, and of whom:
#   Debian's packages   installed version against the candidate of `apt-cache policy`, after `apt-get update`; security
#                       fixes come to a stable release as such. One that a security archive has is marked.
#   Python's            each pin of scripts/requirements*.txt against the releases of the same MAJOR.MINOR (pip index), and
#                       against known vulnerabilities (pip-audit, in an environment of its own)
#   Go's                what scripts/*/go.mod asks for itself, against releases of the same MAJOR.MINOR
# A newer patch release counts as one that may have a security fix: release notes are for people. What nobody could be
# asked about is said. Needs a network; takes a minute or two.
#
# Usage: scripts/dependencies.sh [debian|python|go]...     all of them when none is named
# Exit status: 0 nothing is behind; 1 something is; 2 usage; 3 something could not be asked, and nothing else is behind.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

behind=0 unknown=0
is_behind() {
  printf '%s\n' "$*"
  behind=1
}
is_unknown() {
  say "not known: $*"
  unknown=1
}

# newest_patch VERSION CANDIDATE...: the newest of the candidates that has the same first two numbers as VERSION and is no
# preview; VERSION itself where none is newer.
newest_patch() {
  local version=$1 series
  shift
  series=$(grep -oE '^v?[0-9]+(\.[0-9]+)?' <<<"$version")
  printf '%s\n' "$version" "$@" | grep -E "^${series//./\\.}(\.[0-9]+)*(\.post[0-9]+)?$" | sort -V | tail -n 1
}

check_debian() {
  local package line installed candidate
  command -v apt-cache >/dev/null || {
    is_unknown "Debian's packages: there is no apt-cache"
    return
  }
  as_root apt-get -q update </dev/null >/dev/null 2>&1 || is_unknown "newer packages: apt-get update failed"
  for package in "${BUILD_PACKAGES[@]}" "${GRPC_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${MPI_PACKAGES[@]}" "${PYTHON_PACKAGES[@]}"; do
    line=$(apt-cache policy "$package")
    installed=$(sed -n 's/^ *Installed: //p' <<<"$line")
    candidate=$(sed -n 's/^ *Candidate: //p' <<<"$line")
    if [[ -z $candidate ]]; then
      is_unknown "package $package: apt does not know it"
    elif [[ $installed == "(none)" || $installed == "$candidate" ]]; then
      continue # what is not there yet will be the newest
    else
      grep -A2 -F " $candidate " <<<"$line" | grep -q -- -security && candidate+=" (security)"
      is_behind "Debian $package $installed: there is $candidate"
    fi
  done
}

# The NAME==VERSION of all requirements files, without what belongs to other versions of Python.
pins() { sed -nE 's/^([A-Za-z0-9_.-]+)==([^; ]+).*/\1 \2/p' "$ROOT"/scripts/requirements*.txt | sort -u; }

check_python() {
  local name version candidates newest audit=$ROOT/build/tools/audit report
  python_venv
  while read -r name version; do
    candidates=$("$ROOT/.venv/bin/python" -m pip --disable-pip-version-check index versions "$name" 2>/dev/null |
      sed -n 's/^Available versions: //p' | tr -d ,) || true
    if [[ -z $candidates ]]; then
      is_unknown "Python's $name: no index of packages answers"
      continue
    fi
    # shellcheck disable=SC2086  # one word for each version
    newest=$(newest_patch "$version" $candidates)
    [[ $newest == "$version" ]] || is_behind "Python $name $version: there is $newest"
  done < <(pins)

  [[ -x $audit/bin/pip-audit ]] || {
    "$(system_python)" -m venv --clear "$audit" && "$audit/bin/python" -m pip --quiet install pip-audit
  } || {
    is_unknown "vulnerabilities of Python's packages: pip-audit could not be installed"
    return
  }
  report=$(mktemp)
  pins | sed 's/ /==/' >"$report.txt"
  # Its exit status is 1 for findings and for trouble alike; the report says which.
  "$audit/bin/pip-audit" --no-deps --disable-pip --progress-spinner off -f json -o "$report" -r "$report.txt" \
    >/dev/null 2>&1 || true
  while read -r kind words; do
    if [[ $kind == vulnerable ]]; then is_behind "Python $words"; else is_unknown "$words"; fi
  done < <("$ROOT/.venv/bin/python" - "$report" <<'PYTHON'
import json, sys
try:
    found = json.load(open(sys.argv[1]))["dependencies"]
except (OSError, ValueError, KeyError):
    print("unknown vulnerabilities of Python's packages: pip-audit gave no report")
    sys.exit()
for package in found:
    for hole in package.get("vulns", []):
        fixed = ", ".join(hole["fix_versions"]) or "no release yet"
        print(f"vulnerable {package['name']} {package['version']}: {hole['id']}, mended in {fixed}")
skipped = [package["name"] for package in found if "skip_reason" in package]
if skipped:
    print(f"unknown vulnerabilities of {len(skipped)} of Python's packages: the database has no answer for {skipped[0]}")
PYTHON
  )
  rm -f "$report" "$report.txt"
}

check_go() {
  local file name version candidates newest
  PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || {
    is_unknown "Go's modules: there is no Go"
    return
  }
  for file in "$ROOT"/scripts/*/go.mod; do
    while read -r name version; do
      candidates=$(cd "${file%/*}" && go list -m -versions -f '{{join .Versions " "}}' "$name" 2>/dev/null) || true
      # A commit without a release has no patch releases.
      [[ $version != *-* ]] || continue
      if [[ -z $candidates ]]; then
        is_unknown "Go's $name: no proxy of modules answers"
        continue
      fi
      # shellcheck disable=SC2086  # one word for each version
      newest=$(newest_patch "$version" $candidates)
      [[ $newest == "$version" ]] || is_behind "Go $name $version (${file#"$ROOT/"}): there is $newest"
    done < <(cd "${file%/*}" && go list -m -f '{{if not (or .Main .Indirect)}}{{.Path}} {{.Version}}{{end}}' all 2>/dev/null | grep .)
  done
}

main() {
  local kind kinds=("$@")
  ((${#kinds[@]})) || kinds=(debian python go)
  for kind in "${kinds[@]}"; do
    [[ $kind =~ ^(debian|python|go)$ ]] || {
      printf '%s: %s: debian, python and go are accepted (see --help)\n' "${0##*/}" "$kind" >&2
      exit 2
    }
  done
  for kind in "${kinds[@]}"; do
    say "asking about $kind"
    "check_$kind"
  done
  ((behind == 0)) || exit 1
  ((unknown == 0)) || exit 3
  say "nothing is behind"
}

# A test sources this file for its functions.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  help_if_asked "$0" "$@"
  main "$@"
fi
