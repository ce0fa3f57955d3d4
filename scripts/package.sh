#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the static program and its packages:  scripts/package.sh [--program] [x86_64|aarch64]
# Without an architecture, of both. Packages go to build/package/ARCHITECTURE/out. --program makes no packages,
# only build/static-ARCHITECTURE/bin/msprof-analyze.
# On Debian 12 for x86_64. The libraries that Debian has no static form of are built from its source packages,
# whose versions and checksums packaging/sources.sha256 pins. Nothing is installed but the tools of the build.
# The same commit gives the same bytes.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
with_packages=yes
if [[ ${1:-} == --program ]]; then
  with_packages=
  shift
fi
case ${1:-both} in
  x86_64 | aarch64) architectures=("$1") ;;
  both) architectures=(x86_64 aarch64) ;;
  *)
    printf 'package: %s is no architecture; give x86_64 or aarch64\n' "$1" >&2
    exit 2
    ;;
esac
say() { printf 'package: %s\n' "$1" >&2; }

tools=(dpkg-dev)
[[ " ${architectures[*]} " != *' aarch64 '* ]] || tools+=(g++-aarch64-linux-gnu qemu-user-static)
[[ -z $with_packages ]] || tools+=(rpm)
./scripts/setup.sh "${tools[@]}"

work=$root/build/package
sources=$work/sources
mkdir -p "$sources"

# apt with lists of its own, which have sources and arm64, too. The system's own lists stay as they are.
private_apt() {
  local folder=$work/apt
  if [[ ! -e $folder/ready ]]; then
    say 'fetching the lists of source and arm64 packages'
    mkdir -p "$folder"/{lists/partial,cache/archives/partial,parts}
    local list
    for list in /etc/apt/sources.list.d/*.sources; do
      [[ -e $list ]] || continue
      sed -E '/^Architectures:/d; s/^Types:.*/Types: deb deb-src\nArchitectures: amd64 arm64/' "$list" \
        >"$folder/parts/${list##*/}"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
      [[ -s $list ]] || continue
      sed -nE '/^deb /{p; s/^deb /deb-src /; p}' "$list" >"$folder/parts/${list##*/}.list"
    done
    cat >"$folder/configuration" <<END
Dir::Etc::SourceList "$folder/none";
Dir::Etc::SourceParts "$folder/parts";
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
APT::Architectures {"amd64"; "arm64";};
APT::Sandbox::User "root";
END
    APT_CONFIG=$folder/configuration apt-get -qq update >&2
    touch "$folder/ready"
  fi
  APT_CONFIG=$folder/configuration "$@"
}

fetch_sources() {
  local package version
  for package in fmtlib simdjson libxlsxwriter; do
    [[ ! -d $sources/$package ]] || continue
    version=$(sed -nE "s/^.*  ${package}_(.*)\.dsc$/\1/p" packaging/sources.sha256)
    say "fetching the sources of $package $version"
    (cd "$sources" && private_apt apt-get -qq source --download-only "$package=$version" >&2)
    (cd "$sources" && grep "  ${package}_" "$root/packaging/sources.sha256" | sha256sum --check --quiet)
    rm -rf "$sources/$package.new"
    dpkg-source --no-check -x "$sources/${package}_$version.dsc" "$sources/$package.new" >/dev/null
    mv "$sources/$package.new" "$sources/$package"
  done
}

# Static libraries of Debian's packages: those of this machine for x86_64, of the same version for aarch64. Headers
# are the same for both.
copy_archives() {
  local to=$1 package version
  mkdir -p "$to/lib"
  if [[ $2 == x86_64 ]]; then
    cp /usr/lib/x86_64-linux-gnu/lib{sqlite3,z,edit,tinfo,bsd}.a "$to/lib/"
    return
  fi
  mkdir -p "$to/debs"
  for package in libsqlite3-dev zlib1g-dev libedit-dev libncurses-dev libbsd-dev; do
    version=$(dpkg-query -W -f='${Version}' "$package")
    (cd "$to/debs" && private_apt apt-get -qq download "$package:arm64=$version" >&2)
  done
  for package in "$to"/debs/*.deb; do dpkg-deb -x "$package" "$to/debs/tree"; done
  cp "$to"/debs/tree/usr/lib/aarch64-linux-gnu/lib{sqlite3,z,edit,tinfo,bsd}.a "$to/lib/"
}

build_program() {
  local arch=$1 folder=$work/$1 toolchain=()
  [[ $arch == x86_64 ]] || toolchain=(-DCMAKE_TOOLCHAIN_FILE="$root/packaging/$arch.cmake")
  if [[ ! $folder/static/ready -nt scripts/package.sh ]]; then
    rm -rf "$folder/static"
    copy_archives "$folder/static" "$arch"
    say "building static libraries for $arch"
    cmake -G Ninja -S packaging/libraries -B "$folder/libraries" -DCMAKE_BUILD_TYPE=Release -DSOURCES="$sources" \
      "${toolchain[@]}" >/dev/null
    cmake --build "$folder/libraries" >/dev/null
    cp "$folder"/libraries/lib{fmt,simdjson,xlsxwriter}.a "$folder/static/lib/"
    touch "$folder/static/ready"
  fi
  say "building the program for $arch"
  # As deep as build/release, so that a cache of the compiler knows what was compiled there.
  cmake --preset release -B "$root/build/static-$arch" -DMPA_STATIC_ROOT="$folder/static" -DMPA_BUILD_TESTS=OFF \
    "${toolchain[@]}" >/dev/null
  cmake --build "$root/build/static-$arch" --target msprof-analyze
}

fetch_sources
for arch in "${architectures[@]}"; do
  build_program "$arch"
  [[ -z $with_packages ]] || ./packaging/make_packages.sh "$arch"
done
