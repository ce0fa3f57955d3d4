#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every recipe on simulated jobs as text and as database, and wants equal tables.

    test_formats.py --tool BINARY [--shared DIR]

DIR/tools/sim makes the jobs: one with pipelines and tensors in parallel, one with experts, one with a slow rank. It
writes marks of the program into databases only, so that these lose theirs; agreement.parsed holds marks of all formats.
same_tables.PERMITTED lists what may differ.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there is no simulator.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "support"))
from recipe_runs import required_options  # noqa: E402
from same_tables import Results, differences, recipes_of, screens_differ  # noqa: E402

SKIPPED = 77
CAPTURES = HERE.parents[1] / "testdata/captures"
JOBS = {"pipeline": ["--preset", "tp2pp2dp2", "--set", "micro_batches=2"],
        "experts": ["--preset", "moe_ep8"],
        "slow rank": ["--preset", "dense_dp8", "--cause", "slow_rank_compute:ranks=3,factor=1.5"]}
COMMON = ["--set", "layers=2", "--set", "steps=3", "--seed", "7", "--format", "both"]
# No call is slow, and no graph was captured.
NOTHING_THERE = {"head_overhead", "graph_replays"}
COUNTS_ROWS = {"head_overhead"}  # its screen counts the rows that each format lists


def make_job(simulator, options, job):
    subprocess.run([sys.executable, simulator, "--dst", job, *options, *COMMON], check=True, stdout=subprocess.DEVNULL)
    for file in job.rglob("ascend_pytorch_profiler_*.db"):
        database = sqlite3.connect(file)
        database.execute("DROP TABLE IF EXISTS MSTX_EVENTS")
        database.commit()
        database.close()


def options_of(recipe, job):
    return {"communication_bottleneck": ["--rank_id", "1"]}.get(recipe, required_options(recipe, CAPTURES, job))


def that_run(tool, job):
    """The recipes that give results of the job, as `check --try` says."""
    done = subprocess.run([tool, "check", "--try", "--json", "-d", job], check=True, stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8")
    return {analyzer["name"].removeprefix("cluster: ") for rank in json.loads(done.stdout)["ranks"]
            for analyzer in rank["analyzers"] if analyzer["ability"] != "cannot_run"}


def altered(results):
    """Changes a cell that is not permitted to differ."""
    name = next(name for name, (_, rows) in results.tables.items() if rows and "/" not in name)
    columns, rows = results.tables[name]
    first = [("altered" if place == 0 else cell) for place, cell in enumerate(rows[0])]
    results.tables[name] = (columns, [tuple(first), *rows[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with tools/sim (default: %(default)s)")
    args = parser.parse_args()
    simulator = args.shared.resolve() / "tools/sim/simulate_job.py"
    if not simulator.exists():
        print(f"SKIPPED: {simulator} is missing; name the folder with tools/sim with --shared")
        return SKIPPED
    tool = args.tool.resolve()
    recipes, with_results, expected, wrong, cells = recipes_of(tool), set(), set(), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in JOBS.items():
            job = Path(scratch, name.replace(" ", "_"))
            make_job(simulator, options, job)
            expected |= that_run(tool, job / "text") & {*recipes}
            for recipe in recipes:
                text, database = (Results(tool, recipe, job / form, options_of(recipe, job / form))
                                  for form in ("text", "db"))
                found = [*differences(text, database)]
                if recipe not in COUNTS_ROWS:
                    found += [f"screen: {a!r} and {b!r}" for a, b in screens_differ(text, database)]
                if any(rows for _, rows in text.tables.values()):
                    with_results.add(recipe)
                    altered(text)
                    if not [*differences(text, database)]:
                        found.append("an alteration is not noticed")
                cells += sum(len(columns) * len(rows) for columns, rows in database.tables.values())
                wrong += len(found)
                if found:
                    print(f"{name}, {recipe}: {len(found)} differences", *found[:8], sep="\n  ")
    without = sorted(expected - with_results - NOTHING_THERE)
    print(f"{len(recipes)} recipes, {cells} cells of databases, {wrong} differences; without results: {without}")
    return 1 if wrong or without else 0


if __name__ == "__main__":
    sys.exit(main())
