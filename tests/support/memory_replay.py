# SPDX-License-Identifier: Apache-2.0
"""Replays the memory of a capture from its own files, without any code of the product.

read(capture) gives what a text capture, a database or a trace of torch.profiler records; Replay what is allocated at
every time, the peak and what holds it.
"""

import collections
import csv
import gzip
import json
import sqlite3
from bisect import bisect_right
from decimal import Decimal
from pathlib import Path

MB, KB = 2 ** 20, 2 ** 10
NOT_POOLS = ("APP", "GE")  # the whole process, and CANN, whose totals at releases are those before


class Recorded:
    """names of operators; lives: (name, bytes, begin, end or None); totals: (time, component, allocated or None,
    reserved); steps: (id, begin, end). Times are ns."""

    def __init__(self):
        self.names, self.lives, self.totals, self.steps = set(), [], [], []


def exact(text, unit):
    text = (text or "").strip()
    return None if text in ("", "N/A") else int(Decimal(text) * unit + Decimal("0.5"))


def read_text(output, found):
    with open(output / "operator_memory.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.lives.append((row["Name"], exact(row["Size(KB)"], KB), exact(row["Allocation Time(us)"], 1000),
                                exact(row["Release Time(us)"], 1000)))
    with open(output / "memory_record.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.totals.append((exact(row["Timestamp(us)"], 1000), row["Component"],
                                 exact(row["Total Allocated(MB)"], MB), exact(row["Total Reserved(MB)"], MB)))
    events = json.loads((output / "trace_view.json").read_text(encoding="utf-8"), parse_float=Decimal)
    for event in events:
        if event.get("cat") != "cpu_op":
            continue
        begin = exact(str(event["ts"]), 1000)
        note_operator(event["name"], begin, begin + exact(str(event["dur"]), 1000), found)


def note_operator(name, begin, end, found):
    found.names.add(name)
    if name.startswith("ProfilerStep#"):
        found.steps.append((int(name.rpartition("#")[2]), begin, end))


def read_database(file, found):
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    named = "(SELECT value FROM STRING_IDS WHERE id = {})".format
    found.lives = database.execute(
        f"SELECT {named('name')}, size, allocationTime, releaseTime FROM OP_MEMORY").fetchall()
    found.totals = database.execute(f"SELECT timestamp, {named('component')}, totalAllocated, totalReserved "
                                    "FROM MEMORY_RECORD").fetchall()
    for name, begin, end in database.execute(f"SELECT {named('name')}, startNs, endNs FROM PYTORCH_API"):
        note_operator(name, int(begin), int(end), found)
    database.close()


def read_trace(file, found):
    text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode("utf-8")
    open_at = {}
    events = [event for event in json.loads(text, parse_float=Decimal)["traceEvents"] if "ts" in event]
    for event in sorted(events, key=lambda event: event["ts"]):
        begin = exact(str(event["ts"]), 1000)
        arguments = event.get("args", {})
        if event.get("cat") in ("cpu_op", "user_annotation"):
            note_operator(event["name"], begin, begin + exact(str(event["dur"]), 1000), found)
        if event["name"] != "[memory]" or int(arguments["Device Id"]) < 0:
            continue
        found.totals.append((begin, "", arguments.get("Total Allocated"), arguments.get("Total Reserved")))
        size, address = int(arguments["Bytes"]), arguments["Addr"]
        if size > 0:
            open_at[address] = len(found.lives)
            found.lives.append(("", size, begin, None))
        elif address in open_at:
            at = open_at.pop(address)
            found.lives[at] = ("", size if size > 0 else -size, found.lives[at][2], begin)


def read(capture):
    capture, found = Path(capture), Recorded()
    output = capture / "ASCEND_PROFILER_OUTPUT"
    databases = list(output.glob("ascend_pytorch_profiler*.db"))
    if capture.is_file():
        read_trace(capture, found)
    elif databases:
        read_database(databases[0], found)
    else:
        read_text(output, found)
    found.totals.sort(key=lambda total: total[0])
    found.steps.sort(key=lambda step: step[1])
    return found


class Replay:
    """times: every time at which something changes; bytes: what is allocated from then on."""

    def __init__(self, recorded):
        self.recorded = recorded
        self.lives = [life for life in recorded.lives if life[2] and (life[3] is None or life[3] > life[2])]
        changes = collections.Counter()
        for _, size, begin, end in self.lives:
            changes[begin] += size
            if end is not None:
                changes[end] -= size
        for time, size in self.beyond():
            if size or time is None:
                changes[time] += size
        self.before = changes.pop(None, 0)
        self.times, self.bytes, held = sorted(changes), [], self.before
        for time in self.times:
            held += changes[time]
            self.bytes.append(held)
        self.peak = max(self.bytes)
        self.peak_time = self.times[self.bytes.index(self.peak)]

    def of_runtime(self, name):
        return "cann::" in name or (name and "::" not in name and name not in self.recorded.names)

    def beyond(self):
        """What the totals have and the list has not: (time, change), None is the time before all."""
        latest, differences = {}, {}
        for time, component, allocated, _ in self.recorded.totals:
            if component in NOT_POOLS or "+" in component or allocated is None:
                continue
            latest[component] = int(allocated)
            differences[time] = sum(latest.values())
        own = [(begin, end, size) for name, size, begin, end in self.lives if not self.of_runtime(name)]
        begins, ends = sorted((begin, size) for begin, _, size in own), sorted(
            (end, size) for _, end, size in own if end is not None)
        position, released, held = 0, 0, 0
        for time in sorted(differences):
            while position < len(begins) and begins[position][0] <= time:
                held += begins[position][1]
                position += 1
            while released < len(ends) and ends[released][0] <= time:
                held -= ends[released][1]
                released += 1
            differences[time] -= held
        times = sorted(differences)
        if not times:
            return
        first = max(differences[times[0]], 0)
        most_later, ahead = {}, None
        for time in reversed(times):
            ahead = differences[time] if ahead is None else max(ahead, differences[time])
            most_later[time] = ahead
        before, unlisted = 0, 0
        for time in times:
            kept = min(max(most_later[time], 0), first)
            more = max(differences[time] - kept, 0)
            yield (None if time == times[0] else time), kept + more - before - unlisted
            before, unlisted = kept, more

    def at(self, time):
        position = bisect_right(self.times, time)
        return self.bytes[position - 1] if position else self.before

    def most_within(self, begin, end):
        """The most bytes from `begin` to `end`."""
        return max([self.at(begin), *(held for time, held in zip(self.times, self.bytes) if begin < time <= end)])

    def holders(self):
        """{operator: (allocations, bytes)} at the peak, of those that the capture lists."""
        found = collections.defaultdict(lambda: (0, 0))
        for name, size, begin, end in self.lives:
            if begin <= self.peak_time and (end is None or end > self.peak_time):
                if self.of_runtime(name) and "cann::" not in name:
                    name = f"cann::{name}"
                count, held = found[name]
                found[name] = (count + 1, held + size)
        return dict(found)


