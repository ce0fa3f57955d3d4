# SPDX-License-Identifier: Apache-2.0
"""The host of text captures and GPU traces."""

from .files import exact, ns
from .host_arrows import add_launches_of_copies, arrows, launches_of, place_of
from .host_records import Allocation, Host, QueuedWork, Span, add_step

OPERATORS = {"text": ("cpu_op",),
             "gpu": ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "operator",
                     "runtime")}
LAUNCHES = {"text": ("async_npu",), "gpu": ("async_gpu", "async_cpu_to_gpu", "ac2g", "async")}


def load(capture):
    events = [(str(event.get("cat", "")).lower(), event) for event in capture.events
              if event.get("ph") != "M"]
    of = lambda *categories: [event for category, event in events if category in categories]
    host = Host(operators=spans(of(*OPERATORS[capture.kind])), calls=spans(of("python_function")))
    for operator in host.operators:
        add_step(host.steps, operator.name, operator.start, operator.end)
    host.launches = launches_of(of(*LAUNCHES[capture.kind]))
    backward = of("fwdbwd")
    host.links = arrows(backward)
    ends = [event["tid"] for event in backward if event["ph"] == "f"]
    if ends:
        host.backward_thread = ends[0 if capture.kind == "gpu" else -1]
    if capture.kind == "text":
        host.queued = queued_work(of("enqueue"), of("dequeue"))
        host.allocations = allocations_of_table(capture.csv("operator_memory.csv"))
        add_launches_of_copies(capture, host, of("hosttodevice"))
    else:
        host.allocations = allocations_of_events([event for _, event in events])
    return host


def spans(events):
    result = []
    for event in events:
        if event["ph"] != "X":
            continue
        place, args = place_of(event), event.get("args") or {}
        found = {member: args[key] for member, key in
                 (("shapes", "Input Dims"), ("types", "Input type"), ("stack", "Call stack"))
                 if key in args}
        result.append(Span(place.time, place.time + ns(event.get("dur", 0)), place.thread,
                           event["name"], **found))
    return result


def queued_work(asked, done):
    key = lambda event: str(event["args"]["correlation_id"])
    places = {key(event): place_of(event) for event in asked}
    return [QueuedWork(places[key(event)], place.thread, place.time,
                       place.time + ns(event["dur"]))
            for event in done for place in [place_of(event)] if key(event) in places]


def allocations_of_table(rows):
    return [Allocation(row["Name"], exact(row["Size(KB)"]) * 1024, ns(row["Allocation Time(us)"]),
                       ns(row["Release Time(us)"]) or None)
            for row in rows if ns(row["Allocation Time(us)"])]


def allocations_of_events(events):
    """Of a GPU trace, which tells what was allocated and released at an address. What is allocated
    again was not seen being released; a release of another size tells nothing certain."""
    changes = [(ns(event["ts"]), event["args"]) for event in events
               if event["name"].lower() == "[memory]" and event["args"].get("Device Id", -1) >= 0]
    done, held = [], {}
    for time, args in sorted(changes, key=lambda change: change[0]):
        size, address = args["Bytes"], args["Addr"]
        if size > 0:
            if address in held:
                done.append(held[address])
            held[address] = Allocation("", exact(size), time, None)
        elif address in held:
            allocation = held.pop(address)
            if allocation.size == -size:
                allocation.end = time
                done.append(allocation)
    return done + list(held.values())
