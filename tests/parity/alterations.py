# SPDX-License-Identifier: Apache-2.0
"""Ways in which tables can be wrong, each of them small: what a judge has to notice."""

import math
from itertools import combinations

SHOWN_UNITS = (("(us)", 0.01), ("(ms)", 0.01), ("(mb)", 0.01), ("(kb)", 0.01), ("_us", 0.01),
               ("_ms", 0.01), ("_mb", 0.01), ("_kb", 0.01), ("ratio", 0.0001))
WHOLE, SHARE, FINEST = 1, 1.001, 1 + 1e-9


def of_cell(cell, title):
    """What may stand in the place of a cell."""
    if cell in (None, ""):
        yield from (0, "x")
    elif isinstance(cell, str):
        yield from (cell[:-1], cell[:-1] + chr(ord(cell[-1]) ^ 1), cell + "x", None)
    else:
        unit = next((unit for part, unit in SHOWN_UNITS if part in title.lower()), WHOLE)
        yield from (cell + unit, cell - unit, cell * SHARE, cell * FINEST, -cell or -0.0, None,
                    str(cell))


def of_columns(rows, headers):
    """Alters one cell at a time: in each column one of each kind, text, nothing, number and 0."""
    done = set()
    for number, row in enumerate(rows[headers:], headers):
        for column, cell in enumerate(row):
            kind = column, type(cell), not cell
            if kind in done:
                continue
            done.add(kind)
            title = str(rows[headers - 1][column])
            for other in of_cell(cell, title):
                if says_else(other, cell):
                    yield f"row {number + 1}, {title}: {cell!r} as {other!r}", \
                        replaced(rows, number, [*row[:column], other, *row[column + 1:]])


def says_else(other, cell):
    """Whether it makes a difference; 0 and -0 do."""
    if isinstance(other, (int, float)) and isinstance(cell, (int, float)):
        return other != cell or math.copysign(1, other) != math.copysign(1, cell)
    return (other or None) != (cell or None)


def replaced(rows, number, *instead):
    return [*rows[:number], *instead, *rows[number + 1:]]


def of_rows(rows, headers):
    """Rows that are missing, stand twice or have changed places."""
    for number, row in enumerate(rows[headers:], headers):
        yield f"without row {number + 1}", replaced(rows, number)
        yield f"row {number + 1} twice", replaced(rows, number, row, row)
        if number + 1 < len(rows) and rows[number + 1] != row:
            yield f"row {number + 1} behind the next", \
                [*rows[:number], rows[number + 1], row, *rows[number + 2:]]


def of_sides(rows, columns):
    """Swaps base and comparison in one row at a time, the banner's too. `columns` are the pairs of
    columns that say the same of either."""
    for number, row in enumerate(rows):
        swapped = list(row)
        for base, comparison in columns:
            if comparison < len(row):
                swapped[base], swapped[comparison] = row[comparison], row[base]
        if swapped != row and number != 2:
            yield f"row {number + 1} with its sides swapped", replaced(rows, number, swapped)


def of_headers(rows, headers):
    for number, row in enumerate(rows[:headers]):
        for column, cell in enumerate(row):
            if cell:
                yield f"header {cell!r} with a letter more", \
                    replaced(rows, number, [*row[:column], f"{cell}x", *row[column + 1:]])


def of_tables(tables):
    """Tables that are missing, new, or in another order."""
    for name in tables:
        yield f"without {name}", {key: rows for key, rows in tables.items() if key != name}
    yield "with one more", {**tables, "More": []}
    for first, second in combinations(tables, 2):
        order = [{first: second, second: first}.get(name, name) for name in tables]
        yield f"{first} and {second} in the other order", {name: tables[name] for name in order}
