#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds msprof-analyze and compares the two captures in testdata/.
# The table goes to standard output, everything about the build to standard error.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
./scripts/setup.sh

mkdir -p build/demo
log=build/demo-build.log

# Condenses the build's output to one line: a counter on a terminal, a plain message elsewhere.
progress() {
  local line started=
  while IFS= read -r line; do
    [[ $line =~ ^\[([1-9][0-9]*/[0-9]+)\] ]] || continue
    if [[ -t 2 ]]; then
      printf '\rBuilding msprof-analyze %s ' "${BASH_REMATCH[1]}" >&2
    elif [[ -z $started ]]; then
      printf 'Building msprof-analyze (%s has the details)\n' "$log" >&2
    fi
    started=yes
  done
  if [[ -n $started && -t 2 ]]; then
    printf '\n' >&2
  fi
}

build() {
  if [[ ! -e build/release/build.ninja ]]; then
    cmake --preset release || return
  fi
  NINJA_STATUS='[%f/%t] ' cmake --build --preset release --target msprof-analyze
}

if ! build </dev/null 2>&1 | tee "$log" | progress; then
  printf 'The build failed. The end of %s:\n\n' "$PWD/$log" >&2
  tail -n 40 "$log" >&2
  exit 1
fi

build/release/bin/msprof-analyze compare \
  -d testdata/captures/text_new_ascend_pt \
  -bp testdata/captures/text_base_ascend_pt \
  -o build/demo

workbook=  # the newest, and of this run: not older than the build's log
for file in build/demo/performance_comparison_result_*.xlsx; do
  [[ -e $file && ! $file -ot $log ]] || continue
  if [[ -z $workbook || $file -nt $workbook ]]; then
    workbook=$file
  fi
done
if [[ -z $workbook ]]; then
  printf 'The comparison wrote no workbook to %s.\n' "$PWD/build/demo" >&2
  exit 1
fi
printf 'Workbook: %s\n' "$PWD/$workbook"
