# SPDX-License-Identifier: Apache-2.0
"""MemoryCompare and MemoryCompareStatistic."""

from fractions import Fraction

from .host_work import ms, us
from .operators import detail_rows, statistic_rows


def memory_compare(base, comparison, options):
    if options.disable_details:
        return None
    return detail_rows(base, comparison, options, describe_allocations)


def memory_statistic(base, comparison, options):
    return statistic_rows(base, comparison, options, sums)


def allocations_of(node):
    """Those of the node and of all inside it, each with the name that it goes by."""
    return [(allocation.name if allocation.asked else inner.span.name, allocation)
            for inner in node.below() for allocation in inner.allocations]


def sums(nodes):
    """Milliseconds and megabytes."""
    found = [allocation for node in nodes for _, allocation in allocations_of(node)]
    return (sum((ms(allocation.duration) for allocation in found), Fraction(0)),
            sum((allocation.size for allocation in found), Fraction(0)) / 2 ** 20)


def describe_allocations(node):
    found = allocations_of(node)
    lines = [f"{name}, ({micros(allocation.start)}, {end_of(allocation)}), "
             f"[duration: {float(us(allocation.duration))}], "
             f"[size: {float(allocation.size / 1024)}]\n" for name, allocation in found]
    return "".join(lines), sum((allocation.size for _, allocation in found), Fraction(0)) / 1024


def end_of(allocation):
    """Only NPU captures give a time to what was never released."""
    if allocation.end:
        return micros(allocation.end)
    return "0" if allocation.name else "None"


def micros(time):
    return f"{time // 1000}.{time % 1000:03}"
