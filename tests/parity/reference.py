# SPDX-License-Identifier: Apache-2.0
"""How much of a table is as the Python tool has it, and how much differs on purpose."""

import re
from collections import Counter
from itertools import zip_longest

from recompute.judge import is_equal

# The columns that tell what a row is about; "table" is the screen, a row for each of its columns.
# OverallMetrics and CommunicationCompare have rows within rows, told by leading tabs and by "|".
KEYS = {"OverallMetrics": [0], "CommunicationCompare": [1, 2, 8, 9],
        "ModuleCompareStatistic": [3, 4], "ModuleCompare": [3, 4, 8],
        "OperatorCompareStatistic": [1], "OperatorCompare": [1, 6],
        "MemoryCompareStatistic": [1], "MemoryCompare": [1, 6], "ApiCompare": [1],
        "KernelCompare": [1, 2], "KernelTypeCompare": [1, 2], "OperatorMFU": [0, 3, 2],
        "ModuleStatistic": [7, 0, 1, 2, 3], "table": [0]}
SAME, ON_PURPOSE, OPEN = "as the reference", "differs on purpose", "open"
RELATIVE, NANOSECONDS = 1e-6, 5  # the reference adds doubles; captures have clocks of 20 ns
UNITS = {"(us)": 1e-3, "(ms)": 1e-6, "(ns)": 1, "(s)": 1e-9}


def by_key(name, rows):
    """{what a row is about: row}; equal ones are numbered."""
    result, path = {}, []
    for row in rows:
        texts = [str(row[place] or "") if place < len(row) else "" for place in KEYS.get(name, [])]
        if name == "OverallMetrics":
            depth = len(texts[0]) - len(texts[0].lstrip("\t"))
            path = [*path[:depth], texts[0].strip()]
        elif name == "CommunicationCompare":
            kind, task = texts[0] or texts[2], texts[1] or texts[3]
            path = [*path[:1], task] if kind == "|" else [kind]
        else:
            path = texts
        key, number = tuple(path), 1
        while (*key, number) in result:
            number += 1
        result[(*key, number)] = row
    return result


def count(name, golden, expected, actual, titles):
    """Counter of the cells of a table, each a list of rows without headers."""
    cells = Counter()
    wanted, recorded = by_key(name, expected), by_key(name, golden)
    found = by_key(name, actual)
    for key in dict.fromkeys([*found, *recorded]):
        sides = zip_longest(found.get(key, []), recorded.get(key, []), wanted.get(key, []))
        for column, (ours, theirs, ought) in enumerate(sides):
            title = titles[column] if column < len(titles) else ""
            if key in found and key in recorded and is_close(theirs, ours, title):
                cells[SAME] += 1
            else:
                confirmed = (key in found) == (key in wanted) and is_equal(ought, ours)
                cells[ON_PURPOSE if confirmed else OPEN] += 1
    return cells


def is_close(theirs, ours, title):
    numbers = isinstance(theirs, (int, float)), isinstance(ours, (int, float))
    if not all(numbers):
        return not any(numbers) and (theirs or "") == (ours or "")
    unit = re.search(r"\((?:us|ms|ns|s)\)", title or "")
    allowed = NANOSECONDS * UNITS[unit[0]] if unit and "Diff" not in title else 0
    return abs(theirs - ours) <= max(allowed, RELATIVE * abs(theirs))
