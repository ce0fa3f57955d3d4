#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes cluster_time_summary, computational_op_masking, free_analysis and communication_bottleneck.

    test_job_times.py --tool BINARY [--shared DIR]

The recipes run on real and simulated captures below DIR/data. Truth is the rows of their databases, not the program.
Every cell has to be the recomputed one, and a cell that is altered has to be noticed.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no such captures.
"""

import argparse
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from databases import open_unchanged

HERE = Path(__file__).resolve().parent
SKIPPED = 77
JOBS = ("npu/db/level1", "sim/tp2pp2dp2/db", "sim/slow_rank/db", "sim/slow_link/db")
SETS = (("dp", "edp"), ("edp",), ("dp",), ("ep",), ("pp",), ("mp",), ("tp",))


def merged(spans):
    """Disjoint spans in order that cover the same time."""
    out = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in merged(spans))


def length_without(spans, others):
    return length([*spans, *others]) - length(others)


def within(spans, begin, end):
    return [(max(a, begin), min(b, end)) for a, b in spans if a < end and b > begin]


class Rank:
    """The rows of one database."""

    def __init__(self, path):
        self.number = int(re.search(r"_(\d+)\.db$", path.name)[1])
        self.query = open_unchanged(path).execute
        text = dict(self.query("SELECT id, value FROM STRING_IDS"))
        self.steps = list(self.query("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs"))
        self.ops = [(text[name], text[group], start, end, link) for name, group, start, end, link in self.query(
            "SELECT opName, groupName, startNs, endNs, connectionId FROM COMMUNICATION_OP ORDER BY startNs, opId")]
        self.kernels = [(start, end, text[name], link) for start, end, name, link in self.query(
            "SELECT t.startNs, t.endNs, i.name, t.connectionId FROM TASK t JOIN COMPUTE_TASK_INFO i "
            "USING (globalTaskId)")]
        of_collectives = {task for task, in self.query("SELECT globalTaskId FROM COMMUNICATION_TASK_INFO")}
        links = {op[4] for op in self.ops}
        tasks = list(self.query("SELECT startNs, endNs, taskType, globalTaskId, connectionId FROM TASK "
                                "ORDER BY startNs"))
        self.tasks = [(start, end, text[kind]) for start, end, kind, _, _ in tasks]
        self.copies = [(start, end, text[kind]) for start, end, kind, task, link in tasks
                       if text[kind] == "MEMCPY_ASYNC" and task not in of_collectives and link not in links]
        levels = dict(self.query("SELECT id, name FROM ENUM_API_TYPE"))
        self.calls = [(start, end, f"{levels[kind]}@{text[name]}", link) for start, end, kind, name, link in
                      self.query("SELECT startNs, endNs, type, name, connectionId FROM CANN_API")]
        self.call_of = {call[3]: call for call in self.calls}
        op_type = next(key for key, name in levels.items() if name == "op")
        self.host_ops = [(int(start), int(end), text[name], links) for start, end, name, links in self.query(
            "SELECT startNs, endNs, name, connectionId FROM PYTORCH_API WHERE type = ?", (op_type,))]
        links_of = defaultdict(list)
        for key, link in self.query("SELECT id, connectionId FROM CONNECTION_IDS"):
            links_of[key].append(link)
        self.op_of = {link: op for op in self.host_ops for link in links_of.get(op[3], ())}
        info = self.query("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'").fetchone() \
            if self.query("SELECT 1 FROM sqlite_master WHERE name = 'META_DATA'").fetchone() else None
        self.groups = json.loads(info[0]) if info else {}
        self.trace = list(open_unchanged(path.parent / "analysis.db").execute(
            "SELECT step, computing, communication_not_overlapped, overlapped, communication, free FROM StepTraceTime"))

    @property
    def computing(self):
        return [kernel[:2] for kernel in self.kernels]

    @property
    def communication(self):
        return [op[2:4] for op in self.ops]

    def step_at(self, time):
        return next((key for key, begin, end in self.steps if begin <= time <= end), None)


def ranks_of(directory):
    return sorted(map(Rank, directory.rglob("ascend_pytorch_profiler_*.db")), key=lambda rank: rank.number)


def ns(us):
    return round(float(us) * 1000)


def us(time):
    return None if time is None else round(time / 1000, 3)


def time_summary(ranks):
    runs, step_of = defaultdict(dict), {}
    for rank in ranks:
        seen = Counter()
        for name, group, start, end, link in rank.ops:
            launch = rank.op_of.get(link) or rank.call_of[link]
            step = rank.step_at(launch[0])
            runs[group, name, step, seen[group, name, step]][rank.number] = end - start
            seen[group, name, step] += 1
    waits = defaultdict(lambda: [0, 0])
    for (_, _, step, _), members in runs.items():
        shortest = min(members.values())
        for number, dur in members.items():
            waits[number, step][0] += dur - shortest
            waits[number, step][1] += shortest
    for rank in ranks:
        busy = [*rank.computing, *rank.communication]
        trace = {int(row[0]): [ns(value) for value in row[1:]] for row in rank.trace}
        for key, begin, end in rank.steps:
            copies = [copy[:2] for copy in rank.copies if begin <= copy[0] <= end]
            exposed = length_without(copies, busy)
            computing, not_hidden, hidden, all_of_it, free = trace[key]
            times = (end - begin, computing, not_hidden, hidden, all_of_it, free - exposed, *waits[rank.number, key],
                     sum(b - a for a, b in copies), exposed)
            yield [rank.number, key, *map(us, times)]


def masking(ranks):
    for rank in ranks:
        for names in SETS:
            ops = [op[2:4] for op in rank.ops if rank.groups.get(op[1], {}).get("group_name") in names]
            if not ops:
                continue
            for key, begin, end in rank.steps:
                inside = within(ops, begin, end)
                total, exposed = length(inside), length_without(inside, within(rank.computing, begin, end))
                size = end - begin
                yield [key, "+".join(names), begin, end, total, total / size, exposed, round(exposed / size, 5),
                       round((total - exposed) / size, 5), rank.number]


def microseconds(time):
    text = f"{time // 1000}.{time % 1000:03}"
    return text.rstrip("0").rstrip(".")


def free_reason(rank, begin, end):
    """(idle of the framework, idle of CANN, reason) of the gap."""
    inside = [task for task in rank.tasks if begin <= task[0] < task[1] <= end and not task[2].startswith("MSTX_")]
    if inside:
        counts = Counter(task[2] for task in inside).most_common()
        edges = [begin, *(time for span in merged(task[:2] for task in inside) for time in span), end]
        rest = max(b - a for a, b in zip(edges[::2], edges[1::2]))
        text = "Device task running: " + ", ".join(f"{count} {kind} tasks" for kind, count in counts)
        return None, None, text + (f", max remaining free {rest / 1000} us" if rest else ".")
    work = [(start, stop, link) for start, stop, _, link in rank.kernels] + [op[2:] for op in rank.ops]
    before = max((one for one in work if one[0] < begin and one[1] > one[0]), key=lambda one: one[1])[2]
    behind = min((one for one in work if one[0] >= begin and one[1] > one[0]), key=lambda one: one[0])[2]
    ops = [rank.op_of.get(link) for link in (before, behind)]
    calls = [rank.call_of.get(link) for link in (before, behind)]
    framework = ops[1][1] - ops[0][1] if all(ops) else None
    if not all(calls):
        missing = "pytorch" if framework is None else "CANN"
        return framework, None, f"Skip free analysis due to no {missing} dispatch time."
    runtime = calls[1][1] - calls[0][1]
    between, launch = calls[1][0] - calls[0][1], max(call[1] - call[0] for call in calls)
    launches = (f"long time between two node@launch {between / 1000} us" if between >= launch
                else f"long node@launch {launch / 1000} us")
    if framework is None:
        return None, runtime, f"Host, no pytorch dispatch time: {launches}"
    waits = [call[0] - op[1] for call, op in zip(calls, ops)]
    if waits[1] - waits[0] < 50_000:
        return framework, runtime, f"Idle Pytorch layer: no task dispatched in {framework / 1000} us"
    return framework, runtime, f"Abnormal CANN layer: {launches}"


def free_times(ranks):
    for rank in ranks:
        busy = merged([*rank.computing, *rank.communication])
        gaps = sorted(((a[1], b[0]) for a, b in zip(busy, busy[1:])), key=lambda gap: (gap[0] - gap[1], gap[0]))
        for begin, end in gaps[:10]:
            framework, runtime, reason = free_reason(rank, begin, end)
            yield [rank.number, microseconds(begin), microseconds(end), us(end - begin), us(framework), us(runtime),
                   reason]


def lags(slow, slow_end, fast, fast_end, shift):
    """(name, difference) of the longest and of the latest event; None where the ranks never were together."""
    slow, fast = ([event for event in sorted(events, key=lambda event: event[0]) if event[1] <= limit][::-1]
                  for events, limit in ((slow, slow_end), (fast, fast_end)))
    longest = latest = None
    at = 0
    for start, end, name in slow:
        found = next((i for i in range(at, len(fast)) if fast[i][2] == name), None)
        if found is None:
            continue
        at = found + 1
        duration, later = end - start - (fast[found][1] - fast[found][0]), start - fast[found][0] + shift
        longest = max(longest or (name, duration), (name, duration), key=lambda one: one[1])
        latest = max(latest or (name, later), (name, later), key=lambda one: one[1])
        if later < 1_000_000:
            return longest, latest
    return None


def lag_text(level, found):
    (longest, duration), (latest, later) = found
    return (f"{level}: max duration-diff op {longest}, diff {duration / 1000} us, "
            f"max start-time-diff op {latest}, diff {later / 1000} us.")


def device_events(rank):
    return [*(kernel[:3] for kernel in rank.kernels), *((op[2], op[3], op[0]) for op in rank.ops), *rank.copies]


def slow_reason(slow, fast, slow_op, fast_op):
    shift = fast_op[3] - slow_op[3]
    work = [kernel[:2] + kernel[3:] for kernel in slow.kernels] + [op[2:] for op in slow.ops]
    waits = []
    for start, end, link in work:
        call, op = slow.call_of.get(link), slow.op_of.get(link)
        if start > fast_op[2] - shift and end < slow_op[3] and call and op and call[2] == "node@launch":
            waits.append(start - call[1] - (call[0] - op[1]))
    if not waits:
        return "[Failed] Insufficient data for analyzing slow NPU bottleneck"
    late = " Tasks are not aligned between slow and fast NPU from the beginning"

    def find(events):
        return lags(events(slow), slow_op[2], events(fast), fast_op[2], shift)
    if sum(wait > 100_000 for wait in waits) / len(waits) > 0.5:
        found = find(device_events)
        return "[Device-bound]" + (lag_text("Device", found) if found else late)
    found = find(lambda rank: [op[:3] for op in rank.host_ops if "::" in op[2]])
    if not found:
        return "[Host-bound]" + late
    calls = find(lambda rank: [call[:3] for call in rank.calls])
    return "[Host-bound] " + lag_text("PyTorch", found) + (" | " + lag_text("CANN", calls) if calls else "")


def bottlenecks(ranks):
    runs = defaultdict(list)
    for rank in ranks:
        counts, seen = Counter(op[:2] for op in rank.ops), Counter()
        for op in rank.ops:
            runs[op[:2], seen[op[:2]], counts[op[:2]]].append((op[3] - op[2], rank, op))
            seen[op[:2]] += 1
    own = [(members, op) for members in runs.values() for _, rank, op in members if rank is ranks[0]]
    for members, op in sorted(own, key=lambda one: (one[1][2] - one[1][3], one[1][2]))[:10]:
        slow, fast = min(members, key=lambda one: one[0]), max(members, key=lambda one: one[0])
        start = [microseconds(op[2]), microseconds(op[3]), us(op[3] - op[2]), op[0]]
        if len(members) < 2:
            yield [*start, None, None, "[Failed] No other rank recorded the communication operator"]
        elif (fast[0] - slow[0]) / fast[0] < 0.05:
            yield [*start, None, None,
                   "[Completed] No slow NPU detected: execution time difference is less than 5%"]
        else:
            yield [*start, slow[1].number, fast[1].number, slow_reason(slow[1], fast[1], slow[2], fast[2])]


RECIPES = {"cluster_time_summary": ("ClusterTimeSummary", time_summary),
           "computational_op_masking": ("ComputationalOperatorMaskingLinearity", masking),
           "free_analysis": ("FreeAnalysis", free_times),
           "communication_bottleneck": ("CommunicationBottleneck", bottlenecks)}


def equal(left, right):
    if isinstance(left, float) and isinstance(right, (int, float)):
        return abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    return left == right


def objections(expected, found):
    if len(expected) != len(found):
        yield f"{len(found)} rows instead of {len(expected)}"
    for number, (wanted, given) in enumerate(zip(expected, found)):
        if len(wanted) != len(given):
            yield f"row {number}: {len(given)} cells"
        yield from (f"row {number}, column {column}: {b!r} instead of {a!r}"
                    for column, (a, b) in enumerate(zip(wanted, given)) if not equal(a, b))


def altered(rows):
    """The rows with one cell changed at a time."""
    for number in range(0, len(rows), max(1, len(rows) // 7)):
        for column, cell in enumerate(rows[number]):
            other = cell + 1 if isinstance(cell, (int, float)) else f"{cell}x"
            yield [*rows[:number], [*rows[number][:column], other, *rows[number][column + 1:]], *rows[number + 1:]]


def check(tool, recipe, directory, ranks):
    """How much is wrong."""
    table, recompute = RECIPES[recipe]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([tool, "-m", recipe, "-d", directory, "-o", out], check=False, capture_output=True,
                              encoding="utf-8")
        database = Path(out) / "cluster_analysis_output" / "cluster_analysis.db"
        connection = sqlite3.connect(database)
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        found = [list(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")] if known else []
        connection.close()
    expected = list(recompute(ranks))
    wrong = list(objections(expected, found))
    wrong += ["an alteration was not noticed" for rows in altered(found) if not list(objections(expected, rows))]
    print(f"{recipe} of {directory.parts[-2:]}: exit {done.returncode}, {len(found)} rows, {len(wrong)} wrong")
    print(*(f"    {text}\n" for text in wrong[:8]), sep="", end="")
    return len(wrong), len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path, help="the msprof-analyze to test")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="folder with data/ (default: %(default)s)")
    args = parser.parse_args()
    directories = [args.shared.resolve() / "data" / job for job in JOBS]
    if not all(directory.is_dir() for directory in directories):
        print(f"SKIPPED: there are no jobs in {args.shared}/data; name the folder that has them with --shared")
        return SKIPPED
    wrong = rows = 0
    for directory in directories:
        ranks = ranks_of(directory)
        for recipe in RECIPES:
            found = check(args.tool.resolve(), recipe, directory, ranks)
            wrong, rows = wrong + found[0], rows + found[1]
    print(f"{rows} rows, {wrong} wrong")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
