#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device memory over time: categories, the peak and its holders, growth from step to step.

    run_memory.py --tool BINARY --testdata DIR memory [-v]

The runs are made here, so that all numbers are known; see tests/support/memory_runs.py. What they hold is replayed as
well, from the files alone (tests/support/memory_replay.py).

Exit status: 0 passed, 1 failed, 2 usage.
"""

import gzip
import json
import shutil
import sys

from cli import DOCS, Cli, main
from captures import build_database  # noqa: E402
from memory_replay import Replay, differences, read, results  # noqa: E402
from memory_runs import BEFORE_KB, START, WEIGHT_KB, Run  # noqa: E402

KB = 1024


class Memory(Cli):
    def job(self, run, form="text", ranks=1):
        job = self.scratch / f"job_{form}"
        shutil.rmtree(job, ignore_errors=True)
        job.mkdir()
        for rank in range(ranks):
            if form == "text":
                run.write_text(job / f"{rank}_ascend_pt", rank)
            else:
                run.write_trace(job / f"rank{rank}.json", rank)
        return job

    def run_memory(self, job, *options):
        return self.run_tool("-m", "memory_timeline", "-d", job, "-o", self.out, *options)

    def sheets(self, job, *options):
        result = self.run_memory(job, "--json", *options)
        self.assertEqual(result.code, 0, result.all_err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def assert_no_results(self, job, why):
        result = self.run_memory(job)
        self.assert_fails(3, result, "no results; no files written")
        self.assertEqual(len([line for line in result.warnings if why in line]), 1, result.all_err)

    def test_categories(self):
        """Each allocation has the category that it is planted for; the peak is in the backward pass of step 6."""
        for form in ("text", "trace"):
            with self.subTest(form):
                sheets = self.sheets(self.job(Run(), form))
                (rank,) = sheets["MemoryRanks"]
                # When the gradient of ReluBackward0 is made: both activations, input, state, the loss.
                held = {"before_capture": BEFORE_KB - WEIGHT_KB, "estimated_parameter": WEIGHT_KB, "input": 512, "activation": 3072 + 1, "autograd_detail": 1024,
                        "optimizer_state": 1536, "gradient": 0, "temporary": 0, "parameter": 0, "unknown": 0}
                self.assertEqual({name: rank[f"{name}_bytes"] for name in held},
                                 {name: kb * KB for name, kb in held.items()})
                self.assertEqual((rank["peak_ns"], rank["peak_step"]), ((START + 1308) * 1000, 6))
                self.assertEqual(rank["peak_bytes"], sum(held.values()) * KB)
                self.assertEqual(rank["reserved_at_peak_bytes"], Run.RESERVED)
                self.assertEqual((rank["kinds_from"], rank["held_before_bytes"], rank["held_before_explained_bytes"]),
                                 ("estimate", BEFORE_KB * KB, WEIGHT_KB * KB))
                holders = {(row["operator"], row["within"], row["category"]): (row["allocations"], row["bytes"] // KB,
                                                                               row["call_site"])
                           for row in sheets["MemoryPeak"]}
                self.assertEqual(holders, {
                    ("(before the capture)", "", "before the capture"): (0, BEFORE_KB - WEIGHT_KB, ""),
                    ("(before the capture)", "", "parameter (estimate)"): (0, WEIGHT_KB, ""),
                    ("aten::addmm", "aten::linear", "activation"): (1, 2048, "model.py:20"),
                    ("aten::zeros_like", "aten::zeros_like", "optimizer state"): (1, 1536, ""),
                    ("aten::relu", "aten::relu", "activation"): (1, 1024, "model.py:21"),
                    ("aten::threshold_backward", "ReluBackward0", "autograd detail"): (1, 1024, ""),
                    ("aten::empty", "aten::to", "input"): (1, 512, "model.py:11"),
                    ("aten::mse_loss", "aten::mse_loss", "activation"): (1, 1, "model.py:30")})

    def test_categories_over_time(self):
        """After the optimizer of the first step: its gradient, state and input are left, and the loss."""
        sheets = self.sheets(self.job(Run()))
        at = {row["time_ns"] // 1000 - START: row for row in sheets["MemoryOverTime"]}
        self.assertEqual(at[515]["temporary_bytes"], 768 * KB, "the sums of the optimizer")
        self.assertEqual(at[590]["temporary_bytes"], 0)
        self.assertEqual(at[365]["gradient_bytes"], 768 * KB)
        left = {name: kb for name, kb in at[590].items() if name.endswith("_bytes") and kb and name != "reserved_bytes"}
        self.assertEqual(left, {"allocated_bytes": (BEFORE_KB + 768 + 1536 + 512 + 1) * KB, "gradient_bytes": 768 * KB,
                                "optimizer_state_bytes": 1536 * KB, "input_bytes": 512 * KB, "activation_bytes": KB,
                                "before_capture_bytes": (BEFORE_KB - WEIGHT_KB) * KB,
                                "estimated_parameter_bytes": WEIGHT_KB * KB})

    def test_steps_and_growth(self):
        """The list gains 64 KiB in each step; of the last two it is too early to tell."""
        for form in ("text", "trace"):
            with self.subTest(form):
                sheets = self.sheets(self.job(Run(steps=5, leak_kb=64), form))
                self.assertEqual([row["step"] for row in sheets["MemoryByStep"]], [5, 6, 7, 8, 9])
                begins = [row["begin_bytes"] // KB for row in sheets["MemoryByStep"]]
                first = BEFORE_KB + 512 + 768 + 1536 + 1 + 64
                self.assertEqual(begins, [BEFORE_KB, first, first + 64, first + 128, first + 192])
                self.assertEqual(sheets["MemoryRanks"][0]["growth_per_step_bytes"], 64 * KB)
                (leak,) = sheets["MemoryGrowth"]
                self.assertEqual((leak["operator"], leak["call_site"], leak["category"]), ("aten::mul", "model.py:42", "unknown"))
                self.assertEqual((leak["steps"], leak["allocations"], leak["bytes"], leak["still_held_bytes"]),
                                 (4, 4, 4 * 64 * KB, 4 * 64 * KB))
                self.assertEqual((leak["first_step"], leak["last_step"]), (5, 8))
                result = self.run_memory(self.job(Run(steps=5, leak_kb=64), form))
                self.assertIn("growth: 65.54 kB a step on rank 0; leaks on 1 of 1 rank", result.out)
                self.assertIn("model.py:42", result.out)
        sheets = self.sheets(self.job(Run(steps=5)))
        self.assertEqual((sheets["MemoryGrowth"], sheets["MemoryRanks"][0]["growth_per_step_bytes"]), ([], 0))

    def test_one_step(self):
        """What is held at its begin comes from the whole run, with its categories."""
        job = self.job(Run(steps=4))
        sheets = self.sheets(job, "--step_id", "6")
        (rank,), (step,) = sheets["MemoryRanks"], sheets["MemoryByStep"]
        self.assertEqual((rank["peak_ns"], rank["optimizer_state_bytes"]), ((START + 1308) * 1000, 1536 * KB))
        self.assertEqual(step["begin_bytes"], (BEFORE_KB + 512 + 768 + 1536 + 1) * KB)
        self.assert_fails(3, self.run_memory(job, "--step_id", "77"), "77")

    def test_files(self):
        """The forms of export_memory_timeline, with its numbers of categories and actions."""
        job = self.job(Run(steps=1))
        self.assertEqual(self.run_memory(job).code, 0)
        folder = self.out / "cluster_analysis_output/MemoryTimeline"
        raw = json.loads((folder / "memory_timeline_0.raw.json").read_text())
        self.assertEqual(raw[:2], [[-1, 0, WEIGHT_KB * KB, 0], [-1, 0, (BEFORE_KB - WEIGHT_KB) * KB, 7]])
        self.assertEqual(raw[2:5], [[(START + 13) * 1000, 1, 512 * KB, 2], [(START + 110) * 1000, 1, 2048 * KB, 4],
                                    [(START + 112) * 1000, 1, 256 * KB, 3]])
        self.assertEqual(raw[5], [(START + 130) * 1000, 3, -256 * KB, 3])
        times, sizes = json.loads((folder / "memory_timeline_0.json").read_text())
        rest = (BEFORE_KB - WEIGHT_KB) * KB
        self.assertEqual((times[0], sizes[0]), (START, [0, WEIGHT_KB * KB, 0, 0, 0, 0, 0, 0, rest]))
        at = dict(zip(times, sizes))
        self.assertEqual(at[START + 112], [0, WEIGHT_KB * KB, 0, 512 * KB, 256 * KB, 2048 * KB, 0, 0, rest])
        plain = {path.name: path.read_bytes() for path in folder.glob("*.json")}
        self.assertEqual(self.run_memory(job, "--gzip").code, 0)
        self.assertEqual({path.stem: gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz")}, plain)

    def test_what_was_held_before_is_released(self):
        run = Run(steps=1)
        run.frees = [(250, 1000)]
        for form in ("text", "trace"):
            rows = self.sheets(self.job(run, form))["MemoryOverTime"]
            levels = {row["time_ns"] // 1000 - START: row["before_capture_bytes"] // KB for row in rows}
            self.assertEqual((levels[205], levels[250]), (BEFORE_KB - WEIGHT_KB, BEFORE_KB - WEIGHT_KB - 1000))

    def test_replay(self):
        """An independent replay of the files gives every number, and objects to others."""
        runs = {"usual": Run(), "leak": Run(steps=6, leak_kb=96), "short": Run(steps=1)}
        runs["short"].frees = [(250, 1000), (700, 96)]
        for name, run in runs.items():
            for form in ("text", "trace"):
                with self.subTest(name, form=form):
                    job = self.job(run, form)
                    self.assertEqual(self.run_memory(job).code, 0)
                    capture = job / ("0_ascend_pt" if form == "text" else "rank0.json")
                    replay, given = Replay(read(capture)), results(self.out, 0)
                    self.assertEqual([*differences(replay, *given)], [])
                    given[0]["MemoryPeak"][1]["bytes"] += 1
                    self.assertEqual(len([*differences(replay, *given)]), 2)
        for run in ("base", "new"):
            for capture in (self.CAPTURES / f"twin_text_{run}_ascend_pt",
                            build_database(self.CAPTURES, f"twin_db_{run}_ascend_pt", self.scratch / "built")):
                with self.subTest(capture.name):
                    job = self.scratch / f"job_{capture.name}_alone"
                    shutil.copytree(capture, job / capture.name)
                    self.assertEqual(self.run_memory(job).code, 0)
                    rank = None if "db" in capture.name else 0
                    rank = 0 if (self.out / "cluster_analysis_output/MemoryTimeline/memory_timeline_0.json").exists() else rank
                    self.assertEqual([*differences(Replay(read(capture)), *results(self.out, rank))], [])

    def test_screen_of_many_ranks(self):
        result = self.run_memory(self.job(Run(steps=4, leak_kb=64), ranks=9))
        self.assertEqual(result.code, 0, result.all_err)
        lines = result.out.splitlines()
        self.assertIn("peak: ", lines[0])
        self.assertIn("of 9 ranks: min", lines[1])
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertLessEqual(len(lines), 40)

    def test_example_of_the_documents(self):
        """docs/memory.md shows what the program prints."""
        shown = (DOCS / "memory.md").read_text(encoding="utf-8").split("```")[1]
        result = self.run_memory(self.job(Run(steps=4, leak_kb=64), ranks=2))
        self.assertEqual(shown.splitlines()[2:], result.out.splitlines())

    def test_long_names_fit(self):
        run = Run(steps=4)
        run.op("aten::" + "x" * 200, 3210, 20, line=7)
        run.life("aten::" + "x" * 200, 90000, 3215, None)
        self.assertLessEqual(max(map(len, self.run_memory(self.job(run)).out.splitlines())), 80)

    def test_nothing_recorded(self):
        job = self.job(Run())
        for file in job.rglob("*memory*.csv"):
            file.unlink()
        self.assert_no_results(job, "no memory of operators was recorded; collect with profile_memory=True")

    def test_traces_without_addresses(self):
        """Old profilers write none: which allocation a release ends is unknown."""
        run = Run()
        document = run.trace()
        for event in document["traceEvents"]:
            event["args"].pop("Addr", None)
        job = self.scratch / "old"
        job.mkdir()
        (job / "rank0.json").write_text(json.dumps(document), encoding="utf-8")
        self.assert_no_results(job, "the trace has no addresses of memory")

    def test_without_totals(self):
        job = self.job(Run())
        next(job.rglob("memory_record.csv")).unlink()
        result = self.run_memory(job)
        self.assertIn("what was allocated before the capture is unknown", result.all_err)
        (rank,) = self.sheets(job)["MemoryRanks"]
        self.assertEqual((rank["before_capture_bytes"], rank["estimated_parameter_bytes"], rank["held_before_bytes"],
                          rank["reserved_at_peak_bytes"]), (0, 0, 0, None))


if __name__ == "__main__":
    sys.exit(main(__doc__, Memory))
