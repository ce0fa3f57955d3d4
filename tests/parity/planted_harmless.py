# SPDX-License-Identifier: Apache-2.0
"""Changes of real captures of which nothing may be said: what was measured stays what it was."""

import random
import sqlite3
from contextlib import closing

from planted_faults import CONTROL, DB1, DDP, RESNET, TEXT1, VIDEO, dlrm
from retime import DEVICE, HOST
from retime.database import OUTPUT

LATER = 86_400_000_000_000 * 3 + 123_456_000  # ns


def other_clock(job):
    """All captures were taken later."""
    for capture in job.captures.values():
        for side in (HOST, DEVICE):
            capture.clocks[side].add(0, LATER)


def other_order(job):
    """Events stand in another order in the file."""
    for capture in job.captures.values():
        random.Random(7).shuffle(capture.events)


def other_numbers(job):
    """Numbers that join calls and work are others."""
    for capture in job.captures.values():
        for event in capture.events:
            args = event.get("args", {})
            for key in ("correlation", "External id", "external id", "connection_id"):
                if isinstance(args.get(key), int) and 0 < args[key] < 4_000_000_000:
                    args[key] += 1_000_000
            if event.get("cat") == "ac2g":
                event["id"] += 1_000_000


def other_processes(job):
    """Processes and threads of the host have other numbers."""
    for capture in job.captures.values():
        hosts = {s.record["pid"] for s in capture.of("op")}
        for event in capture.events:
            if event.get("tid") in hosts:  # other processes have lanes of the same threads
                event["tid"] += 4321
            if event.get("pid") in hosts:
                event["pid"] += 4321


def other_thread_names(job):
    for capture in job.captures.values():
        for event in capture.events:
            if event.get("name") == "thread_name" and "thread" in event["args"]["name"].lower() and "(" in event["args"]["name"]:
                event["args"]["name"] = "worker " + event["args"]["name"]


def other_paths(job):
    job.names = {rank: name.with_name(f"run_of_monday_{rank}.pt.trace.json.gz") for rank, name in job.names.items()}


def other_rows(job):
    """Rows of the tables stand in another order."""
    for capture in job.captures.values():
        capture.after = _reverse_rows


def _reverse_rows(path):
    with closing(sqlite3.connect(next((path / OUTPUT).glob("ascend_pytorch_profiler*.db")))) as database, database:
        for table in ("TASK", "PYTORCH_API", "COMMUNICATION_TASK_INFO", "CONNECTION_IDS", "MEMORY_RECORD"):
            rows = database.execute(f"SELECT * FROM {table} ORDER BY rowid DESC").fetchall()
            database.execute(f"DELETE FROM {table}")
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def jitter(job):
    """Kernels take up to 1 % less or more, where there is room."""
    for capture in job.captures.values():
        chance = random.Random(5)
        by_lane = {}
        for kernel in capture.of("kernel"):
            by_lane.setdefault(kernel.lane, []).append(kernel)
        for kernels in by_lane.values():
            for kernel, following in zip(kernels, [*kernels[1:], None]):
                room = following.start - kernel.end if following else 0
                longer = min(round(kernel.dur * chance.uniform(-0.01, 0.01)), max(0, room))
                capture.own[id(kernel)] = (kernel.start, kernel.end + longer)


HARMLESS = {
    "ddp_clock": (DDP, other_clock), "ddp_numbers": (DDP, other_numbers), "ddp_processes": (DDP, other_processes),
    "ddp_thread_names": (DDP, other_thread_names), "resnet_order": (RESNET, other_order),
    "video_order": (VIDEO, other_order), "control_jitter": (CONTROL, jitter), "dlrm_clock": (dlrm, other_clock),
    "dlrm_paths": (dlrm, other_paths), "text1_clock": (TEXT1, other_clock), "text1_processes": (TEXT1, other_processes),
    "text1_order": (TEXT1, other_order), "db1_clock": (DB1, other_clock), "db1_rows": (DB1, other_rows),
}
JITTERED = {"control_jitter"}
