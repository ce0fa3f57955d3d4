#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that the static program runs anywhere:  scripts/check_package.sh [--all]
# The program for x86_64 is built, looked at with readelf, and run alone in an empty chroot.
# --all, for releases, makes all packages, twice, and proves them, too: see docs/packaging.md.
# As root, or where users may have namespaces of their own.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
work=$PWD/build/package/check
rm -rf "$work"
mkdir -p "$work"

proven() { printf 'proven: %s\n' "$1"; }
fail() {
  printf 'check_package: %s\n' "$1" >&2
  exit 1
}

in_root() {
  local root=$1
  shift
  if ((EUID == 0)); then
    env -i "$(command -v chroot)" "$root" "$@"
  else
    env -i "$(command -v unshare)" --map-root-user "$(command -v chroot)" "$root" "$@"
  fi
}

# Neither asks for a loader nor for libraries, and fits.
check_binary() {
  local program=$1 most=$((17 * 1024 * 1024)) size
  ! readelf --wide --program-headers "$program" | grep -E 'INTERP|DYNAMIC' || fail "$program needs a loader"
  readelf --dynamic "$program" | grep -q 'There is no dynamic section' || fail "$program has a dynamic section"
  ! readelf --sections --wide "$program" | grep -E '\.symtab|\.debug' || fail "$program is not stripped"
  ! strings "$program" | grep -F "$PWD" || fail "$program names the folder of its build"
  size=$(stat -c %s "$program")
  ((size < most)) || fail "$program has $size bytes, $most are the limit"
  proven "$2: no interpreter, no dynamic section, stripped, $((size / 1000)) kB"
}

# The program and two captures are all that is there: no libc, no shell, no /proc, no /dev, no /tmp.
demo() {
  local root=$work/chroot program=$1 name=$2 command
  rm -rf "$root"
  mkdir -p "$root/out"
  cp "$program" "$root/msprof-analyze"
  cp -r testdata/captures/text_new_ascend_pt testdata/captures/text_base_ascend_pt "$root/"
  for command in --version 'compare --help' 'check /text_new_ascend_pt' 'advisor all -d /text_new_ascend_pt -o /out' \
    'compare -d /text_new_ascend_pt -bp /text_base_ascend_pt -o /out --export_type xlsx,db,csv,json' \
    '-m module_statistic -d /text_new_ascend_pt -o /out --export_type xlsx,db,csv'; do
    # shellcheck disable=SC2086  # words of a command
    in_root "$root" /msprof-analyze $command >"$work/screen" 2>"$work/log" ||
      fail "$command in an empty chroot: $(cat "$work/log")"
  done
  # shellcheck disable=SC2086
  in_root "$root" /msprof-analyze compare -d /text_new_ascend_pt -bp /text_base_ascend_pt -o /out >"$work/screen" 2>&1
  [[ $(find "$root" -mindepth 1 -maxdepth 1 | wc -l) == 4 ]] || fail 'the chroot was not empty'
  find "$root/out" -name '*.xlsx' | grep -q . || fail 'no workbook was written in the chroot'
  proven "$name: runs the demo in an empty chroot: $(grep '^end to end:' "$work/screen")"
}

./scripts/package.sh --program x86_64
check_binary build/static-x86_64/bin/msprof-analyze x86_64
demo build/static-x86_64/bin/msprof-analyze x86_64
[[ ${1:-} == --all ]] || exit 0
. packaging/check_all.sh
