#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the plain modes and the recipes that sum: of communication, of kernels, of host calls, and of clocks.

    test_modes.py --tool BINARY [--shared DIR]

The captures are those of DIR/data, real and simulated; truth is their files, not the program. Every cell of the tables,
and of the documents that text captures get, has to be the recomputed one, and one that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True

from recompute_job import communication_tables, documents, operators  # noqa: E402
from recompute_job.values import alike, altered  # noqa: E402
from recomputed_tables import judge, objections  # noqa: E402

SKIPPED = 77
TEXT, DATABASE = "npu/text/level1", "npu/db/level1"
DATABASES = (DATABASE, "npu/db_mstx", "sim/tp2pp2dp2/db", "sim/moe_ep8/db", "sim/slow_rank/db", "sim/slow_link/db")
OF_TEXT = ("communication_group_map", "communication_time_sum", "communication_matrix_sum")
BY_GROUP = "cluster_communication_matrix_by_group_rank.json"
PLAIN = ("all", "communication_time", "communication_matrix")


def check_tables(tool, data, job, recipe):
    if recipe in operators.RECIPES:
        return judge(tool, recipe, data / job, job, operators.RECIPES[recipe](data / job), alike, altered)
    return judge(tool, recipe, data / job, job, communication_tables.tables_of(data / job, recipe), alike, altered,
                 communication_tables.in_order)


def missing_links(job, rows, recipe):
    """Links of ranks without a capture that the file of group ranks does not have as the captures do."""
    if recipe == "communication_time":
        return [BY_GROUP] if rows else []
    found = {(name, ends): {} for name, ends in (path.split(".")[-3:-1] for path, _ in rows[1:])}
    for path, value in rows:
        if path.count(".") > 3:
            name, ends, member = path.split(".")[-3:]
            found[name, ends][member] = value
    captures = sorted(job.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT/communication_matrix.json"))
    known = {str(rank) for rank in range(len(captures))}  # their numbers in the group, too
    wrong, wanted = [], 0
    for capture in captures:
        for step in json.loads(capture.read_text(encoding="utf-8")).values():
            for name, links in step["collective"].items():
                for ends, link in links.items():
                    if known.issuperset(ends.split("-")):
                        continue
                    wanted += 1
                    ours = found.get((name, ends), {})
                    if not all(alike(link[member], ours.get(member)) for member in ("Transit Size(MB)", "Bandwidth(GB/s)")):
                        wrong.append(f"{name} {ends}: {ours} instead of {link}")
    return wrong if wanted else [*wrong, "no link of a rank without a capture"]


def check_documents(tool, data, job, recipe):
    """(cells, wrong ones)"""
    expected = documents.documents_of(data / job, recipe)
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tool, "-m", recipe, "-d", data / job, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
        found = documents.read_documents(Path(out, "cluster_analysis_output"))
    wrong = missing_links(data / job, found.pop(BY_GROUP, []), recipe)
    wrong += [f"{name}: in one of the two only" for name in expected.keys() ^ found.keys()]
    wrong += objections(expected, {name: found.get(name, []) for name in expected}, alike)
    wrong += ["an alteration is not noticed" for tables in altered(found)
              if not any(objections(expected, tables, alike))]
    cells = sum(len(row) for rows in found.values() for row in rows)
    print(f"{recipe} of {job}: {cells} cells of documents, {len(wrong)} wrong", *wrong[:10], sep="\n  ")
    return cells, len(wrong)


def runs():
    for job in DATABASES:
        yield from ((check_tables, job, recipe) for recipe in (*operators.RECIPES, "all"))
    yield from ((check_tables, job, recipe) for job in (DATABASE, "sim/tp2pp2dp2/db")
                for recipe in communication_tables.RECIPES if recipe != "all")
    yield from ((check_tables, TEXT, recipe) for recipe in OF_TEXT)
    yield from ((check_documents, TEXT, recipe) for recipe in PLAIN)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with data/ (default: %(default)s)")
    args = parser.parse_args()
    data = args.shared.resolve() / "data"
    if not all((data / job).is_dir() for job in (*DATABASES, TEXT)):
        print(f"SKIPPED: {data} lacks captures of a job; name the folder with data/ with --shared")
        return SKIPPED
    results = [check(args.tool.resolve(), data, job, recipe) for check, job, recipe in runs()]
    cells, wrong = map(sum, zip(*results))
    print(f"{cells} cells, {wrong} wrong")
    return 1 if wrong or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
