# SPDX-License-Identifier: Apache-2.0
"""What captures of all forms have in common: spans on the host and on the device, arrows between them, and time that is
put in or taken out. Times are ns."""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

HOST, DEVICE = "host", "device"
# Kinds of spans: op, python, call (of the runtime), queue (of torch_npu), kernel, copy, collective, task (a piece of a
# collective, or what only waits), mark (steps and other ranges), other.
WORK = ("kernel", "copy", "collective", "task")


@dataclass(eq=False)
class Span:
    name: str
    kind: str
    side: str
    lane: object  # thread or stream
    start: int
    end: int
    record: object = field(repr=False, default=None)  # what the form has of it
    link: object = None  # joins a call and its work
    thread: object = None  # of what is added: another one than that of its model

    @property
    def dur(self):
        return self.end - self.start

    def covers(self, time):
        return self.start < time < self.end


class Clock:
    """Time that is put in at moments (what begins later moves, what lasts longer stretches), or taken out after them."""

    def __init__(self):
        self.cuts = []  # (moment, ns; less than 0: taken out of what follows the moment)

    def add(self, at, extra):
        self.cuts.append((at, extra))

    def __call__(self, time, is_end=False):
        moved = time
        for at, extra in self.cuts:
            if extra < 0:
                moved -= min(max(time - at, 0), -extra)
            elif at < time or at == time and not is_end:
                moved += extra
        return moved


class Capture:
    """Subclasses read `spans`, `arrows` [(begin, end)] of what is launched, and write."""

    def __init__(self, path):
        self.path = path
        self.spans, self.arrows = [], []
        self.clocks = {HOST: Clock(), DEVICE: Clock()}
        self.own = {}  # id(span) -> (start, end) of those that the clocks do not move
        self.lanes = {}  # lane -> its own clock
        self.added = []  # spans, in the new time

    # -- what there is

    def of(self, *kinds, name=None):
        found = [s for s in self.spans if s.kind in kinds and (name is None or name in s.name)]
        return sorted(found, key=lambda span: (span.start, -span.end))

    def steps(self):
        return self.of("step")

    def work(self):
        return self.of(*WORK)

    def compute_lane(self):
        """The stream of most kernels."""
        return Counter(s.lane for s in self.of("kernel")).most_common(1)[0][0]

    def quiet(self):
        """A test of moments at which the host may pause alone: the device has done all that was launched, no call of
        the runtime is going on, and nothing that was launched before begins later."""
        busy = _union([(s.start, s.end) for s in self.spans if s.kind in (*WORK, "call")]
                      + [(min(a, b), max(a, b)) for a, b in self.arrows])
        starts = [a for a, _ in busy]

        def is_quiet(time):
            at = bisect_right(starts, time) - 1
            return at < 0 or busy[at][1] < time
        return is_quiet

    def is_launching(self):
        """A test of moments: the next work of the device is launched later."""
        starts = sorted(min(a, b) for a, b in self.arrows)

        def follows(time, until):
            at = bisect_right(starts, time)
            return at < len(starts) and starts[at] < until
        return follows

    # -- what is changed

    def pause(self, at, extra):
        """Host and device stand still: a quiet moment, or one at which the host waits for the device."""
        self.clocks[HOST].add(at, extra)
        self.clocks[DEVICE].add(at, extra)

    def lane_clock(self, lane):
        """The clock of a stream that goes on otherwise than the device from here."""
        clock = self.lanes[lane] = Clock()
        clock.cuts = list(self.clocks[DEVICE].cuts)
        return clock

    def now(self, span):
        """(start, end) in the new time."""
        clock = self.lanes.get(span.lane) or self.clocks[span.side]
        return self.own.get(id(span)) or (clock(span.start), clock(span.end, is_end=True))

    def add(self, like, name, start, end, link=None):
        """A span as `like` is, of the same thread or stream; times are new ones."""
        span = Span(name, like.kind, like.side, like.lane, start, end, like.record, link)
        self.added.append(span)
        return span


def _union(intervals):
    result = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([start, end])
    return result
