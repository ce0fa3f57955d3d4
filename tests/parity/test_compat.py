#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the layout of --compat against recorded outputs of the Python tool: sheets, headers, labels,
columns of the screen, and the tables of module_statistic and operator_mfu cell by cell.

    test_compat.py --tool BINARY [--shared DIR]

What may differ is a defect of the reference (docs/differences.md) and listed below.
Exit status: 0 right, 1 wrong, 2 usage, 77 skipped.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

import cases  # noqa: E402: found only now
import reference  # noqa: E402
from recompute import forms, recipe_outputs  # noqa: E402

SKIPPED = 77
WORKBOOK, HEADERS = "performance_comparison_result", 3
# (case, sheet): of captures at Level0, which the reference leaves out.
MORE_SHEETS = {("compare_text_level0", "KernelCompare"),  # kernels-without-type
               ("compare_text_level1_vs_level0", "KernelCompare"),
               ("compare_db_level0", "CommunicationCompare")}  # communication-without-type
MORE_ROWS = {"\t\tWait", "\tSDMA", "\tOther"}  # wait-per-group, task-type-spellings, gpu-intervals
FEWER_ROWS = {"\tOther", "\tCube"}  # the latter gpu-classes
# A kernel in two ranges is one row, not two (nested-ranges).
OF_OUTER_RANGES = "aten::linear"
MERGED = ("Parent Module", "Module")  # over rows of several parents (merged-modules)


def run(tool, case, output):
    """Tables by file and name, and the rows of the screen."""
    done = subprocess.run([str(tool), *case.words, "-o", str(output), "-q", "--compat"],
                          capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    if case.is_recipe:
        return recipe_outputs.read(output), None
    return forms.read_workbook(next(output.glob("*.xlsx"))), forms.read_screen(done.stdout)


def problems_of_compare(case, golden, found, screen):
    recorded = golden[WORKBOOK]
    more = {name for name in found if name not in recorded}
    yield from (f"{name}: not in the reference" for name in sorted(more)
                if (case.name, name) not in MORE_SHEETS)
    for name, rows in recorded.items():
        if name not in found:
            yield f"{name}: missing"
        elif texts(rows[HEADERS - 1]) != texts(found[name][HEADERS - 1]):
            yield f"{name}: headers {found[name][HEADERS - 1]}"
        elif any(cell == "N/A" for row in found[name][HEADERS:] for cell in row[3:]) != any(
                cell == "N/A" for row in rows[HEADERS:] for cell in row[3:]):
            yield f"{name}: N/A"
    if "OverallMetrics" in recorded:
        ours, theirs = (Counter(row[0] for row in rows["OverallMetrics"][HEADERS:])
                        for rows in (found, recorded))
        yield from (f"row {label!r}: not in the reference" for label in ours - theirs
                    if label not in MORE_ROWS)
        yield from (f"row {label!r}: missing" for label in theirs - ours
                    if label not in FEWER_ROWS)
    yield from problems_of_times(case, recorded, found, golden, screen)
    if "KernelCompare" in recorded:
        keys = [[row[1:3] for row in rows["KernelCompare"][HEADERS:]] for rows in (found, recorded)]
        if keys[0] != keys[1]:
            yield "KernelCompare: other rows"
    if screen:
        theirs = golden["screen"]["table"]
        if screen[0] != theirs[0]:
            yield f"screen: columns {screen[0]}"
        if [row[0] for row in screen[1:]] != [row[0] for row in theirs[1:]]:
            yield "screen: first column"


def problems_of_times(case, recorded, found, golden, screen):
    """The end-to-end time, its free part and the use of memory of NPUs are those of the Python tool, to the cell."""
    if "gpu" in case.name or "OverallMetrics" not in recorded:
        return  # gpu-intervals
    if "text" in case.name and "--base_step" in case.words:
        return  # steps
    for label in ("E2E Time", "Free Time"):
        ours, theirs = ([row[1:] for row in rows["OverallMetrics"] if row[:1] == [label]] for rows in (found, recorded))
        if len(ours) != 1 or not all(map(reference.is_close, theirs[0], ours[0], [label] * len(ours[0]))):
            yield f"{label}: {ours} instead of {theirs}"
    if screen:
        theirs = golden["screen"]["table"]
        columns = [number for number, title in enumerate(theirs[0]) if title.startswith(("Mem Usage", "Free", "E2E"))]
        if [[row[number] for number in columns] for row in screen] != [[row[number] for number in columns]
                                                                       for row in theirs]:
            yield f"screen: memory and times {screen[1:]} instead of {theirs[1:]}"


def problems_of_recipe(golden, found):
    for file, tables in golden.items():
        for name, rows in tables.items():
            table = name if name in found else f"{file}/{name}"
            if table not in found:
                yield f"{table}: missing"
                continue
            kept = [row for row in rows if OF_OUTER_RANGES not in row[2:] or name != "OperatorMFU"
                    and "kernel" not in file]
            ours = found[table]
            if len(kept) != len(ours):
                yield f"{table}: {len(ours)} rows instead of {len(kept)}"
            for number, sides in enumerate(zip(kept, ours)):
                if is_of_nested_ranges(*sides):
                    continue
                for theirs, cell, title in zip_longest(*sides, rows[0]):
                    is_merged = theirs is None and title in MERGED
                    if not is_merged and not reference.is_close(theirs, cell, str(title)):
                        yield f"{table}, row {number}, {title}: {cell!r} instead of {theirs!r}"


def is_of_nested_ranges(theirs, ours):
    """A row of modules whose kernels the reference lists once for each range around them."""
    listed = [str(row[4]).split(", ") for row in (theirs, ours)]
    return len(listed[0]) == 2 * len(listed[1]) and set(listed[0]) == set(listed[1])


def texts(row):
    return [str(cell or "") for cell in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    args = parser.parse_args()
    if not (args.shared / "golden" / "cases.json").is_file():
        print(f"SKIPPED: {args.shared} has no golden/cases.json; name the folder that has golden/ "
              "and data/ with --shared")
        return SKIPPED
    wrong = 0
    for case in cases.golden_cases(args.shared.resolve()):
        golden = {Path(file).stem: tables for file, tables in
                  json.loads(case.golden.read_text(encoding="utf-8")).items()}
        with tempfile.TemporaryDirectory() as output:
            found, screen = run(args.tool.resolve(), case, Path(output))
        problems = list(problems_of_recipe(golden, found) if case.is_recipe
                        else problems_of_compare(case, golden, found, screen))
        wrong += bool(problems)
        print(f"{'DIFFERS ' if problems else 'ok      '} {case.name}")
        print(*(f"           {text}\n" for text in problems[:8]), sep="", end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
