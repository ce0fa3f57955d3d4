#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures merging the parts of jobs of many ranks and prints a Markdown table.

    many_ranks.py PROGRAM DIRECTORY [--ranks 100,1000,10000] [--commands advisor,all,...]
                  [--late RANK:FACTOR] [--link RANK:FACTOR] [--host HOST:FACTOR]

The jobs are those of testdata/large_job.py. Their parts are made in DIRECTORY, where they are
missing, and take 0.2 MB a rank. The captures of a few ranks at a time are on the disk. Messages go
to stderr, the table to stdout.
"""
import argparse
import math
import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
from large_job import LargeJob, Plants  # noqa: E402
from timing import medians, run  # noqa: E402

LAYERS = 8
AT_A_TIME = 500  # ranks whose captures are on the disk
COMMANDS = ("advisor", "all", "cluster_time_summary", "slow_rank", "slow_link", "module_statistic",
            "hccl_sum", "compute_op_sum", "cann_api_sum", "communication_bottleneck",
            "free_analysis", "operator_mfu")


def plant(text):
    number, factor = text.split(":")
    return int(number), float(factor)


def make_parts(options, ranks):
    directory = options.directory / f"{ranks}_ranks"
    missing = [name for name in options.commands if not list(directory.glob(f"{name}.*.job"))]
    if not missing:
        return
    recipes = [name for name in missing if name != "advisor"]
    runs = [["-m", ",".join(recipes)]] if recipes else []
    runs += [["advisor", "all"]] if "advisor" in missing else []
    job = LargeJob(ranks, Plants(options.late, options.link, options.host), layers=LAYERS)
    for first in range(0, ranks, AT_A_TIME):
        with tempfile.TemporaryDirectory() as captures:
            for rank in range(first, min(first + AT_A_TIME, ranks)):
                job.write(Path(captures), rank)
            for command in runs:
                subprocess.run([options.program, *command, "-d", captures, "--shard", "0/1", "-o",
                                directory], check=True, stderr=subprocess.DEVNULL)
        print(f"{min(first + AT_A_TIME, ranks)} of {ranks} ranks", file=sys.stderr, flush=True)


def merge(options, command, parts):
    with tempfile.TemporaryDirectory(dir=options.directory) as out:
        return run([options.program, "merge", parts, "-m", command, "-o", out])


def exponent(before, last, ranks):
    """Of the last two numbers of ranks, with which the cost grows."""
    return math.log(last / before) / math.log(ranks[-1] / ranks[-2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--ranks", type=lambda text: [int(item) for item in text.split(",")],
                        default=[100, 1000, 10000])
    parser.add_argument("--commands", type=lambda text: text.split(","), default=COMMANDS)
    parser.add_argument("--runs", type=int, default=1)
    for what in ("late", "link", "host"):
        parser.add_argument(f"--{what}", type=plant, metavar="NUMBER:FACTOR")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    for ranks in options.ranks:  # in processes of their own: theirs is the least memory of a child
        making = multiprocessing.Process(target=make_parts, args=(options, ranks))
        making.start()
        making.join()
        if making.exitcode != 0:
            sys.exit(1)
    parts = [options.directory / f"{ranks}_ranks" for ranks in options.ranks]
    names = [f"{ranks:,} ranks" for ranks in options.ranks]
    print("| Command |", " | ".join(names), "| CPU grows by | memory by |")
    print("|---" * (len(names) + 3) + "|")
    for command in options.commands:
        used = [medians([merge(options, command, of) for _ in range(options.runs)]) for of in parts]
        if None in used:
            continue
        cells = [f"{of.cpu:.2f} s, {of.memory / 1e6:.0f} MB" for of in used]
        for what in ("cpu", "memory") if len(used) > 1 else ():
            last_two = [getattr(of, what) for of in used[-2:]]
            cells.append(f"{exponent(*last_two, options.ranks):.2f}")
        print(f"| `{command}` |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
