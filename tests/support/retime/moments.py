# SPDX-License-Identifier: Apache-2.0
"""Moments of a capture at which a host may stand still so that the step gets longer by just as much."""


def in_span(capture, kinds, name, begin, end, outside=()):
    """A moment in a span of that name itself, not in what it calls; not within spans of the kinds `outside`. The
    device is done by then, and waits for what is launched next."""
    quiet, launches = capture.quiet(), capture.is_launching()
    # What is open, by the innermost first; marks and steps do not count.
    recorded = [s for s in capture.of("op", "python", "call", "queue", "other") if s.side == "host"]
    for span in capture.of(*kinds, name=name):
        if not begin <= span.start < end:
            continue
        for moment in _own_moments(span, recorded):
            covering = [s for s in recorded if s.covers(moment)]
            if any(s.kind in outside for s in covering) or not quiet(moment) or not launches(moment, end):
                continue
            if all(s.lane == span.lane or _waits_for(s) for s in covering):
                return moment
    raise ValueError(f"no quiet moment in {name}")


def _waits_for(span):
    """What covers much on another thread: the main thread during a backward pass."""
    return span.kind in ("python", "other") or span.dur > 1_000_000


def _own_moments(span, recorded):
    """Middles of the times between what a span calls, the longest first."""
    inner = [s for s in recorded if s is not span and s.lane == span.lane and span.start <= s.start and s.end <= span.end]
    at, free = span.start, []
    for start, end in sorted((s.start, s.end) for s in inner):
        if start - at > 2000:
            free.append((start - at, (at + start) // 2))
        at = max(at, end)
    if span.end - at > 2000:
        free.append((span.end - at, (at + span.end) // 2))
    return [moment for _, moment in sorted(free, reverse=True)]


def nothing_recorded(capture, begin, end):
    return _free_moment(capture, ("op", "python", "call", "queue", "other"), begin, end)


def _free_moment(capture, kinds, begin, end):
    quiet, launches = capture.quiet(), capture.is_launching()
    taken = sorted((s.start, s.end) for s in capture.of(*kinds)
                   if s.side == "host" and begin <= s.start < end and s.dur < end - begin)
    at, free = begin, []
    for start, stop in taken:
        if start > at:
            free.append((start - at, (at + start) // 2))
        at = max(at, stop)
    for _, moment in sorted(free, reverse=True):
        if quiet(moment) and launches(moment, end):
            return moment
    raise ValueError("no quiet moment without a record")


def moments_in_steps(capture, find, steps=None):
    """One of each step, or of those with the numbers `steps`."""
    return [find(step.start, step.end) for step in capture.steps()
            if steps is None or int(step.name.rpartition("#")[2]) in steps]
