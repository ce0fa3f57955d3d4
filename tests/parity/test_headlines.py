#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Headlines of the gate and summaries of recipes on simulated jobs with one known cause: do they name the culprit?

    test_headlines.py --tool BINARY [--shared DIR]

DIR/tools/sim makes a job without and one with each cause. The first line of a gate (and of `compare` of the directories)
and what a recipe says stands out have to have a word of each list: the culprit's rank and what makes it one. A miss is
allowed only if KNOWN lists it.

Exit status: 0 as expected, 1 otherwise, 2 usage, 77 skipped: there is no simulator.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent))

from test_diagnosis import SKIPPED  # noqa: E402: found only now

DENSE = "dense: --preset dense_dp8 --set layers=2 --set steps=4 --set dp=4"
PIPE = "pipe: --preset tp2pp2dp2 --set layers=4 --set micro_batches=4 --set steps=3"
EXPERTS = "experts: --preset moe_ep8 --set layers=2 --set steps=3"
# What the headline has to say: a word of each list. "rank 3" is the culprit, not one that waits for it.
HEADLINES = {
    "slow_kernels": (DENSE, "slow_rank_compute:ranks=3,factor=1.3", ["rank 3"], ["comput", "slower", "kernel"]),
    "slow_host": (DENSE, "slow_rank_host:ranks=1,factor=4.0", ["rank 1"], ["host", "launch", "operator"]),
    "late_input": (DENSE, "dataloader:ranks=2,ms=12.0", ["rank 2"], ["data loader", "input"]),
    "garbage": (DENSE, "gc:ranks=0,count=2,ms=6.0", ["rank 0"], ["garbage"]),
    "slow_link": (DENSE, "slow_link:link=0+3,factor=6.0", ["0-3", "0 to 3", "ranks 0, 3", "0 and 3"], ["link"]),
    "loader_of_all": (DENSE, "dataloader:ranks=all,ms=10.0", ["data loader"]),
    "slow_stage": (PIPE, "slow_rank_compute:ranks=5,factor=1.5", ["rank 5"], ["comput", "slower", "kernel"]),
    "imbalance": (EXPERTS, "moe_imbalance:ranks=2,factor=2.0", ["rank 2"], ["expert", "token", "comput", "kernel"]),
}
# Recipe and job whose summary has to say it.
SUMMARIES = {
    ("cluster_time_summary", "slow_kernels"): (["rank 3"], ["comput"]),
    ("cluster_time_summary", "slow_host"): (["rank 1"], ["host", "free", "launch"]),
    ("cluster_time_summary", "late_input"): (["rank 2"], ["data loader", "input", "host", "free"]),
    ("slow_rank", "slow_stage"): (["rank 5"], ["comput", "kernel"]),
    ("slow_link", "slow_link"): (["0 to 3", "3 to 0", "0-3"], ["slow", "others"]),
    ("all", "slow_kernels"): (["rank 3"], ["comput", "kernel"]),
}
STANDS_OUT = re.compile(r"stands out|late|most of the step|the others|slow", re.IGNORECASE)
# Name of a headline, or recipe and job -> what is said instead.
KNOWN = {}


def run(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 4, 5):
        raise RuntimeError(f"{arguments}: {done.stderr[-300:]}")
    return done.stdout


def says(text, lists):
    """One sentence has a word of each list."""
    return any(all(any(word in sentence for word in words) for words in lists) for sentence in text.split(" | "))


def headline(tool, new, old):
    return run(tool, "compare", "-d", new, "-bp", old, "--fail_on", "step_time>+1%").split("\n", 1)[0]


def summary(tool, recipe, job, scratch):
    """The sentences that say who stands out, without the tables of numbers."""
    with tempfile.TemporaryDirectory(dir=scratch) as out:
        lines = run(tool, "-m", recipe, "-d", job, "-o", out).splitlines()
    joined = re.sub(r"\n {4,}(?=\S)", " ", "\n".join(lines))
    return " | ".join(line for line in joined.splitlines() if STANDS_OUT.search(line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    args = parser.parse_args()
    simulator = args.shared / "tools" / "sim" / "simulate_job.py"
    if not simulator.is_file():
        print(f"SKIPPED: no simulator in {simulator.parent}")
        return SKIPPED
    tool, status = Path(args.tool).resolve(), 0
    with tempfile.TemporaryDirectory() as scratch:
        def simulate(job):
            name, options, cause = job
            subprocess.run([sys.executable, "-B", simulator, "--dst", Path(scratch, name), *options.split(), "--format", "db",
                            *(("--cause", cause) if cause else ())], check=True, stdout=subprocess.DEVNULL)

        healthy = [(*base.split(": ", 1), None) for base in (DENSE, PIPE, EXPERTS)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(simulate, [*healthy, *((name, base.split(": ", 1)[1], cause)
                                                 for name, (base, cause, *_) in HEADLINES.items())]))
        judged = [(name, headline(tool, Path(scratch, name, "db"), Path(scratch, base.split(":")[0], "db")), lists)
                  for name, (base, _, *lists) in HEADLINES.items()]
        judged += [(key, summary(tool, key[0], Path(scratch, key[1], "db"), scratch), lists)
                   for key, lists in SUMMARIES.items()]
        for key, text, lists in judged:
            right = says(text, lists)
            known = KNOWN.get(key)
            print(f"{'hit ' if right else 'miss'} {key}: {text}{f' (known: {known})' if known else ''}")
            if right and known:
                print("     is right by now: remove it from KNOWN")
            status |= right == bool(known)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
