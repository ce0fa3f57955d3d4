#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses simulated jobs whose captures suffered as real ones do.

    test_perturbed.py --tool BINARY [--shared DIR]

DIR/tools/sim makes the jobs and knows what each cause costs. Of each job there are copies with clocks that drift or
stand apart, with launches and operations that the profiler lost, and without some ranks; see support/perturb.py. The
first fault has to be the planted cause all the same, and its gain right, or nothing may be said: a wrong finding is
never allowed. Text and database have to agree.

Exit status: 0 met, 1 otherwise, 2 usage, 77 skipped: there is no simulator.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from perturb import Perturbation, perturb  # noqa: E402
from test_diagnosis import SKIPPED  # noqa: E402


def settings(*pairs):
    return [part for pair in pairs for part in ("--set", pair)]


# Long steps, so that few of them show a drift.
LONG = settings("layers=1", "steps=4", "dp=4", "micro_batches=2", "hidden=4096", "ffn=11008", "seq=16384")
PIPELINE = ["--preset", "tp2pp2dp2", *settings("layers=2", "micro_batches=4", "steps=3")]
JOBS = {
    "slow_device": [*LONG, "--cause", "slow_rank_compute:ranks=2,factor=1.3"],
    "late_input": [*LONG, "--set", "ranks_per_node=2", "--cause", "dataloader:ranks=3,ms=60.0"],
    "pipeline": [*PIPELINE, "--cause", "slow_rank_compute:ranks=5,factor=1.4"],
}
# Job, what happens to it, the first fault, and how far its gain may be off (None: not compared).
CASES = [
    ("slow_device", Perturbation(drift_ppm=100), "rank.late_compute/r2", 0.1),
    ("late_input", Perturbation(drift_ppm=100, skew_ms=1000), "rank.late_input/r3", 0.1),
    ("slow_device", Perturbation(lost_links=0.02), "rank.late_compute/r2", 0.2),
    ("slow_device", Perturbation(ranks=(0, 1)), "rank.late/r2", 0.2),
    ("pipeline", Perturbation(lost_operations=0.03), "rank.late_compute/r5", None),
    ("slow_device", Perturbation(numbered=False, lost_operations=0.1, losing=(1,), drift_ppm=100),
     "rank.late_compute/r2", None),
    ("late_input", Perturbation(numbered=False, lost_operations=0.3), None, None),
]
LOUD = 0.03  # of the step; only faults that cost more are wrong


def faults(tool, job, scratch):
    """The faults of a job that cost more than nothing, and the mean step, as the diagnosis has them."""
    run = subprocess.run([tool, "advisor", "all", "-d", job, "--json"], cwd=scratch, capture_output=True, check=False)
    if run.returncode not in (0, 5):  # lost links are named
        raise ValueError(f"exit status {run.returncode}: {run.stderr.decode(errors='replace')[-300:]}")
    report = json.loads(run.stdout)
    found = [f for f in report["findings"] if f["gain_ns"] > 0 and f["kind"] == "fault"]
    return [f for f in found if not f["id"].startswith("capture.")], report["step_ns"]


def lost_ns(job):
    """What the planted cause costs a step, by the simulator."""
    causes = json.loads((job / "truth.json").read_text(encoding="utf-8"))["causes"]
    lost = causes[0]["lost_ms_per_step"]
    return sum(lost) / len(lost) * 1e6


def complaints(tool, job, first, tolerance, scratch):
    keys = {}
    for form in ("db", "text"):
        found, step = faults(tool, job / form, scratch)
        loud = [f for f in found if f["gain_ns"] >= LOUD * step]
        keys[form] = [f["key"] for f in loud]
        if first is None:
            if loud:
                yield f"{form}: first {loud[0]['key']}, want nothing"
        elif not found or found[0]["key"] != first:
            yield f"{form}: first {found[0]['key'] if found else 'nothing'}, want {first}"
        elif tolerance is not None and abs(found[0]["gain_ns"] - lost_ns(job)) > tolerance * lost_ns(job):
            yield f"{form}: {first} wins {found[0]['gain_ns'] / 1e6:.2f} ms, want {lost_ns(job) / 1e6:.2f}"
    if keys["db"] != keys["text"]:
        yield f"db finds {keys['db']}, text {keys['text']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", default=Path(__file__).resolve().parents[3] / "shared", type=Path)
    args = parser.parse_args()
    simulator = args.shared / "tools" / "sim" / "simulate_job.py"
    if not simulator.is_file():
        print(f"SKIPPED: no simulator in {simulator.parent}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        def simulate(name):
            subprocess.run([sys.executable, "-B", simulator, "--dst", Path(scratch, name), *JOBS[name]], check=True,
                           stdout=subprocess.DEVNULL)

        def judge(number):
            name, how, first, tolerance = CASES[number]
            copy = Path(scratch, f"{name}{number}")
            copy.mkdir()
            perturb(Path(scratch, name), copy, how)
            return list(complaints(Path(args.tool).resolve(), copy, first, tolerance, copy))

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(simulate, JOBS))
            results = list(pool.map(judge, range(len(CASES))))
    for (name, how, _, _), found in zip(CASES, results):
        print(f"{'FAIL' if found else 'ok  '} {name} {how}", *found, sep="\n     " if found else "")
    return int(any(results))


if __name__ == "__main__":
    sys.exit(main())
