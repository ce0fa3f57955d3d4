#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs the tests:  scripts/test.sh [preset] [more arguments for ctest]
# The presets are those of CMakePresets.json; without one, release.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
shift || true

case $preset in
  release | debug) ./scripts/setup.sh ;;
  *) ./scripts/setup.sh clang libclang-rt-dev lld ;;  # the sanitizers and libFuzzer of clang
esac
if [[ ! -e build/$preset/build.ninja ]]; then
  cmake --preset "$preset"
fi
cmake --build --preset "$preset"
ctest --preset "$preset" --output-on-failure -j "$(nproc)" "$@"
