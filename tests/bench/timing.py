# SPDX-License-Identifier: Apache-2.0
"""Runs commands and tells how long they took and how much memory they needed."""
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass
class Usage:
    """Of one run, or the medians of several."""
    wall: float  # seconds
    cpu: float  # seconds, of all threads
    memory: int  # bytes that were resident at most


def run(command, environment=None):
    """The usage of one run; None when the command fails. Failures and warnings go to stderr."""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"failed with {process.returncode}: {' '.join(map(str, command))}\n"
              f"{messages.decode(errors='replace')[-2000:]}", file=sys.stderr)
        return None
    if b"warning:" in messages:  # a run that leaves something out is no measure
        print(messages.decode(errors="replace"), file=sys.stderr)
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def medians(usages):
    """None when any run failed."""
    if not usages or None in usages:
        return None
    return Usage(*(statistics.median(getattr(usage, name) for usage in usages)
                   for name in ("wall", "cpu", "memory")))


def interleaved(count, *measures):
    """The results of calling each of `measures` `count` times, turn by turn: what else the machine
    does meets all of them. One more round before, which fills the caches, does not count."""
    for measure in measures:
        measure()
    rounds = [[measure() for measure in measures] for _ in range(count)]
    return [list(results) for results in zip(*rounds)]
