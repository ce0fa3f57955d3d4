# SPDX-License-Identifier: Apache-2.0
"""Turns the text fixtures of testdata/captures into the forms that are not kept as text."""

import gzip
import sqlite3
from pathlib import Path

DATABASE = Path("ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db")


def build_database(captures, name, parent):
    """Builds PARENT/NAME with the database that captures/NAME.sql describes."""
    capture = Path(parent, name)
    if not capture.is_dir():
        file = capture / DATABASE
        file.parent.mkdir(parents=True)
        database = sqlite3.connect(file)
        database.executescript(Path(captures, f"{name}.sql").read_text(encoding="utf-8"))
        database.commit()
        database.close()
    return capture


def gzip_copy(captures, name, parent):
    """Writes PARENT/NAME.gz."""
    copy = Path(parent, f"{Path(name).name}.gz")
    copy.write_bytes(gzip.compress(Path(captures, name).read_bytes(), mtime=0))
    return copy
