# SPDX-License-Identifier: Apache-2.0
"""Databases of NPUs: ascend_pytorch_profiler_N.db and analysis.db."""

import shutil
import sqlite3
from contextlib import closing

from .capture import DEVICE, HOST, Capture, Span

OUTPUT = "ASCEND_PROFILER_OUTPUT"
DERIVED = ("op_statistic.csv", "api_statistic.csv", "kernel_details.csv", "*.db-shm", "*.db-wal")
# Samples and ranges of no thread or stream: table, columns of times, side.
OTHER_TIMES = (("STEP_TIME", ("startNs", "endNs"), HOST), ("OVERLAP_ANALYSIS", ("startNs", "endNs"), DEVICE),
               ("OP_MEMORY", ("allocationTime", "releaseTime", "activeReleaseTime"), HOST),
               ("MEMORY_RECORD", ("timestamp",), HOST), ("NPU_OP_MEM", ("timestampNs",), HOST),
               ("GC_RECORD", ("startNs", "endNs"), HOST), ("MSTX_EVENTS", ("startNs", "endNs"), HOST),
               ("NPU_MEM", ("timestampNs",), DEVICE), ("NPU_MODULE_MEM", ("timestampNs",), DEVICE),
               ("HBM", ("timestampNs",), DEVICE), ("LLC", ("timestampNs",), DEVICE),
               ("ACC_PMU", ("timestampNs",), DEVICE), ("SOC_BANDWIDTH_LEVEL", ("timestampNs",), DEVICE),
               ("AICORE_FREQ", ("timestampNs",), DEVICE), ("SESSION_TIME_INFO", ("endTimeNs",), HOST))
SPANS = {"PYTORCH_API": HOST, "CANN_API": HOST, "TASK": DEVICE, "COMMUNICATION_OP": DEVICE}
KINDS = {"op": "op", "trace": "python", "queue": "queue", "mstx": "other"}
COPIES = ("MEMCPY_ASYNC", "SDMA_SQE", "PCIE_DMA_SQE")


