#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses simulated jobs with known causes.

    test_diagnosis.py --tool BINARY [--shared DIR]

DIR/tools/sim makes the jobs and knows what each cause costs: it simulates the job again without it. Its score.py says
whether the first finding is the planted cause, on the right rank, link or step; whether its gain is right; whether the
accounts add up; whether text and database agree; and whether the order of ranks or the number of threads changes a
byte. Its targets have to be met. The headline of a gate against the healthy job has to name the same cause, with an
amount near the truth, and what went when it is mended. Jobs with room for the graphs of some ranks alone (--memory) have the same first
finding, and nearly the same gain.

Exit status: 0 met, 1 otherwise, 2 usage, 77 skipped: there is no simulator.
"""

import argparse
import json
import re
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

# Sixteen ranks, of which half are replayed at most.
LARGER = ["--preset", "dense_dp8", "--set", "dp=4", "--set", "tp=2", "--set", "pp=2", "--set", "layers=2", "--set", "steps=4"]
REPLAYED = {
    "slow_device": "slow_rank_compute:ranks=13,factor=1.4",
    "slow_link": "slow_link:link=8+9,factor=6",
    "late_input_of_all": "dataloader:ranks=all,ms=8.0",
}
# What the headline of a gate says of these jobs beside the healthy one of the same seed, and how far its amount may be off.
HEADLINES = {
    "slow_device": "rank 2 computes ",
    "slow_host": "the host launches late on rank 1",
    "slow_link": "a link of ranks 0, 3 is slow",
    "late_input": "input arrives late on rank 3",
    "garbage": "Python collects garbage in the step (rank 0",
    "compile": "operators are compiled in the step",
}
HEADLINE_TOLERANCE = 0.2
MEMORY = "11500k"
GAIN_TOLERANCE = 0.05


def diagnosed(tool, job, *options):
    done = subprocess.run([tool, "advisor", "all", "-d", job / "db", "--json", *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def headlines_wrong(tool, scratch):
    """The jobs of which a gate against the healthy one, or the other way round, does not name the cause first."""
    wrong = []
    for name, words in HEADLINES.items():
        cause = json.loads((scratch / name / "truth.json").read_text(encoding="utf-8"))["causes"][0]
        lost = sorted(cause["lost_ms_per_step"])[len(cause["lost_ms_per_step"]) // 2]
        for base, comparison, sign in (("healthy", name, 1), (name, "healthy", -1)):
            done = subprocess.run([tool, "compare", "-bp", scratch / base / "db", "-d", scratch / comparison / "db", "--json", "--fail_on",
                                   "step_time>+3%"], check=False, capture_output=True, text=True)
            causes = [row for row in json.loads(done.stdout)["causes"] if row["kind"] == "cause"]
            first = causes[0] if causes else {"name": "", "change_ns": 0}
            text, amount = first["name"], first["change_ns"] / 1e6
            headline = json.loads(done.stdout)["headline"]
            print(f"{comparison} after {base}: {headline}; lost {lost}")
            if not text.startswith(words) or abs(sign * amount - lost) > HEADLINE_TOLERANCE * lost or \
                    not re.search(f": [+-][0-9.]+ ms {re.escape(words[:12])}", headline):
                wrong.append(f"{comparison} after {base}")
    return wrong


def replayed_differently(tool, simulator, scratch):
    """The jobs whose first finding is another one where some ranks are replayed."""
    wrong = []
    for name, cause in REPLAYED.items():
        job = scratch / f"replayed_{name}"
        subprocess.run([sys.executable, "-B", simulator / "simulate_job.py", "--dst", job, *LARGER, "--format", "db", "--cause", cause],
                       check=True, stdout=subprocess.DEVNULL)
        every, some = diagnosed(tool, job), diagnosed(tool, job, "--memory", MEMORY)
        count = some["capture"].get("replayed", 0)
        (of_all, of_some) = (document["findings"][0] for document in (every, some))
        same = of_all["key"] == of_some["key"] and abs(of_some["gain_ns"] - of_all["gain_ns"]) <= GAIN_TOLERANCE * of_all["gain_ns"]
        print(f"{name}: {count} of {len(every['capture']['ranks'])} ranks replayed: {of_some['key']} {of_some['gain_ns']}, "
              f"all: {of_all['key']} {of_all['gain_ns']}")
        if not same or not 0 < count <= len(every["capture"]["ranks"]) / 2:
            wrong.append(name)
    return wrong


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
        scored = subprocess.run([sys.executable, "-B", simulator / "score.py", "--tool", args.tool, "--suite", scratch,
                                 "--format", "both", "--s7", "2", "--verbose"], check=False).returncode
        headlines = headlines_wrong(args.tool, Path(scratch))
        print(f"WRONG headlines: {', '.join(headlines)}" if headlines else "headlines: all name the cause")
        wrong = replayed_differently(args.tool, simulator, Path(scratch))
        print(f"WRONG with some ranks replayed: {', '.join(wrong)}" if wrong else "some ranks replayed: as all")
        return 1 if wrong or headlines else scored


if __name__ == "__main__":
    sys.exit(main())
