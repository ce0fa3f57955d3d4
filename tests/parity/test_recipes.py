#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sure that a wrong table of a recipe is noticed.

    test_recipes.py --tool BINARY

Runs `module_statistic` and `operator_mfu` on captures of testdata. Their tables have to be the
recomputed ones. Then they are altered, one thing at a time: the judge has to object each time.

Exit status: 0 all noticed, 1 otherwise, 2 usage, 77 skipped.
"""

import argparse
import os
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

SKIPPED = 77
HEADERS = 1
RUNS = (  # capture, command line
    ("toy_model", "-m module_statistic --peak_tflops 100"),
    ("twin_db_new", "-m module_statistic"),
    ("twin_text_base", "-m module_statistic --peak_tflops 300 --export_type text"),
    ("toy_model", "-m operator_mfu --peak_tflops 100 --with_backward"),
    ("db_base", "-m operator_mfu --ai_core_num 20 --aic_frequency 1800"),
    ("text_new", "-m operator_mfu"),
    ("twin_text_new", "-m operator_mfu --peak_tflops 300 --export_type text"),
)


def altered(tables):
    """(what was done, tables) for everything that may be wrong with them."""
    for file in {judge.file_of(name) for name in tables}:
        own = {name: rows for name, rows in tables.items() if judge.file_of(name) == file}
        others = {name: rows for name, rows in tables.items() if name not in own}
        yield from ((what, others | changed) for what, changed in alterations.of_tables(own))
    for name, rows in tables.items():
        for alter in (alterations.of_columns, alterations.of_rows, alterations.of_headers):
            for what, changed in alter(rows, HEADERS):
                yield f"{name}, {what}", {**tables, name: changed}


def check(tool, case):
    """Prints what is wrong; returns how much, and how many alterations there were."""
    with tempfile.TemporaryDirectory() as output:
        found = outputs.run(tool, case, Path(output))["tables"]
    expected = outputs.expected(case)["tables"]
    changes = list(altered(found))
    wrong = judge.objections(expected, found) + [
        f"not noticed: {what}" for what, changed in changes
        if not judge.objections(expected, changed)]
    print(f"{case.name}: {len(changes)} alterations")
    print(*(f"    {text}\n" for text in wrong[:20]), sep="", end="")
    return len(wrong), len(changes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    tool = parser.parse_args().tool.resolve()
    if not os.access(tool, os.X_OK):
        print(f"SKIPPED: cannot run {tool}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        results = [check(tool, cases.Case(f"{options} of {name}", [
            *options.split(), "-d", str(cases.capture(name, scratch))])) for name, options in RUNS]
    wrong, count = map(sum, zip(*results))
    print(f"{len(results)} runs, {count} alterations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
