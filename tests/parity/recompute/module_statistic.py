# SPDX-License-Identifier: Apache-2.0
"""The rows of `-m module_statistic`: operators at their places in modules, with their kernels."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby

from .recipe_rank import name_of

ANY_THREAD = object()  # the group of ranges whose thread runs no operators
PYTHON_MODULE = re.compile(r"nn\.Module: (.*)_\d+")


@dataclass(eq=False)
class Module:
    name: str
    group: object
    start: int
    end: int
    backward: bool = False
    parent: "Module" = None

    def holds(self, item):
        return self.start <= item.start and item.end <= self.end

    @property
    def around(self):
        """The modules around it, the outermost first."""
        return [*self.parent.around, self.parent] if self.parent else []

    @property
    def path(self):
        return "/".join(module.name for module in self.around).strip("/")

    @property
    def title(self):
        backward = any(module.backward for module in [*self.around, self])
        return ("[Backward]" if backward else "") + self.name


@dataclass(eq=False)
class Row:
    parent: str
    module: str
    op: str
    kernels: str
    place: int  # of the operator in its module
    variant: tuple  # the operators of the module
    calls: list = field(default_factory=list)  # (operator, what it launched)

    @property
    def total(self):
        return sum(kernel.length for _, work in self.calls for kernel in work)

    @property
    def average(self):
        return Fraction(self.total, len(self.calls))

    @property
    def first(self):
        return min(op.start for op, _ in self.calls)


def nest(modules):
    """Sets the parents; returns the modules from the outside in."""
    ordered = sorted(modules, key=lambda module: (module.start, -module.end))
    for place, module in enumerate(ordered):
        around = [other for other in ordered[:place]
                  if other.group == module.group and other.holds(module)]
        module.parent = around[-1] if around else None
    return ordered


def place_of(op, group, modules):
    """The innermost module that holds the operator, else the innermost in which it begins."""
    for groups in ((group,), (ANY_THREAD,)):
        own = [module for module in modules if module.group in groups]
        found = ([module for module in own if module.holds(op)]
                 or [module for module in own if module.start < op.start < module.end])
        if found:
            return found[-1]
    return None


def forward_modules(rank):
    marked = rank.ranges("Module")
    if marked:
        return [Module(mark.text or "(unnamed)", rank.group_of.get(mark.thread, ANY_THREAD),
                       mark.start, mark.end) for mark in marked]
    calls = [(call, PYTHON_MODULE.fullmatch(call.name)) for call in rank.host.calls]
    return [Module(match[1], rank.group_of.get(call.thread, ANY_THREAD), call.start, call.end)
            for call, match in sorted(calls, key=lambda item: item[0].start) if match]


def backward_modules(rank, modules):
    """Where operators in a row run the backward pass of one call of a module, it runs."""
    of_module = [(backward, place_of(forward, rank.group_of[forward.thread], modules))
                 for forward, backward in sorted(rank.links, key=lambda pair: pair[1].start)]
    of_module = [(backward, module) for backward, module in of_module if module]
    parents, children = [], []
    for module, run in groupby(of_module, key=lambda item: item[1]):
        ops = [op for op, _ in run]
        start, end = min(op.start for op in ops), max(op.end for op in ops)
        group = rank.group_of[ops[0].thread]
        if module.path:
            parents.append(Module(module.path, group, start - 1, end + 1, True))
        children.append(Module(module.name, group, start, end, True))
    return parents + children


def rows(rank, backward=True):
    modules = nest(forward_modules(rank))
    if backward:
        modules = nest(modules + backward_modules(rank, modules))
    calls = defaultdict(list)
    for op in sorted(rank.work, key=lambda op: (op.start, -op.end)):
        module = place_of(op, rank.group_of[op.thread], modules)
        if module:
            calls[module].append((op, rank.work[op]))
    merged = {}
    for module in sorted(calls, key=lambda module: (module.start, calls[module][0][0].start)):
        variant = tuple(op.name for op, _ in calls[module])
        for place, (op, work) in enumerate(calls[module]):
            row = Row(module.path, module.title, op.name,
                      ", ".join(name_of(item) for item in work), place, variant)
            key = (row.parent, row.module, row.op, row.kernels, place, variant)
            merged.setdefault(key, row).calls.append((op, work))
    numbers = {}
    for row in merged.values():
        numbers.setdefault(row.variant, len(numbers))
    # Rows that begin in one instant come in the order of what tells them apart.
    ordered = sorted(merged.values(),
                     key=lambda row: (row.first, row.parent, row.module, row.op, row.place,
                                      row.kernels, numbers[row.variant]))
    name_variants(ordered, numbers)
    return sorted(ordered, key=lambda row: (row.first, row.place))


def name_variants(ordered, numbers):
    """Tells variants apart where rows of several follow one another."""
    for _, run in groupby(ordered, key=lambda row: (row.parent, row.module)):
        run = list(run)
        variants = sorted({numbers[row.variant] for row in run})
        for row in run if len(variants) > 1 else []:
            row.module += f"_{variants.index(numbers[row.variant])}"
