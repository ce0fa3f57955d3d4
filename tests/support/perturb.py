# SPDX-License-Identifier: Apache-2.0
"""Copies captures of a job with what happens to real ones: clocks that drift or stand apart, launches and operations
that the profiler lost, ranks of which nothing was captured.

The captures are those that the simulator writes, as text or as database. Both forms of a job lose and shift the same.
"""

import csv
import hashlib
import json
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

NONE = 0xFFFFFFFF  # no connection
OUTPUT = "ASCEND_PROFILER_OUTPUT"
# Columns of times in the tables of a capture; durations are what lies between two of them.
CSV_TIMES = {"kernel_details.csv": {"Start Time(us)": "Duration(us)"},
             "memory_record.csv": {"Timestamp(us)": None},
             "operator_memory.csv": dict.fromkeys(("Allocation Time(us)", "Release Time(us)",
                                                   "Active Release Time(us)"))}
DB_TIMES = {"TASK": ("startNs", "endNs"), "COMMUNICATION_OP": ("startNs", "endNs"), "CANN_API": ("startNs", "endNs"),
            "PYTORCH_API": ("startNs", "endNs"), "STEP_TIME": ("startNs", "endNs"), "MSTX_EVENTS": ("startNs", "endNs"),
            "GC_RECORD": ("startNs", "endNs"), "OVERLAP_ANALYSIS": ("startNs", "endNs"),
            "AICORE_FREQ": ("timestampNs",), "MEMORY_RECORD": ("timestamp",), "OP_MEMORY": ("allocationTime", "releaseTime", "activeReleaseTime"),
            "SESSION_TIME_INFO": ("startTimeNs", "endTimeNs")}
# What the tables of the simulator call the parts of an operation on the device.
NUMBERED = re.compile(r"^(hcom_\w+__\d+)_\d+_(\d+)$")
PARTS = {"SDMA", "Write Value", "Notify Wait"}


@dataclass
class Perturbation:
    """What is done to a copy. Shares are parts of 1."""

    drift_ppm: float = 0.0  # the fastest clock gains so much; the others less, or lose
    skew_ms: float = 0.0  # how far each host is ahead of the one before
    lost_links: float = 0.0  # of the launches, and of the entries of the task queue
    lost_operations: float = 0.0  # of the communication operators of each rank that `losing` names
    losing: tuple = ()  # ranks; empty: all
    numbered: bool = True  # False: the names of operators lose their running number
    ranks: tuple = ()  # that are kept; empty: all
    seed: int = 1


def perturb(job, target, how):
    """Writes the copy TARGET of the job, with its truth."""
    for form in ("db", "text"):
        source = Path(job, form)
        captures = sorted(source.iterdir()) if source.is_dir() else []
        hosts = sorted({capture.name.split("_")[0] for capture in captures})
        for capture in captures:
            rank = rank_of(capture)
            if how.ranks and rank not in how.ranks:
                continue
            copy = Path(target, form, capture.name)
            shutil.copytree(capture, copy)
            clock = Clock(how, rank, hosts.index(capture.name.split("_")[0]))
            (DatabasePerturber if form == "db" else TextPerturber)(how, rank, clock).change(copy / OUTPUT)
    for name in ("truth.json", "job.json"):
        shutil.copyfile(Path(job, name), Path(target, name))


def rank_of(capture):
    return int(next(capture.glob("profiler_info_*.json")).stem.rsplit("_", 1)[1])


class Clock:
    """The clock of a rank in ns: what it shows at a moment of the job."""

    ORIGIN = 1_736_410_576_000_000_000  # of the simulated time

    def __init__(self, how, rank, host):
        # In 1e-9, spread over the ranks.
        self.rate = round(how.drift_ppm * 1000 * ((rank * 37 % 11) - 5) / 5)
        self.ahead = round(how.skew_ms * 1_000_000) * host

    def changes(self):
        return self.rate != 0 or self.ahead != 0

    def __call__(self, time):
        return time + self.ahead + (time - self.ORIGIN) * self.rate // 1_000_000_000


class Perturber:
    def __init__(self, how, rank, clock):
        self.how, self.rank, self.clock = how, rank, clock

    def _lost(self, share, *key):
        """The same for a thing in each form of a capture."""
        if share <= 0:
            return False
        text = repr((self.how.seed, self.rank, *key)).encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") < share * 2 ** 48

    def loses_link(self, connection):
        return connection != NONE and self._lost(self.how.lost_links, "link", connection)

    def loses_operation(self, name):
        loses = not self.how.losing or self.rank in self.how.losing
        return loses and self._lost(self.how.lost_operations, "operation", name)

    def name(self, operation):
        """hcom_allReduce__576_12_1 without the 12."""
        return operation if self.how.numbered else NUMBERED.sub(r"\1_0_\2", operation)


