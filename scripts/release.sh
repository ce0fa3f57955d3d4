#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that a release is what it says:  scripts/release.sh [TAG] [PROGRAM]
# The version of CMakeLists.txt, CHANGELOG.md and the first line of PROGRAM --version agree, without a TAG as
# far as they can before there is one. With a TAG such as v1.2.0 it is the tag of the commit that is checked
# out and that the program was built of, and CHANGELOG.md has its date.
# PROGRAM is build/release/bin/msprof-analyze by default.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
tag=${1:-}
program=${2:-build/release/bin/msprof-analyze}

problems=0
problem() {
  printf 'release: %s\n' "$1" >&2
  problems=$((problems + 1))
}

version=$(sed -n 's/^project(.* VERSION \([^ )]*\).*/\1/p' CMakeLists.txt)
number='(0|[1-9][0-9]*)'
[[ $version =~ ^$number\.$number\.$number$ ]] ||
  problem "CMakeLists.txt: '$version' is no semantic version (MAJOR.MINOR.PATCH)"

said=$("$program" --version)
[[ ${said%%$'\n'*} == "msprof-analyze $version" ]] ||
  problem "$program --version says '${said%%$'\n'*}', CMakeLists.txt $version"

# The form of keepachangelog.com: sections by version, newest first, changes by kind.
mapfile -t headings < <(grep '^## ' CHANGELOG.md)
for heading in "${headings[@]}"; do
  [[ $heading == '## [Unreleased]' || $heading =~ ^'## ['[0-9]+\.[0-9]+\.[0-9]+'] - '[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
    problem "CHANGELOG.md: '$heading' is neither '## [Unreleased]' nor '## [VERSION] - YYYY-MM-DD'"
done
[[ ${headings[0]:-} == '## [Unreleased]' ]] || problem 'CHANGELOG.md: the first section is not [Unreleased]'
while read -r heading; do
  case $heading in
    '### Added' | '### Changed' | '### Deprecated' | '### Removed' | '### Fixed' | '### Security') ;;
    *) problem "CHANGELOG.md: '$heading' is no kind of change" ;;
  esac
done < <(grep '^### ' CHANGELOG.md)

if [[ -n $tag ]]; then
  [[ $tag == "v$version" ]] || problem "the tag is $tag, CMakeLists.txt says $version"
  [[ ${headings[1]:-} == "## [$version] - "* ]] ||
    problem "CHANGELOG.md: the section below [Unreleased] is not [$version]: ${headings[1]:-there is none}"
  commit=$(git rev-parse --short=12 HEAD)
  tagged=$(git rev-parse --short=12 --verify --quiet "refs/tags/$tag^{commit}" || true)
  [[ $tagged == "$commit" ]] || problem "the tag $tag is at ${tagged:-no commit}, checked out is $commit"
  built=$(sed -n 's/^commit  *//p' <<<"$said")
  [[ $built == "$commit" ]] || problem "$program is built of commit $built, checked out is $commit"
fi

if ((problems > 0)); then
  exit 1
fi
printf 'release: %s\n' "$version${tag:+ is ready}"
