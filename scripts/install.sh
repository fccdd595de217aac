#!/usr/bin/env bash
# Installs what building and testing cqbench needs: packages through apt-get, when root or with passwordless sudo
# (otherwise says what to install), and .venv with pip. Prints nothing when everything is there.
# Usage: scripts/install.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case ${1:-} in
  -h | --help) show_help "$0" ;;
  '')
    install_for_tests
    python_venv build test
    ;;
  *) die "unknown argument '$1'; see --help" ;;
esac
