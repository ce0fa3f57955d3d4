#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the numbers of advisor against those of compare and against the files of the captures.

    test_advisor.py --tool BINARY [--shared DIR]

On two ranks of a real job below DIR/data: what a rank waits for others, and what it transfers, is one number in both
commands; the lists of transfers and of kernels in the workbook are recomputed from the trace, from kernel_details.csv,
or from the database. Sequences of kernels that repeat need more steps than the job has: DIR/tools repeats its step.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import csv
import json
import math
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
sys.dont_write_bytecode = True

from test_diagnosis import SKIPPED  # noqa: E402: found only now
from workbook import Workbook  # noqa: E402

FORMS = [f"npu/{form}/level{level}" for form in ("text", "db") for level in (0, 1)]
WITH_CORES = "npu/db_mstx"  # says how many cores the device has
RANKS = ("rank0_ascend_pt", "rank1_ascend_pt")
STEPS = 8  # of the longer jobs that are made of the real ones


def run(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return done.stdout


def sheet(path, name):
    workbook, = path.rglob("*.xlsx")
    return next((sheet.rows() for sheet in Workbook(workbook).sheets if sheet.name == name), [])


def waits_of_compare(tool, job, scratch):
    """[(wait, transmit) of rank 0, of rank 1] in ms."""
    run(tool, "compare", "-d", job / RANKS[1], "-bp", job / RANKS[0], "-o", scratch, "--disable_details")
    rows = {str(row[0]).strip(): row for row in sheet(scratch, "OverallMetrics") if row and row[0]}
    return [(rows["Wait"][column], rows["Transmit"][column]) for column in (1, 4)]


def waits_of_advisor(tool, job):
    result = []
    for rank in RANKS:
        account, = json.loads(run(tool, "advisor", "all", "-d", job / rank, "--json"))["accounting"]
        times = {name: time for name, time in account["leaves"].items() if name.startswith("comm.")}
        wait = times.get("comm.wait_peer", 0) + times.get("comm.bubble", 0)
        result.append((wait / 1e6, (sum(times.values()) - wait) / 1e6))
    return result


def moved_of_trace(path):
    """{operation: [(bytes, us)]} of what moved between devices."""
    events = json.loads(path.read_text(encoding="utf-8"))
    process = next(event["pid"] for event in events if event["name"] == "process_name"
                   and event["args"]["name"] in ("Communication", "HCCL"))
    slices = [event for event in events if event.get("ph") == "X" and event["pid"] == process]
    operations = [(Decimal(event["ts"]), Decimal(str(event["dur"])), event["name"])
                  for event in slices if event["name"].startswith("hcom")]
    moved = defaultdict(list)
    for event in slices:
        args = event.get("args", {})
        if (event["name"] in ("Memcpy", "Reduce_Inline") and args.get("transport type") == "SDMA"
                and args.get("link type") != "ON_CHIP" and int(args["size(Byte)"]) > 64):
            start = Decimal(event["ts"])
            name, = [name for begin, dur, name in operations if begin <= start <= begin + dur]
            moved[name].append((int(args["size(Byte)"]), float(event["dur"])))
    return moved


def moved_of_database(path):
    moved = defaultdict(list)
    with sqlite3.connect(path) as database:
        text = "(SELECT value FROM STRING_IDS WHERE id = {})"
        for name, size, time in database.execute(
                f"SELECT {text.format('op.opName')}, info.size, task.endNs - task.startNs "
                "FROM COMMUNICATION_TASK_INFO info JOIN TASK task USING (globalTaskId) "
                "JOIN COMMUNICATION_OP op ON op.opId = info.opId "
                "JOIN ENUM_HCCL_TRANSPORT_TYPE transport ON transport.id = info.transportType "
                "JOIN ENUM_HCCL_LINK_TYPE link ON link.id = info.linkType "
                f"WHERE transport.name = 'SDMA' AND link.name != 'ON_CHIP' AND info.size > 64 "
                f"AND {text.format('info.taskType')} IN ('Memcpy', 'Reduce_Inline')"):
            moved[name].append((size, time / 1e3))
    return moved


def moved_of(capture):
    traces = list(capture.rglob("trace_view.json"))
    if traces:
        return moved_of_trace(traces[0])
    return moved_of_database(next(capture.rglob("ascend_pytorch_profiler*.db")))


def near(found, expected):
    """Times are recorded in parts of a nanosecond and shown in whole ones."""
    return all(abs(a - b) <= 0.0011 + 1e-9 * abs(b) for a, b in zip(found, expected, strict=True))


def check_transfers(tool, job, scratch, object_to):
    run(tool, "advisor", "all", "-d", job, "-o", scratch, "-l", "en")
    alignment = {(row[0], int(row[5])): row[1:4] for row in sheet(scratch, "Byte Alignment Analysis")[1:]}
    links = {int(row[1]): row[6:8] for row in sheet(scratch, "slow link")[1:]}
    for rank, name in enumerate(RANKS):
        moved = moved_of(job / name)
        sizes = [size for tasks in moved.values() for size, _ in tasks]
        times = [time for tasks in moved.values() for _, time in tasks]
        if not near(links.pop(rank), (sum(sizes) / 1e6, sum(times) / 1e3)):
            object_to(f"{name}: slow link is not {sum(sizes) / 1e6} MB in {sum(times) / 1e3} ms")
        for operation, tasks in moved.items():
            odd = [time for size, time in tasks if size > 512 and size % 512]
            if not odd:
                continue
            expected = (sum(size for size, _ in tasks), sum(time for _, time in tasks), sum(odd))
            if not near(alignment.pop((operation, rank), (0, 0, 0)), expected):
                object_to(f"{name}: {operation} is not {expected}")
    if links or alignment:
        object_to(f"{job}: rows of nothing: {links} {alignment}")


def check_places(tool, job, scratch, object_to):
    """A place has one number on the screen, on the page and in why, and where both ranks have it, says whose it is."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    screen = run(tool, "advisor", "all", "-d", job, "-o", folder, "-l", "en").splitlines()
    page = next(folder.glob("*.html")).read_text(encoding="utf-8")
    findings = json.loads(run(tool, "advisor", "all", "-d", job, "--json"))["findings"]
    told = 0
    for number, line in enumerate(screen):
        fact = re.search(r"(?:^    |: )([\d.]+ [mu]s) a step( on rank \d+|, mean of the ranks)?", line)
        if not fact:
            continue
        told += 1
        whole = f"{fact[1]} a step{fact[2] or ''}"
        if whole not in page:
            object_to(f"{job}: the page has another number than the screen: {line.strip()}")
        head = max(i for i in range(number) if re.match(r"\d+ +[A-Z]+ ", screen[i]))
        title = " ".join(re.sub(r"^\d+ +[A-Z]+ +| +saves [\d.]+ ms .*", "", text).strip() for text in screen[head:number]).strip()
        finding = next((one for one in findings if one["text"]["title"] == title), None)
        if finding is None:
            object_to(f"{job}: no finding is called {title!r}")
            continue
        if (len({place["rank"] for place in finding["evidence"]}) > 1) != bool(fact[2]):
            object_to(f"{job}: whose number? {line.strip()}")
        why = run(tool, "advisor", "why", finding["key"], "-d", job, "-l", "en")
        measured = re.search(r"measured   ([\d.]+ [mu]s a step( on rank \d+|, mean of the ranks)?)$", why, re.MULTILINE)
        if measured and measured[1] != whole:
            object_to(f"{job}: why has another number than the screen: {line.strip()}")
    if told == 0 and job.parent.name == "db":
        object_to(f"{job}: no place has a time")


def check_picture(tool, job, scratch, object_to):
    """The picture of the longest wait paints as waiting what the account calls so, whoever came last."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    run(tool, "advisor", "all", "-d", job, "-o", folder, "-l", "en")
    page = next(folder.glob("*.html")).read_text(encoding="utf-8")
    accounts = json.loads(run(tool, "advisor", "all", "-d", job, "--json"))["accounting"]
    drawn = 0
    for account in accounts:
        lanes = re.findall(rf'"title":"rank {account["rank"]}, communication","spans":(\[\[.*?\]\])', page)
        if not lanes:
            continue
        drawn += 1
        # Behind the pictures of the places of findings.
        waits = sum(dur for _, dur, _, text, _ in json.loads(lanes[-1]) if " waits for " in text) / 1e3
        told = (account["leaves"].get("comm.wait_peer", 0) + account["leaves"].get("comm.bubble", 0)) / 1e6
        # What is computed meanwhile (4 %) is not waiting in the account.
        if not told <= waits <= 1.05 * told:
            object_to(f"{job}: rank {account['rank']}: the picture paints {waits:.3f} ms as waiting, the account {told:.3f}")
    if drawn < 2:
        object_to(f"{job}: no picture of the longest wait")


UNITS = ("vec", "mac", "scalar", "mte1", "mte2", "mte3", "fixpipe")


def load_of(counters, unit):
    """The share of the time in which a unit works, of the busier kind of cores."""
    names = {"vec": ("aiv_vec",), "mac": ("aic_mac",)}.get(unit, (f"aic_{unit}", f"aiv_{unit}"))
    return max((counters.get(f"{name}_ratio", 0) for name in names), default=0)


def kernels_of_text(capture):
    with next(capture.rglob("kernel_details.csv")).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["Accelerator Core"] in ("COMMUNICATION", "HCCL"):
                continue
            counters = {name: float(value) for name, value in row.items()
                        if name.endswith("_ratio") and value not in ("", "N/A")}
            yield row["Name"], row["Accelerator Core"], float(row["Duration(us)"]), int(row["Block Dim"]), counters


def kernels_of_database(capture):
    with sqlite3.connect(next(capture.rglob("ascend_pytorch_profiler*.db"))) as database:
        text = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        counters = defaultdict(dict)
        for task, name, value in database.execute("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            if text[name].endswith("_ratio"):
                counters[task][text[name]] = round(float(value), 3)  # as text captures have it
        for task, name, core, time, blocks in database.execute(
                "SELECT info.globalTaskId, info.name, info.taskType, endNs - startNs, blockDim "
                "FROM COMPUTE_TASK_INFO info JOIN TASK task USING (globalTaskId)"):
            yield text[name], text[core], time / 1e3, blocks, counters[task]


def kernels_of(capture):
    is_database = any(capture.rglob("ascend_pytorch_profiler*.db"))
    return kernels_of_database(capture) if is_database else kernels_of_text(capture)


def cores_of(capture):
    """{kind of core: how many}, nothing where the capture does not say."""
    for path in capture.rglob("info.json*"):
        device, = json.loads(path.read_text(encoding="utf-8"))["DeviceInfo"]
        cube, vector = device["ai_core_num"], device["aiv_num"]
        return {"AI_CORE": cube, "MIX_AIC": cube, "AI_VECTOR_CORE": vector, "MIX_AIV": vector}
    return {}


def check_kernels(tool, job, scratch, object_to):
    """The lists of kernels, recomputed from the files. No capture at hand has more than they may hold."""
    run(tool, "advisor", "all", "-d", job, "-o", scratch, "-l", "en")
    shown = {name: sheet(scratch, name)[1:] for name in ("Operator No Bound Issues", "Block Dim Issues")}
    for rank, name in enumerate(RANKS):
        cores = cores_of(job / name)
        unbound, idle = [], []
        for kernel, core, time, blocks, counters in kernels_of(job / name):
            loads = [load_of(counters, unit) for unit in UNITS]
            if 0 < max(loads) <= 0.8:
                unbound.append((kernel, time, *loads[:6], blocks))
            if core in cores and blocks > 0 and blocks % cores[core]:
                idle.append((kernel, time, blocks, cores[core]))
        found = [(row[0], row[3], *(cell or 0 for cell in row[4:10]), row[10])
                 for row in shown["Operator No Bound Issues"] if row[-1] == rank]
        compare_kernels(f"{job}: {name}: No Bound", found, unbound, object_to)
        found = [(row[0], row[3], row[5], row[13]) for row in shown["Block Dim Issues"] if row[-1] == rank]
        compare_kernels(f"{job}: {name}: Block Dim", found, idle, object_to)


ELEMENT = {"FLOAT": 4, "FLOAT16": 2, "DT_BF16": 2, "INT64": 8, "INT32": 4}  # bytes


def detailed_kernels_of(capture):
    """(name, type, core, time in us, shapes of inputs, of outputs, types of both, counters) of kernels."""
    if not any(capture.rglob("ascend_pytorch_profiler*.db")):
        with next(capture.rglob("kernel_details.csv")).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["Accelerator Core"] not in ("COMMUNICATION", "HCCL"):
                    counters = {name: float(value) for name, value in row.items()
                                if name.endswith("_ratio") and value not in ("", "N/A")}
                    yield (row["Name"], row["Type"], row["Accelerator Core"], Decimal(row["Duration(us)"]),
                           row["Input Shapes"], row["Output Shapes"], row["Input Data Types"],
                           row["Output Data Types"], counters)
        return
    with sqlite3.connect(next(capture.rglob("ascend_pytorch_profiler*.db"))) as database:
        text = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        counters = defaultdict(dict)
        for task, name, value in database.execute("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            if text[name].endswith("_ratio"):
                counters[task][text[name]] = round(float(value), 3)
        for task, time, *texts in database.execute(
                "SELECT info.globalTaskId, endNs - startNs, info.name, opType, info.taskType, inputShapes, outputShapes, "
                "inputDataTypes, outputDataTypes FROM COMPUTE_TASK_INFO info JOIN TASK task USING (globalTaskId)"):
            name, kind, core, *tensors = (text[id] for id in texts)
            yield name, kind, core, Decimal(time) / 1000, *tensors, counters[task]


def megabytes_of(shapes, types):
    total = 0
    for shape, element in zip(shapes.strip('"').split(";"), types.split(";"), strict=True):
        sizes = [int(size) for size in shape.split(",") if size]
        total += math.prod(sizes) * ELEMENT[element] if sizes else 0
    return total / 2**20


def judged(family, shapes, loads):
    """(verdict, room) of a product of matrices, or of a vector kernel, whose units are busy for `loads`."""
    if family == "Cube":
        if any(int(shape.split(",")[-1]) % 256 for shape in shapes.strip('"').split(";")[:2]):
            return "shape", None
        units = ((loads["aic_mac"], 0.8), (loads["aic_mte2"], 0.95))
    else:
        vector = [loads[unit] for unit in ("aiv_vec", "aiv_mte2", "aiv_mte3")]
        units = ((sum(vector), 0.9), *((load, 0.7) for load in vector))
    room = min(limit - load for load, limit in units)
    return ("room", room) if room > 1e-9 else ("bound", None)


def check_performance(tool, job, scratch, object_to):
    """Products of matrices and vector kernels by their shapes. No capture at hand has attention."""
    run(tool, "advisor", "all", "-d", job, "-o", scratch, "-l", "en")
    for rank, name in enumerate(RANKS):
        calls, whole, of_type = defaultdict(list), 0, defaultdict(Decimal)
        for kernel, kind, core, time, *rest in detailed_kernels_of(job / name):
            whole += time
            if core in ("AI_VECTOR_CORE", "MIX_AIV"):
                of_type[kind] += time
            family = "Vector" if core in ("AI_VECTOR_CORE", "MIX_AIV") else "Cube" if "matmul" in kind.lower() else None
            if family and rest[0].strip('"') not in ("", "N/A"):
                calls[family, kernel, kind, rest[0], rest[1]].append((time, *rest))
        expected = defaultdict(list)
        for (family, kernel, kind, shapes, _), rows in calls.items():
            time = sum(row[0] for row in rows)
            if family == "Vector" and of_type[kind] < whole / 100:
                continue
            moved = [megabytes_of(row[1], row[3]) + megabytes_of(row[2], row[4]) for row in rows if family == "Cube"]
            if family == "Cube" and sum(moved) < 100:
                continue
            loads = {unit: sum(row[-1].get(f"{unit}_ratio", 0) for row in rows) / len(rows)
                     for unit in ("aic_mac", "aic_mte2", "aiv_vec", "aiv_mte2", "aiv_mte3")}
            verdict, room = judged(family, shapes, loads)
            weight = float(time) * (room or 1)
            expected[family, verdict].append((weight, kernel, shapes, len(rows), float(time), room or 0))
        for family in ("Cube", "Vector"):
            shown = [row for row in sheet(scratch, f"{family} Operator Perf Analysis")[1:] if row[-1] == rank]
            for verdict in ("room", "bound", "shape"):
                best = [row[1:] for row in sorted(expected[family, verdict], key=lambda row: -row[0])[:5]]
                found = [(row[2], row[4], row[6], row[7], row[8] or 0) for row in shown if row[0] == verdict]
                if [row[:2] for row in found] != [row[:2] for row in best] or not all(
                        near(left[2:], right[2:]) for left, right in zip(found, best, strict=True)):
                    object_to(f"{job}: {name}: {family} {verdict}: {found}, not {best}")


def nanoseconds(cell):
    return int(Decimal(cell.strip()) * 1000) if cell.strip() not in ("", "N/A") else 0


def moving_and_core(counters):
    """Time in which a kernel loads and stores, and that of its busier core, in ns."""
    moving = (max(counters.get("aic_mte2_time", 0), counters.get("aiv_mte2_time", 0))
              + max(counters.get("aic_fixpipe_time", 0), counters.get("aiv_mte3_time", 0)))
    core = max(counters.get(name, 0) for name in ("aicore_time", "aic_total_time", "aiv_time", "aiv_total_time"))
    return moving, core


def timed_rows_of_text(capture):
    """(start, end, what it is, step, moving, core) of the rows of the file; collectives are nothing."""
    with next(capture.rglob("kernel_details.csv")).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            start = nanoseconds(row["Start Time(us)"])
            counters = {name.removesuffix("(us)"): nanoseconds(cell) for name, cell in row.items()
                        if name.endswith("_time(us)")}
            what = None if row["Accelerator Core"] in ("HCCL", "COMMUNICATION", "AI_CPU") else (
                row["Name"], row["Input Shapes"], row["Output Shapes"])
            yield start, start + nanoseconds(row["Duration(us)"]), what, row["Step Id"], *moving_and_core(counters)


def timed_rows_of_database(capture):
    with sqlite3.connect(next(capture.rglob("ascend_pytorch_profiler*.db"))) as database:
        text = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        counters = defaultdict(dict)
        for task, name, value in database.execute("SELECT globalTaskId, name, value FROM TASK_PMU_INFO"):
            counters[task][text[name]] = round(value)
        steps = database.execute("SELECT id, startNs, endNs FROM STEP_TIME").fetchall()
        launches = dict(database.execute("SELECT connectionId, startNs FROM CANN_API"))
        for start, end in database.execute("SELECT startNs, endNs FROM COMMUNICATION_OP"):
            yield start, end, None, None, 0, 0
        for task, connection, start, end, core, *texts in database.execute(
                "SELECT info.globalTaskId, connectionId, startNs, endNs, info.taskType, name, inputShapes, outputShapes "
                "FROM COMPUTE_TASK_INFO info JOIN TASK task USING (globalTaskId)"):
            if text[core] in ("HCCL", "COMMUNICATION"):
                continue  # pieces of collectives
            step = next((step for step, begin, finish in steps if begin <= launches[connection] <= finish), None)
            what = None if text[core] == "AI_CPU" else tuple(text[id] for id in texts)
            yield start, end, what, step, *moving_and_core(counters[task])


def summed(rows, starts, length):
    """(total, busy, moving, core) of the runs of a sequence. A run ends where the next kernel starts."""
    sums = [0, 0, 0, 0]
    for start in starts:
        run = rows[start:start + length]
        following = next((row[0] for row in rows[start + length:] if row[2]), run[-1][1] + 10**12)
        times = (min(max(row[1] for row in run), following) - run[0][0], sum(row[1] - row[0] for row in run),
                 sum(row[4] for row in run), sum(row[5] for row in run))
        sums = [a + b for a, b in zip(sums, times, strict=True)]
    return sums


def bounds_of(sums):
    """(waits for the host, moves data)."""
    total, busy, moving, core = sums
    return total > 0 and busy / total < 0.4, core > 0 and moving / core > 0.8


def sequences_of(rows):
    """[(first, last, total, busy, moving in us, runs, moves data, waits)] of the sequences, the longest first."""
    rows = sorted(rows, key=lambda row: row[0])
    span = max(row[1] for row in rows) - rows[0][0]
    cuts = [time for row in rows if row[2] is None for time in row[:2]]
    groups = defaultdict(list)
    for first, row in enumerate(rows):
        for length in range(1, 11):
            run = rows[first:first + length]
            if len(run) < length or run[-1][2] is None or run[-1][3] != row[3] or any(
                    row[0] < cut <= run[-1][0] for cut in cuts):
                break
            if length >= 3:
                groups[tuple(kernel[2] for kernel in run)].append(first)
    taken = set()

    def free_runs(starts, length):
        free, last = [], -1
        for start in starts:
            if start >= last and taken.isdisjoint(range(start, start + length)):
                free.append(start)
                last = start + length
        return free

    def matters(starts, length):
        sums = summed(rows, starts, length)
        waits, moves = bounds_of(sums)
        return len(starts) > 5 and (moves or waits and sums[0] / span > 0.01)

    candidates = []
    for what, starts in groups.items():
        free = free_runs(starts, len(what))
        if len(free) > 5 and matters(free, len(what)):
            candidates.append((-summed(rows, free, len(what))[0], -len(what), starts))
    result = []
    for _, length, starts in sorted(candidates):
        free = free_runs(starts, -length)
        if not matters(free, -length):
            continue
        for start in free:
            taken.update(range(start, start - length))
        total, busy, moving, core = summed(rows, free, -length)
        waits, moves = bounds_of((total, busy, moving, core))
        result.append((free[0], free[0] - length - 1, total / 1e3, busy / 1e3, moving / 1e3, len(free), moves, waits))
    return sorted(result, key=lambda row: (-row[2], row[0]))


def check_sequences(tool, job, scratch, object_to):
    """Sequences of kernels that repeat, recomputed by looking at every one. Returns how many there are."""
    run(tool, "advisor", "all", "-d", job, "-o", scratch, "-l", "en")
    count, whole = 0, 0
    for rank, name in enumerate(RANKS):
        is_database = any((job / name).rglob("ascend_pytorch_profiler*.db"))
        expected = sequences_of((timed_rows_of_database if is_database else timed_rows_of_text)(job / name))
        count += len(expected)
        whole += sum(row[2] for row in expected)
        for bound, column in (("Host", 7), ("MTE", 6)):
            found = [tuple(row[:6]) + tuple(cell == "True" for cell in row[6:8])
                     for row in sheet(scratch, f"{bound} Bound Operator Sequences")[1:] if row[-1] == rank]
            best = [row for row in expected if row[column]]
            if len(found) != len(best) or not all(near(left, right) for left, right in zip(found, best, strict=True)):
                object_to(f"{job}: {name}: {bound} bound are {found}, not {best}")
    problem = [row for row in sheet(scratch, "observations")[1:] if row[0] == "Fusible Operator Analysis"]
    if [tuple(row[3:5]) for row in problem] != ([(count, round(whole, 3))] if count else []):
        object_to(f"{job}: the problem is {problem}, not {count} in {whole} us")
    return count


def check_repeated_steps(tool, job, scale, scratch, object_to):
    """The same with more steps, which the command `scale` makes."""
    for seed, name in enumerate(RANKS):
        subprocess.run([*scale, "--src", job / name, "--dst", scratch / "job" / name, "--factor", str(STEPS),
                        "--seed", str(seed), "--jitter", "10"], check=True, stdout=subprocess.DEVNULL)
    if check_sequences(tool, scratch / "job", scratch / "out", object_to) < 10:
        object_to(f"{job}: {STEPS} times its step has hardly any sequence")


def check_benchmark(tool, job, scratch, object_to):
    """The kernels of one rank beside those of the other, summed by type and core; the largest loss first."""
    run(tool, "advisor", "all", "-d", job / RANKS[0], "-bp", job / RANKS[1], "-o", scratch, "-l", "en")
    sides = []
    for name in RANKS:
        times = defaultdict(list)
        for _, kind, core, time, *_ in detailed_kernels_of(job / name):
            times[kind, core].append(time)
        sides.append(times)
    rows = sheet(scratch, "Kernel compare of Target and Be")[1:]
    found = {tuple(row[1:3]): row for row in rows if row[2] not in ("COMMUNICATION", "HCCL")}
    if found.keys() != sides[0].keys() | sides[1].keys():
        object_to(f"{job}: compared are {sorted(found)}")
    for key, row in found.items():
        for times, cells in zip((side[key] for side in sides), (row[3:8], row[8:13]), strict=True):
            total = float(sum(times))
            expected = (total, total / max(1, len(times)), float(max(times, default=0)), float(min(times, default=0)))
            if cells[4] != len(times) or not near([cell or 0 for cell in cells[:4]], expected):
                object_to(f"{job}: {key}: {cells}, not {expected}, {len(times)} calls")
    losses = [(row[3] or 0) - (row[8] or 0) for row in rows]
    if losses != sorted(losses, reverse=True):
        object_to(f"{job}: the largest loss is not first: {losses}")
    if not sheet(scratch, "Api compare of Target and Bench"):
        object_to(f"{job}: no api was compared")


def compare_kernels(what, found, expected, object_to):
    times = [row[1] for row in found]
    if times != sorted(times, reverse=True):
        object_to(f"{what}: the longest are not first")
    if len(found) != len(expected):
        object_to(f"{what}: {len(found)} rows, not {len(expected)}")
        return
    for left, right in zip(sorted(found), sorted(expected), strict=True):
        if left[0] != right[0] or not near(left[1:], right[1:]):
            object_to(f"{what}: {left}, not {right}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=HERE.parents[1].parent / "shared", type=Path)
    args = parser.parse_args()
    jobs = [job for form in FORMS if (job := args.shared / "data" / form).is_dir()]
    if not jobs:
        print(f"SKIPPED: no captures in {args.shared / 'data' / 'npu'}")
        return SKIPPED
    objections = []
    scaler = args.shared / "tools" / "scale_capture.py"
    scale = [sys.executable, "-B", scaler] if scaler.is_file() else None
    if not scale:
        print(f"not compared: more steps, which need {scaler}")
    for job in jobs:
        with tempfile.TemporaryDirectory() as scratch:
            compared = waits_of_compare(args.tool, job, Path(scratch, "compare"))
            advised = waits_of_advisor(args.tool, job)
            for rank, (left, right) in enumerate(zip(compared, advised, strict=True)):
                if not near(left, right):
                    objections.append(f"{job}: rank {rank} waits and transfers {left} in compare, {right} in advisor")
            check_places(args.tool, job, scratch, objections.append)
            if job.name == "level1":  # Level0 does not record sizes
                check_picture(args.tool, job, scratch, objections.append)
                check_transfers(args.tool, job, Path(scratch, "advisor"), objections.append)
                check_kernels(args.tool, job, Path(scratch, "kernels"), objections.append)
                check_performance(args.tool, job, Path(scratch, "performance"), objections.append)
                check_benchmark(args.tool, job, Path(scratch, "benchmark"), objections.append)
                check_sequences(args.tool, job, Path(scratch, "sequences"), objections.append)
                if scale:
                    check_repeated_steps(args.tool, job, scale, Path(scratch, "repeated"), objections.append)
    if (args.shared / "data" / WITH_CORES).is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            check_kernels(args.tool, args.shared / "data" / WITH_CORES, Path(scratch), objections.append)
    print("\n".join(objections) or f"{len(jobs)} captures agree")
    return 1 if objections else 0


if __name__ == "__main__":
    sys.exit(main())
