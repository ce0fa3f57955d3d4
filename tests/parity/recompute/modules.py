# SPDX-License-Identifier: Apache-2.0
"""ModuleCompare and ModuleCompareStatistic."""

import re

from .host_modules import have_modules, passes_of
from .host_work import describe, ms, total, us
from .matching import alone, match
from .operators import all_names, compared, numbered
from .order import largest_blocks_first
from .sheets import round_half_away


def module_statistic(base, comparison, options):
    if not have_modules(base, comparison, options):
        return None
    names = {}
    for side in (0, 1):
        for pair in matched_modules(base, comparison, options):
            if pair[side]:
                names.setdefault(pair[side].full_name, ([], []))[side].append(pair[side])
    blocks = []
    for name, modules in names.items():
        first = [class_of(name), name.count("/"), displayed(name)]
        blocks.append([[*first, "[ TOTAL ]", *cells_of_modules(modules)],
                       *([*first, *cells] for cells in rows_of_operators(modules, options))])
    whole, own = 12, 13  # differences: modules have both, operators their own
    return numbered(largest_blocks_first(
        blocks, lambda row: row[own] if row[whole] is None else row[whole]))


def module_compare(base, comparison, options):
    if options.disable_details or not have_modules(base, comparison, options):
        return None
    rows = []
    for pair in matched_modules(base, comparison, options):
        named = pair[0] or pair[1]
        first = [class_of(named.full_name), named.depth + 1, displayed(named.full_name)]
        rows.append([*first, *cells_of_pair(pair)])
        sides = [module.operators if module else [] for module in pair]
        rows += [[*first, *cells_of_operators(operators)]
                 for operators in match(*sides, key=lambda operator: options.row_name(operator.span.name))]
    return numbered(rows)


def class_of(name):
    return re.sub("_[0-9]+$", "", name.rpartition("/")[2])


def displayed(name):
    return name.replace("nn.Module:", "")


def matched_modules(base, comparison, options):
    """Pairs in order of the base's start. Those of the comparison alone come before the first that
    starts later."""
    matching = alone if options.disable_details else \
        lambda left, right: match(left, right, lambda module: module.full_name)
    pairs = []
    for left, right in zip(passes_of(base), passes_of(comparison)):
        found = matching(left.roots, right.roots)
        for pair in found:
            inner = [one.children(module) if module else []
                     for one, module in zip((left, right), pair)]
            found += matching(*inner)
        pairs += found
    ordered = []
    new = sorted((pair for pair in pairs if not pair[0]), key=lambda pair: pair[1].start)
    for pair in sorted((pair for pair in pairs if pair[0]), key=lambda pair: pair[0].start):
        while pair[1] and new and new[0][1].start < pair[1].start:
            ordered.append(new.pop(0))
        ordered.append(pair)
    return ordered + new


def self_time(modules):
    return total([work for module in modules for work in module.node.work])


def total_time(modules):
    return total([work for module in modules for work in module.node.all_work()])


def cells_of_modules(modules):
    """The cells of all modules of a name, in milliseconds."""
    own, whole = ([ms(time(side)) for side in modules] for time in (self_time, total_time))
    cells = []
    for side in (0, 1):
        cells += [None, own[side], len(modules[side]), whole[side]]
    difference, ratio = compared(*whole)
    return [*cells, difference, own[1] - own[0], ratio,
            *(side[0].call_stack if side else None for side in modules)]


def rows_of_operators(modules, options):
    """The cells of each operator of all modules of a name."""
    names = {}
    for side in (0, 1):
        for module in modules[side]:
            for operator in module.operators:
                key = options.row_name(operator.span.name)
                names.setdefault(key, ([], []))[side].append(operator)
    for sides in names.values():
        name = all_names([operator.span.name for side in sides for operator in side])
        works = [[work for operator in side for work in operator.work] for side in sides]
        own = [ms(total(side)) for side in works]
        cells = []
        for side in (0, 1):
            cells += [describe_kernels(works[side]), own[side], len(sides[side]), None]
        difference, ratio = compared(*own)
        yield [name, *cells, None, difference, ratio, None, None]


def describe_kernels(works):
    names = {}
    for work in works:
        names.setdefault(work.name, []).append(work)
    return "".join(f"{name}, [number: {len(found)}], "
                   f"[duration_ms: {float(round_half_away(ms(total(found)), 3)):.3f}]\n"
                   for name, found in names.items())


def cells_of_pair(pair):
    """The cells of one call on both sides, in microseconds."""
    sides = [[module] if module else [] for module in pair]
    own, whole = ([us(time(side)) for side in sides] for time in (self_time, total_time))
    cells = []
    for side in (0, 1):
        cells += ["TOTAL", None, own[side], whole[side]]
    difference, ratio = compared(*whole)
    return [*cells, difference, own[1] - own[0], ratio,
            *(module.call_stack if module else None for module in pair)]


def cells_of_operators(pair):
    cells, own, stacks = [], [], []
    for operator in pair:
        work = operator.work if operator else []
        own.append(us(total(work)))
        stacks.append(operator.span.stack if operator else None)
        cells += [operator.span.name if operator else None, describe(work), own[-1], None]
    difference, ratio = compared(*own)
    is_slower = round_half_away(difference, 2) > 0  # nobody asks why it became faster
    return [*cells, None, difference, ratio, *(stacks if is_slower else (None, None))]
