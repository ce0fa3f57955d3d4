#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sure that a wrong report of `compare` is noticed.

    test_judge.py --tool BINARY [--shared DIR]

Makes reports of text captures, databases, one against the other, and GPU traces, as workbook,
document and screen. They have to be right. Then they are altered, one thing at a time: the judge
has to object each time. With DIR (golden/, data/) some cells of reports of real captures, too.

Exit status: 0 all noticed, 1 otherwise, 2 usage.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

import alterations  # noqa: E402: found only now
import cases  # noqa: E402
import outputs  # noqa: E402
from recompute import judge  # noqa: E402
from recompute.sheets import SHEETS  # noqa: E402

REPORTS = {"text": (cases.TEXT, cases.TWIN_TEXT), "database": (cases.DB, cases.TWIN_DB),
           "mixed": ((cases.TWIN_DB[0], cases.TWIN_TEXT[1]),),
           "gpu": (cases.GPU, (cases.GPU[0], cases.TEXT[1]))}
OPTIONS = ("", "--disable_module --use_kernel_type")  # all sheets between them
REAL = ("compare_text_level1", "compare_db_operators", "compare_npu_vs_gpu_alexnet",
        "compare_text_vs_db")
SHEET_HEADERS, SCREEN_HEADERS = 3, 2
REAL_ALTERATIONS = 20  # of each table


def sides_of(sheet):
    """Pairs of columns that say the same of either side."""
    base, comparison = ([place for place, column in enumerate(SHEETS[sheet])
                         if column.side == side] for side in ("base", "comparison"))
    return list(zip(base, comparison))


def altered_tables(form, name, rows):
    """(what was done, rows) for everything that may be wrong with a table."""
    headers = SCREEN_HEADERS if form == "screen" else SHEET_HEADERS
    yield from alterations.of_columns(rows, headers)
    yield from alterations.of_rows(rows, headers)
    yield from alterations.of_headers(rows, headers)
    if form != "screen":
        yield from alterations.of_sides(rows, sides_of(name))
    if form == "document":
        base, comparison = rows[1]
        yield "captures swapped", alterations.replaced(rows, 1, [comparison, base])


def check(tool, case, choose):
    """Prints what the judge does not notice; returns the numbers of that and of alterations.
    `choose` picks from the alterations of a table."""
    with tempfile.TemporaryDirectory() as output:
        found = outputs.run(tool, case, Path(output))
    expected = outputs.expected(case)
    wrong, count = [], 0
    for form, tables in expected.items():
        wrong += [f"{form}: {text}" for text in judge.objections(tables, found[form])]
        changes = [(form, name, what, {name: tables[name]}, {name: rows})
                   for name in tables if name in found[form]
                   for what, rows in choose(altered_tables(form, name, found[form][name]))]
        changes += [(form, "tables", what, tables, changed)
                    for what, changed in alterations.of_tables(found[form])]
        count += len(changes)
        wrong += [f"not noticed: {form}, {name}, {what}"
                  for form, name, what, right, changed in changes
                  if not judge.objections(right, changed)]
    print(f"{case.name}: {count} alterations")
    print(*(f"    {text}\n" for text in wrong[:20]), sep="", end="")
    return len(wrong), count


def some(changes):
    changes = list(changes)
    return random.sample(changes, min(len(changes), REAL_ALTERATIONS))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with golden/ and data/ (default: %(default)s)")
    args = parser.parse_args()
    tool = args.tool.resolve()
    if not os.access(tool, os.X_OK):
        parser.error(f"cannot run {tool}")
    random.seed(0)
    with tempfile.TemporaryDirectory() as scratch:
        own = [cases.Case(f"{kind}: {' '.join(names)} {options}",
                          cases.compare_words(names, options, scratch))
               for kind, pairs in REPORTS.items() for names in pairs for options in OPTIONS]
        results = [check(tool, case, list) for case in own]
    if (args.shared / "golden" / "cases.json").is_file():
        real = [case for case in cases.golden_cases(args.shared.resolve()) if case.name in REAL]
        results += [check(tool, case, some) for case in real]
    wrong, count = map(sum, zip(*results))
    print(f"{len(results)} reports, {count} alterations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
