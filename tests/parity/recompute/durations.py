# SPDX-License-Identifier: Apache-2.0
"""Some durations as the sheets of communication and kernels tell them, in microseconds."""

from fractions import Fraction

MICROSECOND = 1000


class Durations:
    """Number, sum, largest and smallest; each part of a nanosecond counts."""

    def __init__(self):
        self.calls, self.total, self.most, self.least = 0, Fraction(0), None, None

    def add(self, duration):
        self.add_summed(1, duration, duration, duration)

    def add_summed(self, calls, total, most, least):
        self.calls += calls
        self.total += Fraction(total) / MICROSECOND
        most, least = (Fraction(value) / MICROSECOND for value in (most, least))
        self.most = most if self.most is None else max(self.most, most)
        self.least = least if self.least is None else min(self.least, least)

    @property
    def average(self):
        return self.total / self.calls if self.calls else Fraction(0)


def in_both(base, comparison):
    """(key, of the base, of the comparison), keys of the base first; None where a side has none."""
    for key in [*base, *(key for key in comparison if key not in base)]:
        yield key, base.get(key), comparison.get(key)


def numbered(rows):
    return [[number, *row] for number, row in enumerate(rows, 1)]
