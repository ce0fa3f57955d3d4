# SPDX-License-Identifier: Apache-2.0
"""Holds the tables of a recipe against recomputed ones."""

import argparse
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def tool_and_jobs(description):
    """The tool that the command line names, and the simulated jobs. Without any the test is skipped."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    args = parser.parse_args()
    jobs = sorted(args.shared.glob("data/sim/*/db"))
    if not jobs:
        print(f"SKIPPED: {args.shared} has no data/sim")
        sys.exit(SKIPPED)
    return args.tool.resolve(), jobs


def objections(expected, found, alike):
    """What is wrong with the tables, {name: rows}; alike(a, b) compares cells."""
    for table, rows in expected.items():
        if len(rows) != len(found[table]):
            yield f"{table}: {len(found[table])} rows instead of {len(rows)}"
        for number, (row, of_tool) in enumerate(zip(rows, found[table])):
            if len(row) != len(of_tool):
                yield f"{table}: {len(of_tool)} cells instead of {len(row)}"
            yield from (f"{table} row {number} cell {place}: {b!r} instead of {a!r}"
                        for place, (a, b) in enumerate(zip(row, of_tool)) if not alike(a, b))


def tables_of(tool, recipe, job, names):
    """The tables that the recipe makes of the job."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tool, "-m", recipe, "-d", job, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
        database = sqlite3.connect(Path(out, "cluster_analysis_output", "cluster_analysis.db"))
        found = {name: [list(row) for row in database.execute(f'SELECT * FROM "{name}"')] for name in names}
        database.close()
    return found


def judge(tool, recipe, job, what, expected, alike, altered):
    """(cells, wrong ones). altered(tables) yields tables with a change each, which has to be noticed."""
    found = tables_of(tool, recipe, job, expected)
    wrong = [*objections(expected, found, alike)]
    wrong += ["an alteration is not noticed" for tables in altered(found)
              if not any(objections(expected, tables, alike))]
    cells = sum(len(row) for rows in found.values() for row in rows)
    print(f"{recipe} of {what}: {cells} cells, {len(wrong)} wrong", *wrong[:10], sep="\n  ")
    return cells, len(wrong)
