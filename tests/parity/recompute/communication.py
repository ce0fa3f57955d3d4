# SPDX-License-Identifier: Apache-2.0
"""CommunicationCompare."""

import re
from collections import defaultdict

from .durations import Durations, in_both, numbered
from .order import largest_blocks_first
from .sheets import share

OLD_NCCL = re.compile("nccl(allgather|allreduce|alltoall|broadcast|reducescatter|reduce|sendrecv)")
NEW_NCCL = re.compile("nccl(?:dev)?kernel[^_]*_([a-z0-9]+)")


def rows(base, comparison, _options):
    blocks = []
    for kind, *operations in in_both(by_kind(base.device), by_kind(comparison.device)):
        first, second = [side[None] if side else None for side in operations]
        block = [[*cells(kind, None, first), *cells(kind, None, second),
                  total(second) - total(first), share(total(second), total(first))]]
        tasks = [{name: value for name, value in (side or {}).items() if name is not None}
                 for side in operations]
        for name, first, second in in_both(*tasks):
            block.append([*cells("|", name, first), *cells("|", name, second), None, None])
        blocks.append(block)
    difference = 14
    return numbered(largest_blocks_first(blocks, lambda row: row[difference])) or None


def by_kind(device):
    """{kind: {None: durations of the operations, name of a task: those of the tasks}}, in the order
    of time."""
    kinds = {}
    for operation in sorted(device.collectives, key=lambda operation: operation.start):
        kind = kinds.setdefault(kind_of(operation.type or operation.name),
                                defaultdict(Durations))
        kind[None].add(operation.duration)
        for task in sorted(operation.tasks, key=lambda task: task.start):
            if task.name:
                kind[task.name].add(task.duration)
    return kinds


def kind_of(name):
    """The word for the collective."""
    name = name.lower()
    nccl = OLD_NCCL.match(name) or NEW_NCCL.match(name)
    if nccl:
        return nccl[1]
    words = name.removeprefix("hcom_").split("_")
    return words[0] or name


def total(durations):
    return durations.total if durations else 0


def cells(name, task, durations):
    if durations is None:
        return [None, None, None, 0, None, None, None]
    return [name, task, durations.calls, durations.total, durations.average, durations.most,
            durations.least]
