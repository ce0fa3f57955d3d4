# SPDX-License-Identifier: Apache-2.0
"""Spans of the host as trees, each thread for itself."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from .host_records import STEP


@dataclass(eq=False)
class Node:
    """A span with the spans inside it, what it launched and what it allocated."""
    span: object
    parent: object
    children: list = field(default_factory=list)
    work: list = field(default_factory=list)
    allocations: list = field(default_factory=list)

    def below(self):
        return level_by_level([self])

    def all_work(self):
        """What it and all inside it launched."""
        return [work for node in self.below() for work in node.work]

    def around(self):
        """The node and all it is inside of, from within."""
        node = self
        while node:
            yield node
            node = node.parent


def level_by_level(nodes):
    """The nodes and all inside them."""
    found = list(nodes)
    for node in found:
        found += node.children
    return found


class Forest:
    def __init__(self, spans):
        self.nodes = nest(spans)
        self._threads = {}
        for node in self.nodes:
            nodes, starts = self._threads.setdefault(node.span.thread, ([], []))
            nodes.append(node)
            starts.append(node.span.start)

    @property
    def roots(self):
        return [node for node in self.nodes if node.parent is None]

    def at(self, place):
        """The innermost node of the place's thread that holds its time, or None. The last instant
        of a node counts where nothing else holds it."""
        nodes, starts = self._threads.get(place.thread, ([], []))
        before = bisect_right(starts, place.time)
        around = list(nodes[before - 1].around()) if before else []
        inside = (node for node in around
                  if place.time < node.span.end or place.time == node.span.start)
        ending = (node for node in around if place.time == node.span.end)
        return next(inside, None) or next(ending, None)

    def around(self, place):
        """The innermost that begins before the place's time and ends behind it, or None."""
        nodes, starts = self._threads.get(place.thread, ([], []))
        before = bisect_left(starts, place.time)
        around = nodes[before - 1].around() if before else []
        return next((node for node in around if place.time < node.span.end), None)


def nest(spans):
    """Nodes in order of start. A span is inside another that starts before it, or together with it
    and ends later, as long as it starts before the other ends."""
    nodes, innermost = [], {}
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        parent = innermost.get(span.thread)
        while parent and span.start >= parent.span.end:
            parent = parent.parent
        node = Node(span, parent)
        if parent:
            parent.children.append(node)
        innermost[span.thread] = node
        nodes.append(node)
    return nodes


def outermost_operators(forest):
    """In order of start; a step is replaced by what is in it."""
    steps = {node for node in forest.roots if STEP in node.span.name}
    return [node for node in forest.nodes
            if node not in steps and (node.parent is None or node.parent in steps)]
