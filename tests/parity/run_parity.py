#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tool with recorded outputs of the Python reference.

    run_parity.py --tool BINARY [--shared DIR] [--list]

1. Runs DIR/tools/parity_suite.py over the `compare_*`, `module_statistic_*` and `operator_mfu_*`
   cases: every sheet, table and the screen table, cell by cell. differences.json beside this script explains what differs on purpose. Cells are compared
   by position there: a row that comes or goes makes all rows below it differ.
2. Compares every sheet of `compare` and the kernels of `operator_mfu` once more with the rows aligned by what they are about (KEYS) instead of
   their position. Only what rows.json names may differ then:
   {case glob: [{"sheet": glob, "row": glob, "column": glob, "reason": text}]}; "row" and "column"
   may be left out. Columns "(missing)", "(new)" and "(order)" stand for rows that only the reference
   has, that only we have, and for common rows in another order. Numbers of rows are not compared.
   --list prints every difference that is left, not the first few.

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
CASES = "compare_*"
SUITE_CASES = (CASES, "module_statistic_*", "operator_mfu_*")
ROW_CASES = (CASES, "operator_mfu_db")
# The columns that tell what a row is about. OverallMetrics and CommunicationCompare have rows within
# rows, told by leading tabs and by "|".
KEYS = {"OverallMetrics": [0], "CommunicationCompare": [1, 2], "ModuleCompareStatistic": [3, 4],
        "ModuleCompare": [3, 4, 8], "OperatorCompareStatistic": [1], "OperatorCompare": [1, 6],
        "MemoryCompareStatistic": [1], "MemoryCompare": [1, 6], "ApiCompare": [1],
        "KernelCompare": [1, 2], "KernelTypeCompare": [1, 2], "OperatorMFU": [0, 3, 2]}
SKIPPED, SYSTEM_PYTHON = 77, "/usr/bin/python3"
UNCOMPARED = ("Order Id", "Top")  # numbers of rows
HEADER_ROWS = 3  # the profiling paths, an empty row, the column names; of tables the names only


def reason_to_skip(suite):
    """What is absent and how to get it, or None."""
    if not suite.is_file():
        return (f"{suite} does not exist; the recorded outputs are kept apart from the sources: "
                "name the folder that has tools/, golden/ and data/ with --shared")
    absent = [name for name in ("openpyxl", "numpy") if importlib.util.find_spec(name) is None]
    if absent and sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])  # the one that has the packages
    return f"Python lacks {' and '.join(absent)}; scripts/setup.sh gets both" if absent else None


def by_key(sheet, rows):
    """Rows by what they are about, in sheet order; equal ones are numbered."""
    headers = 1 if sheet == "OperatorMFU" else HEADER_ROWS
    result = {f"(header row {number})": row for number, row in enumerate(rows[:headers], 1)}
    path = []
    for row in rows[headers:]:
        texts = [str(row[i]) if i < len(row) and row[i] is not None else "" for i in KEYS[sheet]]
        if sheet == "OverallMetrics":
            depth = len(texts[0]) - len(texts[0].lstrip("\t"))
            path = path[:depth] + [texts[0].strip()]
        elif sheet == "CommunicationCompare":
            one_sided = texts[0] or (str(row[8]) if len(row) > 8 else "")
            path = [path[0], texts[1]] if one_sided == "|" else [one_sided]
        else:
            path = texts
        key = " > ".join(path)
        number = 1
        while (numbered := key if number == 1 else f"{key} ({number})") in result:
            number += 1
        result[numbered] = row
    return result


def row_differences(equal, headers, left, right):
    for a, b, header in list(zip_longest(left, right, headers))[:max(len(left), len(right))]:
        if header not in UNCOMPARED and not equal(a, b, header or ""):
            yield header or "(none)", f"expected {str(a)[:200]!r}, got {str(b)[:200]!r}"


def sheet_differences(suite, sheet, expected, actual):
    """(row, column, what differs) for two sheets; a sheet that is absent is None."""
    if not (expected and isinstance(actual, list)):
        if expected != actual:
            column = "(new)" if not expected else "(missing)"
            yield "(sheet)", column, "the sheet" if isinstance(actual, list) else str(actual)
        return
    headers = suite.header_of(expected)
    left, right = by_key(sheet, expected), by_key(sheet, actual)
    common = [[path for path in right if path in left], [path for path in left if path in right]]
    for path, row in left.items():
        if path not in right:
            yield path, "(missing)", "the row"
        for column, text in row_differences(suite.Judge.equal, headers, row, right.get(path, row)):
            yield path, column, text
    yield from ((path, "(new)", "the row") for path in right if path not in left)
    yield from [(a, "(order)", f"comes before {b}") for a, b in zip(*common) if a != b][:1]


def tables_of(content):
    """The sheets of a case's output by name."""
    return {name: rows for tables in content.values() if isinstance(tables, dict)
            for name, rows in tables.items() if name in KEYS}


def check_rows(suite, tool, scratch, list_all):
    """Runs every case and prints what rows.json does not explain. True when nothing is left."""
    allowed = json.loads((HERE / "rows.json").read_text(encoding="utf-8"))
    entries = [(case, entry) for case, listed in allowed.items() for entry in listed]
    used, sheets, explained, failed = set(), 0, 0, 0
    for case in [case for cases in ROW_CASES for case in suite.load_cases(cases)]:
        name = case["name"]
        golden = json.loads((suite.GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        try:
            content, _ = suite.run_case(shlex.quote(tool), case, scratch, timeout=120)
        except subprocess.TimeoutExpired:
            content = {}
        expected, actual = tables_of(golden), tables_of(content)
        for sheet in sorted({*expected, *actual}):
            sheets += 1
            left_over = []
            for row, column, what in sheet_differences(suite, sheet, expected.get(sheet),
                                                       actual.get(sheet)):
                hits = {n for n, (glob, entry) in enumerate(entries) if fnmatchcase(name, glob)
                        and fnmatchcase(sheet, entry["sheet"])
                        and fnmatchcase(row, entry.get("row", "*"))
                        and fnmatchcase(column, entry.get("column", "*"))}
                used |= hits
                explained += bool(hits)
                left_over += [] if hits else [f"           {row} | {column}: {what}"]
            failed += bool(left_over)
            if left_over:
                print(f"DIFFERS  {name}, {sheet} by rows: {len(left_over)}",
                      *left_over[:None if list_all else 6], sep="\n")
    for number in set(range(len(entries))) - used:
        print("stale    rows.json:", *entries[number])
    print(f"by rows: {sheets} sheets, {explained} differences explained, {failed} sheets differ")
    return failed == 0 and len(used) == len(entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with tools/, golden/ and data/ (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print every difference by rows")
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
        suite_status = 0
        for cases in SUITE_CASES:
            command = [sys.executable, "-B", str(script), "--tool", shlex.quote(tool),
                       "--case", cases, "--verbose", "--keep", scratch,
                       "--differences", str(HERE / "differences.json")]
            suite_status = subprocess.run(command, check=False).returncode or suite_status
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(script.parent))
        import parity_suite  # found only now: the folder is an argument
        rows_equal = check_rows(parity_suite, tool, Path(scratch).resolve(), args.list)
    return suite_status or (0 if rows_equal else 1)


if __name__ == "__main__":
    sys.exit(main())
