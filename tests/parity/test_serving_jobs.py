#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses simulated servers with known causes.

    test_serving_jobs.py --tool BINARY [--shared DIR]

serving_simulator.py runs servers on the simulator in DIR/tools/sim, which tells what each planted cause costs: it
simulates the server again without it. Nine in ten causes have to be the first finding, on their ranks, with a gain that
is off by 20 % at most, or by 1 % of the step. Nothing is found in healthy servers. serving_phases has to tell the phases
and sizes of the graphs that the simulator ran.

Exit status: 0 met, 1 otherwise, 2 usage, 77 skipped: there is no simulator, or no numpy.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
ENGINES = {"dp": 2, "tp": 2, "joined": True}
SLOW_HOST = {"host_us_per_op": 45, "requests": [20, 60], "seq": 512}


def slow(ranks, factor=1.3, name="slow_rank_compute"):
    return {"name": name, "ranks": ranks, "factor": factor}


# name -> the finding, its ranks (empty: all, or not looked at), the planted cause, other settings
CAUSES = {
    "padding": ("graph.padding", [], {"name": "padding", "sizes": [512]}, {}),
    "some_padding": ("graph.padding", [], {"name": "padding", "sizes": [256]}, {}),
    "no_graph_above_32": ("host.graph_missed", [], {"name": "graph_missed", "largest": 32}, SLOW_HOST),
    "bubbles": ("graph.bubbles", [], {"name": "bubbles", "us": 600.0}, {}),
    "bubbles_of_engine": ("graph.bubbles", [], {"name": "bubbles", "us": 900.0}, ENGINES),
    "scheduling": ("serve.host", [], {"name": "schedule", "ms": 4.0}, {}),
    "detokenising": ("serve.host", [], {"name": "detokenize", "ms": 2.0}, {}),
    "idle_engine": ("serve.balance", [0, 1], {"name": "idle_engine", "engine": 1}, ENGINES),
    "other_engine_idle": ("serve.balance", [2, 3], {"name": "idle_engine", "engine": 0}, ENGINES),
    "prompts_apart": ("serve.prefill", [], {"name": "prompts_apart", "engine": 1}, {**ENGINES, "prompt": 1024}),
    "slow_engine": ("rank.late_compute", [2, 3], slow([2, 3]), ENGINES),
    "slow_rank": ("rank.late_compute", [2], slow([2]), {}),
    "late_engine": ("rank.late_host", [2, 3], slow([2, 3], 20, "slow_rank_host"), ENGINES),
    "slow_link": ("link.slow", [0, 1], {"name": "slow_link", "link": [0, 1], "factor": 8}, {}),
    "exchange_of_engines": ("serve.communication", [], {"name": "exchange_alone"},
                            {**ENGINES, "exchanged": 8 << 20, "overlapped": True}),
    "long_exchange": ("serve.communication", [], {"name": "exchange_alone"},
                      {**ENGINES, "exchanged": 16 << 20, "overlapped": True}),
    "ai_cpu": ("op.aicpu", [], {"name": "aicpu"}, {}),
}
HEALTHY = {"one_engine": {}, "two_engines": ENGINES, "long_prompts": {"prompt": 2048}, "slow_host": SLOW_HOST,
           "exchange_beside_layers": {**ENGINES, "exchanged": 8 << 20, "overlapped": True}}


def run(tool, job, *words):
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([tool, *words, "-d", job / "db", "--json", "-o", Path(scratch, "out")], check=False,
                              capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def findings_of(diagnosis):
    """Those that win time, with faults of all sizes."""
    return [finding for finding in diagnosis["findings"] if finding["gain_ns"] > 0]


def remarks(diagnosis, truth, wanted, ranks):
    """What is wrong with the first finding."""
    found = findings_of(diagnosis)
    if not found or found[0]["id"] != wanted:
        yield f"found {[finding['id'] for finding in found[:3]]}, not {wanted}"
        return
    first = found[0]
    if ranks and first["ranks"] != ranks:
        yield f"ranks {first['ranks']}, not {ranks}"
    counted = [i for i in range(len(truth["steps"])) if i not in diagnosis["capture"]["dropped_steps"]]
    lost = sum(truth["causes"][0]["lost_ms_per_step"][i] for i in counted) / len(counted)
    step = sum(truth["step_ms"][i] for i in counted) / len(counted)
    gains = [first[key] / 1e6 for key in ("gain_ns", "gain_max_ns")]
    if min(abs(gain - lost) for gain in gains) > max(0.2 * lost, 0.01 * step):
        yield f"gain {gains[0]:.2f} ms, planted {lost:.2f} of {step:.2f} ms"


def wrong_phases(simulator, tool, job, settings):
    """serving_phases against what the simulator ran, on rank 0."""
    config = simulator.sim_config.load_config({"preset": "server", **settings})
    (sheet,) = [sheet for sheet in run(tool, job, "-m", "serving_phases")["sheets"] if sheet["name"] == "ServingSteps"]
    rows = [row for row in sheet["rows"] if row["rank_id"] == 0]
    for step in range(config["steps"]):
        work = simulator.work_of(config, 0, step)
        size = simulator.graph_size(config, work.requests) if work.phase == "decode" else None
        wanted = {"phase": work.phase, "requests": work.requests, "graph_size": size}
        found = {key: rows[step][key] for key in wanted} if step < len(rows) else None
        if found != wanted:
            yield f"step {step}: {found}, not {wanted}"


def judge(tool, simulator, scratch):
    right = 0
    for name, (wanted, ranks, cause, settings) in CAUSES.items():
        truth = simulator.simulate(scratch / name, causes=[cause], **settings)
        wrong = [*remarks(run(tool, scratch / name, "advisor", "all"), truth, wanted, ranks)]
        right += not wrong
        print(f"{'WRONG' if wrong else 'ok':6}{name}{''.join('; ' + text for text in wrong)}")
    failed = 10 * right < 9 * len(CAUSES)
    print(f"{right} of {len(CAUSES)} causes; 9 in 10 are wanted")
    for name, settings in HEALTHY.items():
        simulator.simulate(scratch / name, causes=[], **settings)
        diagnosis = run(tool, scratch / name, "advisor", "all")
        wrong = [f"{finding['id']} {finding['share']:.3f}" for finding in findings_of(diagnosis)
                 if finding["kind"] == "fault" and finding["share"] >= 0.03]
        wrong += wrong_phases(simulator, tool, scratch / name, settings)
        stalls = any(finding["id"] == "serve.stall" for finding in diagnosis["findings"])
        if stalls != (name == "long_prompts"):
            wrong.append(f"serve.stall {'found' if stalls else 'not found'}")
        print(f"{'WRONG' if wrong else 'ok':6}healthy {name}{''.join('; ' + text for text in wrong)}")
        failed |= bool(wrong)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(options.shared.resolve() / "tools/sim"), str(HERE)]
    try:
        import serving_simulator
    except ImportError as error:
        print(f"SKIPPED: no simulator: {error}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        return judge(options.tool, serving_simulator, Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
