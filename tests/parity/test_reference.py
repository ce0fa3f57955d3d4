#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the modes and recipes over all ranks against what the Python tool recorded, cell by cell.

    test_reference.py --tool BINARY [--shared DIR]

DIR/golden has what the Python tool made of the captures in DIR/data. A cell may differ from it only if
docs/differences.md has an entry for its kind, and if every cell of its table is what tests/parity recomputes from the
files of the captures. What differs in no case any more must leave the list of kinds below.

Exit status: 0 every cell equal or explained, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import fnmatch
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True

import golden_cases  # noqa: E402
import test_export  # noqa: E402
import test_job_times  # noqa: E402
import test_slow  # noqa: E402
from recompute_job import communication_tables, documents, operators  # noqa: E402
from recompute_job.values import alike, altered  # noqa: E402
from recomputed_tables import objections  # noqa: E402

SKIPPED = 77
PAGE = HERE.parents[1] / "docs" / "differences.md"
# Table and column of what differs, and the entry of docs/differences.md that says why.
KINDS = (
    ("ClusterStepTraceTime", "??_index", "parallel-indices"),
    ("ClusterBaseInfo", "value", "members-by-name"),
    ("*.json", "order", "members-by-name"),
    ("cluster_step_trace_time.csv", "*", "exact-step-times"),
    ("HcclGroupNameMap", "Ranks", "rank-order"),
    ("ComputeOpPerRankStatsByOpName", "order", "rank-order"),
    ("CannApiSum", "[Qms]*", "api-quartiles"),
    ("CannApiSumRank", "order", "api-quartiles"),
    ("ComputationalOperatorMaskingLinearity", "rat*ed*", "masking-in-steps"),
    ("ComputationalOperatorMaskingLinearity", "rankId", "masking-in-steps"),
    ("FreeAnalysis", "*IdleTime(us)", "exact-idle-times"),
    ("FreeAnalysis", "reason", "exact-idle-times"),
    ("FreeAnalysis", "rows", "work-around-gaps"),
    *(("FreeAnalysis", column, "idle-times") for column in ("endTime(us)", "duration(us)", "step", "after", "before")),
    ("FreeAnalysis", "causes", "waits-and-account"),
    ("FreeAnalysis", "place", "waits-and-account"),
    ("ClusterTimeSummary", "rows", "waits-and-account"),
    ("CommunicationBottleneck", "reason", "bottleneck-limits"),
    ("SlowOpStats", "*Ns", "slow-rank-ns"),
    ("slow_op_stats.csv", "*(Us)", "slow-rank-ns"),
    ("SlowLinkSum", "m??Rank", "few-collectives"),
    ("kernel_details.csv", "rows", "exported-files"),
    ("api_statistic.csv", "rows", "exported-files"),
)


def slow_op_file(rows):
    """As the file has them, in us."""
    return [[*row[:5], *(cell / 1000 for cell in row[5:])] for row in rows]


def recomputed(recipe, words, job):
    """{table or file: rows}"""
    if recipe in operators.RECIPES:
        return operators.RECIPES[recipe](job)
    if recipe in communication_tables.RECIPES:
        text = not any(job.rglob("ascend_pytorch_profiler_*.db"))
        return documents.documents_of(job, recipe) if text else communication_tables.tables_of(job, recipe)
    if recipe in ("slow_rank", "slow_link"):
        tables = getattr(test_slow, recipe)(test_slow.joint_collectives(job))
        return tables | ({"slow_op_stats.csv": slow_op_file(tables["SlowOpStats"])} if recipe == "slow_rank" else {})
    if recipe in test_job_times.RECIPES:
        table, recompute, _ = test_job_times.RECIPES[recipe]
        rows = list(recompute(test_job_times.ranks_of(job)))
        if "--step_id" in words:
            rows = [row for row in rows if str(row[0]) == words[words.index("--step_id") + 1]]
        return {table: rows}
    return {}


def as_numbers(rows, expected):
    """The cells of a file as numbers where numbers are expected."""
    places = {place for place, cell in enumerate(expected[0] if expected else ()) if isinstance(cell, (int, float))}
    return [[float(cell) if place in places and isinstance(cell, str) else cell for place, cell in enumerate(row)]
            for row in rows]