class DatabaseCapture(Capture):
    def __init__(self, path):
        super().__init__(path)
        self.after = None  # what is done to the copy at last
        self.garbage = []  # (start, end) of collections, in the new time
        self._pieces = {}  # span of a task -> (what it is in a collective, peer)
        self.file = next((path / OUTPUT).glob("ascend_pytorch_profiler*.db"))
        with closing(sqlite3.connect(f"file:{self.file}?immutable=1", uri=True)) as database:
            database.row_factory = sqlite3.Row
            self.strings = dict(database.execute("SELECT id, value FROM STRING_IDS").fetchall())
            self._read(database)
            self._steps = database.execute("SELECT id, startNs, endNs FROM STEP_TIME").fetchall()
            self.spans += [Span(f"ProfilerStep#{row[0]}", "step", HOST, None, row[1], row[2]) for row in self._steps]
            self._overlap = [tuple(row) for row in database.execute(
                "SELECT startNs, endNs, type FROM OVERLAP_ANALYSIS")] if self._has(database, "OVERLAP_ANALYSIS") else []

    @staticmethod
    def _has(database, table):
        return database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None

    def _read(self, database):
        text = self.strings
        kinds = dict(database.execute("SELECT id, name FROM ENUM_API_TYPE").fetchall())
        of_connection = {}
        for row in database.execute("SELECT rowid AS n, * FROM PYTORCH_API"):
            span = self._add("PYTORCH_API", row, text.get(row["name"], ""), KINDS[kinds[row["type"]]], row["globalTid"])
            if row["connectionId"] is not None:
                of_connection[row["connectionId"]] = span
        calls = {}
        for row in database.execute("SELECT rowid AS n, * FROM CANN_API"):
            calls[row["connectionId"]] = self._add("CANN_API", row, text.get(row["name"], ""), "call", row["globalTid"])
        names = dict(database.execute("SELECT globalTaskId, name FROM COMPUTE_TASK_INFO").fetchall())
        pieces = {row[0]: (text.get(row[1]), row[2]) for row in database.execute(
            "SELECT globalTaskId, taskType, dstRank FROM COMMUNICATION_TASK_INFO")} \
            if self._has(database, "COMMUNICATION_TASK_INFO") else {}
        work = {}
        for row in database.execute("SELECT rowid AS n, * FROM TASK"):
            kind = text.get(row["taskType"], "")
            name = text.get(names.get(row["globalTaskId"]), kind)
            what = ("kernel" if row["globalTaskId"] in names and row["globalTaskId"] not in pieces else
                    "copy" if kind in COPIES and row["globalTaskId"] not in pieces else "task")
            span = self._add("TASK", row, name, what, row["streamId"])
            self._pieces[span] = pieces.get(row["globalTaskId"], (kind, None))
            work.setdefault(row["connectionId"], []).append(span)
        if self._has(database, "COMMUNICATION_OP"):
            for row in database.execute("SELECT rowid AS n, * FROM COMMUNICATION_OP"):
                span = self._add("COMMUNICATION_OP", row, text.get(row["opName"], ""), "collective", row["groupName"])
                work.setdefault(row["connectionId"], []).append(span)
        self._join(database, of_connection, calls, work)

    def _join(self, database, of_connection, calls, work):
        members = {}
        for place, connection in database.execute("SELECT id, connectionId FROM CONNECTION_IDS"):
            members.setdefault(connection, []).append(place)
        for connection, places in members.items():
            events = sorted((of_connection[p] for p in places if p in of_connection), key=lambda s: s.start)
            if len(events) > 1 and events[0].kind == "queue":
                self.arrows.append((events[0].start, events[-1].start))
            elif len(events) == 1:
                self.arrows += [(events[0].start, w.start) for w in work.get(connection, ())]
        self.arrows += [(calls[c].start, w.start) for c, group in work.items() if c in calls for w in group]

    def _add(self, table, row, name, kind, lane):
        span = Span(name, kind, SPANS[table], (table, lane), int(row["startNs"]), int(row["endNs"]), (table, row["n"]))
        self.spans.append(span)
        return span

    # -- what waiting.py asks

    def stream_of(self, span):
        return span.lane[1] if span.record and span.record[0] == "TASK" else None

    def stream_of_collectives(self):
        return next(self.stream_of(s) for s in self.of("task") if self.is_wait(s))

    def is_wait(self, span):
        return self._pieces.get(span, ("",))[0] == "Notify_Wait"

    def peer_of_wait(self, span):
        return self._pieces[span][1] if self.is_wait(span) else None

    def write(self, path):
        shutil.copytree(self.path, path, ignore=shutil.ignore_patterns(*DERIVED))
        output = path / OUTPUT
        with closing(sqlite3.connect(output / self.file.name)) as database, database:
            for table in SPANS:
                rows = [(*self.now(s), s.record[1]) for s in self.spans if s.record and s.record[0] == table]
                database.executemany(f"UPDATE {table} SET startNs = ?, endNs = ? WHERE rowid = ?", rows)
            for table, columns, side in OTHER_TIMES:
                if self._has(database, table):
                    self._move(database, table, columns, self.clocks[side])
            for table in ("COMPUTE_TASK_INFO", "COMMUNICATION_OP"):
                self._move_waits(database, table)
            for span in self.added:
                self._insert(database, span)
            if self.garbage:
                thread, = database.execute("SELECT globalTid FROM PYTORCH_API WHERE type = 50003 LIMIT 1").fetchone()
                database.execute("CREATE TABLE GC_RECORD (startNs INTEGER, endNs INTEGER, globalTid INTEGER)")
                database.executemany("INSERT INTO GC_RECORD VALUES (?, ?, ?)", [(*g, thread) for g in self.garbage])
            if self.own and self._has(database, "OVERLAP_ANALYSIS"):  # is not true any more
                database.execute("DROP TABLE OVERLAP_ANALYSIS")
        self._change_analysis(output)
        if self.after:
            self.after(path)

    @staticmethod
    def _move(database, table, columns, clock):
        ends = [c for c in columns if c.startswith("end")]
        database.create_function("moved", 2, lambda t, end: t if t is None or t == 0 else clock(int(t), bool(end)))
        database.execute(f"UPDATE {table} SET " + ", ".join(f"{c} = moved({c}, {int(c in ends)})" for c in columns))

    def _move_waits(self, database, table):
        """waitNs: how long the stream was free before."""
        if not self._has(database, table) or "waitNs" not in [r[1] for r in database.execute(f"PRAGMA table_info({table})")]:
            return
        starts = {s.record: s for s in self.spans if s.record}
        key = "globalTaskId" if table == "COMPUTE_TASK_INFO" else "opId"
        rows = database.execute(
            f"SELECT w.rowid, w.waitNs, t.rowid FROM {table} w JOIN {'TASK' if key == 'globalTaskId' else table} t "
            f"ON t.{key} = w.{key} WHERE w.waitNs > 0").fetchall()
        for row, waited, task in rows:
            span = starts["TASK" if key == "globalTaskId" else table, task]
            clock = self.lanes.get(span.lane) or self.clocks[DEVICE]
            wait = max(0, self.now(span)[0] - clock(span.start - waited, is_end=True))
            database.execute(f"UPDATE {table} SET waitNs = ? WHERE rowid = ?", (wait, row))

    def _insert(self, database, span):
        table, number = span.record
        columns = [r[1] for r in database.execute(f"PRAGMA table_info({table})")]
        row = dict(zip(columns, database.execute(f"SELECT * FROM {table} WHERE rowid = ?", (number,)).fetchone()))
        row["startNs"], row["endNs"] = span.start, span.end
        if "name" in row:
            row["name"] = self.text(database, span.name)
        if table == "CANN_API":
            row["connectionId"] = database.execute("SELECT max(connectionId) + 1 FROM CANN_API").fetchone()[0]
        elif "connectionId" in row:
            row["connectionId"] = None if table == "PYTORCH_API" else 0xFFFFFFFF
        database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))

    @staticmethod
    def text(database, value):
        found = database.execute("SELECT id FROM STRING_IDS WHERE value = ?", (value,)).fetchone()
        if found:
            return found[0]
        number, = database.execute("SELECT max(id) + 1 FROM STRING_IDS").fetchone()
        database.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (number, value))
        return number

    def _change_analysis(self, output):
        file = output / "analysis.db"
        if not file.exists():
            return
        with closing(sqlite3.connect(file)) as database, database:
            if self.own and self._has(database, "StepTraceTime"):
                database.execute("DROP TABLE StepTraceTime")
            elif self._has(database, "StepTraceTime"):
                for step, start, end in self._steps:
                    self._change_step(database, str(step), start, end)
            if self._has(database, "CommAnalyzerTime"):
                for span in self.of("collective"):
                    start, end = self.now(span)
                    longer = (end - start - span.dur) / 1e6
                    database.execute(
                        "UPDATE CommAnalyzerTime SET start_timestamp = ?, elapse_time = elapse_time + ?, "
                        "idle_time = idle_time + ? WHERE hccl_op_name LIKE ?", (start / 1e3, longer, longer, span.name + "%"))

    def _change_step(self, database, step, start, end):
        clock = self.clocks[DEVICE]
        grown = [0, 0, 0, 0]  # computing, communication, not overlapped, free
        for a, b, kind in self._overlap:
            if start <= a < end and kind < 4:
                grown[kind] += (clock(b, is_end=True) - clock(a) - (b - a)) / 1e3
        computing, both, exposed, free = grown
        first = min((s.start for s in self.work() if start <= s.start), default=start)
        preparing = (clock(first) - self.clocks[HOST](start) - (first - start)) / 1e3
        values = {"computing": computing, "communication": both, "communication_not_overlapped": exposed,
                  "communication_not_overlapped_and_exclude_receive": exposed, "overlapped": both - exposed, "free": free,
                  "preparing": preparing, "stage": computing + exposed + free}
        database.execute("UPDATE StepTraceTime SET " + ", ".join(f"{c} = {c} + ?" for c in values) + " WHERE step = ?",
                         (*values.values(), step))
