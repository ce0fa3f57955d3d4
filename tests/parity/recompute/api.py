# SPDX-License-Identifier: Apache-2.0
"""ApiCompare."""

from fractions import Fraction

from .host_operators import operators_of
from .host_records import STEP
from .host_tree import level_by_level
from .host_work import ms
from .operators import all_names, numbered
from .order import largest_change_first
from .sheets import share


def api_compare(base, comparison, options):
    named = [times_of_operators(side) for side in (base, comparison)]
    sides = [rows_of(side, options) for side in named]
    if not all(sides):
        return None
    rows = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        cells = [cells_of(side.get(key, [])) for side in sides]
        ratios = (share(now, before) for before, now in zip(*cells))
        name = all_names([name for side in named for name in side if options.row_name(name) == key])
        rows.append([name, *cells[0], *cells[1], *ratios])
    total_of_base, total = 1, 5
    return numbered(largest_change_first(rows, lambda row: row[total] - row[total_of_base]))


def rows_of(times, options):
    """With the names of a row together."""
    rows = {}
    for name, of_name in times.items():
        rows.setdefault(options.row_name(name), []).extend(of_name)
    return rows


def times_of_operators(side):
    """For each name the whole and the own time of each call, in ns. Names come in order of start,
    those of a step level by level."""
    operators, times = operators_of(side), {}
    nodes = operators.forest.nodes if side.step is None else level_by_level(operators.tops)
    for node in nodes:
        if STEP not in node.span.name:
            whole = node.span.end - node.span.start
            own = whole - sum(child.span.end - child.span.start for child in node.children)
            times.setdefault(node.span.name, []).append((whole, own))
    return times


def cells_of(times):
    """Total, self and average time, calls."""
    whole, own = (ms(sum(of_call[part] for of_call in times)) for part in (0, 1))
    return [whole, own, whole / len(times) if times else Fraction(0), len(times)]
