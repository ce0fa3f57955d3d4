#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the static program of one architecture, for scripts/package.sh:  packaging/make_packages.sh ARCHITECTURE
# The time in the packages is that of the commit; names, owners and order are fixed, so the bytes are, too.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
arch=$1
program=$PWD/build/static-$arch/bin/msprof-analyze
folder=$PWD/build/package/$arch
out=$folder/out
tree=$folder/tree  # /usr of an installation
version=$(sed -n 's/^project(.* VERSION \([^ )]*\).*/\1/p' CMakeLists.txt)
case $arch in
  x86_64) debian_arch=amd64 run=("$program") ;;
  aarch64) debian_arch=arm64 run=(qemu-aarch64-static "$program") ;;
esac
SOURCE_DATE_EPOCH=$(git show -s --format=%ct HEAD)
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC
umask 022
printf 'package: packing for %s\n' "$arch" >&2
rm -rf "$out" "$tree" "$folder"/{deb,rpm,archive}
mkdir -p "$out" "$tree"

# What is installed. The program writes its own pages and completions.
document=$tree/share/doc/msprof-analyze
completions=$tree/share/bash-completion/completions
mkdir -p "$tree"/{bin,share/man/man1,share/zsh/site-functions,share/fish/vendor_completions.d} "$document" "$completions"
cp "$program" "$tree/bin/"
complete_for() { _MSPROF_ANALYZE_COMPLETE=$1_source "${run[@]}"; }
complete_for bash >"$completions/msprof-analyze"
complete_for zsh >"$tree/share/zsh/site-functions/_msprof-analyze"
complete_for fish >"$tree/share/fish/vendor_completions.d/msprof-analyze.fish"
"${run[@]}" man | gzip -9n >"$tree/share/man/man1/msprof-analyze.1.gz"
for command in $("${run[@]}" --help | sed -n "/^Commands/,/^$/s/^  \([a-z-][a-z-]*\)  .*/\1/p"); do
  "${run[@]}" man "$command" | gzip -9n >"$tree/share/man/man1/msprof-analyze-$command.1.gz"
done
cp README.md CHANGELOG.md LICENSE "$document/"
cp -r docs "$document/docs"
python3 packaging/components.py licences "$document/licences"
python3 packaging/components.py sbom "$version" "$arch" "$program" >"$document/sbom.cdx.json"

date_all() { find "$1" -depth -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }
checksums() { (cd "$1" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs -d '\n' sha256sum); }

# .tar.gz
name=msprof-analyze-$version-linux-$arch
mkdir -p "$folder/archive"
cp -a "$tree" "$folder/archive/$name"
cp packaging/Containerfile "$folder/archive/$name/"
checksums "$folder/archive/$name" >"$folder/archive/$name/SHA256SUMS"
date_all "$folder/archive"
tar -C "$folder/archive" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" |
  gzip -9n >"$out/$name.tar.gz"

# .deb
mkdir -p "$folder/deb/DEBIAN" "$folder/deb/usr"
cp -a "$tree/." "$folder/deb/usr/"
mv "$folder/deb/usr/share/zsh/site-functions" "$folder/deb/usr/share/zsh/vendor-completions"
cp packaging/copyright "$folder/deb/usr/share/doc/msprof-analyze/copyright"
cat >"$folder/deb/DEBIAN/control" <<END
Package: msprof-analyze
Version: $version
Architecture: $debian_arch
Maintainer: The msprof-analyze authors <msprof-analyze@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk --apparent-size "$tree" | cut -f1)
Description: command-line analyzer for Ascend NPU profiles
 Finds out why a model is slow on Ascend NPUs, from captures of the profiler. One static program that needs no other package.
END
(cd "$folder/deb" && find usr -type f | sort | xargs -d '\n' md5sum >DEBIAN/md5sums)
date_all "$folder/deb"
dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$folder/deb" \
  "$out/msprof-analyze_${version}_$debian_arch.deb" >/dev/null

# .rpm, compressed so that old versions of rpm can read it
mkdir -p "$folder/rpm"
sed "s/@VERSION@/$version/" packaging/msprof-analyze.spec >"$folder/rpm/msprof-analyze.spec"
date_all "$tree"
rpmbuild -bb --quiet --target "$arch-linux" --dbpath "$folder/rpm/db" --define "_topdir $folder/rpm" \
  --define "tree $tree" --define '_buildhost localhost' --define 'use_source_date_epoch_as_buildtime 1' \
  --define 'clamp_mtime_to_source_date_epoch 1' --define '_binary_payload w9.gzdio' --define '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' \
  "$folder/rpm/msprof-analyze.spec" >&2
cp "$folder"/rpm/RPMS/*.rpm "$out/"

python3 packaging/make_wheel.py "$version" "$arch" "$tree" "$out"
cp "$document/sbom.cdx.json" "$out/msprof-analyze-$version-$arch.cdx.json"
(cd "$out" && sha256sum -- * >"$folder/SHA256SUMS" && mv "$folder/SHA256SUMS" .)
