# SPDX-License-Identifier: Apache-2.0
"""OperatorCompare and OperatorCompareStatistic."""

from fractions import Fraction

from .host_operators import operators_of
from .host_work import describe, ms, total, us
from .matching import match_operators
from .host_modules import have_modules
from .order import largest_change_first
from .sheets import share


def operator_compare(base, comparison, options):
    if options.disable_details or have_modules(base, comparison, options):
        return None
    return detail_rows(base, comparison, options,
                       lambda node: (describe(node.all_work()), us(total(node.all_work()))))


def operator_statistic(base, comparison, options):
    if have_modules(base, comparison, options):
        return None
    return statistic_rows(base, comparison, options,
                          lambda nodes: (sum((ms(total(node.all_work())) for node in nodes),
                                             Fraction(0)),))


def detail_rows(base, comparison, options, measure):
    """A row for each pair of operators; measure(node) is a text and a number."""
    rows = []
    for pair in match_operators(operators_of(base), operators_of(comparison), options):
        cells, numbers = [], []
        for node in pair:
            details, number = measure(node) if node else (None, Fraction(0))
            texts = (node.span.name, str(node.span.shapes), str(node.span.types)) if node \
                else (None, None, None)
            cells += [*texts, details, number]
            numbers.append(number)
        rows.append([*cells, *compared(*numbers)])
    return numbered(rows)


def statistic_rows(base, comparison, options, measure):
    """A row for each name, what changed most first; measure(nodes) is some numbers, the last
    of which is compared."""
    pairs = match_operators(operators_of(base), operators_of(comparison), options)
    names = {}
    for side in (0, 1):
        for pair in pairs:
            if pair[side]:
                key = options.row_name(pair[side].span.name)
                names.setdefault(key, ([], []))[side].append(pair[side])
    rows = []
    for sides in names.values():
        name = all_names([node.span.name for nodes in sides for node in nodes])
        numbers = [measure(nodes) for nodes in sides]
        cells = [cell for of_side, nodes in zip(numbers, sides) for cell in (*of_side, len(nodes))]
        rows.append([name, *cells, *compared(*(of_side[-1] for of_side in numbers))])
    return numbered(largest_change_first(rows, lambda row: row[-2]))


def all_names(names):
    """Each of them once."""
    return " = ".join(dict.fromkeys(names))


def compared(base, comparison):
    """The cells of the difference and the ratio."""
    return comparison - base, share(comparison, base)


def numbered(rows):
    """The rows of a sheet, which must not be there without any."""
    return [[number, *row] for number, row in enumerate(rows, 1)] or None
