#!/usr/bin/env bash
# Checks every tracked C++ file against .clang-format and lists those that differ; exit status 1 when there are any.
# Usage: scripts/format.sh [--fix]     --fix rewrites the files instead
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The version is part of the style: others break lines differently.
FORMATTER=clang-format-14

list_sources() { git -C "$ROOT" ls-files -z '*.cc' '*.h'; }

# check FILE...: prints the names of the files that differ.
check() {
  local file
  for file in "$@"; do
    "$FORMATTER" --style=file "$file" | cmp -s - "$file" || echo "$file"
  done
}

main() {
  local files differing
  [[ $# -eq 0 || $1 == --fix ]] || die "unknown argument '$1'; see --help"
  command -v "$FORMATTER" >/dev/null || need_packages "$FORMATTER"
  command -v git >/dev/null || need_packages git
  cd "$ROOT"
  mapfile -d '' files < <(list_sources)
  ((${#files[@]})) || die "git lists no C++ files here"
  if [[ ${1:-} == --fix ]]; then
    "$FORMATTER" --style=file -i "${files[@]}"
    return
  fi
  mapfile -t differing < <(check "${files[@]}")
  ((${#differing[@]} == 0)) || {
    printf '%s\n' "${differing[@]}"
    die "${#differing[@]} of ${#files[@]} files differ from .clang-format; scripts/format.sh --fix rewrites them"
  }
  say "${#files[@]} files are formatted as .clang-format says"
}

case ${1:-} in
  -h | --help) show_help "$0" ;;
  *) main "$@" ;;
esac
