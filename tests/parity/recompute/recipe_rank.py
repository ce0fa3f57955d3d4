# SPDX-License-Identifier: Apache-2.0
"""A rank as the recipes see it: operators with what they launched, and threads that work for one
another."""

import re
from collections import Counter, defaultdict
from functools import cached_property

from . import device, host, mstx_marks
from .device_records import Collective
from .host_tree import Forest

NUMBER_OF_DATABASE = re.compile(r"_(\d+)\.db")
NUMBER_OF_COLLECTIVE = re.compile(r"_\d+_\d+_\d+$")


class Rank:
    def __init__(self, capture):
        self.capture = capture
        self.host = host.load(capture)
        self.device = device.load(capture, self.host)
        self._operators = Forest(self.host.operators)

    @cached_property
    def number(self):
        """As the profiler wrote it, else by the name of the database."""
        for file in sorted(self.capture.root.glob("profiler_info*.json")):
            return int(self.capture.json(file.name)["rank_id"])
        return int(NUMBER_OF_DATABASE.search(self.capture.database.name)[1])

    def ranges(self, domain):
        return mstx_marks.ranges(self.capture, self.host, domain)

    def operator_at(self, place):
        node = self._operators.at(place) if place else None
        return node.span if node else None

    @cached_property
    def links(self):
        """(operator of the forward pass, operator of the backward pass)."""
        pairs = [tuple(map(self.operator_at, link)) for link in self.host.links]
        return [pair for pair in pairs if None not in pair]

    @cached_property
    def work(self):
        """{operator: what it launched}, kernels first, then collectives, each in order of start;
        operators in the order in which the device begins with their kernels."""
        kernels = {(kernel.launch, kernel.start) for kernel in self.device.kernels}
        collectives = [collective for collective in self.device.collectives
                       if not collective.is_lccl
                       or (collective.launch, collective.start) not in kernels]
        launched = defaultdict(list)
        for table in (self.device.kernels, collectives):
            for item in sorted(table, key=lambda item: item.start):
                launched[self.operator_at(item.launch)].append(item)
        launched.pop(None, None)
        return launched

    @cached_property
    def group_of(self):
        """Of each thread with operators the first of those that work for one another: one runs the
        backward pass of another's operators, as links tell or else the autograd engine."""
        links = Counter((backward.thread, forward.thread) for forward, backward in self.links
                        if backward.thread != forward.thread)
        operators = self.host.operators
        engines = {operator.thread for operator in operators
                   if operator.name.startswith("autograd::engine::")}
        others = Counter(operator.thread for operator in operators
                         if operator.thread not in engines)
        works_for = {engine: others.most_common(1)[0][0] for engine in engines if others}
        works_for |= {backward: forward
                      for (backward, forward), _ in reversed(links.most_common())}
        groups = {operator.thread: operator.thread for operator in operators}
        for pair in works_for.items():
            merged = {groups[thread] for thread in pair}
            groups = {thread: min(merged) if group in merged else group
                      for thread, group in groups.items()}
        return groups


def name_of(item):
    """A collective by its type, for its own name occurs once."""
    if isinstance(item, Collective):
        return NUMBER_OF_COLLECTIVE.sub("", item.type or item.name)
    return item.name
