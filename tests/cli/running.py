# SPDX-License-Identifier: Apache-2.0
"""Runs the tool under limits, stops it half-way, and looks at what it left."""

import os
import resource
import signal
import sqlite3
import subprocess
import time

TIMEOUT_SECONDS = 60
SCRATCH = ".msprof-analyze-unfinished-"


class Ended:
    """How a run ended: exit code, error lines, seconds since it began or was told to end."""

    def __init__(self, code, err, seconds):
        self.code, self.err, self.seconds = code, err, seconds
        self.errors = [line for line in err.splitlines()
                       if line.startswith("msprof-analyze: error: ")]


def start(arguments, limits=None, **settings):
    """Starts the tool; `limits` are soft limits by resource.RLIMIT_..."""

    def limit():
        for kind, value in (limits or {}).items():
            resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))

    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                "stderr": subprocess.PIPE, **settings}
    # pylint: disable=subprocess-popen-preexec-fn
    return subprocess.Popen([*map(str, arguments)], encoding="utf-8", preexec_fn=limit, **settings)


def finish(process):
    begin = time.monotonic()
    _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    return Ended(process.returncode, err, time.monotonic() - begin)


def run(arguments, limits=None, **settings):
    return finish(start(arguments, limits, **settings))


def end_after(process, seconds, number):
    """Sends the signal so many seconds from now, or when the run has ended."""
    time.sleep(seconds)
    process.send_signal(number)
    return finish(process)


def wait_for(process, text):
    """Reads stderr up to a line with the text."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"the run ended without saying '{text}'")


def left_behind(*directories):
    """Unfinished outputs below the directories."""
    return [os.path.join(above, name) for directory in directories
            for above, folders, files in os.walk(directory) for name in (*folders, *files)
            if name.startswith(SCRATCH) or name.endswith((".tmp", "-journal", "-wal"))]


def table_sizes(path):
    """Name -> rows, of the tables of a database that is in order."""
    database = sqlite3.connect(path)
    try:
        (state,), = database.execute("PRAGMA integrity_check")
        assert state == "ok", state
        names = [name for name, in database.execute("SELECT name FROM sqlite_master")]
        return {name: database.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0]
                for name in names}
    finally:
        database.close()


SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
