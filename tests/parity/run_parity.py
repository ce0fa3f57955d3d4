#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tool with recorded outputs of the Python reference.

    run_parity.py --tool BINARY [--shared DIR]

1. Runs DIR/tools/parity_suite.py over the `compare_*` cases: the OverallMetrics sheet and the
   screen table, cell by cell. differences.json beside this script explains what differs on purpose.
2. Compares OverallMetrics once more, row by row, with the rows aligned by their Index label
   instead of their position. Only labels that labels.json names for a case may differ or come and
   go: {case glob: [{"label": glob, "reason": text}]}. The glob is matched against the label
   ("Transmit") and its path ("Uncovered Communication Time > ... > Transmit"), without tabs.

Exit status: 0 equal or explained, 1 otherwise, 2 usage, 77 skipped.
"""

import argparse
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES, SHEET = "compare_*", "OverallMetrics"
SKIPPED, SYSTEM_PYTHON = 77, "/usr/bin/python3"
HEADER_ROWS = 3  # the profiling paths, an empty row, the column names


def reason_to_skip(suite):
    """What is absent and how to get it, or None."""
    if not suite.is_file():
        return (f"{suite} does not exist; the recorded outputs are kept apart from the sources: "
                "name the folder that has tools/, golden/ and data/ with --shared")
    absent = [name for name in ("openpyxl", "numpy") if importlib.util.find_spec(name) is None]
    if absent and sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])  # the one that has the packages
    return f"Python lacks {' and '.join(absent)}; scripts/setup.sh gets both" if absent else None


def sheet_of(content):
    """The OverallMetrics rows of a case's output, or None."""
    return next((tables[SHEET] for tables in content.values() if SHEET in tables), None)


def by_label(rows):
    """Rows by the path of their Index label, in sheet order. `Transmit` occurs once per group."""
    result = {f"(header row {number})": row for number, row in enumerate(rows[:HEADER_ROWS], 1)}
    path = []
    for row in rows[HEADER_ROWS:]:
        text = str(row[0]) if row and row[0] is not None else ""
        depth = len(text) - len(text.lstrip("\t"))
        path = path[:depth] + [text.strip() or "(no label)"]
        key = " > ".join(path)
        while key in result:
            key += " (again)"
        result[key] = row
    return result


def row_differences(equal, headers, left, right):
    for a, b, header in list(zip_longest(left, right, headers))[:max(len(left), len(right))]:
        if not equal(a, b, header or ""):
            yield f"{header or 'beyond the header'}: expected {a!r}, got {b!r}"


def label_differences(suite, expected, actual):
    """(label path, what differs) for two sheets; a sheet that is absent is None."""
    if not (expected and isinstance(actual, list)):
        if expected != actual:
            yield "(sheet)", "not expected" if actual and not expected else actual or "missing"
        return
    headers = suite.header_of(expected)
    left, right = by_label(expected), by_label(actual)
    common = [[path for path in right if path in left], [path for path in left if path in right]]
    for path, row in left.items():
        if path not in right:
            yield path, "row is missing"
        cells = row_differences(suite.Judge.equal, headers, row, right.get(path, row))
        yield from ((path, text) for text in cells)
    yield from ((path, "row is not expected") for path in right if path not in left)
    yield from [(a, "row is out of order") for a, b in zip(*common) if a != b][:1]


def check_labels(suite, tool, scratch):
    """Runs every case and prints what labels.json does not explain. True when nothing is left."""
    allowed = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
    entries = [(case, entry) for case, listed in allowed.items() for entry in listed]
    used, sheets, explained, failed = set(), 0, 0, 0
    for case in suite.load_cases(CASES):
        name = case["name"]
        golden = json.loads((suite.GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        try:
            content, _ = suite.run_case(shlex.quote(tool), case, scratch, timeout=120)
        except subprocess.TimeoutExpired:
            content = {"": {SHEET: "the tool did not end in time"}}
        expected, left_over = sheet_of(golden), []
        sheets += expected is not None
        for path, what in label_differences(suite, expected, sheet_of(content)):
            label = path.rsplit(" > ", 1)[-1]
            hits = {n for n, (glob, entry) in enumerate(entries) if fnmatchcase(name, glob)
                    and any(fnmatchcase(text, entry["label"]) for text in (label, path))}
            used |= hits
            explained += bool(hits)
            left_over += [] if hits else [f"           {path}: {what}"]
        failed += bool(left_over)
        if left_over:
            print(f"DIFFERS  {name}, {SHEET} by label: {len(left_over)}", *left_over, sep="\n")
    for number in set(range(len(entries))) - used:
        print("stale    labels.json:", *entries[number])
    print(f"{SHEET} by label: {sheets} sheets, {explained} differences explained, "
          f"{failed} cases differ")
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with tools/, golden/ and data/ (default: %(default)s)")
    args = parser.parse_args()
    script = args.shared.resolve() / "tools" / "parity_suite.py"
    reason = reason_to_skip(script)
    if reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    tool = str(args.tool.resolve())
    if not os.access(tool, os.X_OK):
        parser.error(f"cannot run {tool}")
    with tempfile.TemporaryDirectory() as scratch:
        sys.stdout.flush()
        command = [sys.executable, "-B", str(script), "--tool", shlex.quote(tool), "--case", CASES,
                   "--table", f"*:{SHEET}", "--table", "screen:*", "--verbose", "--keep", scratch,
                   "--differences", str(HERE / "differences.json")]
        suite_status = subprocess.run(command, check=False).returncode
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(script.parent))
        import parity_suite  # found only now: the folder is an argument
        labels_equal = check_labels(parity_suite, tool, Path(scratch).resolve())
    return suite_status or (0 if labels_equal else 1)


if __name__ == "__main__":
    sys.exit(main())
