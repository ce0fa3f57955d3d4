#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that the build and the tests need, and those that are named, as far as they
# are missing:  scripts/setup.sh [package]...
# Says nothing when everything is there.
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config
  libcli11-dev nlohmann-json3-dev libfccp-dev libsqlite3-dev libxlsxwriter-dev
  libfmt-dev libgtest-dev libbenchmark-dev libsimdjson-dev libedit-dev zlib1g-dev
  node-d3
  python3 python3-numpy
  "$@"
)

missing_packages() {
  local installed package
  # dpkg-query fails when it does not know one of the names; what it does know is printed all the same.
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s\n' "$package"
  done
}

give_up() {
  printf 'setup: %s\n' "$1" >&2
  printf 'setup: install these packages (named as in Debian), then run this again: %s\n' "${missing[*]}" >&2
  exit 1
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  missing=("${packages[@]}")
  give_up 'this system has no apt, so nothing can be checked or installed here'
fi

mapfile -t missing < <(missing_packages)
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || give_up 'installing packages needs root or sudo'
  as_root=(sudo)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
}

install_missing() {
  # An unreachable extra source fails the update, yet the packages may well be available.
  apt update || true
  apt install --no-install-recommends "${missing[@]}"
}

printf 'setup: installing %s\n' "${missing[*]}" >&2
if ! install_missing; then
  printf 'setup: that failed; trying once more\n' >&2
  sleep 5
  install_missing || give_up 'apt-get could not install everything'
fi
