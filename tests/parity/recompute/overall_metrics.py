# SPDX-License-Identifier: Apache-2.0
"""Where the time of one side went, in nanoseconds."""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from . import intervals
from .categories import MC2, MOVE, Categories, core_of
from .device_records import COPIES

NOT_WORK = ("KERNEL_AICORE", "KERNEL_AIVEC", "FFTS_PLUS", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV",
            "PROFILING_ENABLE", "PROFILING_DISABLE")
WAITS = ("EVENT_WAIT_SQE", "EVENT_WAIT")
COMPUTING_TYPES = ("AI_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "AI_VECTOR_CORE", "FFTS_PLUS")


@dataclass
class Part:
    time: int = 0
    count: int = 0

    def add(self, time):
        self.time += time
        self.count += 1


@dataclass
class Mc2:
    total: Part = field(default_factory=Part)
    computing: int | None = 0  # None: the units of a call were not measured
    communication: int = 0


class Metrics:
    def __init__(self, side):
        self.device = device = side.device
        self.is_gpu = device.is_gpu
        self._categorise(side)
        lccl = [work for work in device.collectives if work.is_lccl]
        self.lccl = Part(sum(work.length for work in lccl), len(lccl))
        busy = self._times(side, lccl)
        self.uncovered_time = intervals.length(self.uncovered)
        self.free = self.e2e - self.computing - self.lccl.time - self.uncovered_time
        self._copies(busy)
        self.reserved = most_reserved(device.reserved)
        self.bandwidth = {transport: bandwidth(device.traffic, transport)
                          for transport in ("RDMA", "SDMA")}

    def _categorise(self, side):
        kernels = self.device.kernels
        self.parts, self.mc2 = defaultdict(Part), {}
        self.is_told = self.is_gpu or 2 * sum(core_of(kernel) is not None
                                              for kernel in kernels) > len(kernels)
        if not self.is_told:
            return
        categories = Categories(side)
        for kernel in sorted(kernels, key=lambda kernel: kernel.launch.time if kernel.launch
                             else 0):
            category = categories.of(kernel)
            if category == MC2:
                self._add_mc2(kernel)
            elif category:
                self.parts[category].add(kernel.length)

    def _add_mc2(self, kernel):
        mc2 = self.mc2.setdefault(kernel.name, Mc2())
        mc2.total.add(kernel.length)
        counters = kernel.counters
        if mc2.computing is None or not {"aic_mac", "aic_mte2"} & {*counters}:
            mc2.computing = None
        else:
            mc2.computing += (max(counters.get("aic_mac", 0), counters.get("aic_mte2", 0))
                              + counters.get("aiv_total", 0))
        ends = sorted(task.end for task in self.device.tasks
                      if "C_CORE_SQE" in (task.name, task.type)
                      and kernel.start <= task.end <= kernel.end)
        mc2.communication += sum(end - begin for begin, end in zip(ends[::2], ends[1::2]))

    def _times(self, side, lccl):
        """Sets e2e, computing and uncovered; returns the times that are not free."""
        device = self.device
        # From the work, whatever the profiler's own analysis says. That tells of what there is no table at all, but
        # not of one step: it is cut at the bounds, where work of another step may reach over.
        analysed = [] if side.step is not None and device.kernels else device.overlaps
        named = lambda *names: [work for work in analysed if work.name in names]
        computing = device.kernels or named("Computing")
        collectives = device.collectives or named("Communication", "Communication(Not Overlapped)")
        self.computing = intervals.length(intervals.of(computing))
        self.uncovered = intervals.minus(
            intervals.of(work for work in collectives if work not in lccl), intervals.of(computing))
        spanning = [*([] if device.kernels else analysed), *device.kernels, *device.collectives,
                    *(task for task in device.tasks if (task.type or not task.name) and not {task.name, task.type} & set(NOT_WORK))]
        self.begin = min((work.start for work in spanning), default=0)
        self.end = max((work.end for work in spanning), default=0)
        if self.is_gpu:  # other streams may run ahead while the device works for earlier steps
            self.begin = min(self.end, max(self.begin, device.opens))
        self.e2e = self.end - self.begin
        busy = intervals.of(computing)
        if self.is_gpu:
            within = [(self.begin, self.end)]
            busy, self.uncovered = (intervals.common(times, within) for times in (busy, self.uncovered))
            self.computing = intervals.length(busy)
        return intervals.union([*busy, *self.uncovered, *intervals.of(lccl)])

    def _copies(self, busy):
        """copies: those on streams that compute and, where streams wait for events at all, wait;
        free_copies: the part of them that lies in free time."""
        tasks = self.device.tasks
        if self.is_gpu:
            copies = tasks
        else:
            streams = {kernel.stream for kernel in self.device.kernels} - {None} or {
                task.stream for task in tasks if task.type in COMPUTING_TYPES}
            waiting = {task.stream for task in tasks if task.type in WAITS}
            copies = [task for task in tasks if task.type in COPIES and task.stream in streams
                      and (not waiting or task.stream in waiting)]
        free = intervals.common(intervals.minus(intervals.of(copies), busy),
                                [(self.begin, self.end)] if self.e2e else [])
        self.free_copies = intervals.length(free)
        self.copies = Part(self.free_copies if self.is_gpu
                           else sum(copy.length for copy in copies), len(copies))

    def part(self, *names):
        """The sum of some categories."""
        parts = [self.parts[name] for name in names]
        return Part(sum(part.time for part in parts), sum(part.count for part in parts))

    def family(self, name):
        return self.part(f"{name} (Cube)", f"{name} (Vector)")

    @property
    def vector(self):
        return self.part("Vector (Trans)", "Vector (No Trans)")

    @property
    def all_kernels(self):
        """Everything with a category, without kernels that also communicate."""
        return self.part(*list(self.parts))

    @property
    def mc2_time(self):
        return sum(mc2.total.time for mc2 in self.mc2.values())

    @property
    def other(self):
        return max(0, self.computing - self.all_kernels.time - self.mc2_time)

    @property
    def moves(self):
        return self.part(MOVE)


def most_reserved(samples):
    """What all allocators held at once: of each the last number counts. Sums of some ("PTA+GE") and what the
    process took ("APP") are no allocators. None: nothing was recorded."""
    most, last = None, {}
    for _, component, size in sorted(samples, key=lambda sample: sample[0]):
        if component != "APP" and "+" not in component:
            last[component] = size
            most = max(most or 0, sum(last.values()))
    return most


@cache
def metrics_of(side):
    return Metrics(side)


def bandwidth(traffic, transport):
    """Gigabytes in a second, over all there is."""
    own = [entry for entry in traffic if entry[1] == transport]
    milliseconds = sum(entry[3] for entry in own)
    return Fraction(sum(entry[2] for entry in own)) / milliseconds if milliseconds > 0 else 0
