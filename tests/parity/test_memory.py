#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds memory_timeline against a replay of the allocations from the captures' own files.

    test_memory.py --tool BINARY [--shared DIR]

Every capture of DIR/data with memory is replayed (support/memory_replay.py): what is allocated at every time, the peak
with its holders, the steps, and the files. Then the results are altered, to see that the replay objects.

Exit status: 0 equal, 1 otherwise, 2 usage, 77 skipped: there are no captures.
"""

import argparse
import copy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "support"))
from memory_replay import Replay, differences, read, results  # noqa: E402

SKIPPED = 77
RANKS = {0: "rank0_ascend_pt", 1: "rank1_ascend_pt"}
# job: {rank: capture}
JOBS = {"npu/text/level0": RANKS, "npu/text/level1": RANKS, "npu/db/level0": RANKS, "npu/db/level1": RANKS,
        "npu/db_mstx": RANKS}
TRACE = "traces/tracelens/h100_timesformer_1016002.json.gz"
PARSED = ("raw/level1", "raw/hwts")  # by parse, as text


def altered(tables, timeline, raw):
    """(what, results) of results that are wrong in one place."""
    for table, column, step in (("MemoryRanks", "peakBytes", 1), ("MemoryRanks", "peakNs", 1),
                                ("MemoryRanks", "beforeCaptureBytes", 512), ("MemoryPeak", "bytes", 512),
                                ("MemoryPeak", "allocations", 1), ("MemoryByStep", "endBytes", 512),
                                ("MemoryOverTime", "allocatedBytes", 512)):
        changed = copy.deepcopy(tables)
        rows = [row for row in changed[table] if row[column]]
        if not rows:
            continue
        rows[len(rows) // 2][column] += step
        yield f"{table}.{column}", (changed, timeline, raw)
    times, sizes = copy.deepcopy(timeline)
    sizes[len(sizes) // 2][4] += 1
    yield "timeline", (tables, [times, sizes], raw)
    yield "times", (tables, [timeline[0][:-1], timeline[1][:-1]], raw)
    events = copy.deepcopy(raw)
    events[len(events) // 2][2] += 1
    yield "events", (tables, timeline, events)


class Judge:
    def __init__(self, tool):
        self.tool, self.failures, self.captures, self.altered = tool, 0, 0, 0

    def fail(self, text):
        self.failures += 1
        print(f"FAILED: {text}")

    def run(self, job, captures):
        """captures: {rank, by number or label: path}"""
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([self.tool, "-m", "memory_timeline", "-d", job, "-o", out, "-q"], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
            if done.returncode != 0:
                return self.fail(f"{job}: exit code {done.returncode}, {done.stderr}")
            for rank, capture in captures.items():
                replay, given = Replay(read(capture)), results(out, rank)
                self.captures += 1
                found = [*differences(replay, *given)]
                for text in found[:5]:
                    self.fail(f"{capture}: {text}")
                for what, wrong in altered(*given):
                    self.altered += 1
                    if len([*differences(replay, *wrong)]) <= len(found):
                        self.fail(f"{capture}: a wrong value in {what} is not noticed")

    def run_parsed(self, job, scratch):
        copied = Path(scratch, job.name)
        shutil.copytree(job, copied, ignore=shutil.ignore_patterns("truth*"))
        subprocess.run([self.tool, "parse", "-d", copied, "--export_type", "text", "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        (capture,) = copied.glob("*_ascend_pt")
        self.run(copied, {0: capture})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared",
                        help="what holds data [default: beside the repository]")
    arguments = parser.parse_args()
    data, judge = arguments.shared / "data", Judge(arguments.tool.resolve())
    for job, ranks in JOBS.items():
        if (data / job).is_dir():
            judge.run(data / job, {rank: data / job / name for rank, name in ranks.items()})
    with tempfile.TemporaryDirectory() as scratch:
        if (data / TRACE).is_file():
            trace = Path(scratch, "trace", Path(TRACE).name)
            trace.parent.mkdir()
            shutil.copy(data / TRACE, trace)
            judge.run(trace.parent, {trace.name.split(".")[0]: trace})
        for job in PARSED:
            if (data / job).is_dir():
                judge.run_parsed(data / job, scratch)
    if judge.captures == 0:
        print(f"skipped: no captures in {data}")
        return SKIPPED
    print(f"{judge.captures} captures replayed, {judge.altered} altered results; {judge.failures} failures")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())
