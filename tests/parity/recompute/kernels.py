# SPDX-License-Identifier: Apache-2.0
"""KernelCompare and KernelTypeCompare."""

from collections import defaultdict

from .durations import Durations, in_both, numbered
from .files import exact_ns
from .order import largest_change_first
from .sheets import share

MISSING = "N/A"


def kernel_compare(base, comparison, _options):
    sides = base, comparison
    if any(side.device.is_gpu or not side.device.kernels for side in sides):
        return None
    result = []
    for key, *both in in_both(*map(by_shapes, sides)):
        row = list(key)
        for kernels in both:
            row += values(kernels) if kernels else [0, 0, None, None, None]
        result.append(row + ratios(*both))
    return numbered(largest_change_first(result, change))


def change(row):
    """Of the totals."""
    total_of_base, total = 2, 7
    return row[total] - row[total_of_base]


def by_shapes(side):
    """{(type, shapes): durations}, the shapes of a type together."""
    types = defaultdict(lambda: defaultdict(Durations))
    for kernel in side.device.kernels:
        shapes = kernel.shapes or MISSING
        types[kernel.type or MISSING][kernel.type or MISSING, shapes].add(kernel.duration)
    return {key: kernels for shapes in types.values() for key, kernels in shapes.items()}


def kernel_type_compare(base, comparison, _options):
    result = []
    for key, *both in in_both(by_core(base), by_core(comparison)):
        row = list(key)
        for kernels in both:
            row += values(kernels) if kernels else [0] * 5
        result.append(row + ratios(*both))
    return numbered(largest_change_first(result, change)) or None


def by_core(side):
    """{(type, core): durations}."""
    kernels = [] if side.device.is_gpu else side.device.kernels
    table = side.capture.csv("op_statistic.csv") if side.capture.kind == "text" else []
    sums = defaultdict(Durations)
    if not any(kernel.type for kernel in kernels) and table and side.step is None:
        for row in table:
            sums[row["OP Type"], row["Core Type"]].add_summed(
                int(row["Count"]), *(exact_ns(row[f"{name} Time(us)"])
                                     for name in ("Total", "Max", "Min")))
        return sums
    for kernel in kernels:
        sums[kernel.type or MISSING, kernel.core or MISSING].add(kernel.duration)
    return sums


def values(kernels):
    return [kernels.total, kernels.average, kernels.most, kernels.least, kernels.calls]


def ratios(base, comparison):
    nothing = Durations()
    base, comparison = base or nothing, comparison or nothing
    return [share(comparison.total, base.total), share(comparison.average, base.average)]
