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
        self.op_numbers = list(self.query("SELECT opName, groupName, startNs, endNs, opId FROM COMMUNICATION_OP"))
        self.waits = defaultdict(list)  # by operation, in order of time
        for number, start, end, kind, peer in self.query(
                "SELECT i.opId, t.startNs, t.endNs, i.taskType, i.dstRank FROM COMMUNICATION_TASK_INFO i "
                "JOIN TASK t USING (globalTaskId) ORDER BY t.startNs"):
            if text[kind] == "Notify_Wait":
                self.waits[number].append((start, end, peer))
        self.copies = [(start, end, text[kind], link) for start, end, kind, task, link in tasks
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
        # Connections list no copies. Theirs is the innermost operator where their work was queued, else where it was
        # launched. The n-th enqueue belongs to the n-th dequeue.
        around = ("SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), name FROM PYTORCH_API "
                  "WHERE type = ? AND globalTid = ? AND CAST(startNs AS INTEGER) <= ? AND CAST(endNs AS INTEGER) >= ? "
                  "ORDER BY 1 DESC LIMIT 1")
        queue = [(int(start), int(end), thread, text[name]) for start, end, name, thread in self.query(
            "SELECT startNs, endNs, name, globalTid FROM PYTORCH_API WHERE type = ? ORDER BY connectionId",
            (next((key for key, name in levels.items() if name == "queue"), -1),))]
        enqueues, dequeues = ([one for one in queue if one[3].startswith(kind)] for kind in ("Enqueue", "Dequeue"))
        for link in {copy[3] for copy in self.copies} - self.op_of.keys():
            for time, thread in self.query("SELECT startNs, globalTid FROM CANN_API WHERE connectionId = ?",
                                           (link,)).fetchall():
                for one, other in zip(enqueues, dequeues):
                    if other[2] == thread and other[0] <= time <= other[1]:
                        time, thread = one[0], one[2]
                        break
                op = self.query(around, (op_type, thread, time, time)).fetchone()
                if op:
                    self.op_of[link] = (*op[:2], text[op[2]], None)
        self.host_times = defaultdict(list)  # by name
        for start, end, name in self.query("SELECT startNs, endNs, name FROM PYTORCH_API"):
            self.host_times[text[name].split("@")[-1]].append((int(start), int(end)))
        for start, end, name, _ in self.calls:
            self.host_times[name.split("@")[-1]].append((start, end))
        self.sites = {f"{file}:{line}" for value in text.values()
                      for file, line in re.findall(r"([^/\s]+\.py)\((\d+)\)", value)}
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

    def copy_step(self, copy):
        launch = self.op_of.get(copy[3]) or self.call_of.get(copy[3])
        return self.step_at(launch[0] if launch else copy[0])

    def step_at(self, time):
        return next((key for key, begin, end in self.steps if begin <= time <= end), None)


def ranks_of(directory):
    return sorted(map(Rank, directory.rglob("ascend_pytorch_profiler_*.db")), key=lambda rank: rank.number)


def ns(us):
    return round(float(us) * 1000)


def us(time):
    return None if time is None else round(time / 1000, 3)


def windows(rank):
    """{step: (begin, end)} on the device: a step begins when the device is done with the one before, at the latest
    with the first work that it launched, and ends where the next begins."""
    work = [(start, end, link) for start, end, _, link in rank.kernels] + [op[2:] for op in rank.ops]
    leads = sorted(start - rank.call_of[link][0] for start, _, link in work if link in rank.call_of)
    offset = max(0, -(leads[0] if len(leads) <= 1000 else leads[len(leads) // 1000]))  # of the host's clock
    launched = defaultdict(list)
    for start, end, link in work:
        launch = rank.op_of.get(link) or rank.call_of.get(link)
        if launch:
            launched[rank.step_at(launch[0])].append((start, end))
    begins, done = [], 0
    for key, begin, _ in rank.steps:
        starts = [start for start, _ in launched[key]]
        begins.append(min([max(begin - offset, done), *starts]))
        done = max([begin - offset, done, *(end for _, end in launched[key])])
    last, _, end = rank.steps[-1]
    ends = begins[1:] + [max([end - offset, *(stop for _, stop in launched[last])])]
    return {step[0]: span for step, span in zip(rank.steps, zip(begins, ends))}


def wait_and_rest(rank, op):
    """The times of an operation before and behind the arrival of its last member."""
    _, _, start, end, number = op
    arrivals, seen = [], set()
    for begin, stop, peer in rank.waits.get(number, ()):
        if peer not in seen and stop - begin >= 2000:
            arrivals.append(stop)
        seen.add(peer)
    last = min(max(arrivals, default=start), end)
    return ((start, last), (last, end)) if last > start + 5000 else ((start, start), (start, end))


def time_summary(ranks):
    for rank in ranks:
        phases = [wait_and_rest(rank, op) for op in rank.op_numbers]
        others = [*rank.computing, *(rest for _, rest in phases)]
        for key, (begin, end) in windows(rank).items():
            def cut(spans, begin=begin, end=end):
                return within(spans, begin, end)
            computing, busy = cut(rank.computing), cut([*rank.computing, *rank.communication])
            exposed = length_without(busy, computing)
            copies = [copy[:2] for copy in rank.copies if rank.copy_step(copy) == key]
            alone = length_without(cut(copy[:2] for copy in rank.copies), busy)
            free = end - begin - length(computing) - exposed - alone
            wait = length_without(cut(wait for wait, _ in phases), cut(others))
            communication = length(cut(rank.communication))
            times = (end - begin, length(computing), exposed, communication - exposed, communication, free, wait,
                     exposed - wait, sum(b - a for a, b in copies), alone)
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


def free_reason(rank, begin, end, copies):
    """(idle of the framework, idle of CANN, reason) of the gap between kernels, collectives and these copies."""
    inside = [task for task in rank.tasks if begin <= task[0] < task[1] <= end and not task[2].startswith("MSTX_")]
    if inside:
        counts = Counter(task[2] for task in inside).most_common()
        edges = [begin, *(time for span in merged(task[:2] for task in inside) for time in span), end]
        rest = max(b - a for a, b in zip(edges[::2], edges[1::2]))
        text = "Device task running: " + ", ".join(f"{count} {kind} tasks" for kind, count in counts)
        return None, None, text + (f", max remaining free {rest / 1000} us" if rest else ".")
    work = [(one[0], one[1], one[3]) for one in (*rank.kernels, *copies)] + [op[2:] for op in rank.ops]
    earlier = [one for one in work if one[0] < begin and one[1] > one[0]]
    later = [one for one in work if one[0] >= begin and one[1] > one[0]]
    if not earlier or not later:
        return None, None, "Skip free analysis due to no prev or next task."
    before, behind = max(earlier, key=lambda one: one[1])[2], min(later, key=lambda one: one[0])[2]
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


def causes_of(rank, begin, end):
    """Whether a text can be the account of the gap: its leaves add up to what of it lies in the steps, those of copies
    to the copies in it."""
    inside = [part for window in windows(rank).values() for part in within([(begin, end)], *window)]
    copies = length(part for span in inside for part in within((copy[:2] for copy in rank.copies), *span))

    def holds(found):
        parts = [re.fullmatch(r"((free|copy)\.[a-z0-9_.]+) ([0-9.]+) us", part) for part in (found or "").split(", ")]
        if not all(parts):
            return False
        times = [ns(part[3]) for part in parts]
        copied = sum(time for part, time in zip(parts, times) if part[2] == "copy")
        return times == sorted(times, reverse=True) and sum(times) == length(inside) and copied == copies
    return holds


def place_of(rank, begin, end):
    """Whether a text names something that the host did in the gap, and a line of the program."""
    def holds(found):
        if not found:
            return found == ""
        name, _, site = found.partition(" at ")
        records = rank.host_times.get(name.split("@")[-1], ())
        return (not site or site in rank.sites) and any(
            start < end + 100_000 and stop > begin - 100_000 for start, stop in records)
    return holds


def longest(gaps, most):
    return sorted(gaps, key=lambda gap: (gap[0] - gap[1], gap[0]))[:most]


def free_times_of_reference(ranks):
    """Between two kernels or collectives."""
    for rank in ranks:
        busy = merged([*rank.computing, *rank.communication])
        for begin, end in longest(((a[1], b[0]) for a, b in zip(busy, busy[1:])), 10):
            framework, runtime, reason = free_reason(rank, begin, end, [])
            yield [rank.number, microseconds(begin), microseconds(end), us(end - begin), us(framework), us(runtime), reason]


def gaps_of(rank):
    """{(begin, end): step} in which neither a kernel nor a collective nor a copy ran, each within its step."""
    work = merged([*rank.computing, *rank.communication, *(copy[:2] for copy in rank.copies)])
    gaps = {}
    for step, (begin, end) in windows(rank).items():
        edges = [begin, *(time for span in within(work, begin, end) for time in span), end]
        gaps.update({(a, b): step for a, b in zip(edges[::2], edges[1::2]) if a < b})
    return gaps


def neighbour(rank, time, edge):
    """What ends (edge 1) or begins (edge 0) at the time."""
    for kind, spans in (("kernel", rank.computing), ("collective", rank.communication),
                        ("copy", [copy[:2] for copy in rank.copies])):
        if any(span[edge] == time and span[0] < span[1] for span in spans):
            return kind
    return None


def free_times(ranks):
    """The gaps of the account."""
    for rank in ranks:
        bounds = {time for window in windows(rank).values() for time in window}
        gaps = gaps_of(rank)
        for begin, end in longest(gaps, 10):
            framework, runtime, reason = free_reason(rank, begin, end, rank.copies)
            after = "start of the step" if begin in bounds else neighbour(rank, begin, 1)
            before = "end of the step" if end in bounds else neighbour(rank, end, 0)
            yield [rank.number, microseconds(begin), microseconds(end), us(end - begin), us(framework), us(runtime),
                   reason, causes_of(rank, begin, end), place_of(rank, begin, end), gaps[begin, end], after, before]


def free_sums(ranks):
    """Of each rank and step: what all gaps together take is what cluster_time_summary calls free."""
    for row in time_summary(ranks):
        yield [row[0], row[1], row[7]]


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
    return [*(kernel[:3] for kernel in rank.kernels), *((op[2], op[3], op[0]) for op in rank.ops),
            *(copy[:3] for copy in rank.copies)]


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


ALL_COLUMNS = "SELECT * FROM {} ORDER BY rowid"
FREE_BY_STEP = 'SELECT rankId, step, round(sum("duration(us)"), 3) FROM {} GROUP BY rankId, step'
RECIPES = {"cluster_time_summary": ("ClusterTimeSummary", time_summary, ALL_COLUMNS),
           "computational_op_masking": ("ComputationalOperatorMaskingLinearity", masking, ALL_COLUMNS),
           "free_analysis": ("FreeAnalysis", free_times, ALL_COLUMNS),
           "free_analysis --compat": ("FreeAnalysis", free_times_of_reference, ALL_COLUMNS),
           "free_analysis --top_num 1000000": ("FreeAnalysis", free_sums, FREE_BY_STEP),
           "communication_bottleneck": ("CommunicationBottleneck", bottlenecks, ALL_COLUMNS)}


def equal(left, right):
    if callable(left):
        return left(right)
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
    table, recompute, query = RECIPES[recipe]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([tool, "-m", *recipe.split(), "-d", directory, "-o", out], check=False, capture_output=True,
                              encoding="utf-8")
        database = Path(out) / "cluster_analysis_output" / "cluster_analysis.db"
        # Without results no file is left.
        connection = sqlite3.connect(database if database.exists() else ":memory:")
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        found = [list(row) for row in connection.execute(query.format(table))] if known else []
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
