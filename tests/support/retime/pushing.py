# SPDX-License-Identifier: Apache-2.0
"""A host that runs ahead of one stream: kernels that take longer push those behind them, until the host waits.

A kernel begins once it was launched and the one before it is over. A call of the host that ended when the device was done
ends with it again; the host goes on later by as much, and so does all that it launches.
"""

from dataclasses import dataclass

from .capture import DEVICE, HOST

TIGHT = 3_000  # ns; a kernel begins that soon after the one before: the device has more to do
LATENCY = 4_000  # from launch to start, where nothing is in front
WAITS = ("Synchronize", "Memcpy")


def push(capture, extra):
    """Lengthens kernels by extra, {id(span): ns}."""
    plain, changed = _run(capture, {}), _run(capture, extra)
    for span, (start, end) in changed.times.items():  # what the model gets wrong, it gets wrong in both
        capture.own[id(span)] = tuple(old + new - base for old, new, base in zip(
            (span.start, span.end), (start, end), plain.times[span]))
    for at, later in changed.cuts:
        capture.clocks[HOST].add(at, later)
        capture.clocks[DEVICE].add(at, later)  # for other streams


@dataclass
class _Outcome:
    times: dict  # of work: span -> (start, end)
    cuts: list  # of the host's clock


def _run(capture, extra):
    lane = capture.compute_lane()
    calls = capture.calls
    events = [(calls[w.link].start if w.link in calls else w.start, 0, w) for w in capture.work() if w.lane == lane]
    events += [(call.end, 1, call) for call in capture.of("call") if any(name in call.name for name in WAITS)]
    outcome, shift, free, before = _Outcome({}, []), 0, None, None
    for time, kind, what in sorted(events, key=lambda e: e[:2]):
        if kind == 0:
            ready = _ready(what, time, shift, before)
            start = ready if free is None else max(ready, free + max(0, min(what.start - before.end, 1000)))
            free = start + what.dur + extra.get(id(what), 0)
            outcome.times[what] = (start, free)
            before = what
            continue
        if before is not None and abs(what.end - before.end) < 50_000:
            later = max(0, free - before.end - shift)
            outcome.cuts.append((what.end - 1, later))
            shift += later
    return outcome


def _ready(kernel, launched, shift, before):
    """When a kernel could begin at the earliest."""
    waited_for_host = before is None or kernel.start - before.end > TIGHT
    return launched + shift + (kernel.start - launched if waited_for_host else min(kernel.start - launched, LATENCY))
