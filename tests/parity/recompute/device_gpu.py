# SPDX-License-Identifier: Apache-2.0
"""The device side of GPU traces."""

from .device_records import Collective, Device, Kernel, Work
from .files import exact, exact_ns, ns
from .host_trace import place_of

LONG_KERNEL = 20_000_000  # ns


def load(capture, host):
    device = Device(is_gpu=True)
    for event in capture.events:
        category = str(event.get("cat", "")).lower()
        if category in ("kernel", "gpu_memcpy", "gpu_memset") and event["ph"] == "X":
            add(category, event, host, device)
        elif event.get("name", "").lower() == "[memory]":
            args = event["args"]
            if args.get("Device Id", -1) >= 0:
                device.reserved.append((ns(event["ts"]), "", exact(args.get("Total Reserved", 0))))
    leave_out_earlier_work(device, min((place.time for place in host.launches.values()), default=0))
    return device


def leave_out_earlier_work(device, first_launch):
    """What streams did before the first work whose launch was recorded is of earlier steps, if it runs as the capture
    begins."""
    lists = [device.kernels, device.tasks, device.collectives]
    first, time = {}, {}
    for number, works in enumerate(lists):
        for work in works:
            if work.launch:
                lane = lane_of(work)
                first[lane] = min(first.get(lane, work.start), work.start)
                time[lane] = time.get(lane, 0) + (work.length if number == 0 else 0)
    if not first:
        return
    earlier = [work for works in lists for work in works
               if not work.launch and work.start < first.get(lane_of(work), min(first.values()))]
    if min((work.start for work in earlier), default=first_launch) >= first_launch + LONG_KERNEL:
        return
    for works in lists:
        works[:] = [work for work in works if work.launch or work not in earlier]
    busiest = min(time, key=lambda lane: (-time[lane], str(lane)))
    device.opens = min(max((work.end for work in earlier), default=0), first[busiest])


def lane_of(work):
    """Streams run in order, and the collectives of a group do."""
    return ("group", work.group) if isinstance(work, Collective) else ("stream", work.stream)


def add(category, event, host, device):
    start = ns(event["ts"])
    span = {"name": event["name"], "start": start, "end": start + ns(event["dur"]),
            "duration": exact_ns(event["dur"]), "launch": host.launches.get(place_of(event)),
            "stream": event["args"].get("stream")}
    if category != "kernel":
        device.tasks.append(Work(**span, type=category))
    elif event["name"].lower().startswith("nccl"):
        device.collectives.append(Collective(**span, type=event["name"]))
    else:
        device.kernels.append(Kernel(**span))
