# SPDX-License-Identifier: Apache-2.0
"""The operators of one side with what they launched and allocated."""

from functools import lru_cache

from .host_records import Place
from .host_tree import Forest, outermost_operators
from .host_work import launched_work


class Operators:
    def __init__(self, side):
        self._threads = side.host.threads
        self.backward_thread = side.host.backward_thread
        self.forest = Forest(side.host.operators)
        self.tops = outermost_operators(self.forest)
        for work in launched_work(side.device):
            node = self.forest.at(work.place)
            if node:
                node.work.append(work)
        for allocation in sorted(side.host.allocations, key=lambda found: found.time):
            node = self._asked_by(allocation)
            if node:
                node.allocations.append(allocation)

    def _asked_by(self, allocation):
        """The operator that asked for an allocation: one of its name, else the one that started
        last."""
        if allocation.asked:
            return self.forest.at(allocation.asked)
        running = [node for thread in self._threads
                   if (node := self.forest.at(Place(thread, allocation.start)))]
        return max(running, default=None,
                   key=lambda node: (node.span.name == allocation.name, node.span.start))


operators_of = lru_cache(maxsize=None)(Operators)
