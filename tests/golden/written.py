# SPDX-License-Identifier: Apache-2.0
"""What a run wrote, as text: the tables of databases, the sheets of workbooks, CSV and JSON."""

import csv
import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workbook import Workbook  # noqa: E402


def cell_text(value):
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    label = value.lstrip("\t")
    return "> " * (len(value) - len(label)) + label.replace("\n", "\\n").replace("\t", "\\t")


def row_lines(rows, shown):
    """`shown`: headers of the columns to show, from the row of the headers on; None for all."""
    rows = list(rows)
    if shown:
        first = next((i for i, row in enumerate(rows) if set(row) & set(shown)), len(rows))
        headers = rows[first] if first < len(rows) else []
        places = [i for i, header in enumerate(headers) if header in shown]
        rows = [[row[i] if i < len(row) else None for i in places] for row in rows[first:]]
    return ["\t".join(map(cell_text, row)).rstrip("\t") for row in rows]


def tables(file):
    """(name, rows) for each table of a database, the names of the columns first."""
    with closing(sqlite3.connect(file)) as database:
        for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            cursor = database.execute(f'SELECT * FROM "{name}"')
            yield name, [[column[0] for column in cursor.description], *cursor]


def paths_of(value, path="$"):
    """[path, value] for each value in a document."""
    if isinstance(value, (dict, list)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return [row for key, part in parts for row in paths_of(part, f"{path}.{key}")]
    return [[path, value]]


def json_sheets(file):
    """(name, rows) for each sheet of a document, the names of the members first; of others, paths and values."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if "sheets" not in content:
        yield file.stem, [["path", "value"], *paths_of(content)]
        return
    for sheet in content["sheets"]:
        yield sheet["name"], [sheet["columns"], *(list(row.values()) for row in sheet["rows"])]


def csv_rows(file):
    """Numbers as everywhere here: the last of their digits say nothing."""
    with open(file, encoding="utf-8", newline="") as lines:
        return [[cell_text(float(cell)) if re.fullmatch(r"-?\d+\.\d+", cell) else cell for cell in row]
                for row in csv.reader(lines)]


def sections_of(file):
    """(name of a sheet, rows) of a file; None when it is of none of these kinds."""
    if file.suffix == ".xlsx":
        return [(sheet.name, sheet.rows()) for sheet in Workbook(file).sheets]
    if file.suffix == ".db":
        return tables(file)
    if file.suffix == ".json":
        return json_sheets(file)
    if file.suffix == ".csv":
        return [(file.stem, csv_rows(file))]
    return None


def written_files(directory, shown):
    """(title, lines) for what lies in the directory. `shown`: name of a sheet -> headers to show; a sheet
    without any is left out."""
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        sections = sections_of(file)
        if sections is None:
            yield f"--- {file.relative_to(directory)}", ["(contents not shown)"]
            continue
        for name, rows in sections:
            if shown.get(name) == []:
                continue
            yield f"--- {file.relative_to(directory)}: {name}", row_lines(rows, shown.get(name))
