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
            nodes, starts, last_ends = self._threads.setdefault(node.span.thread, ([], [], []))
            nodes.append(node)
            starts.append(node.span.start)
            last_ends.append(max(node.span.end, *last_ends[-1:]) if last_ends else node.span.end)

    @property
    def roots(self):
        return [node for node in self.nodes if node.parent is None]

    def at(self, place):
        """The innermost node of the place's thread that holds its time, or None. The last instant
        of a node counts where nothing else holds it."""
        around = list(self._open(place, bisect_right))
        inside = (node for node in around
                  if place.time < node.span.end or place.time == node.span.start)
        ending = (node for node in around if place.time == node.span.end)
        return next(inside, None) or next(ending, None)

    def around(self, place):
        """The innermost that begins before the place's time and ends behind it, or None."""
        return next((node for node in self._open(place, bisect_left) if place.time < node.span.end), None)

    def enclosing(self, span):
        """The innermost that begins before the span and that the span does not outlive, or None."""
        return next((node for node in self._open(span.place, bisect_left) if node.span.end >= within(span)), None)

    def _open(self, place, bisect):
        """Those that may hold the place's time, what began last first, steps behind all others."""
        nodes, starts, last_ends = self._threads.get(place.thread, ([], [], []))
        steps = []
        for at in range(bisect(starts, place.time) - 1, -1, -1):
            if last_ends[at] < place.time:
                break
            if STEP in nodes[at].span.name:
                steps.append(nodes[at])
            else:
                yield nodes[at]
        yield from steps


def within(span):
    """What another has to last for to hold the span: times are rounded to microseconds."""
    return max(span.end - min(1000, (span.end - span.start) // 2), span.start + 1)


def nest(spans):
    """Nodes in order of start. A span is inside the innermost other that starts before it, or together with it, and that
    it does not outlive by more than a microsecond or half of its own length. A step holds what nothing else holds."""
    nodes, before = [], {}
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        others = before.setdefault(span.thread, [])
        holds = [node for node in others if node.span.end >= within(span)]
        parent = next((node for node in reversed(holds) if STEP not in node.span.name), None)
        if parent is None:
            parent = next(reversed(holds), None)
        node = Node(span, parent)
        if parent:
            parent.children.append(node)
        others[:] = [node for node in others if node.span.end > span.start] + [node]
        nodes.append(node)
    return nodes


def outermost_operators(forest):
    """In order of start; a step is replaced by what is in it."""
    steps = {node for node in forest.roots if STEP in node.span.name}
    return [node for node in forest.nodes
            if node not in steps and (node.parent is None or node.parent in steps)]
