#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds broken inputs to all that the program reads:  scripts/fuzz.sh [SECONDS [FUZZER...]]
# Builds the fuzzers and runs each, or those that are named (trace_view, gzip, ...), for so many
# seconds (3), as many at once as there are processors. What a run learns is kept in corpus/ of the
# build for the next one. Prints a line for each; fails when there is a finding. Without clang or
# lld it says so and succeeds. PRESET names the preset that is built (fuzz; asan has the fuzzers, too).
# See tests/fuzz/README.md.
set -euo pipefail

preset=${PRESET:-fuzz}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build=$PWD/build/$preset

seconds=${1:-3}
shift $(($# > 0 ? 1 : 0))
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  printf 'fuzz: %s is no number of seconds; usage: scripts/fuzz.sh [SECONDS [FUZZER...]]\n' "$seconds" >&2
  exit 2
fi

has_libfuzzer() {
  local program
  command -v clang++ >/dev/null || return 1
  program=$(mktemp) || return 1
  local -i status=0
  clang++ -fuse-ld=lld -x c++ -fsanitize=fuzzer,address -o "$program" - >/dev/null 2>&1 <<'PROGRAM' || status=1
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }
PROGRAM
  rm -f -- "$program"
  return $status
}

if ! has_libfuzzer; then
  printf 'SKIPPED: the fuzzers need clang++ with libFuzzer, and lld (in Debian the packages clang and lld)\n'
  exit 0
fi

log=$build-build.log
mkdir -p "$build"
if ! { { [[ -e $build/build.ninja ]] || cmake --preset "$preset"; } &&
  cmake --build "$build" --target fuzzers &&
  ctest --test-dir "$build" -R '^raw.make_captures$'; } >"$log" 2>&1; then
  printf 'The build failed. The end of %s:\n\n' "$log" >&2
  tail -n 40 "$log" >&2
  exit 1
fi

names=("$@")
if ((${#names[@]} == 0)); then
  for program in "$build"/bin/fuzz_*; do
    names+=("${program##*/fuzz_}")
  done
fi

fuzz() {
  local name=$1 program=$build/bin/fuzz_$1 corpus=$build/corpus/$1 findings=$build/findings/$1 pid
  mkdir -p "$corpus" "$findings"
  MPA_FUZZ_WRITE_SEEDS=$build/fuzz_seeds/$name "$program" 2>/dev/null
  # Without entropic=0 most of the time goes into weighing inputs, because programs are large.
  "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -entropic=0 -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" "$build/fuzz_seeds/$name" \
    >"$findings/log" 2>&1 &
  pid=$!
  local -i status=0
  wait "$pid" || status=1
  rm -rf -- "/dev/shm/mpa_fuzz_$pid"  # its files; it ends without leaving main()
  if ((status == 0)); then
    printf '%-18s ok, %s inputs\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$findings/log")"
  else
    printf '%-18s FINDING: %s\n' "$name" "$findings/log"
    grep -m 1 -E '^SUMMARY|^==.*ERROR' "$findings/log" || tail -n 3 "$findings/log"
  fi
  return $status
}

for name in "${names[@]}"; do
  if [[ ! -x $build/bin/fuzz_$name ]]; then
    printf 'fuzz: there is no fuzzer %s\n' "$name" >&2
    exit 2
  fi
done
export build seconds
export -f fuzz
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I {} bash -c 'fuzz {}'
