#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the files of export_summary from the databases of simulated jobs.

    test_export.py --tool BINARY [--shared DIR]

Every cell of kernel_details.csv and api_statistic.csv of every rank of the jobs in DIR/data/sim has to be what the
tables TASK, COMPUTE_TASK_INFO, COMMUNICATION_OP, CANN_API and TASK_PMU_INFO say, and the captures stay as they are.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such jobs.
"""

import csv
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from recomputed_tables import tool_and_jobs

NONE = 4294967295
COMPUTE = """SELECT t.deviceId, t.modelId, t.taskId, t.streamId, i.name, i.opType, i.taskType, t.startNs, t.endNs,
    i.blockDim, i.mixBlockDim, i.inputShapes, i.inputDataTypes, i.inputFormats, i.outputShapes, i.outputDataTypes,
    i.outputFormats, t.contextId, t.globalTaskId FROM TASK t JOIN COMPUTE_TASK_INFO i USING (globalTaskId)"""
TEXTS = (4, 5, 6, 11, 12, 13, 14, 15, 16)


def micros(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


class Rank:
    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.names = dict(self.database.execute("SELECT id, value FROM STRING_IDS"))

    def kernels(self):
        """Rows of what the file has of each kernel, without step, wait and counters; then the id of the task."""
        rows = []
        for row in self.database.execute(COMPUTE):
            row = [self.names.get(cell) if place in TEXTS else cell for place, cell in enumerate(row)]
            rows.append([None if cell in (NONE, "N/A") and place in (2, 3, 6, 17, *TEXTS) else cell
                         for place, cell in enumerate(row)])
        owners = defaultdict(set)
        for link, device, model in self.database.execute("SELECT connectionId, deviceId, modelId FROM TASK"):
            owners[link].add((device, model))
        for name, kind, start, end, link in self.database.execute(
                "SELECT opName, opType, startNs, endNs, connectionId FROM COMMUNICATION_OP"):
            found = owners.get(link, set())
            device, model = next(iter(found)) if len(found) == 1 else (None, None)
            rows.append([device, model, None, None, self.names[name], self.names[kind], "COMMUNICATION", start, end,
                         *[None] * 10])
        return sorted(rows, key=lambda row: (-1 if row[0] is None else row[0], row[7]))

    def calls(self):
        levels = {number: "communication" if name == "hccl" else name
                  for number, name in self.database.execute("SELECT id, name FROM ENUM_API_TYPE")}
        durations = defaultdict(list)
        for start, end, level, name in self.database.execute("SELECT startNs, endNs, type, name FROM CANN_API"):
            durations[self.names[name], levels[level]].append((end - start) / 1000)
        return {key: [sum(values), len(values), statistics.fmean(values), min(values), max(values),
                      statistics.pvariance(values)] for key, values in durations.items()}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def objections(rank, folder):
    found, expected = read(folder / "kernel_details.csv"), rank.kernels()
    if len(found) != len(expected):
        yield f"{len(found)} kernels instead of {len(expected)}"
        return
    columns = ["Device_id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "Accelerator Core", None, None,
               "Block Num", "Mix Block Num", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
               "Output Data Types", "Output Formats", "Context ID"]
    last = (None, None)
    for number, (row, cells) in enumerate(zip(expected, found)):
        wait = max(0, row[7] - last[1]) if number and last[0] == row[0] else 0
        last = (row[0], row[8])
        texts = {name: "N/A" if value is None else str(value) for name, value in zip(columns, row) if name}
        texts |= {"Start Time(us)": micros(row[7]) + "\t", "Duration(us)": micros(row[8] - row[7]),
                  "Wait Time(us)": micros(wait)}
        yield from (f"kernel {number} {name}: {cells[name]!r} instead of {text!r}" for name, text in texts.items()
                    if cells[name] != text)
    calls, rows = rank.calls(), read(folder / "api_statistic.csv")
    if {(row["API Name"], row["Level"]) for row in rows} != {*calls} or len(rows) != len(calls):
        yield "other host calls"
        return
    for row in rows:
        numbers = calls[row["API Name"], row["Level"]]
        names = ["Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
        yield from (f"call {row['API Name']} {name}: {row[name]} instead of {number}"
                    for name, number in zip(names, numbers) if abs(float(row[name]) - number) > 0.00051 + 1e-9 * number)


def check(tool, job):
    before = sorted((path, path.stat().st_mtime_ns) for path in job.rglob("*"))
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tool, "-m", "export_summary", "-d", job, "-o", out, "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        folder = Path(out, "cluster_analysis_output", "ExportSummary")
        for path in sorted(job.rglob("ascend_pytorch_profiler_*.db")):
            number = re.search(r"_(\d+)\.db$", path.name)[1]
            wrong += [f"rank {number}: {text}" for text in objections(Rank(path), folder / f"rank{number}")]
            count += 1
    if before != sorted((path, path.stat().st_mtime_ns) for path in job.rglob("*")):
        wrong.append("the captures are not as they were")
    print(f"{job.parent.name}: {count} ranks, {len(wrong)} wrong", *wrong[:8], sep="\n  ")
    return count, len(wrong)


def main():
    tool, jobs = tool_and_jobs(__doc__)
    ranks, wrong = map(sum, zip(*(check(tool, job) for job in jobs)))
    return 1 if wrong or not ranks else 0


if __name__ == "__main__":
    sys.exit(main())
