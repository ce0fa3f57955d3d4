# SPDX-License-Identifier: Apache-2.0
"""Databases of captures, read without a trace."""
import sqlite3
from pathlib import Path


def open_unchanged(path):
    """A connection to read `path`. Even reading a database in WAL mode leaves files next to it, which
    other tests see, unless SQLite takes it as immutable; with writes in the log it cannot."""
    log = Path(f"{path}-wal")
    mode = "mode=ro" if log.is_file() and log.stat().st_size else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{path}?{mode}", uri=True)
