# SPDX-License-Identifier: Apache-2.0
"""The device side of text captures: trace_view.json and the tables beside it."""

from collections import defaultdict

from .device_records import (COUNTERS, Collective, CollectiveTask, Device, Group, Kernel, Work,
                             name_groups, rank_in_group)
from .files import exact, exact_ns, ns
from .host_trace import place_of

MEGABYTE = 2 ** 20


def load(capture, host):
    device = Device()
    read_trace(capture.events, host.launches, device)
    name_groups(device.groups,
                capture.json("profiler_metadata.json").get("parallel_group_info", {}))
    device.kernels = kernels_of(capture.csv("kernel_details.csv"), host.launches)
    device.reserved = [(ns(row["Timestamp(us)"]), row["Component"], exact(row["Total Reserved(MB)"]) * MEGABYTE)
                       for row in capture.csv("memory_record.csv")
                       if exact(row["Total Reserved(MB)"]) is not None]
    device.traffic = list(traffic_of(capture.json("communication.json")))
    return device


def span_of(event, launches):
    start = ns(event["ts"])
    return {"name": event["name"], "start": start, "end": start + ns(event.get("dur", 0)),
            "duration": exact_ns(event.get("dur", 0)),
            "connection": event.get("args", {}).get("connection_id"),
            "launch": launches.get(place_of(event))}


def stream_of(event):
    args = event.get("args", {})
    return int(args.get("Stream Id", args.get("Physic Stream Id", event["tid"])))


def read_trace(events, launches, device):
    processes = {event["args"]["name"]: event["pid"] for event in events
                 if event.get("ph") == "M" and event["name"] == "process_name"}
    hardware, overlap = processes.get("Ascend Hardware"), processes.get("Overlap Analysis")
    communication = processes.get("Communication", processes.get("HCCL"))
    places = threads_of_groups(events, communication, device.groups)
    for event in events:
        if event.get("ph") != "X":
            continue
        if event["pid"] == hardware:
            args = event.get("args", {})
            span = span_of(event, launches)
            device.tasks.append(Work(**span, type=args.get("Task Type", ""),
                                     stream=stream_of(event), id=args.get("Task Id")))
            if event["name"].lower() == "kernel_aivec":
                device.collectives.append(Collective(**span))
        elif event["pid"] == communication:
            group, plane = places[event["tid"]]
            span = span_of(event, launches)
            if plane is None:
                device.collectives.append(Collective(**span, type=event["name"], group=group))
            else:
                args = event.get("args", {})
                device.collective_tasks.append(CollectiveTask(
                    **span, group=group, plane=plane, size=args.get("size(Byte)"),
                    peer=rank_in_group(args.get("dst rank"))))
        elif event["pid"] == overlap:
            device.overlaps.append(Work(**span_of(event, {})))
    tie_tasks(device)


def threads_of_groups(events, communication, groups):
    """{thread: (group, plane)} of the process of collectives; the thread of a group's operations
    has no plane."""
    names, order = {}, {}
    for event in events:
        if event.get("ph") == "M" and event["pid"] == communication:
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
            elif event["name"] == "thread_sort_index":
                order[int(event["args"]["sort_index"])] = event["tid"]
    places = {}
    unknown = group = Group("Unknown Group")
    for _, thread in sorted(order.items()):
        if "Communication" in names.get(thread, ""):
            group = Group(names[thread])
            groups.append(group)
            places[thread] = (group, None)
        else:
            places[thread] = (group, thread)
            if group is unknown and unknown not in groups:
                groups.append(unknown)
    return places


def tie_tasks(device):
    """A task belongs to the operation of its group that is nearest to its start, but not further
    away than the operation is long."""
    operations = defaultdict(list)
    for operation in sorted(device.collectives, key=lambda operation: operation.start):
        operations[id(operation.group)].append(operation)
    for task in device.collective_tasks:
        near = [(distance, place, operation)
                for place, operation in enumerate(operations[id(task.group)])
                if (distance := max(operation.start - task.start, task.start - operation.end, 0))
                <= operation.end - operation.start]
        task.operation = min(near, default=[None])[-1]
        if task.operation:
            task.operation.tasks.append(task)


def recorded(cell):
    return "" if cell in (None, "N/A") else cell


def kernels_of(rows, launches):
    of_stream = {(end.thread[1], end.time): launch for end, launch in launches.items()}
    of_start = defaultdict(list)
    for end, launch in launches.items():
        of_start[end.time].append(launch)
    kernels = []
    for row in rows:
        core = row.get("Accelerator Core")
        start, duration = ns(row["Start Time(us)"]), ns(row["Duration(us)"])
        if (core in ("HCCL", "COMMUNICATION") or row["Name"].startswith("hcom_")
                or start is None or duration is None):
            continue
        stream = recorded(row.get("Stream ID"))
        only = of_start[start][0] if len(of_start[start]) == 1 else None
        counters = {}
        for name, counter in COUNTERS.items():
            value = ns(row.get(f"{name}(us)"))
            if value is not None:
                counters[counter] = max(value, counters.get(counter, 0))
        kernels.append(Kernel(
            name=row["Name"], start=start, end=start + duration, duration=duration,
            type=recorded(row.get("Type")), stream=int(stream) if stream else None,
            launch=of_stream.get((stream, start), only), shapes=row.get("Input Shapes") or "",
            core=recorded(core), counters=counters))
    return kernels


def traffic_of(document):
    """(step, transport, megabytes, milliseconds) of communication.json."""
    for step, kinds in document.items():
        bandwidths = (kinds.get("collective", {}).get("Total Op Info", {})
                      .get("Communication Bandwidth Info", {}))
        for transport in ("RDMA", "SDMA"):
            if transport in bandwidths:
                entry = bandwidths[transport]
                yield (step, transport, exact(entry["Transit Size(MB)"]),
                       exact(entry["Transit Time(ms)"]))
