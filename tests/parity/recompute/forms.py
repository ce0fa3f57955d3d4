# SPDX-License-Identifier: Apache-2.0
"""The forms in which `compare` gives its report, as tables: what is expected in each, and what an
output holds."""

import re
import sys
from fractions import Fraction
from itertools import dropwhile
from pathlib import Path

from .sheets import SHEETS, Marker, header_rows, round_half_away

sys.path.append(str(Path(__file__).resolve().parents[2] / "support"))
from workbook import Workbook  # noqa: E402: found only now

CELL_LIMIT = 32767
ESCAPED = re.compile("_x([0-9A-F]{4})_")


def expected_workbook(report):
    return {sheet: header_rows(sheet, report.base_path, report.comparison_path)
            + [[in_workbook(cell, column.digits) for cell, column in zip(row, SHEETS[sheet])]
               for row in rows]
            for sheet, rows in report.sheets.items()}


def in_workbook(cell, digits):
    if isinstance(cell, str):
        return cut(cell)
    if digits is None or cell is None or isinstance(cell, Marker):
        return as_double(cell)
    return as_double(round_half_away(cell, digits))


def as_double(cell):
    """What a cell can hold of an exact number."""
    return float(cell) if isinstance(cell, Fraction) else cell


def cut(text):
    """A cell has room for so many units of UTF-16."""
    units = len(text.encode("utf-16-le")) // 2
    if units <= CELL_LIMIT:
        return text
    mark = f" … [cut: {units:,} characters]"
    room = (CELL_LIMIT - len(mark)) * 2
    return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + mark


def read_workbook(path, without=("Notes",)):
    tables = {}
    for sheet in Workbook(path).sheets:
        if sheet.name not in without:
            tables[sheet.name] = [[unescaped(cell) for cell in row] for row in sheet.rows()]
    return tables


def unescaped(cell):
    if not isinstance(cell, str):
        return cell
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), cell)


def expected_document(report):
    """Below a row of keys the rows of each sheet; what is no number in a column of numbers is
    nothing."""
    tables = {}
    for sheet, rows in report.sheets.items():
        keys = [column.key for column in SHEETS[sheet]]
        rows = [[None if isinstance(cell, Marker) else as_double(cell) for cell in row]
                for row in rows]
        levels = [len(row[0]) - len(row[0].lstrip("\t")) if isinstance(row[0], str) else 0
                  for row in rows]
        if any(levels):
            keys.append("level")
            rows = [[row[0].lstrip("\t"), *row[1:], level] for row, level in zip(rows, levels)]
        tables[sheet] = [["base", "comparison"], [report.base_path, report.comparison_path], keys,
                         *rows]
    return tables


def read_document(document):
    return {sheet["name"]: [["base", "comparison"], [sheet["base"], sheet["comparison"]],
                            sheet["columns"],
                            *([row.get(key, "(missing)") for key in sheet["columns"]]
                              for row in sheet["rows"])]
            for sheet in document["sheets"]}


def read_screen(text):
    """The rows of the table on standard output, from its title to its last line."""
    lines = dropwhile(lambda line: not line.startswith("+"), text.splitlines())
    table = []
    for line in lines:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif not line.startswith("+"):
            break
    return table
