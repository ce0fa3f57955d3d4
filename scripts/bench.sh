#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures whole commands and prints a Markdown table:  scripts/bench.sh [--binary FILE] [--help]
# Builds the release preset first, msprof-analyze only where no binary is given. Inputs are made in
# build/bench_data; REFERENCE_DIR names a checkout of the Python tool to measure against.
# See docs/performance.md.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

build() {
  cd -- "$root"
  ./scripts/setup.sh
  if [[ ! -e build/release/build.ninja ]]; then
    cmake --preset release
  fi
  cmake --build --preset release --target "$@"
}

targets=(mpa_bare_pass msprof-analyze)
for argument in "$@"; do
  case $argument in
    --binary | --binary=*) targets=(mpa_bare_pass) ;;
    -h | --help) targets=() ;;
  esac
done
if ((${#targets[@]} > 0)); then
  (build "${targets[@]}") >&2
fi
exec python3 "$root/tests/bench/commands.py" "$@"