class DatabasePerturber(Perturber):
    def change(self, output):
        with closing(sqlite3.connect(next(output.glob("ascend_pytorch_profiler_*.db")))) as database, database:
            database.create_function("name_of", 1, self.name)
            self._lose_operations(database)
            if self.how.lost_links > 0:
                self._lose_links(database)
            database.execute("UPDATE STRING_IDS SET value = name_of(value) WHERE value LIKE 'hcom%'")
            if self.clock.changes():
                self._set_clock(database)

    def _lose_operations(self, database):
        rows = database.execute("SELECT o.opId, s.value, o.startNs, o.endNs, o.connectionId FROM COMMUNICATION_OP o "
                                "JOIN STRING_IDS s ON s.id = o.opName").fetchall()
        for number, name, start, end, connection in rows:
            if not self.loses_operation(name):
                continue
            tasks = "SELECT globalTaskId FROM COMMUNICATION_TASK_INFO WHERE opId = ?"
            database.execute(f"DELETE FROM TASK WHERE globalTaskId IN ({tasks})", (number,))
            # Its own task, which begins and ends a little around it.
            database.execute("DELETE FROM TASK WHERE connectionId = ? AND startNs BETWEEN ? - 1000 AND ? "
                             "AND endNs BETWEEN ? AND ? + 1000", (connection, start, start, end, end))
            database.execute("DELETE FROM COMMUNICATION_TASK_INFO WHERE opId = ?", (number,))
            database.execute("DELETE FROM COMMUNICATION_OP WHERE opId = ?", (number,))

    def _lose_links(self, database):
        connections = {c for table in ("TASK", "CONNECTION_IDS")
                       for c, in database.execute(f"SELECT DISTINCT connectionId FROM {table}")}
        lost = [(c,) for c in sorted(connections) if self.loses_link(c)]
        for table in ("TASK", "COMMUNICATION_OP"):
            database.executemany(f"UPDATE {table} SET connectionId = {NONE} WHERE connectionId = ?", lost)
        database.executemany("DELETE FROM CONNECTION_IDS WHERE connectionId = ?", lost)

    def _set_clock(self, database):
        database.create_function("clock", 1, lambda time: None if time is None else self.clock(int(time)))
        tables = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table, columns in DB_TIMES.items():
            if table in tables:
                database.execute(f"UPDATE {table} SET " + ", ".join(f"{c} = clock({c})" for c in columns))


class TextPerturber(Perturber):
    def change(self, output):
        lost = self._change_trace(output / "trace_view.json")
        for name, columns in CSV_TIMES.items():
            if (output / name).exists():
                self._change_table(output / name, columns, lost)

    def _change_trace(self, path):
        """Returns the names of the operations that are lost."""
        events = json.loads(path.read_text(encoding="utf-8"))
        processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self._collectives = {pid for pid, name in processes.items() if name == "HCCL"}
        self._device = {pid for pid, name in processes.items() if name == "Ascend Hardware"}
        lost, gone = self._lost_events(events, lanes)
        kept = [e for i, e in enumerate(events) if i not in gone and not self._is_lost_arrow(e)]
        unlinked = self._unlink(kept)
        kept = [e for e in kept if e.get("cat") not in ("async_npu", "HostToDevice") or str(e["id"]) not in unlinked]
        for event in kept:
            event["name"] = self.name(event["name"])
            if self.clock.changes() and "ts" in event:
                self._move(event)
        path.write_text(json.dumps(kept), encoding="utf-8")
        return lost

    def _lost_events(self, events, lanes):
        """The names of lost operations, and the positions of all that they leave in the trace."""
        lost, gone, tasks = set(), set(), set()
        for i, event in enumerate(events):
            if event["ph"] == "X" and event["pid"] in self._collectives and self.loses_operation(event["name"]):
                lost.add(event["name"])
                gone.add(i)
                start, end = in_ns(event["ts"]), in_ns(event["ts"]) + in_ns(event["dur"])
                gone.update(self._parts_of(events, lanes, event, start, end, tasks))
        for i, event in enumerate(events):
            if event["ph"] == "X" and event["pid"] in self._device and event["name"] in PARTS and \
                    (event["args"]["Physic Stream Id"], event["args"]["Task Id"]) in tasks:
                gone.add(i)
        return lost, gone

    def _parts_of(self, events, lanes, operation, start, end, tasks):
        """Planes follow the lane of their group."""
        planes = set()
        tid = operation["tid"] + 1
        while str(lanes.get((operation["pid"], tid))).startswith("Plane"):
            planes.add(tid)
            tid += 1
        for i, event in enumerate(events):
            if event["pid"] != operation["pid"] or event["ph"] == "M":
                continue
            at = in_ns(event["ts"])
            if event["ph"] == "X" and event["tid"] in planes and start <= at <= end:
                tasks.add((event["args"]["stream id"], event["args"]["task id"]))
                yield i
            if event["ph"] == "f" and event["tid"] == operation["tid"] and at == start:
                yield i

    def _is_lost_arrow(self, event):
        if event.get("cat") == "async_task_queue":
            return self.loses_link(int(event["id"]))
        if event.get("cat") == "HostToDevice":
            number = int(event["id"])
            return self.loses_link(number >> 32 if number > NONE else number)
        return False

    def _unlink(self, events):
        """Takes the connection off lost work; where its other arrows end."""
        ends = set()
        for event in events:
            if event["ph"] != "X" or event["pid"] not in self._device | self._collectives:
                continue
            if self.loses_link(event["args"].get("connection_id", NONE)):
                event["args"]["connection_id"] = NONE
                ends.add(str(in_ns(event["ts"])))
        return ends

    def _move(self, event):
        start = in_ns(event["ts"])
        moved = self.clock(start)
        event["ts"] = in_us(moved)
        if "dur" in event:
            event["dur"] = (self.clock(start + in_ns(event["dur"])) - moved) / 1000

    def _change_table(self, path, columns, lost):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        rows = [row for row in rows if row.get("Name") not in lost]
        for row in rows:
            if "Name" in row:
                row["Name"] = self.name(row["Name"])
            for column, duration in columns.items() if self.clock.changes() else ():
                if not row[column].strip() or row[column].strip() == "N/A":
                    continue
                start = in_ns(row[column])
                moved = self.clock(start)
                row[column] = in_us(moved) + "\t"
                if duration:
                    row[duration] = in_us(self.clock(start + in_ns(row[duration])) - moved)
        with path.open("w", newline="", encoding="utf-8") as file:
            if rows:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


def in_ns(us):
    """Of a text or a number; exact, which a float of today's date is not."""
    whole, _, part = str(us).strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def in_us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"
