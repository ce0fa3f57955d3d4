# SPDX-License-Identifier: Apache-2.0
"""Holds what every recipe makes of one job in several formats against each other, cell by cell."""

import contextlib
import csv
import math
import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

TIMEOUT_SECONDS = 120
EXPORT = "ExportSummary"
# Rows come in the order of the records of the capture, and the profiler's files order them each in its own way.
IN_ANY_ORDER = {"ClusterCommunicationTime", "ClusterCommunicationBandwidth", "ClusterCommunicationMatrix"}
# What formats may tell differently, with the reason: a column of a table, or (None) whether there is the table.
FREE_TIME = "the profiler's database leaves out the free time before and behind the work of a step, its text file does not"
PERMITTED = {
    ("HostInfo", None): "text captures do not name their host",
    ("RankDeviceMap", None): "text captures do not list their devices",
    ("RankDeviceMap", "profilePath"): "where the capture lies",
    ("ClusterStepTraceTime", "free"): FREE_TIME,
    ("ClusterStepTraceTime", "stage"): FREE_TIME,
    **{(table, column): "the database of the twin has no counters" for table in ("TopKernels", "TopKernelsOfRanks")
       for column in ("bound", "busiestUnit", "busiestShare(%)", "counters")},
    **{(table, "cacheHitRate(%)"): "the profiler's database has no table of the L2 cache"
       for table in ("TopKernels", "TopKernelsOfRanks")},
    ("COMMUNICATION_OP", "opId"): "only databases number operators",
    ("kernel_details.csv", "Accelerator Core"): "the profiler calls collectives HCCL in some versions",
    ("kernel_details.csv", "OP State"): "older databases do not record it",
    ("kernel_details.csv", "HF32 Eligible"): "older databases do not record it",
    ("kernel_details.csv", "cube_utilization(%)"): "databases do not record it, and the simulator writes one number",
    ("api_statistic.csv", "Level"): "the profiler calls the level of collectives hccl in some versions",
}


class Results:
    """What a recipe made: exit code, screen, tables as (columns, rows) by name."""

    def __init__(self, tool, recipe, job, more=()):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([tool, "-m", recipe, "-d", job, "-o", out, "--export_type", "db", *more], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)
            self.code, self.errors = done.returncode, done.stderr
            # The next command names the directory.
            self.screen = re.sub(r"^(Next: .* -d)\s+\S+$", r"\1 JOB", done.stdout, flags=re.MULTILINE).splitlines()
            self.tables = {}
            database = Path(out, "cluster_analysis_output", "cluster_analysis.db")
            if database.exists():
                with contextlib.closing(sqlite3.connect(database)) as connection:
                    for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                        rows = connection.execute(f'SELECT * FROM "{name}"')
                        self.tables[name] = ([column[0] for column in rows.description], rows.fetchall())
            for file in Path(out, "cluster_analysis_output", EXPORT).rglob("*.csv"):
                self.tables[f"{file.parent.name}/{file.name}"] = self.exported(file)

    @staticmethod
    def exported(file):
        """Numbers have up to three digits behind the point in text captures, and 0 for what was not measured."""
        with open(file, newline="", encoding="utf-8") as text:
            columns, *rows = csv.reader(text)

        def cell(value):
            try:
                return round(float(value), 3)
            except ValueError:
                return 0.0 if value == "N/A" else value.strip()
        rows = [tuple(map(cell, row)) for row in rows]
        if "API Name" in columns:
            rows.sort(key=lambda row: row[columns.index("API Name")])
        return columns, rows


def recipes_of(tool):
    """Those that the help lists, with what it says of each."""
    page = subprocess.run([tool, "cluster", "--help"], check=True, capture_output=True, encoding="utf-8",
                          timeout=TIMEOUT_SECONDS).stdout
    entries = re.split(r"(?m)^  (?=\w)", page.split("Recipes:\n")[1].split("\n\n")[0])[1:]
    return {name: " ".join(words) for name, *words in map(str.split, entries)}


def alike(left, right, nearness=1e-9):
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=nearness)  # sums of doubles in another order
    return left == right


def in_order(columns, rows):
    """By the cells that are no sums."""
    keys = [i for i, _ in enumerate(columns) if not any(isinstance(row[i], float) for row in rows)]
    return sorted(rows, key=lambda row: [*(str(row[i]) for i in keys), *map(str, row)])


def differences(left, right):
    """What differs without permission, as texts."""
    if left.code != right.code:
        yield f"exit codes {left.code} and {right.code}: {left.errors}{right.errors}"
    for name in sorted({*left.tables} | {*right.tables}):
        kind = name.rpartition("/")[2]
        if name not in left.tables or name not in right.tables:
            if (kind, None) not in PERMITTED:
                yield f"{name}: one of them has it only"
            continue
        (columns, rows), (others, other_rows) = left.tables[name], right.tables[name]
        shared = [column for column in columns if column in others]
        if columns != others:
            if "/" not in name:  # columns of the profiler's files depend on its version
                yield f"{name}: columns {columns} and {others}"
                continue
            rows = [tuple(row[columns.index(column)] for column in shared) for row in rows]
            other_rows = [tuple(row[others.index(column)] for column in shared) for row in other_rows]
        if len(rows) != len(other_rows):
            yield f"{name}: {len(rows)} and {len(other_rows)} rows"
            continue
        if kind in IN_ANY_ORDER:
            rows, other_rows = in_order(columns, rows), in_order(columns, other_rows)
        for number, pair in enumerate(zip(rows, other_rows)):
            for column, a, b in zip(shared, *pair):
                nearness = 0.00101 if "/" in name else 1e-9  # halves of the last digit of averages
                if not alike(a, b, nearness) and (kind, column) not in PERMITTED:
                    yield f"{name}, row {number}, {column}: {a!r} and {b!r}"


def screens_differ(left, right):
    """Lines of the screen that differ, but for what the capture is."""
    def known(line):
        return re.sub(r"\b(database|text|raw) capture", "capture", line)
    return [(a, b) for a, b in zip(map(known, left.screen), map(known, right.screen)) if a != b]
