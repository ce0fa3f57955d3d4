# SPDX-License-Identifier: Apache-2.0
"""The files of a capture as Python values. Times are made from the decimal text of the file and
never from a float."""

import csv
import gzip
import json
import sqlite3
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from databases import open_unchanged

DATABASE_NAMES = ("ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor")


def exact(value):
    """A number of a file, which may be a text with blanks around it; None where it is none."""
    try:
        return Fraction(value if isinstance(value, int) else str(value).strip())
    except (ValueError, ZeroDivisionError):
        return None


def ns(microseconds):
    """Whole nanoseconds of a value in microseconds, halves up; None where it is no number."""
    value = exact(microseconds)
    if value is None:
        return None
    return (2000 * value.numerator + value.denominator) // (2 * value.denominator)


def exact_ns(microseconds):
    """The same with the parts of a nanosecond that durations in traces have."""
    value = exact(microseconds)
    return None if value is None else value * 1000


class Capture:
    """One side of a comparison. `kind` is "text", "db" or "gpu"."""

    def __init__(self, path):
        self.path = Path(path)
        self.root, self.output = self._places()
        databases = sorted(file for file in self.output.iterdir()
                           if file.suffix == ".db" and file.name.startswith(DATABASE_NAMES)) \
            if self.output else []
        self.database = self.path if self.path.suffix == ".db" else next(iter(databases), None)
        self.trace_file = None
        if self.database is None:
            self.trace_file = self.path if self.path.is_file() else self.output / "trace_view.json"
        self.kind = "db" if self.database else "gpu" if isinstance(self.document, dict) else "text"

    def _places(self):
        """The directory given and the one with the results; None for a single file."""
        if self.path.is_file():
            return None, None
        inner = self.path / "ASCEND_PROFILER_OUTPUT"
        return (self.path, inner) if inner.is_dir() else (None, self.path)

    @cached_property
    def document(self):
        """The whole trace; its numbers are texts, so that none is rounded."""
        opened = gzip.open if self.trace_file.suffix == ".gz" else open
        with opened(self.trace_file, "rt", encoding="utf-8") as file:
            return json.load(file, parse_float=str)

    @property
    def events(self):
        """The events of a trace in file order."""
        return self.document["traceEvents"] if self.kind == "gpu" else self.document

    def csv(self, name):
        """The rows of a table beside the trace as dictionaries of texts; [] where it is missing."""
        if self.output is None or not (self.output / name).is_file():
            return []
        with open(self.output / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def json(self, name):
        """A document beside the trace, or in the directory given; {} where it is missing."""
        for folder in (self.output, self.root):
            if folder is not None and (folder / name).is_file():
                return json.loads((folder / name).read_text(encoding="utf-8"))
        return {}

    @cached_property
    def connection(self):
        connection = open_unchanged(self.database)
        connection.row_factory = sqlite3.Row
        return connection

    def has_table(self, name):
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", name))

    def rows(self, query, *parameters):
        return self.connection.execute(query, parameters).fetchall()

    @cached_property
    def texts(self):
        """STRING_IDS."""
        return {row[0]: row[1] for row in self.rows("SELECT id, value FROM STRING_IDS")}
