# SPDX-License-Identifier: Apache-2.0
"""The inputs of the measurements, made where they are missing."""
import shutil
import subprocess
import sys
from pathlib import Path

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
# Bytes on disk for a byte of the size asked for: tables beside the trace.
BESIDE = {"text": 1.3, "db": 1.0, "raw": 1.0}


class NoRoom(Exception):
    """The disk has no room for an input."""


class Inputs:
    def __init__(self, directory):
        self.directory = directory

    def make(self, kind, megabytes, ranks=1, extra=()):
        """The directory with a capture for each rank; extra: mstx, links. Raises NoRoom."""
        name = f"{'_'.join([kind, *extra])}_{ranks}x{megabytes}M"
        made = self.directory / name
        if made.is_dir():
            return made
        self.directory.mkdir(parents=True, exist_ok=True)
        needed = int(megabytes * 1e6 * ranks * BESIDE[kind])
        if shutil.disk_usage(self.directory).free < needed * 1.2:
            raise NoRoom(f"{self.directory}: no room for {name}, {needed / 1e9:.1f} GB")
        print(f"making {made}", file=sys.stderr)
        part = made.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        size = f"{megabytes * 1e6 / 2**20}M"
        if kind == "raw":
            command = ["scale_raw_capture.py", part, "--size", size]
        else:
            command = ["scale_capture.py", part, "--kind", kind, "--size", size, "--ranks", ranks]
        command += [f"--{what}" for what in extra]
        subprocess.run([sys.executable, TESTDATA / command[0], *map(str, command[1:])], check=True,
                       stdout=subprocess.DEVNULL)
        part.rename(made)
        return made


def rank(capture, number):
    return capture / f"rank{number}_ascend_pt"


def traces(capture):
    return sorted(capture.glob("*/ASCEND_PROFILER_OUTPUT/trace_view.json"))


def databases(capture):
    return sorted(capture.glob("*/ASCEND_PROFILER_OUTPUT/*.db"))


def size_of(capture):
    """The bytes of the traces of a text capture, of the databases or the raw data of another."""
    found = traces(capture) or databases(capture)
    found = found or [path for path in capture.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in found)
