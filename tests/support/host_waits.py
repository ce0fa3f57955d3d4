# SPDX-License-Identifier: Apache-2.0
"""Captures with calls into the operating system and uses of Python's lock beside them, as each tool leaves them."""

import csv
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from retime import HOST

OUTPUT = "ASCEND_PROFILER_OUTPUT"
VIEWER_BITS = 10  # processes of a viewer carry the number of the program's so much further up


@dataclass
class Use:
    """A call, or what a thread does with a lock (take_gil, drop_gil). Times are ns."""

    name: str
    process: int
    thread: int
    start: int
    dur: int


def main_thread(capture):
    """(process, thread) of what makes the steps."""
    span = next(s for s in capture.spans if s.name.startswith("ProfilerStep") and s.lane)
    if isinstance(span.record, dict):
        return span.record["pid"], span.record["tid"]
    return span.lane[1] >> 32, span.lane[1] & 0xFFFFFFFF


def pause(capture, pauses):
    """Lets host and device stand still, [(moment, ns)]; gives (start, end) of each in the new time."""
    for moment, extra in pauses:
        capture.pause(moment, extra)
    starts = [capture.clocks[HOST](moment, is_end=True) for moment, _ in pauses]
    return [(start, start + extra) for start, (_, extra) in zip(starts, pauses)]


def add_table(capture, uses):
    """What MSOSRT writes: a table for each process."""
    for process in sorted({use.process for use in uses}):
        with Path(capture, f"msosrt_trace_{process}_python3.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["Pid", "Tid", "Function", "StartTime(ns)", "Duration(ns)"])
            writer.writerows([use.process, use.thread, use.name, use.start, use.dur] for use in uses
                             if use.process == process)


def add_to_database(capture, uses):
    """The table of the profiler's own database (host_sys=OSRT)."""
    file = next(Path(capture, OUTPUT).glob("ascend_pytorch_profiler*.db"))
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE OSRT_API (name NUMERIC, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC)")
        last, = database.execute("SELECT max(id) FROM STRING_IDS").fetchone()
        numbers = {name: last + 1 + i for i, name in enumerate(sorted({use.name for use in uses}))}
        database.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(i, name) for name, i in numbers.items()])
        database.executemany("INSERT INTO OSRT_API VALUES (?, ?, ?, ?)", [
            (numbers[use.name], use.process << 32 | use.thread, use.start, use.start + use.dur) for use in uses])


def add_to_trace(capture, uses):
    """The process of the timeline that the profiler writes (host_sys=OSRT)."""
    file = Path(capture, OUTPUT, "trace_view.json")
    events = json.loads(file.read_text(encoding="utf-8"))
    for process in sorted({use.process for use in uses}):
        events.append({"ph": "M", "name": "process_name", "pid": process << VIEWER_BITS, "tid": 0,
                       "args": {"name": "OS Runtime API"}})
    events += [{"ph": "X", "name": use.name, "pid": use.process << VIEWER_BITS, "tid": use.thread,
                "ts": in_us(use.start), "dur": use.dur / 1000, "args": {}} for use in uses]
    file.write_text(json.dumps(events), encoding="utf-8")


def add_locks(capture, uses, rank=0):
    """gil_tracer's log of each process."""
    for process in sorted({use.process for use in uses}):
        events = [{"name": use.name, "ph": "X", "ts": in_us(use.start), "dur": use.dur / 1000, "pid": use.process,
                   "tid": use.thread} for use in uses if use.process == process]
        Path(capture, f"GIL_{process}_rank_{rank}.json").write_text(json.dumps(events), encoding="utf-8")


def in_us(ns):
    return f"{ns // 1000}.{ns % 1000:03}"
