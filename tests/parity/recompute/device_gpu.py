# SPDX-License-Identifier: Apache-2.0
"""The device side of GPU traces."""

from .device_records import Collective, Device, Kernel, Work
from .files import exact, exact_ns, ns
from .host_trace import place_of


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
    return device


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
