# SPDX-License-Identifier: Apache-2.0
"""Holds the tables of an output against those that are expected, cell by cell.

Tables are {name: rows}, rows are lists of cells. An expected number is exact; one that is found may
differ from it by what a double cannot hold, and by nothing else."""

import math
from itertools import zip_longest

from .sheets import Marker

TOLERANCE = 1e-12  # relative


def objections(expected, actual):
    """What is wrong with the tables, as texts; nothing when all is right."""
    found = [f"{name}: missing" for name in expected if name not in actual]
    found += [f"{name}: not expected" for name in actual if name not in expected]
    common, there = [sorted((name for name in tables if name in others), key=file_of)
                     for tables, others in ((expected, actual), (actual, expected))]
    if common != there:
        found.append(f"the order of tables: expected {common}, found {there}")
    for name in common:
        found += [f"{name}, {objection}"
                  for objection in objections_to_table(expected[name], actual[name])]
    return found


def file_of(name):
    """Tables have an order within their file only: "workbook/sheet"."""
    return name.rpartition("/")[0]


def objections_to_table(expected, actual):
    headers = max(expected[:3], key=lambda row: sum(isinstance(cell, str) for cell in row),
                  default=[])
    for number, rows in enumerate(zip_longest(expected, actual), 1):
        if None in rows:
            yield f"row {number}: {'missing' if rows[1] is None else 'not expected'}: " \
                  f"{shown(rows[0] or rows[1])}"
            continue
        for column, (wanted, cell) in enumerate(zip_longest(*rows)):
            if not is_equal(wanted, cell):
                title = headers[column] if column < len(headers) else None
                yield f"row {number} ({shown(rows[0][:3])}), column {column + 1} ({title}): " \
                      f"expected {shown(wanted)}, found {shown(cell)}"


def is_equal(wanted, cell):
    if isinstance(wanted, Marker):
        wanted = wanted.value
    if wanted in (None, ""):
        return cell in (None, "")
    if isinstance(wanted, str):
        return cell == wanted
    if isinstance(cell, bool) or not isinstance(cell, (int, float)) or not math.isfinite(cell):
        return False
    if wanted == 0:
        return cell == 0 and math.copysign(1, cell) > 0
    if isinstance(wanted, int):
        return cell == wanted
    return abs(cell - wanted) <= TOLERANCE * abs(wanted)


def shown(value):
    """A value for people: not all of a long text."""
    if isinstance(value, list):
        return ", ".join(shown(cell) for cell in value)
    text = value if isinstance(value, str) else repr(value) if value is None else \
        str(value.value) if isinstance(value, Marker) else f"{float(value):.15g}"
    return text if len(text) <= 60 else f"{text[:60]}..."
