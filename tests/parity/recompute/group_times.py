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
    planes = defaultdict(list)
    for task in sorted(device.collective_tasks, key=lambda task: task.start):
        planes[id(task.group), task.plane].append(task)
    waits_of = defaultdict(list)
    for (group, _), tasks in planes.items():
        waits = [task for task, counts in zip(tasks, waiting(tasks)) if counts]
        if waits:
            waits_of[group].append(waits)
    times = []
    for group in device.groups:
        own = [work for work in device.collectives if work.group is group]
        of_planes = sorted(waits_of[id(group)], key=lambda waits: waits[0].start)
        least = min(of_planes, key=lambda waits: sum(task.length for task in waits), default=[])
        first = min((work.start for work in own), default=math.inf)
        times.append((first, GroupTime(group, intervals.common(uncovered, intervals.of(own)),
                                       intervals.of(least))))
    return [time for _, time in sorted(times, key=lambda pair: pair[0])]


def waiting(tasks):
    """For each task of a plane whether it waits: a Notify_Wait does, unless it is a part of the
    handshake of RDMA."""
    kinds = "".join({"RDMASend": "R", "Notify_Wait": "N"}.get(task.name, "O") for task in tasks)
    for place, kind in enumerate(kinds):
        before = kinds[:place]
        yield kind == "N" and not before.endswith(("RR", "RRNR"))


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
