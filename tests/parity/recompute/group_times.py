# SPDX-License-Identifier: Apache-2.0
"""What groups of ranks have of the uncovered communication, and how much of it they wait."""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from . import intervals
from .device_records import Group


@dataclass
class GroupTime:
    group: Group
    exposed: list
    waits: list

    @property
    def time(self):
        return intervals.length(self.exposed)

    @property
    def wait(self):
        return intervals.length(intervals.common(self.exposed, self.waits))


def group_times(device, uncovered):
    """In the order of rows: by the first operations of the groups."""
    parts = parts_of_operations(device)
    times = []
    for group in device.groups:
        own = [work for work in device.collectives if work.group is group]
        met = [(work, last_arrival(work, parts[id(work)])) for work in own]
        waits = intervals.union((work.start, time) for work, time in met)
        others = intervals.union((time, work.end) for work, time in met)
        first = min((work.start for work in own), default=math.inf)
        times.append((first, GroupTime(group, intervals.common(uncovered, intervals.of(own)),
                                       intervals.minus(waits, others))))
    return [time for _, time in sorted(times, key=lambda pair: pair[0])]


def parts_of_operations(device):
    """{id of an operation: its waits and transfers by their start}. Captures whose tasks of
    collectives have no names know them from the tasks of the device that the call of the operation launched."""
    parts = defaultdict(list)
    if any(task.name for task in device.collective_tasks):
        for task in device.collective_tasks:
            kind = kind_of(task.name, task.size)
            if task.operation and kind:
                parts[id(task.operation)].append((task.start, task.end, kind, task.peer))
    else:
        launched = defaultdict(list)
        for work in device.collectives:
            if work.connection is not None and work.group:
                launched[work.connection].append(work)
        for task in device.tasks:
            kind = kind_of(task.type, None)
            begun = [work for work in launched[task.connection] if work.start <= task.start]
            if kind and begun:
                operation = max(begun, key=lambda work: work.start)
                parts[id(operation)].append((task.start, task.end, kind, None))
    for of_operation in parts.values():
        of_operation.sort(key=lambda part: part[0])
    return parts


def kind_of(name, size):
    name = name.lower().replace(" ", "_")
    if name.startswith("notify_wait"):
        return "wait"
    moves = name in ("memcpy", "reduce_inline", "sdma") and size != 0
    return "transfer" if moves or name == "rdmasend" and (size is None or size > 64) else None


def last_arrival(operation, parts):
    """When the last member came. All meet before data move: the end of the first wait for a peer is
    when that one came, if it waited at all (2 us). Where no peers are recorded the waits that begin
    before the first transfer behind one are those for the members."""
    first = {}
    for start, end, kind, peer in parts:
        if kind == "wait" and peer is not None:
            first.setdefault(peer, (start, end))
    if first:
        came = [end for start, end in first.values() if end - start > 2000]
    else:
        came, waited = [], False
        for start, end, kind, _ in parts:
            if kind == "transfer" and waited:
                break
            if kind == "wait":
                waited = True
                came.append(end if end - start > 2000 else start)
    time = min(max([operation.start, *came]), operation.end)
    return time if time > operation.start + 5000 else operation.start


def pairs(times):
    """[((label, label), time)] of groups that are exposed at once."""
    result = []
    for first, second in combinations(times, 2):
        shared = intervals.length(intervals.common(first.exposed, second.exposed))
        if shared:
            result.append(((label(first.group), label(second.group)), shared))
    return result


def label(group):
    return group.process_group or group.name
