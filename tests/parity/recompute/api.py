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
    named = [calls_of_operators(side) for side in (base, comparison)]
    sides = [rows_of(side, options) for side in named]
    if not all(sides):
        return None
    rows = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        cells = [cells_of(side.get(key, []), key, options) for side in sides]
        ratios = (share(now, before) for before, now in zip(*cells))
        name = all_names([name for side in named for name in side if options.row_name(name) == key])
        rows.append([name, *cells[0], *cells[1], *ratios])
    total_of_base, total = 1, 5
    return numbered(largest_change_first(rows, lambda row: row[total] - row[total_of_base]))


def rows_of(calls, options):
    """With the names of a row together."""
    rows = {}
    for name, of_name in calls.items():
        rows.setdefault(options.row_name(name), []).extend(of_name)
    return rows


def calls_of_operators(side):
    """The calls of each name. Names come in order of start, those of a step level by level."""
    operators, calls = operators_of(side), {}
    nodes = operators.forest.nodes if side.step is None else level_by_level(operators.tops)
    for node in nodes:
        if STEP not in node.span.name:
            calls.setdefault(node.span.name, []).append(node)
    return calls


def cells_of(calls, key, options):
    """Total, self and average time, calls. The Python tool counts a call within another of the row again."""
    length = lambda node: node.span.end - node.span.start
    own = ms(sum(length(node) - sum(map(length, node.children)) for node in calls))
    each = ms(sum(map(length, calls)))
    outer = [node for node in calls
             if not any(options.row_name(around.span.name) == key for around in list(node.around())[1:])]
    whole = each if options.compat else ms(sum(map(length, outer)))
    return [whole, own, each / len(calls) if calls else Fraction(0), len(calls)]
