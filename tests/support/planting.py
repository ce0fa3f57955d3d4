# SPDX-License-Identifier: Apache-2.0
"""Renames kernels of a capture so that they are a chain that is known, in text captures and in databases."""

import csv
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"


@dataclass
class Piece:
    """What a kernel becomes. Shapes are as captures write them; None: they stay."""

    type: str
    read: str | None = None
    written: str | None = None
    stream: int | None = None  # None: it stays

    @property
    def name(self):
        return f"aclnn{self.type}_{self.type}AiCore_{self.type}"


@dataclass
class Kernel:
    """A kernel as it was recorded; times in ns."""

    key: object  # row of kernel_details.csv, or globalTaskId
    name: str
    type: str
    stream: int | None
    start: int
    dur: int


def ns(text):
    whole, _, part = str(text).strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def database_of(capture):
    return next(iter(sorted(Path(capture, OUTPUT).glob("ascend_pytorch_profiler*.db"))), None)


def _rows(capture):
    with Path(capture, OUTPUT, "kernel_details.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kernels(capture):
    """Those of the capture in the order of their starts, without what communicates."""
    if database := database_of(capture):
        with closing(sqlite3.connect(database)) as connection:
            found = [Kernel(*row) for row in connection.execute(
                "SELECT t.globalTaskId, n.value, o.value, t.streamId, t.startNs, t.endNs - t.startNs FROM "
                "COMPUTE_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId "
                "JOIN STRING_IDS n ON n.id = c.name LEFT JOIN STRING_IDS o ON o.id = c.opType")]
    else:
        found = [Kernel(i, row["Name"], row["Type"],
                        int(row["Stream ID"]) if row.get("Stream ID", "").isdigit() else None,
                        ns(row["Start Time(us)"]), ns(row["Duration(us)"])) for i, row in enumerate(_rows(capture))]
    return sorted((k for k in found if not k.name.startswith("hcom")), key=lambda kernel: kernel.start)


def plant(capture, pieces):
    """Makes of kernels what pieces say: [(kernel, piece)]."""
    if database_of(capture):
        _plant_in_database(database_of(capture), pieces)
    else:
        _plant_in_text(Path(capture, OUTPUT), pieces)


def _plant_in_database(path, pieces):
    with closing(sqlite3.connect(path)) as database, database:
        last, = database.execute("SELECT max(id) FROM STRING_IDS").fetchone()

        def text(value):
            nonlocal last
            last += 1
            database.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (last, value))
            return last

        for kernel, piece in pieces:
            columns = {"name": piece.name, "opType": piece.type}
            if kernel.type in ("", "N/A"):
                del columns["opType"]
            if piece.read is not None:
                columns |= {"inputShapes": f'"{piece.read}"', "outputShapes": f'"{piece.written}"'}
            for column, value in columns.items():
                database.execute(f"UPDATE COMPUTE_TASK_INFO SET {column} = ? WHERE globalTaskId = ?",
                                 (text(value), kernel.key))
            if piece.stream is not None:
                database.execute("UPDATE TASK SET streamId = ? WHERE globalTaskId = ?", (piece.stream, kernel.key))


def _plant_in_text(output, pieces):
    path = output / "kernel_details.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_start = {}
    for kernel, piece in pieces:
        row = rows[kernel.key]
        row["Name"] = piece.name
        if kernel.type not in ("", "N/A"):
            row["Type"] = piece.type
        if piece.read is not None and "Input Shapes" in row:
            row["Input Shapes"], row["Output Shapes"] = f'"{piece.read}"', f'"{piece.written}"'
        if piece.stream is not None:
            row["Stream ID"] = piece.stream
        by_start[kernel.start, kernel.name] = piece
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    trace = output / "trace_view.json"
    if not trace.exists():
        return
    events = json.loads(trace.read_text(encoding="utf-8"))
    for event in events:
        if event.get("ph") == "X" and (piece := by_start.get((ns(event["ts"]), event["name"]))):
            event["name"] = piece.name
            for key in ("Physic Stream Id", "Stream Id"):
                if piece.stream is not None and key in event["args"]:
                    event["args"][key] = piece.stream
                    event["tid"] = piece.stream
    trace.write_text(json.dumps(events), encoding="utf-8")
