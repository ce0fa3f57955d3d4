#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses simulated jobs with known causes.

    test_diagnosis.py --tool BINARY [--shared DIR]

DIR/tools/sim makes the jobs and knows what each cause costs: it simulates the job again without it. Its score.py says
whether the first finding is the planted cause, on the right rank, link or step; whether its gain is right; whether the
accounts add up; whether text and database agree; and whether the order of ranks or the number of threads changes a
byte. Its targets have to be met.

Exit status: 0 met, 1 otherwise, 2 usage, 77 skipped: there is no simulator.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SMALL = ["--set", "layers=3", "--set", "steps=4", "--set", "dp=4"]
# A job of each kind of cause: a slow device, host, link, input and stage, what all ranks do, two at once, and none.
JOBS = {
    "healthy": SMALL,
    "slow_device": [*SMALL, "--cause", "slow_rank_compute:ranks=2,factor=1.3"],
    "slow_host": [*SMALL, "--cause", "slow_rank_host:ranks=1,factor=4.0"],
    "slow_link": [*SMALL, "--cause", "slow_link:link=0+3,factor=4.0"],
    "late_input": [*SMALL, "--cause", "dataloader:ranks=3,ms=8.0"],
    "garbage": [*SMALL, "--cause", "gc:ranks=0,count=2,ms=5.0"],
    "compile": [*SMALL, "--cause", "op_compile:ranks=all,count=12,ms=1.5"],
    "copies": [*SMALL, "--cause", "h2d_sync:ranks=all,count=2,mb=16.0"],
    "two_causes": [*SMALL, "--cause", "slow_rank_compute:ranks=1,factor=1.4", "--cause", "dataloader:ranks=all,ms=4.0"],
    "tensor_parallel": ["--preset", "tp2pp2dp2", "--set", "pp=1", "--set", "tp=4", "--set", "layers=2", "--set", "micro_batches=4", "--set", "steps=3",
                        "--cause", "slow_rank_compute:ranks=3,factor=1.3"],
    "two_ranks": [*SMALL, "--set", "dp=2", "--cause", "slow_rank_compute:ranks=1,factor=1.3"],
    "small_packets": [*SMALL, "--set", "hidden=1536", "--set", "micro_batches=1", "--set", "host_us_per_op=12",
                      "--cause", "small_packets:bucket_mb=0.25,latency_us=30"],
    "pieces": ["--preset", "tp2pp2dp2", "--set", "pp=1", "--set", "layers=2", "--set", "steps=3", "--cause", "launch_bound:pieces=6"],
    "slow_stage": ["--preset", "tp2pp2dp2", "--set", "ranks_per_node=4", "--set", "layers=4", "--set", "steps=3",
                   "--cause", "slow_node:node=1,factor=1.5"],
    "pipeline": ["--preset", "tp2pp2dp2", "--set", "layers=4", "--set", "micro_batches=4", "--set", "steps=3",
                 "--cause", "slow_rank_compute:ranks=5,factor=1.4"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    args = parser.parse_args()
    simulator = args.shared / "tools" / "sim"
    if not (simulator / "score.py").is_file():
        print(f"SKIPPED: no simulator in {simulator}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in JOBS.items():
            subprocess.run([sys.executable, "-B", simulator / "simulate_job.py", "--dst", Path(scratch, name), *options],
                           check=True, stdout=subprocess.DEVNULL)
        # Without calls of CANN nothing says when work was launched.
        subprocess.run([sys.executable, "-B", simulator / "degrade.py", "--src", Path(scratch, "tensor_parallel"), "--dst", scratch,
                        "--variant", "no_cann"], check=True, stdout=subprocess.DEVNULL)
        return subprocess.run([sys.executable, "-B", simulator / "score.py", "--tool", args.tool, "--suite", scratch,
                               "--format", "both", "--s7", "2", "--verbose"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
