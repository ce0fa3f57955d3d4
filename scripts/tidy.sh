#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Static analysis with the checks of .clang-tidy:  scripts/tidy.sh [PATTERN...]
# Of all sources, or of those whose path a pattern (a regular expression) matches, as src/io/.
# Fails when there is a finding.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
./scripts/setup.sh clang clang-tidy

# Only compile_commands.json is needed, nothing is built.
cmake -G Ninja -S . -B build/tidy -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMPA_FUZZ=ON >/dev/null

(($# > 0)) || set -- "$PWD/(src|apps|tests)/"
run-clang-tidy -quiet -p build/tidy "$@"
