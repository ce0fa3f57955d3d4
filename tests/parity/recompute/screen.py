# SPDX-License-Identifier: Apache-2.0
"""The table that `compare` prints: its rows as texts."""

from fractions import Fraction

from . import group_times
from .overall import waits_are_known
from .overall_metrics import Part, metrics_of
from .sheets import UNKNOWN, round_half_away

TITLE = "Model Profiling Time Distribution"
GIBIBYTE = 2 ** 30


def rows(base, comparison, _options):
    sides = metrics_of(base), metrics_of(comparison)
    told = any(side.is_told for side in sides)
    columns = [["", *(f"{name} {'GPU' if side.is_gpu else 'NPU'}"
                      for name, side in zip(("base", "comparison"), sides))]]

    def add(header, ask, only_if=None):
        """A column; with `only_if` only where a side has a part of it."""
        if only_if is None or any(only_if(side) for side in sides):
            columns.append([header, *(ask(side) for side in sides)])

    def add_part(header, part, *only_if):
        if told:
            add(header, lambda side: counted(part(side)) if side.is_told else UNKNOWN.value,
                *only_if)

    add_part("Cube Time(Num)", cube)
    add_part("Vector Time(Num)", lambda side: side.vector)
    for header, family in (("Conv Time(Forward)", "Conv (Forward)"),
                           ("Conv Time(Backward)", "Conv (Backward)"),
                           ("Flash Attention Time(Forward)", "Flash Attention (Forward)"),
                           ("Flash Attention Time(Backward)", "Flash Attention (Backward)")):
        part = lambda side, family=family: side.family(family)
        add_part(f"{header}(Num)", part, lambda side, part=part: part(side).time)
    paged = lambda side: side.part("Page Attention")
    add_part("Paged Attention Time(Num)", paged, lambda side: paged(side).time)
    add("Lccl Time(Num)", lambda side: counted(side.lccl), lambda side: side.lccl.time)
    if told and not all(side.is_gpu for side in sides):
        add("Other Time", lambda side: UNKNOWN.value if not side.is_told
            else seconds(0 if side.is_gpu else side.other))
    add("Computing Time", lambda side: seconds(side.computing))
    add("Mem Usage", lambda side: UNKNOWN.value if side.reserved is None
        else f"{decimals(Fraction(side.reserved) / GIBIBYTE, 2)}G", lambda side: side.reserved)
    add("Uncovered Communication Time(Wait Time)", uncovered)
    for transport in ("RDMA", "SDMA"):
        speed = lambda side, transport=transport: side.bandwidth[transport]
        add(f"{transport} Bandwidth", lambda side, speed=speed: f"{decimals(speed(side), 3)}GB/s",
            speed)
    add("SDMA Time(Num)", lambda side: counted(copies(side)), lambda side: copies(side).time)
    add("Free Time", lambda side: seconds(side.free))
    full = any(not side.is_gpu and not side.device.is_minimal for side in sides)
    add("E2E Time(Not minimal profiling)" if full else "E2E Time",
        lambda side: seconds(side.e2e))
    return [[TITLE], *([*row] for row in zip(*columns))]


def cube(side):
    part = side.part("Matmul (Cube)", "Matmul (Vector)", "Cube")
    return Part(part.time + side.mc2_time, part.count)


def copies(side):
    return Part(side.copies.time + side.moves.time, side.copies.count + side.moves.count)


def uncovered(side):
    waits = sum(group.wait for group in group_times.group_times(side.device, side.uncovered))
    return f"{seconds(side.uncovered_time)}({seconds(waits) if waits_are_known(side) else ' / '})"


def decimals(value, digits):
    """A number with so many decimals, halves away from zero."""
    unit = 10 ** digits
    whole = int(round_half_away(Fraction(value), digits) * unit)
    return f"{'-' if whole < 0 else ''}{abs(whole) // unit}.{abs(whole) % unit:0{digits}}"


def seconds(time):
    return f"{decimals(Fraction(time, 10 ** 9), 3)}s"


def counted(part):
    return f"{seconds(part.time)}({part.count})"
