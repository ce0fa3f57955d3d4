# SPDX-License-Identifier: Apache-2.0
"""Arrows of traces: which place on the host led to which elsewhere."""

from .device_records import COPIES
from .files import ns
from .host_records import Place, work_at

VIEWER_BITS = 10  # exporters move the number of a process so far up for the processes they make up


def place_of(event):
    return Place((event["pid"], event["tid"]), ns(event["ts"]))


def arrows(events):
    """The places of both ends of complete arrows, in the order in which they come first. A number
    may be used again once its arrow is complete, for one whose ends come in the same order; what
    else has the number replaces the end before."""
    found, latest = [], {}
    for event in events:
        role = event["ph"]
        if role in ("s", "f"):
            arrow = latest.get(str(event["id"]))
            if arrow is None or (len(arrow) == 2 and next(iter(arrow)) == role):
                arrow = latest[str(event["id"])] = {}
                found.append(arrow)
            arrow[role] = place_of(event)
    return [(arrow["s"], arrow["f"]) for arrow in found if len(arrow) == 2]


def launches_of(events):
    """The places of launches by those at which their arrows end; of several the first counts."""
    launches = {}
    for start, end in arrows(events):
        launches.setdefault(end, start)
    return launches


def add_launches_of_copies(capture, host, runtime_arrows):
    """The arrow to a collective may end at its first copy, which has the same connection. A copy
    without an arrow from an operator was launched where the arrow of the runtime begins, if no
    queued work did it."""
    of_runtime = launches_of(runtime_arrows)
    threads = {span.thread for span in host.operators + host.queued + host.calls}
    copies, collectives = copies_and_collectives(capture.events)
    for event in copies:
        copy, connection = place_of(event), connection_of(event)
        runs = sorted(collectives.get(connection, []), key=lambda place: place.time)
        if runs:
            begun = [run for run in runs if run.time <= copy.time]
            if copy in host.launches:
                host.launches.setdefault((begun or runs[:1])[-1], host.launches.pop(copy))
        elif copy not in host.launches and copy in of_runtime:
            call = of_runtime[copy]
            thread = thread_of_program(threads, call.thread)
            if thread and not work_at(host.queued, call.time, thread):
                host.launches[copy] = call.on(thread)


def copies_and_collectives(events):
    """The copies of a trace, and the places of its collectives by connection."""
    processes, groups = {}, set()
    for event in events:
        if event.get("ph") == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event.get("ph") == "M" and event["name"] == "thread_name" \
                and "Communication" in event["args"]["name"]:
            groups.add((event["pid"], event["tid"]))
    copies, collectives = [], {}
    for event in events:
        process = processes.get(event.get("pid")) if event.get("ph") == "X" else None
        if process == "Ascend Hardware" and event["name"] in COPIES:
            copies.append(event)
        elif process in ("Communication", "HCCL") and connection_of(event) is not None \
                and (event["pid"], event["tid"]) in groups:
            collectives.setdefault(connection_of(event), []).append(place_of(event))
    return copies, collectives


def connection_of(event):
    return event.get("args", {}).get("connection_id")


def thread_of_program(threads, made_up):
    """Which of the program's threads a thread of a made-up process stands for, or None."""
    process, number = made_up[0] >> VIEWER_BITS, made_up[1]
    if (process, number) in threads:
        return process, number
    same = [thread for thread in threads if thread[1] == number]
    is_known = any(thread[0] == process for thread in threads)
    return same[0] if len(same) == 1 and not is_known else None
