# SPDX-License-Identifier: Apache-2.0
"""Statistics of durations, and when cells are alike."""

import statistics
from fractions import Fraction


def quartile(values, part):
    """Of ascending whole numbers, exact."""
    place = Fraction(part, 4) * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return float(values[low] + (values[high] - values[low]) * (place - low))


def stats(values):
    """Count, mean, deviation of the sample, least, quartiles, most, sum."""
    values = sorted(values)
    return [len(values), float(Fraction(sum(values), len(values))),
            statistics.stdev(values) if len(values) > 1 else None, values[0], *(quartile(values, p) for p in (1, 2, 3)),
            values[-1], sum(values)]


class Shown:
    """A number that a table shows with some decimals: of a tie, either neighbour will do."""

    def __init__(self, exact, decimals):
        self.exact, self.decimals = exact, decimals

    def is_shown_as(self, cell):
        unit = 10 ** -self.decimals
        return abs(cell - self.exact) <= unit * 0.5001 and abs(cell / unit - round(cell / unit)) < 1e-4

    def __repr__(self):
        return f"{self.exact:.{self.decimals}f}"


def alike(expected, found):
    """What is expected may be a test of what is found."""
    if callable(expected):
        return expected(found)
    numbers = isinstance(expected, (int, float)), isinstance(found, (int, float))
    if isinstance(expected, Shown):
        return numbers[1] and expected.is_shown_as(found)
    if all(numbers):
        return abs(expected - found) <= (0 if isinstance(expected, int) else 1e-9 * max(1, abs(expected)))
    return expected == found


def altered(tables):
    """The tables with one thing changed: the first and the last cell of some rows, and a row less."""
    for name, rows in tables.items():
        for number in range(0, len(rows), max(1, len(rows) // 8)):
            row = rows[number]
            for place in (0, len(row) // 2, len(row) - 1):
                cell = row[place]
                changed = [*row]
                changed[place] = cell + 1 if isinstance(cell, (int, float)) else f"{cell}1"
                yield {**tables, name: [*rows[:number], changed, *rows[number + 1:]]}
        if rows:
            yield {**tables, name: rows[1:]}
