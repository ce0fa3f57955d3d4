# SPDX-License-Identifier: Apache-2.0
"""The host of profiler databases."""

from fractions import Fraction

from .host_records import MISSING, Allocation, Host, Place, QueuedWork, Span, work_at

KINDS = {50001: "op", 50002: "queue", 50003: "trace"}  # where ENUM_API_TYPE is missing


def load(capture):
    host = Host()
    if capture.has_table("PYTORCH_API"):
        read_calls(capture, host)
    if capture.has_table("OP_MEMORY"):
        host.allocations = [
            Allocation(capture.texts.get(row["name"], ""), Fraction(row["size"] or 0),
                       row["allocationTime"], row["releaseTime"] or None)
            for row in capture.rows("SELECT * FROM OP_MEMORY ORDER BY rowid")
            if row["allocationTime"]]
    if capture.has_table("STEP_TIME"):
        host.steps = {row["id"]: (row["startNs"], row["endNs"])
                      for row in capture.rows("SELECT * FROM STEP_TIME ORDER BY rowid")}
    if capture.has_table("CANN_API"):
        host.runtime_launches = runtime_launches(capture, host.queued)
    return host


def thread_of(number):
    return number >> 32, number & 0xFFFFFFFF


def read_calls(capture, host):
    kinds = dict(KINDS)
    if capture.has_table("ENUM_API_TYPE"):
        kinds |= {row["id"]: row["name"] for row in capture.rows("SELECT * FROM ENUM_API_TYPE")}
    sets, stacks = connection_sets(capture), call_stacks(capture)
    sharing, asked, done = {}, {}, []
    for row in capture.rows("SELECT * FROM PYTORCH_API ORDER BY rowid"):
        kind = kinds.get(row["type"])
        start, end, thread = int(row["startNs"]), int(row["endNs"]), thread_of(row["globalTid"])
        name, connections = capture.texts.get(row["name"], ""), sets.get(row["connectionId"], [])
        if kind == "op":
            shapes, types = shapes_and_types(capture, row)
            stack = stacks.get(row["callchainId"], MISSING)
            host.operators.append(Span(start, end, thread, name, shapes, types, stack))
            for connection in connections:
                host.launches[connection] = Place(thread, start)
                sharing.setdefault(connection, []).append(Place(thread, start))
        elif kind == "trace":
            host.calls.append(Span(start, end, thread, name))
        elif kind == "queue" and connections and name.startswith("Enqueue"):
            asked[connections[0]] = Place(thread, start)
        elif kind == "queue" and connections:
            done.append((connections[0], thread, start, end))
    host.queued = [QueuedWork(asked[connection], *work) for connection, *work in done
                   if connection in asked]
    # Two operators with one connection are forward and backward.
    pairs = [(connection, sorted(places, key=lambda place: place.time))
             for connection, places in sharing.items() if len(places) == 2]
    pairs.sort(key=lambda pair: (pair[1][1].time, pair[0]))
    host.links = [tuple(places) for _, places in pairs]
    if pairs:
        host.backward_thread = host.links[-1][1].thread[1]


def connection_sets(capture):
    sets = {}
    if capture.has_table("CONNECTION_IDS"):
        for row in capture.rows("SELECT id, connectionId FROM CONNECTION_IDS ORDER BY rowid"):
            sets.setdefault(row["id"], []).append(row["connectionId"])
    return sets


def call_stacks(capture):
    frames = {}
    if capture.has_table("PYTORCH_CALLCHAINS"):
        for row in capture.rows(
                "SELECT id, stack FROM PYTORCH_CALLCHAINS ORDER BY id, stackDepth, rowid"):
            frames.setdefault(row["id"], []).append(capture.texts.get(row["stack"], ""))
    return {number: ";\r\n".join(stack) for number, stack in frames.items()}


def shapes_and_types(capture, row):
    """Some exporters write each into the column of the other. Shapes are made of digits."""
    shapes, types = (capture.texts.get(row[column], MISSING)
                     for column in ("inputShapes", "inputDtypes"))
    return (types, shapes) if are_shapes(types) and not are_shapes(shapes) else (shapes, types)


def are_shapes(text):
    return bool(text) and not text.strip("0123456789,;\r\n []-")


def runtime_launches(capture, queued):
    """Calls of the runtime by connection. One made by queued work is of where that was asked."""
    launches = {}
    for row in capture.rows("SELECT connectionId, startNs, globalTid FROM CANN_API ORDER BY rowid"):
        place = Place(thread_of(row["globalTid"]), int(row["startNs"]))
        work = work_at(queued, place.time, place.thread)
        launches.setdefault(row["connectionId"], work.asked if work else place)
    return launches
