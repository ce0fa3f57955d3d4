# SPDX-License-Identifier: Apache-2.0
"""OverallMetrics."""

from fractions import Fraction

from . import group_times
from .overall_metrics import metrics_of
from .sheets import NOT_COUNTED, UNKNOWN, share

MILLISECOND = 1_000_000
FAMILIES = ("Flash Attention (Forward)", "Flash Attention (Backward)", "Conv (Forward)",
            "Conv (Backward)", "Matmul")


def rows(base, comparison, _options):
    sides = metrics_of(base), metrics_of(comparison)
    if not all(side.e2e for side in sides):
        return None
    table = Table(sides)
    table.add("Computing Time", lambda side: (
        side.computing, side.all_kernels.count if side.is_told else UNKNOWN))
    add_mc2(table, sides)
    add_categories(table, sides)
    table.add("Uncovered Communication Time", lambda side: (side.uncovered_time, NOT_COUNTED))
    add_groups(table, sides)
    table.add("Free Time", lambda side: (side.free, NOT_COUNTED))
    table.add("\tSDMA", lambda side: (side.free_copies, NOT_COUNTED))
    table.add("\tFree", lambda side: (side.free - side.free_copies, NOT_COUNTED))
    table.add("E2E Time", lambda side: (side.e2e, NOT_COUNTED))
    return table.rows


class Table:
    def __init__(self, sides):
        self.sides, self.rows = sides, []

    def add(self, label, ask, always=False):
        """A row. `ask` gives time and number of a side, None where it cannot know. Where both sides
        have nothing there is none."""
        self.add_values(label, [ask(side) for side in self.sides], always)

    def add_values(self, label, values, always=False):
        if not always and not any(value and value[0] for value in values):
            return
        row = [label]
        for value, side in zip(values, self.sides):
            row += [UNKNOWN] * 3 if value is None else [
                Fraction(value[0], MILLISECOND), Fraction(value[0], side.e2e), value[1]]
        if None in values:
            row += [UNKNOWN] * 2
        else:
            (base, _), (comparison, _) = values
            row += [Fraction(comparison - base, MILLISECOND), share(comparison, base)]
        self.rows.append(row)


def counted(part):
    return part.time, part.count


def add_mc2(table, sides):
    for name in dict.fromkeys(name for side in sides for name in side.mc2):
        def add(label, ask):
            table.add(label, lambda side: None if not side.is_told else
                      ask(side.mc2[name]) if name in side.mc2 else (0, NOT_COUNTED))
        add(f"\t{name}", lambda mc2: counted(mc2.total))
        add("\t\tComputing",
            lambda mc2: None if mc2.computing is None else (mc2.computing, NOT_COUNTED))
        add("\t\tCommunication", lambda mc2: (mc2.communication, NOT_COUNTED))


def add_categories(table, sides):
    def add(label, ask, **always):
        table.add(label, lambda side: ask(side) if side.is_told else None, **always)

    def add_part(label, *names):
        add(label, lambda side: counted(side.part(*names)))

    for family in FAMILIES:
        cube, vector = f"{family} (Cube)", f"{family} (Vector)"
        add_part(f"\t{family}", cube, vector)
        add_part(f"\t\t{cube}", cube)
        add_part(f"\t\t{vector}", vector)
    add_part("\tPage Attention", "Page Attention")
    add_part("\tVector", "Vector (Trans)", "Vector (No Trans)")
    add_part("\t\tVector (Trans)", "Vector (Trans)")
    add_part("\t\tVector (No Trans)", "Vector (No Trans)")
    add_part("\tCube", "Cube")
    add_part("\tSDMA (Tensor Move)", "SDMA (Tensor Move)")
    if any(side.is_told for side in sides):
        add("\tOther", lambda side: (side.other, NOT_COUNTED), always=True)


def add_groups(table, sides):
    times = [group_times.group_times(side.device, side.uncovered) for side in sides]
    for label, *groups in matched(*times):
        def value(ask, needs_tasks):
            return [(0, NOT_COUNTED) if group is None else
                    None if needs_tasks and not waits_are_known(side) else
                    (ask(group), NOT_COUNTED) for group, side in zip(groups, sides)]
        table.add_values(label, value(lambda group: group.time, False))
        table.add_values("\t\tWait", value(lambda group: group.wait, True))
        table.add_values("\t\tTransmit", value(lambda group: group.time - group.wait, True))
    shared = [group_times.pairs(time) for side, time in zip(sides, times)]
    table.add_values("\tUncovered Communication Overlapped",
                     [(sum(time for _, time in pairs), NOT_COUNTED) for pairs in shared])
    of_labels = [{frozenset(labels): time for labels, time in pairs} for pairs in shared]
    labels_of = {}
    for labels, _ in shared[0] + shared[1]:
        labels_of.setdefault(frozenset(labels), labels)
    for key, labels in labels_of.items():
        table.add_values("\t\t" + " & ".join(labels),
                         [(known.get(key, 0), NOT_COUNTED) for known in of_labels])


def waits_are_known(side):
    device = side.device
    return (any(task.name for task in device.collective_tasks)
            or any(group_times.parts_of_operations(device).values()))


def matched(base, comparison):
    """(label, of the base, of the comparison): first groups that alone have the name that the job
    gives them, then those of one name of the capture."""
    def only(times):
        names = [time.group.process_group for time in times]
        return {time.group.process_group: time for time in times
                if time.group.process_group and names.count(time.group.process_group) == 1}

    base_only, comparison_only = only(base), only(comparison)
    names = [name for name in base_only if name in comparison_only]
    for name in names:
        yield f"\t{name}: Communication", base_only[name], comparison_only[name]
    base, comparison = ({time.group.name: time for time in reversed(times)
                         if time.group.process_group not in names} for times in (base, comparison))
    for name in [*reversed(base), *(name for name in reversed(comparison) if name not in base)]:
        time = base.get(name) or comparison.get(name)
        prefix = f"{time.group.process_group}: " if time.group.process_group else ""
        yield f"\t{prefix}{name}", base.get(name), comparison.get(name)