def confirm(name, expected, rows):
    """What is wrong with a table that differs from the reference."""
    if name not in expected:
        return [f"{name}: nothing recomputes it"]

    def of(of_name):
        ordered = communication_tables.in_order(name, of_name)
        return {name: sorted(ordered) if name.endswith(".json") else ordered}
    wanted = of(expected[name][1:] if name == "cluster_step_trace_time.csv" else expected[name])
    if name.endswith(".csv"):
        rows = as_numbers(rows, wanted[name])
    wrong = [*objections(wanted, of(rows), alike)]
    return wrong + ["an alteration is not noticed" for other in altered({name: rows})
                    if not any(objections(wanted, of(other[name]), alike))]


# What the reference leaves out, see docs/differences.md#links-of-the-job.
OWN = ("CommunicationMatrixByGroupRank", "cluster_communication_matrix_by_group_rank.json",
       # Our answer beside the reference's table, see #late-ranks-on-screens; tests/cli/run_screens.py holds it.
       "LateRanks", "late_ranks.csv", "CommunicationBottleneckLast", "CommunicationBottleneckLateRanks")


def kind_of(table, column):
    return next((kind for kind in KINDS if fnmatch.fnmatchcase(table, kind[0]) and fnmatch.fnmatchcase(column, kind[1])), None)


class Result:
    def __init__(self, entries):
        self.entries, self.used, self.cells, self.wrong = entries, Counter(), Counter(), 0

    def case(self, tool, case, content, any_order, data, scratch):
        job, words, tables = golden_cases.run(tool, case, data, scratch)
        recipe, theirs = words[words.index("-m") + 1], golden_cases.recorded(content, data)
        wrong, kinds, expected = [], Counter(), None
        for name in dict.fromkeys([*theirs, *tables]):
            if name in OWN:  # tests/parity/test_modes.py holds the matrix against the captures
                continue
            if name not in theirs or name not in tables:
                wrong.append(f"{name}: only one of the two has it")
                continue
            counts, equal = golden_cases.differences(name, theirs[name], tables[name], any_order)
            self.cells["equal"] += equal
            for column, count in counts.items():
                kind = kind_of(name, column)
                if kind is None or kind[2] not in self.entries:
                    wrong.append(f"{name}, {column}: {count} cells differ, and no entry says why")
                    continue
                self.used[kind] += count
                kinds[kind[2]] += count
            if not counts:
                continue
            if recipe == "export_summary":
                wrong += ["export_summary: not as recomputed"] * test_export.check(tool, job)[1]
            else:
                expected = expected or recomputed(recipe, words, job)
                wrong += confirm(name, expected, tables[name][1])
        self.cells["explained"] += sum(kinds.values())
        self.wrong += len(wrong)
        told = ", ".join(f"{count} by {name}" for name, count in kinds.items())
        print(f"{'ok     ' if not wrong else 'DIFFERS'} {case['name']}: {told or 'equal'}", *wrong[:8], sep="\n    ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with data/ and golden/ (default: %(default)s)")
    args = parser.parse_args()
    data, golden = args.shared.resolve() / "data", args.shared.resolve() / "golden"
    if not data.is_dir() or not all((golden / name).exists() for name, _ in golden_cases.FILES):
        print(f"SKIPPED: {args.shared} lacks data/ or golden/; name the folder that has them with --shared")
        return SKIPPED
    result = Result(set(re.findall(r"^### (\S+)$", PAGE.read_text(encoding="utf-8"), re.M)))
    with tempfile.TemporaryDirectory() as scratch:
        for case, content, any_order in golden_cases.load(golden):
            result.case(args.tool.resolve(), case, content, any_order, data, Path(scratch))
    stale = [kind for kind in KINDS if not result.used[kind]]
    print(*(f"nothing differs that way any more: {kind}" for kind in stale), sep="\n")
    print(f"{result.cells['equal']} cells equal, {result.cells['explained']} explained, {result.wrong} wrong")
    return 1 if result.wrong or stale or not result.cells["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
