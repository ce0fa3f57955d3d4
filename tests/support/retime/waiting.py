# SPDX-License-Identifier: Apache-2.0
"""A rank that comes late to the collectives of a job of NPUs of which some ranks were captured.

Collectives run in order on a stream of their own. Each starts on a rank when the rank has asked for it and the one before
is over; it transfers once all members are there, which a rank sees as a Notify_Wait for each peer. The compute stream
waits for them after the backward pass, and the host for the compute stream. All of this follows from when the ranks ask.
"""

from dataclasses import dataclass

from .capture import DEVICE, HOST

SMALL = 2000  # ns; how exactly clocks and events fit


@dataclass
class Collective:
    """On one rank."""

    span: object
    waits: dict  # peer -> span of the first wait for it
    asked: int  # when the rank was ready for it
    whole: list  # all that belongs to it

    @property
    def met(self):
        """All members are there."""
        return max(w.end for w in self.waits.values())


def come_late(job, rank, at, extra):
    """The host of RANK stands still at a quiet moment before the collectives, for long enough to come last to all. Returns
    how much longer its step gets, in ns."""
    read = {r: [_collective(c, s) for s in c.of("collective")] for r, c in job.captures.items()}
    ahead = {r: read[r][0].span.end - read[rank][0].span.end for r in read}  # of the clock of a rank
    ends = dict.fromkeys(read)  # when the collective before is over, by the clock of RANK
    plans = {r: [] for r in read}
    for number in range(len(read[rank])):
        starts = {}
        for r, own in read.items():
            ready = own[number].asked - ahead[r] + (extra if r == rank else 0)
            starts[r] = ready if ends[r] is None else max(ready, ends[r] + SMALL)
        met = max(starts.values()) + SMALL
        for r, own in read.items():
            one = own[number]
            others = {peer: min(w.end - ahead[r], met) for peer, w in one.waits.items()}  # who is not captured
            others.update({peer: starts[peer] + SMALL for peer in others if peer in starts})
            last = max(met, *others.values())
            ends[r] = last + one.span.end - one.met
            plans[r].append((one, starts[r] + ahead[r], {p: t + ahead[r] for p, t in others.items()}, last + ahead[r]))
    grown = {}
    for r, capture in job.captures.items():
        if r == rank:
            capture.pause(at, extra)
        grown[r] = _apply(capture, plans[r], extra if r == rank else 0)
    return grown[rank]


def _collective(capture, span):
    pieces = [s for s in capture.of("task") if capture.stream_of(s) == capture.stream_of_collectives()
              and span.start - 1 <= s.start <= span.end and not s.name.startswith("EVENT")]
    waits = {}
    for piece in pieces:
        peer = capture.peer_of_wait(piece)
        if peer is not None and peer not in waits and piece.start < span.start + 200_000:
            waits[peer] = piece
    launches = [s for s in capture.of("call") if "hcom" in s.name.lower()]
    number = capture.of("collective").index(span)
    return Collective(span, waits, span.start if number == 0 else launches[number].end, pieces)


def _apply(capture, plans, delay):
    """Moves what one rank has of the collectives and what waits for them. Returns how much later its step ends."""
    stream = capture.stream_of_collectives()
    last_shift, begin = delay, 0
    for one, start, arrivals, met in plans:
        shift, later = start - one.span.start, met - one.met
        capture.own[id(one.span)] = (start, one.span.end + later)
        first = {w.start: peer for peer, w in one.waits.items()}
        for piece in [*one.whole, *_before(capture, stream, begin, one.span)]:
            if piece.start in first and capture.is_wait(piece):
                moved = piece.start + shift
                capture.own[id(piece)] = (moved, max(moved + 20, arrivals[first[piece.start]]))
            elif piece.start >= one.met:
                capture.own[id(piece)] = (piece.start + later, piece.end + later)
            else:
                capture.own[id(piece)] = (piece.start + shift, piece.end + shift)
        begin, last_shift = one.span.end, later
    for piece in _before(capture, stream, begin, None):
        capture.own[id(piece)] = (piece.start + last_shift, piece.end + last_shift)
    return _compute_waits(capture, plans, delay)


def _before(capture, stream, begin, span):
    """Other tasks of the stream, after the collective before and up to this one."""
    return [s for s in capture.work() if s.kind != "collective" and s.side == DEVICE and capture.stream_of(s) == stream
            and begin <= s.start and (span is None or s.start < span.start - 1)]


def _compute_waits(capture, plans, delay):
    """The compute stream waits in an event for each collective."""
    clock = capture.lane_clock(capture.compute_lane())
    shift = delay
    for one, _, _, met in plans:
        ended = one.span.end + met - one.met
        wait = next(s for s in capture.of("task") if s.lane == capture.compute_lane() and s.name.startswith("EVENT_WAIT")
                    and abs(s.end - one.span.end) < 100_000 and s.dur > 1_000_000)
        end = max(wait.start + shift + 20, ended + wait.end - one.span.end)
        longer = end - (wait.end + shift)
        clock.add(wait.start if longer < 0 else wait.end - 1, longer)
        shift += longer
    sync = max((s for s in capture.of("call") if "Synchronize" in s.name), key=lambda s: s.dur)
    rest = max(shift - delay, 20_000 - sync.dur)
    for host in (capture.clocks[HOST], *([capture.clocks[DEVICE]])):
        host.add(sync.start + 10_000 if rest < 0 else sync.end - 1, rest)
    return delay + rest
