# SPDX-License-Identifier: Apache-2.0
"""Marks and ranges that the program set with mstx."""

from dataclasses import dataclass, replace

from .files import ns
from .host_database import thread_of
from .host_records import work_at

KINDS = {"Module": ("start/end",), "mfu_flops": ("start/end", "push/pop")}


@dataclass
class Mark:
    text: str
    kind: str
    domain: str
    thread: tuple
    start: int
    end: int


def ranges(capture, host, domain):
    """The ranges of a domain by their starts on the host."""
    marks = (_of_database if capture.kind == "db" else _of_trace)(capture, host)
    found = [_placed(mark, host) for mark in marks
             if mark.domain == domain and mark.kind in KINDS[domain]]
    return sorted(found, key=lambda mark: mark.start)


def _placed(mark, host):
    """One that was set on a stream is recorded by the task queue; it is where it was queued."""
    begun, ended = (work_at(host.queued, time, mark.thread) for time in (mark.start, mark.end))
    if not begun or not ended:
        return mark
    return replace(mark, thread=begun.asked.thread, start=begun.asked.time, end=ended.asked.time)


def _of_database(capture, _):
    if not capture.has_table("MSTX_EVENTS"):
        return
    kinds = dict(map(tuple, capture.rows("SELECT id, name FROM ENUM_MSTX_EVENT_TYPE")))
    for row in capture.rows("SELECT * FROM MSTX_EVENTS ORDER BY rowid"):
        yield Mark(capture.texts.get(row["message"], ""), kinds.get(row["eventType"]),
                   capture.texts.get(row["domainId"], ""), thread_of(row["globalTid"]),
                   row["startNs"], row["endNs"])


def _of_trace(capture, host):
    """Their process is one of the viewer's own; their thread is the program's."""
    threads = {operator.thread[1]: operator.thread for operator in host.operators}
    for event in capture.events:
        args = event.get("args", {})
        if "event_type" in args and "cat" not in event:
            start, tid = ns(event["ts"]), event["tid"]
            yield Mark(event["name"], args["event_type"], args.get("domain", ""),
                       threads.get(tid, (None, tid)), start, start + ns(event.get("dur", 0)))
