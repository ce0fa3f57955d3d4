# SPDX-License-Identifier: Apache-2.0
"""What the host did: operators, Python calls, launches, queued work, allocations. A thread is
(process, thread) as the capture writes them; times are whole nanoseconds."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

MISSING = "N/A"
STEP = "ProfilerStep#"


class Place(NamedTuple):
    """A time on a thread (process, thread)."""
    thread: tuple
    time: int

    def on(self, thread):
        return self._replace(thread=thread)


@dataclass(eq=False)
class Span:
    """An operator or a Python call. Shapes and types of a GPU trace are lists."""
    start: int
    end: int
    thread: tuple
    name: str
    shapes: object = MISSING
    types: object = MISSING
    stack: str = MISSING

    @property
    def place(self):
        return Place(self.thread, self.start)


class QueuedWork(NamedTuple):
    """Work that one thread asked for and another did."""
    asked: Place
    thread: tuple
    start: int
    end: int


@dataclass(eq=False)
class Allocation:
    name: str
    size: Fraction  # bytes
    start: int
    end: int | None  # None: never released
    asked: Place | None = None  # where queued work that made it was asked for

    @property
    def time(self):
        """When the host asked for it."""
        return self.asked.time if self.asked else self.start

    @property
    def duration(self):
        return self.end - self.start if self.end else 0


@dataclass
class Host:
    """Lists are in the order of the file."""
    operators: list = field(default_factory=list)
    threads: list = field(default_factory=list)  # of the operators of all steps
    calls: list = field(default_factory=list)
    # Places of launches by what ties device work to them: in traces the place at which the arrow
    # ends, in databases the connection. Those of the runtime are of copies.
    launches: dict = field(default_factory=dict)
    runtime_launches: dict = field(default_factory=dict)
    links: list = field(default_factory=list)  # (place in the forward pass, in the backward pass)
    backward_thread: object = None  # without its process
    queued: list = field(default_factory=list)
    allocations: list = field(default_factory=list)
    steps: dict = field(default_factory=dict)  # number: (start, end)

    def tie_allocations(self):
        """Finds who asked for what queued work allocated."""
        names = {operator.name for operator in self.operators}
        for allocation in self.allocations:
            if "cann::" in allocation.name or not (
                    allocation.name in names or "::" in allocation.name):
                work = work_at(self.queued, allocation.start)
                allocation.asked = work.asked if work else None

    def cut(self, number):
        """The host in one step. Calls around its start stay: call stacks go through them."""
        begin = self.steps[number][0]
        inside = lambda time: self.step_at(time) == number
        return replace(
            self,
            operators=[operator for operator in self.operators if inside(operator.start)],
            calls=[call for call in self.calls
                   if inside(call.start) or call.start < begin < call.end],
            links=[link for link in self.links if inside(link[0].time)],
            allocations=[allocation for allocation in self.allocations
                         if inside(allocation.time)])

    def step_at(self, time):
        """The number of the step that holds the time; an instant of two is of the later."""
        around = [(start, number) for number, (start, end) in self.steps.items()
                  if start <= time <= end]
        return max(around)[1] if around else None


def work_at(queued, time, thread=None):
    """The piece of queued work that was being done, on the thread or on any: of several the one
    that began last."""
    running = [work for work in queued
               if work.start <= time <= work.end and thread in (None, work.thread)]
    return max(running, key=lambda work: work.start, default=None)


def add_step(steps, name, start, end):
    """Notes the step that an operator of this name is."""
    number = name.partition(STEP)[2]
    if number.isdecimal():
        steps[int(number)] = (start, end)
