#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the files of export_summary from the databases of simulated jobs and of a real one.

    test_export.py --tool BINARY [--shared DIR]

Every cell of kernel_details.csv and api_statistic.csv of every rank of the jobs in DIR/data/sim, and of the real one in
DIR/data/npu that has counters, has to be what the tables TASK, COMPUTE_TASK_INFO, COMMUNICATION_OP, CANN_API, STEP_TIME
and TASK_PMU_INFO say, and the captures stay as they are. A cell that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such jobs.
"""

import csv
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from databases import open_unchanged
from recomputed_tables import tool_and_jobs

NONE = 4294967295
COMPUTE = """SELECT t.deviceId, t.modelId, t.taskId, t.streamId, i.name, i.opType, i.taskType, t.startNs, t.endNs,
    i.blockDim, i.mixBlockDim, i.inputShapes, i.inputDataTypes, i.inputFormats, i.outputShapes, i.outputDataTypes,
    i.outputFormats, t.contextId, t.globalTaskId, t.connectionId FROM TASK t JOIN COMPUTE_TASK_INFO i USING (globalTaskId)"""
TEXTS = (4, 5, 6, 11, 12, 13, 14, 15, 16)
# Counters that cannot occur on the vector cores, which the profiler's file does not show.
NOT_OF_VECTOR_CORES = {"aiv_mac_time", "aiv_mac_ratio", "aiv_mte1_time", "aiv_mte1_ratio"}


def micros(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def is_rounded(text, number):
    """Three decimals without zeros at the end. Halves may go either way: the last digit of a double decides."""
    decimals = text.partition(".")[2]
    return (len(decimals) <= 3 and (len(decimals) < 2 or decimals[-1] != "0")
            and abs(float(text) - number) <= 0.0005 + 1e-9 + 1e-12 * abs(number))


class Rank:
    def __init__(self, path):
        self.database = open_unchanged(path)
        self.names = dict(self.database.execute("SELECT id, value FROM STRING_IDS"))

    def kernels(self):
        """Rows of what the file has of each kernel, without step, wait and counters; then the ids of task and launch."""
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
            rows.append([device, model, None, None, self.names[name], self.names[kind], "COMMUNICATION", start, end, 0,
                         *[None] * 9, link])
        return sorted(rows, key=lambda row: (-1 if row[0] is None else row[0], row[7]))

    def steps(self):
        return self.database.execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs").fetchall()

    def launches(self):
        """{connection: when the host launched it}"""
        return dict(self.database.execute("SELECT connectionId, startNs FROM CANN_API ORDER BY startNs DESC"))

    def counters(self):
        """({task: {column: value}}, the columns in order)"""
        values, columns = defaultdict(dict), {}
        for task, name, value in self.database.execute("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            if self.names[name] in NOT_OF_VECTOR_CORES:
                continue
            title, divisor = column_of(self.names[name])
            values[task][columns.setdefault(title, title)] = value / divisor
        return values, [*columns]

    def calls(self):
        levels = {number: "communication" if name == "hccl" else name
                  for number, name in self.database.execute("SELECT id, name FROM ENUM_API_TYPE")}
        durations = defaultdict(list)
        for start, end, level, name in self.database.execute("SELECT startNs, endNs, type, name FROM CANN_API"):
            durations[self.names[name], levels[level]].append((end - start) / 1000)
        return {key: [sum(values), len(values), statistics.fmean(values), min(values), max(values),
                      statistics.pvariance(values)] for key, values in durations.items()}


def column_of(counter):
    """How the profiler's file calls it, and by what it divides."""
    for ending, unit, divisor in (("_time", "(us)", 1000), ("_bw", "(GB/s)", 1), ("_datas", "(KB)", 1)):
        if counter.endswith(ending):
            name = {"aic_total_time": "aicore_time", "aiv_total_time": "aiv_time"}.get(counter, counter)
            return name + unit, divisor
    return counter + ("(%)" if counter == "cube_utilization" else ""), 1


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def step_objections(rank, row, cell, steps, launches):
    """The step in which the host launched the kernel. Where that is not known, one that is near on the device."""
    if not steps:
        if cell is not None:
            yield f"step {cell!r} of a capture without steps"
        return
    launched = launches.get(row[19])
    of_host = [str(number) for number, start, end in steps if launched is not None and start <= launched <= end]
    if of_host and cell != of_host[-1]:
        yield f"step {cell!r} instead of {of_host[-1]}"
    elif not of_host and cell not in ("", *(str(number) for number, start, _ in steps if start <= row[7])):
        yield f"step {cell!r} begins behind the kernel"