def differences(replay, tables, timeline, raw):
    """What the product says otherwise, as texts. `tables`: name -> rows as dictionaries, of one rank; `timeline` and
    `raw` are its files."""
    def differ(what, ours, theirs):
        if ours != theirs:
            yield f"{what}: {theirs}, by the files {ours}"

    (rank,) = tables["MemoryRanks"]
    yield from differ("peak", replay.peak, rank["peakBytes"])
    yield from differ("time of the peak", replay.peak_time, rank["peakNs"])
    yield from differ("sum of the categories", replay.peak,
                      sum(rank[name] for name in rank if name.endswith("Bytes") and name.startswith(CATEGORIES)))
    reserved = {}
    for time, component, _, amount in replay.recorded.totals:
        if amount and component != "APP" and "+" not in component and time <= replay.peak_time:
            reserved[component] = int(amount)
    yield from differ("reserved at the peak", sum(reserved.values()) or None, rank["reservedAtPeakBytes"])
    yield from differ("sum of the holders", replay.peak, sum(row["bytes"] for row in tables["MemoryPeak"]))
    theirs = collections.defaultdict(lambda: (0, 0))
    for row in tables["MemoryPeak"]:
        if row["allocations"]:
            count, held = theirs[row["operator"]]
            theirs[row["operator"]] = (count + row["allocations"], held + row["bytes"])
    ours = replay.holders()
    if "" in ours:  # the trace names no operators
        ours = {"": ours[""]}
        theirs = {"": tuple(map(sum, zip(*theirs.values())))}
    yield from differ("holders of the peak", sorted(ours.items()), sorted(theirs.items()))
    for (number, begin, end), row in zip(replay.recorded.steps, tables["MemoryByStep"]):
        yield from differ(f"step {number}", (number, replay.at(begin), replay.most_within(begin, end), replay.at(end)),
                          tuple(row[name] for name in ("step", "beginBytes", "peakBytes", "endBytes")))
    level = dict(zip(replay.times, replay.bytes))
    for row in tables["MemoryOverTime"]:
        yield from differ(f"at {row['timeNs']}", replay.at(row["timeNs"]), row["allocatedBytes"])
    by_microsecond = {time // 1000: held for time, held in zip(replay.times, replay.bytes)}
    times, sizes = timeline
    theirs = {time: sum(size) for time, size in zip(times, sizes) if time in by_microsecond}
    yield from differ("times of the timeline", len(by_microsecond), len(theirs))
    wrong = [time for time, held in theirs.items() if held != by_microsecond[time]]
    yield from differ("the timeline", [], wrong[:3])
    yield from differ("sizes of a time", {9}, {len(size) for size in sizes})
    yield from differ("what is below the first category", {0}, {size[0] for size in sizes})
    yield from differ("order of the timeline", sorted({*times}), times)
    held = 0
    for position, (time, action, size, category) in enumerate(raw):
        held += size
        if (action == 0) != (time == -1) or (action == 1) != (size > 0 and time != -1) or not 0 <= category < 8:
            yield f"event {position}: {raw[position]}"
        if time != -1 and (position + 1 == len(raw) or raw[position + 1][0] != time) and held != level[time]:
            yield f"after event {position}: {held}, by the files {level[time]}"


CATEGORIES = ("parameter", "optimizerState", "input", "temporary", "activation", "gradient", "autogradDetail", "unknown",
              "beforeCapture", "estimated")


def results(directory, rank):
    """The tables of a rank, by number or label, and its two files, from the results in the directory."""
    folder = Path(directory) / "cluster_analysis_output"
    database = sqlite3.connect(folder / "cluster_analysis.db")
    tables = {}
    for name in ("MemoryRanks", "MemoryPeak", "MemoryByStep", "MemoryGrowth", "MemoryOverTime"):
        rows = database.execute(f"SELECT * FROM {name}")
        columns = [column[0] for column in rows.description]
        tables[name] = [dict(zip(columns, row)) for row in rows if row[0] == rank]
    database.close()
    stem = folder / "MemoryTimeline" / f"memory_timeline_{rank}"
    return tables, json.loads(Path(f"{stem}.json").read_text()), json.loads(Path(f"{stem}.raw.json").read_text())
