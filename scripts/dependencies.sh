#!/usr/bin/env bash
# Reports what cqbench stands on that has a newer patch release (same MAJOR.MINOR) than this machine or a pin here, or a
# known vulnerability. renovate.json lets a bot propose the same for the pins.
#   debian   installed packages against what `apt-get install --only-upgrade` would install, after `apt-get update`
#   python   each pin of scripts/requirements*.txt by pip, and known vulnerabilities by pip-audit
#   go       what scripts/*/go.mod requires directly, by `go list`
# A newer patch release may have a security fix: release notes are for people. Needs a network; takes a minute or two.
#
# Usage: scripts/dependencies.sh [debian|python|go]...     all of them when none is named
# Exit status: 0 nothing is behind; 1 something is; 2 usage; 3 something could not be asked, and nothing else is behind.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Each check prints a line for what is behind, and one that begins with '?' for what could not be asked.
check_debian() {
  local all=("${BUILD_PACKAGES[@]}" "${GRPC_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}" "${MPI_PACKAGES[@]}" "${PYTHON_PACKAGES[@]}")
  as_root apt-get -q update </dev/null >/dev/null 2>&1 || echo "?newer packages: apt-get update failed"
  # Inst NAME [INSTALLED] (CANDIDATE ARCHIVE, ... [ARCHITECTURE]); what is not installed stays so.
  LC_ALL=C apt-get --simulate install --only-upgrade "${all[@]}" 2>/dev/null |
    sed -nE 's/^Inst (\S+) \[(\S+)\] \((\S+) (.*)\).*/Debian \1 \2: there is \3 (\4)/p' ||
    echo "?Debian's packages: apt-get does not answer"
}

# The NAME==VERSION of all requirements files, without what belongs to other versions of Python.
pins() { sed -nE 's/^([A-Za-z0-9_.-]+==[^; ]+).*/\1/p' "$ROOT"/scripts/requirements*.txt | sort -u; }

check_python() {
  local audit=$ROOT/build/tools/audit folder series
  python_venv
  folder=$(mktemp -d)
  pins >"$folder/pins.txt"
  mapfile -t series < <(pins | sed -E 's/(==[0-9]+\.[0-9]+).*/\1.*/')
  "$ROOT/.venv/bin/python" -m pip --disable-pip-version-check install --dry-run --ignore-installed --no-deps \
    --report "$folder/newest.json" "${series[@]}" >/dev/null 2>&1 || true
  # Its exit status is 1 for vulnerabilities and for failures alike; the report tells them apart.
  [[ -x $audit/bin/pip-audit ]] ||
    { "$(system_python)" -m venv --clear "$audit" && "$audit/bin/python" -m pip --quiet install pip-audit; } >&2 || true
  "$audit/bin/pip-audit" --no-deps --disable-pip --progress-spinner off -f json -o "$folder/audit.json" \
    -r "$folder/pins.txt" >/dev/null 2>&1 || true
  "$ROOT/.venv/bin/python" - "$folder" <<'PYTHON'
import json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
pinned = dict(line.lower().replace("_", "-").split("==") for line in (folder / "pins.txt").read_text().split())
try:
    for one in json.loads((folder / "newest.json").read_text())["install"]:
        name, newest = one["metadata"]["name"].lower().replace("_", "-"), one["metadata"]["version"]
        if pinned[name] != newest:
            print(f"Python {name} {pinned[name]}: there is {newest}")
except (OSError, ValueError, KeyError):
    print("?newer releases of Python's packages: no index of packages answers")
try:
    audited = json.loads((folder / "audit.json").read_text())["dependencies"]
    for one in audited:
        for hole in one.get("vulns", []):
            fixed = ", ".join(hole["fix_versions"]) or "no release yet"
            print(f"Python {one['name']} {one['version']}: {hole['id']}, fixed in {fixed}")
    if skipped := [one["skip_reason"] for one in audited if "skip_reason" in one]:
        print(f"?vulnerabilities of {len(skipped)} of Python's packages: {skipped[0]}")
except (OSError, ValueError, KeyError):
    print("?vulnerabilities of Python's packages: pip-audit gave no report")
PYTHON
  rm -rf "$folder"
}

check_go() {
  local file name version newest
  PATH=$PATH:/usr/local/go/bin
  for file in "$ROOT"/scripts/*/go.mod; do
    cd "${file%/*}"
    while read -r name version; do
      [[ $version != *-* ]] || continue # a commit without a release has no patch releases
      newest=$(go list -m -f '{{.Version}}' "$name@patch" 2>/dev/null) || newest=
      if [[ -z $newest ]]; then
        echo "?Go's $name: go does not answer"
      elif [[ $newest != "$version" ]]; then
        echo "Go $name $version (${file#"$ROOT/"}): there is $newest"
      fi
    done < <(sed -nE '/\/\/ indirect/!s/^\s+(\S+\.\S+) (v\S+).*/\1 \2/p' go.mod)
  done
}

help_if_asked "$0" "$@"
(($#)) || set -- debian python go
for kind; do
  [[ $kind =~ ^(debian|python|go)$ ]] || {
    printf '%s: %s: debian, python and go are accepted (see --help)\n' "${0##*/}" "$kind" >&2
    exit 2
  }
done
behind=0 unknown=0
for kind; do
  say "asking about $kind"
  while read -r line; do
    case $line in
      \?*) say "not known: ${line#\?}" && unknown=1 ;;
      *) printf '%s\n' "$line" && behind=1 ;;
    esac
  done < <("check_$kind" || echo "?$kind: the check failed")
done
((behind == 0)) || exit 1
((unknown == 0)) || exit 3
say "nothing is behind"