def objections(rank, found, rows):
    expected, steps, launches = rank.kernels(), rank.steps(), rank.launches()
    counters, titles = rank.counters()
    if len(found) != len(expected):
        yield f"{len(found)} kernels instead of {len(expected)}"
        return
    columns = ["Device_id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "Accelerator Core", None, None,
               "Block Num", "Mix Block Num", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
               "Output Data Types", "Output Formats", "Context ID"]
    last = (None, None)
    for number, (row, cells) in enumerate(zip(expected, found)):
        wait = micros(max(0, row[7] - last[1])) + "000" if number and last[0] == row[0] else "0"
        last = (row[0], row[8])
        texts = {name: "N/A" if value is None else str(value) for name, value in zip(columns, row) if name}
        texts |= {"Start Time(us)": micros(row[7]) + "\t", "Duration(us)": micros(row[8] - row[7]),
                  "Wait Time(us)": wait, "OP State": "N/A", "HF32 Eligible": "N/A"}
        yield from (f"kernel {number} {name}: {cells[name]!r} instead of {text!r}" for name, text in texts.items()
                    if cells[name] != text)
        yield from (f"kernel {number}: {text}" for text in
                    step_objections(rank, row, cells.get("Step Id"), steps, launches))
        of_kernel = counters.get(row[18], {})
        for title in titles:
            if cells[title] != "N/A" if title not in of_kernel else not is_rounded(cells[title], of_kernel[title]):
                yield f"kernel {number} {title}: {cells[title]!r} instead of {of_kernel.get(title)}"
        others = {*cells} - {"Step Id", *texts, *titles}
        if number == 0 and others:
            yield f"columns that nothing recomputes: {others}"
    calls = rank.calls()
    if {(row["API Name"], row["Level"]) for row in rows} != {*calls} or len(rows) != len(calls):
        yield "other host calls"
        return
    for row in rows:
        if row["Device_id"] != "host":
            yield f"call {row['API Name']}: device {row['Device_id']!r} instead of host"
        numbers = calls[row["API Name"], row["Level"]]
        names = ["Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
        yield from (f"call {row['API Name']} {name}: {row[name]} instead of {number}"
                    for name, number in zip(names, numbers) if not is_rounded(row[name], number))


def altered(kernels, calls):
    """The same with one cell changed, for each column."""
    for rows in (kernels, calls):
        for column in rows[0]:
            for number in range(len(rows) - 1, -1, -1):  # the last that has a value
                if rows[number][column] not in ("N/A", "0", "0.000"):
                    break
            changed = [*rows]
            changed[number] = rows[number] | {column: "7" if rows[number][column] != "7" else "8"}
            yield column, *((changed, calls) if rows is kernels else (kernels, changed))


def check(tool, job):
    before = sorted((path, path.stat().st_mtime_ns) for path in job.rglob("*"))
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tool, "-m", "export_summary", "-d", job, "-o", out, "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        folder = Path(out, "cluster_analysis_output", "ExportSummary")
        for path in sorted(job.rglob("ascend_pytorch_profiler_*.db")):
            number = re.search(r"_(\d+)\.db$", path.name)[1]
            rank = Rank(path)
            files = [read(folder / f"rank{number}" / f"{name}.csv") for name in ("kernel_details", "api_statistic")]
            wrong += [f"rank {number}: {text}" for text in objections(rank, *files)]
            if count == 0:
                wrong += [f"an alteration of {column} is not noticed" for column, *tables in altered(*files)
                          if not any(objections(rank, *tables))]
            count += 1
    if before != sorted((path, path.stat().st_mtime_ns) for path in job.rglob("*")):
        wrong.append("the captures are not as they were")
    print(f"{job.parent.name}: {count} ranks, {len(wrong)} wrong", *wrong[:8], sep="\n  ")
    return count, len(wrong)


def main():
    tool, jobs = tool_and_jobs(__doc__)
    real = jobs[0].parents[2] / "npu/db/level1"
    jobs = [*jobs, real] if real.is_dir() else jobs
    ranks, wrong = map(sum, zip(*(check(tool, job) for job in jobs)))
    return 1 if wrong or not ranks else 0


if __name__ == "__main__":
    sys.exit(main())
