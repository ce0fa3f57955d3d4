# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The proofs of all packages, for scripts/check_package.sh --all, whose functions it uses.
# shellcheck disable=SC2154  # work

./scripts/setup.sh rpm qemu-user-static python3-venv man-db >&2
version=$(sed -n 's/^project(.* VERSION \([^ )]*\).*/\1/p' CMakeLists.txt)
emulated=$work/msprof-analyze-aarch64
printf '#!/bin/sh\nexec qemu-aarch64-static %q "$@"\n' "$PWD/build/static-aarch64/bin/msprof-analyze" >"$emulated"
chmod +x "$emulated"
runs_as() { [[ $1 == x86_64 ]] && printf '%s' "$2" || printf 'qemu-aarch64-static %s' "$2"; }
package_of() {
  local found=(build/package/"$1"/out/*."$2")
  [[ ${#found[@]} == 1 && -e ${found[0]} ]] || fail "there is not one $2 for $1"
  printf '%s' "$PWD/${found[0]}"
}
snapshot() { (cd "$1" && find . ! -path './var/lib/*' ! -path './var/log*' | sort); }

# Of what is installed below a folder: the program runs, pages and completions are right.
check_tree() {
  local usr=$1 arch=$2 what=$3 page said
  said=$($(runs_as "$arch" "$usr/bin/msprof-analyze") --version | head -1)
  [[ $said == "msprof-analyze $version" ]] || fail "$what: the program says $said"
  for page in "$usr"/share/man/man1/*.1.gz; do
    man --warnings=w -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null | grep . && fail "$what: $page"
  done
  bash -n "$usr/share/bash-completion/completions/msprof-analyze"
  grep -q '"CycloneDX"' "$usr/share/doc/msprof-analyze/sbom.cdx.json"
  grep -qF "$(sha256sum "$usr/bin/msprof-analyze" | cut -d' ' -f1)" "$usr/share/doc/msprof-analyze/sbom.cdx.json" ||
    fail "$what: the parts list is of another program"
}

check_deb() {
  local tree=$work/deb-$1
  mkdir -p "$tree"/var/lib/dpkg/{info,updates,triggers} "$tree/var/log"
  touch "$tree"/var/lib/dpkg/{status,available}
  snapshot "$tree" >"$work/before"
  dpkg --root="$tree" --force-architecture --force-not-root -i "$(package_of "$1" deb)" >"$work/log" 2>&1 ||
    fail "dpkg -i: $(cat "$work/log")"
  check_tree "$tree/usr" "$1" deb
  local files
  files=$(find "$tree/usr" -type f | wc -l)
  dpkg --root="$tree" --force-not-root --purge msprof-analyze >"$work/log" 2>&1 || fail "dpkg --purge: $(cat "$work/log")"
  snapshot "$tree" | cmp -s - "$work/before" || fail "dpkg --purge leaves $(snapshot "$tree" | comm -23 - "$work/before")"
  proven "$1: deb installs $files files into a clean tree and removes all"
}

check_rpm() {
  local tree=$work/rpm-$1
  mkdir -p "$tree/var/lib/rpm"
  rpm --root "$tree" --dbpath /var/lib/rpm --initdb
  snapshot "$tree" >"$work/before"
  rpm --root "$tree" --dbpath /var/lib/rpm --ignorearch --ignoreos -i "$(package_of "$1" rpm)" >"$work/log" 2>&1 ||
    fail "rpm -i: $(cat "$work/log")"
  check_tree "$tree/usr" "$1" rpm
  local files
  files=$(find "$tree/usr" -type f | wc -l)
  rpm --root "$tree" --dbpath /var/lib/rpm -e msprof-analyze >"$work/log" 2>&1 || fail "rpm -e: $(cat "$work/log")"
  # Folders that a system has anyway belong to no package.
  find "$tree/usr" -depth -type d -empty -delete
  snapshot "$tree" | cmp -s - "$work/before" || fail "rpm -e leaves $(snapshot "$tree" | comm -23 - "$work/before")"
  proven "$1: rpm installs $files files into a clean tree and removes all"
}

check_wheel() {
  local wheel said
  wheel=$(package_of "$1" whl)
  if [[ $1 == x86_64 ]]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    said=$("$work/venv/bin/msprof-analyze" --version | head -1)
    [[ $("$work/venv/bin/python" -m msprof_analyze_native --version | head -1) == "$said" ]] || fail 'wheel: python -m'
    "$work/venv/bin/python" -m msprof_analyze_native compare --nonsense 2>/dev/null && fail 'wheel: the exit code is lost'
    "$work/venv/bin/pip" uninstall --quiet --yes msprof-analyze-native
    [[ ! -e $work/venv/bin/msprof-analyze && ! -e $work/venv/bin/msprof-analyze-native ]] ||
      fail 'wheel: uninstalling leaves the program'
  else
    python3 -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$work/target" \
      --platform "manylinux2014_$1" --only-binary :all: "$wheel"
    said=$(qemu-aarch64-static "$work/target/bin/msprof-analyze-native" --version | head -1)
  fi
  [[ $said == "msprof-analyze $version" ]] || fail "wheel: the program says $said"
  proven "$1: wheel installs offline in a fresh environment: $said"
}

# There is no engine of containers here: the image is put together by hand, as the Containerfile says.
check_archive() {
  local tree=$work/archive-$1 image=$work/image-$1 from to
  mkdir -p "$tree" "$image"
  tar -C "$tree" --strip-components=1 -xzf "$(package_of "$1" tar.gz)"
  (cd "$tree" && sha256sum --check --quiet SHA256SUMS) || fail 'archive: SHA256SUMS'
  check_tree "$tree" "$1" archive
  while read -r _ from to; do
    cp -r "$tree/$from" "$image$to"
  done < <(grep '^COPY' "$tree/Containerfile")
  [[ -x $image/msprof-analyze && -s $image/licences/README.txt ]] || fail 'Containerfile: parts are missing'
  [[ $1 != x86_64 ]] || in_root "$image" /msprof-analyze --version >/dev/null
  proven "$1: archive agrees with its SHA256SUMS; $(find "$tree" -path '*/licences/*' | wc -l) licences, $(find "$tree" -name '*.1.gz' | wc -l) pages; its image starts"
}

# The tests of the command line and the golden cases, of the program for aarch64: what they expect are the
# bytes that the program for x86_64 writes.
check_emulated() {
  local folder group failed=() passed=0
  demo_files "$PWD/build/static-x86_64/bin/msprof-analyze" "$work/files-x86_64"
  demo_files "$emulated" "$work/files-aarch64"
  diff -r "$work/files-x86_64" "$work/files-aarch64" >&2 || fail 'aarch64 writes other bytes than x86_64'
  proven "aarch64: writes the bytes that x86_64 writes, $(find "$work/files-x86_64" -type f | wc -l) files"
  while read -r folder; do
    if grep -q '{raw:\|{shared:' "$folder/cmd"; then continue; fi
    if (cd "$work" && python3 -B "$OLDPWD/tests/golden/run_golden.py" --tool "$emulated" --testdata "$OLDPWD/testdata" \
      "$OLDPWD/$folder") >"$work/log" 2>&1; then passed=$((passed + 1)); else failed+=("$folder"); fi
  done < <(find tests/golden -name cmd -printf '%h\n' | sort)
  for group in usage:help usage:spelling usage:usage shells:manual shells:version compare:alike gate:gate input:input \
    input:partial export:output export:export recipes:recipes ranks:ranks; do
    if python3 -B "tests/cli/run_${group%:*}.py" --tool "$emulated" --testdata testdata "${group#*:}" >"$work/log-$group" 2>&1; then
      passed=$((passed + 1))
    else
      failed+=("$group")
    fi
  done
  ((${#failed[@]} == 0)) || fail "aarch64: $passed passed, these failed: ${failed[*]}"
  proven "aarch64: $passed golden cases and groups of tests of the command line passed under emulation"
}

# Files without the time of writing.
demo_files() {
  local program=$1 out=$2
  mkdir -p "$out"
  (cd testdata/captures && "$program" compare -d text_new_ascend_pt -bp text_base_ascend_pt -o "$out" \
    --export_type db,csv,json,md >"$out/screen" 2>/dev/null)
  (cd testdata/captures && "$program" -m module_statistic -d text_new_ascend_pt -o "$out" --export_type db,csv,json,md \
    >"$out/modules" 2>/dev/null)
  (cd testdata/captures && "$program" advisor all -d text_new_ascend_pt -o "$out/advisor" --json >"$out/diagnosis" 2>/dev/null)
  find "$out" -name '*.xlsx' -delete
  find "$out" -depth -name '*_20[0-9][0-9]*' | while read -r file; do
    mv "$file" "$(sed -E 's/_20[0-9]{12,}/_TIME/' <<<"$file")"
  done
}

# Once more from a copy of the sources elsewhere, without a cache of compilers.
check_reproducible() {
  local copy=$work/copy arch
  git clone --quiet --no-hardlinks . "$copy"
  [[ -z $(git status --porcelain --untracked-files=no) ]] || fail 'commit first: only commits can be built twice'
  CCACHE_DISABLE=1 "$copy/scripts/package.sh" >"$work/log" 2>&1 || fail "$(tail -3 "$work/log")"
  for arch in x86_64 aarch64; do
    diff "build/package/$arch/out/SHA256SUMS" "$copy/build/package/$arch/out/SHA256SUMS" >&2 ||
      fail "$arch: two builds differ"
    proven "$arch: two builds in two folders are the same, $(wc -l <"build/package/$arch/out/SHA256SUMS") packages"
  done
}

./scripts/package.sh
check_binary build/static-aarch64/bin/msprof-analyze aarch64
for arch in x86_64 aarch64; do
  check_archive "$arch"
  check_deb "$arch"
  check_rpm "$arch"
  check_wheel "$arch"
done
check_emulated
check_reproducible
