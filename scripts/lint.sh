#!/usr/bin/env bash
# Checks the sources: every tracked C++ file against .clang-format, the Python package and its tests with ruff (lint and
# format) and mypy --strict. Exit status 1 when anything is wrong.
# Usage: scripts/lint.sh [--fix]     --fix rewrites what can be rewritten
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The version is part of the style: others break lines differently.
FORMATTER=clang-format-14
PYTHON_SOURCES=(scripts/cqbench tests/scripts tests/mutations tests/fuzz)
CONFIG=scripts/pyproject.toml

list_sources() { git -C "$ROOT" ls-files -z '*.cc' '*.h'; }

# differing FILE...: the names of those that clang-format would change.
differing() {
  local file
  for file in "$@"; do
    "$FORMATTER" --style=file "$file" | cmp -s - "$file" || echo "$file"
  done
}

check_cpp() {
  local files bad
  command -v "$FORMATTER" >/dev/null || need_packages "$FORMATTER"
  command -v git >/dev/null || need_packages git
  mapfile -d '' files < <(list_sources)
  ((${#files[@]})) || die "git lists no C++ files here"
  if [[ ${1:-} == --fix ]]; then
    "$FORMATTER" --style=file -i "${files[@]}"
    return
  fi
  mapfile -t bad < <(differing "${files[@]}")
  ((${#bad[@]} == 0)) || {
    printf '%s\n' "${bad[@]}"
    say "${#bad[@]} of ${#files[@]} files differ from .clang-format"
    return 1
  }
  say "${#files[@]} files are formatted as .clang-format says"
}

check_python() {
  local ruff=("$ROOT/.venv/bin/ruff") status=0
  need_packages "${PYTHON_PACKAGES[@]}"
  python_venv test
  if [[ ${1:-} == --fix ]]; then
    "${ruff[@]}" check --quiet --fix --config "$CONFIG" "${PYTHON_SOURCES[@]}" || status=1
    "${ruff[@]}" format --quiet --config "$CONFIG" "${PYTHON_SOURCES[@]}"
    return "$status"
  fi
  "${ruff[@]}" check --quiet --config "$CONFIG" "${PYTHON_SOURCES[@]}" || status=1
  "${ruff[@]}" format --quiet --check --config "$CONFIG" "${PYTHON_SOURCES[@]}" || status=1
  "$ROOT/.venv/bin/mypy" --config-file "$CONFIG" "${PYTHON_SOURCES[@]}" || status=1
  return "$status"
}

case ${1:-} in
  -h | --help)
    show_help "$0"
    exit
    ;;
  '' | --fix) (($# <= 1)) || die "unknown argument '$2'; see --help" ;;
  *) die "unknown argument '$1'; see --help" ;;
esac
cd "$ROOT"
status=0
check_cpp "$@" || status=1
check_python "$@" || status=1
((status == 0)) || say "scripts/lint.sh --fix rewrites what can be rewritten"
exit "$status"
