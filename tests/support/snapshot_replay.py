# SPDX-License-Identifier: Apache-2.0
"""What a memory snapshot holds over time, from its pickle, played forwards."""

import pickle
from collections import Counter

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
LIBRARIES = ("/torch/", "torch_npu/", "site-packages/", "dist-packages/", "lib/python")


def site_of(frames):
    """The line of the program, or of Python where it has none."""
    python = [frame for frame in frames if frame["filename"].endswith(".py") or frame["filename"].startswith("<")]
    own = [frame for frame in python if not frame["filename"].startswith("<") and not any(part in frame["filename"] for part in LIBRARIES)]
    for frame in (own + python)[:1]:
        return f"{frame['filename'].rpartition('/')[2]}:{frame['line']}"
    return ""


class DeviceReplay:
    """`before`: bytes before the history; `in_use` and `reserved`: after each action; `at_peak` and `at_end`: bytes by
    line of the program."""

    def __init__(self, segments, trace):
        self.trace = [entry for entry in trace if entry["action"] not in ("workspace_snapshot", "empty_cache")]
        final = {}
        for segment in segments:
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] in ACTIVE:
                    history = block.get("history", [{}])[0]
                    final[address] = (block.get("requested_size", history.get("real_size")),
                                      site_of(block.get("frames", history.get("frames", []))))
                address += block["size"]
        self.free = [block["size"] for segment in segments if segment["segment_type"] == "large"
                     and (segment.get("is_expandable") or any(block["state"] in ACTIVE for block in segment["blocks"]))
                     for block in segment["blocks"] if block["state"] not in ACTIVE]
        # First: what is released, or held in the end, without having been allocated, was there before.
        known, start = {}, {}
        for entry in self.trace:
            if entry["action"] == "alloc":
                known[entry["addr"]] = True
            elif entry["action"] == "free_completed":
                if not known.pop(entry["addr"], False):
                    start[entry["addr"]] = (entry["size"], "")
        for address, (size, site) in final.items():
            if address not in known:
                start[address] = (size, site)
        self.before = sum(size for size, _ in start.values())
        # Then forwards.
        held, level = dict(start), self.before
        self.at_peak, self.peak, self.peak_action, self.in_use = Counter(), level, None, []
        peak_held = dict(held)
        for number, entry in enumerate(self.trace):
            if entry["action"] == "alloc":
                site = site_of(entry.get("frames", []))
                held[entry["addr"]] = (entry["size"], site or final.get(entry["addr"], (0, ""))[1])
                level += entry["size"]
            elif entry["action"] == "free_completed":
                level -= held.pop(entry["addr"])[0]
            self.in_use.append(level)
            if level > self.peak:
                self.peak, self.peak_action, peak_held = level, number, dict(held)
        for size, site in peak_held.values():
            self.at_peak[site] += size
        self.at_end = Counter()
        for size, site in held.values():
            self.at_end[site] += size
        taken = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
        changes = [taken.get(entry["action"], 0) * entry["size"] for entry in self.trace]
        self.end_reserved = sum(segment["total_size"] for segment in segments)
        level = self.reserved_before = self.end_reserved - sum(changes)
        self.reserved = [level := level + change for change in changes]


def replays(path):
    """By device, those with anything."""
    whole = pickle.loads(path.read_bytes())
    segments = whole if isinstance(whole, list) else whole["segments"]
    traces = [] if isinstance(whole, list) else whole["device_traces"]
    devices = {segment["device"] for segment in segments} | {number for number, trace in enumerate(traces) if trace}
    return {number: DeviceReplay([one for one in segments if one["device"] == number],
                                 traces[number] if number < len(traces) else []) for number in sorted(devices)}
