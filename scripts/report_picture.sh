#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes docs/report.png: the page of a comparison of testdata as Chromium shows it.
#   scripts/report_picture.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/release/bin/msprof-analyze}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p /tmp/runs  # the page shows where captures lie
cp -r testdata/captures/text_base_ascend_pt /tmp/runs/old_ascend_pt
cp -r testdata/captures/text_new_ascend_pt /tmp/runs/new_ascend_pt
"$program" compare -d /tmp/runs/new_ascend_pt -bp /tmp/runs/old_ascend_pt --export_type html -o "$scratch" >/dev/null
rm -r /tmp/runs/old_ascend_pt /tmp/runs/new_ascend_pt
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/browser" --window-size=900,745 \
  --screenshot="$PWD/docs/report.png" "file://$(echo "$scratch"/*.html)" >/dev/null 2>&1
printf 'docs/report.png: %s bytes\n' "$(stat -c %s docs/report.png)"
