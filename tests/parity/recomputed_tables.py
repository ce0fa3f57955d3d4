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
    """The tables that the recipe makes of the job; those that it does not make have no rows."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tool, "-m", recipe, "-d", job, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
        database = sqlite3.connect(Path(out, "cluster_analysis_output", "cluster_analysis.db"))
        there = {name for name, in database.execute("SELECT name FROM sqlite_master")}
        found = {name: [list(row) for row in database.execute(f'SELECT * FROM "{name}"')] if name in there else []
                 for name in names}
        database.close()
    return found


def judge(tool, recipe, job, what, expected, alike, altered, in_order=lambda name, rows: rows):
    """(cells, wrong ones). altered(tables) yields tables with a change each, which has to be noticed.

    in_order(name, rows) sorts rows of a table whose order says nothing."""
    def sorted_tables(tables):
        return {name: in_order(name, rows) for name, rows in tables.items()}
    found, expected = tables_of(tool, recipe, job, expected), sorted_tables(expected)
    wrong = [*objections(expected, sorted_tables(found), alike)]
    for tables in altered(found):
        changed = {name: rows for name, rows in tables.items() if rows is not found[name]}
        if not any(objections({name: expected[name] for name in changed}, sorted_tables(changed), alike)):
            wrong.append(f"an alteration of {', '.join(changed)} is not noticed")
    cells = sum(len(row) for rows in found.values() for row in rows)
    print(f"{recipe} of {what}: {cells} cells, {len(wrong)} wrong", *wrong[:10], sep="\n  ")
    return cells, len(wrong)
