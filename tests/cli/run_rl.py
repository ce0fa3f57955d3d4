#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iterations of reinforcement learning: their roles, and which one to scale.

    run_rl.py --tool BINARY --testdata DIR roles [-v]

The captures are made here, so that all numbers are known; see testdata/make_rl_captures.py.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sys
from pathlib import Path

from cli import DOCS, Cli, main

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
from make_rl_captures import Trace, apart, colocated, rollout, update, write  # noqa: E402

US = 1000  # ns


class Roles(Cli):
    def job(self, traces):
        job = self.scratch / "job"
        shutil.rmtree(job, ignore_errors=True)
        write(traces, job)
        return job

    def run_roles(self, traces, *options):
        return self.run_tool("-m", "rl_roles", "-d", self.job(traces), "-o", self.out, *options)

    def sheets(self, traces, *options, code=0):
        result = self.run_roles(traces, "--json", *options)
        self.assertEqual(result.code, code, result.all_err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def assert_row(self, row, **expected):
        self.assertEqual({column: row[column] for column in expected}, expected)

    def test_roles_on_the_same_devices(self):
        """Rank 0 decodes 590 us, rank 1 390; from 650 on both update for 300. In between nobody does anything."""
        sheets = self.sheets(colocated())
        (iteration,) = sheets["RlIterations"]
        self.assert_row(iteration, iteration=0, wall_ns=950 * US, devices=2, device_time_ns=1900 * US,
                        role_ns=(590 + 390 + 2 * 300) * US, bubble_ns=2 * 60 * US, waiting_ns=200 * US,
                        other_iteration_ns=0, shared_ns=0, bubble_wall_ns=60 * US, first_finish_ns=390 * US,
                        median_finish_ns=490 * US, last_finish_ns=590 * US, last_rank=0, tail_idle_ns=200 * US)
        self.assertAlmostEqual(iteration["tail_idle_percent"], 100 * 200 / (2 * 590))
        generate, updating = sheets["RlRoles"]
        self.assert_row(generate, role="rollout_generate", kind="rollout", devices=2, start_ns=0, end_ns=590 * US,
                        wall_ns=590 * US, computing_ns=10 * 90 * US, free_ns=(50 + 30) * US, communication_ns=0,
                        waiting_ns=200 * US, halving_gain_ns=295 * US)
        self.assert_row(updating, role="actor_update", kind="update", start_ns=650 * US, end_ns=950 * US,
                        computing_ns=2 * 240 * US, communication_ns=2 * 50 * US, free_ns=2 * 10 * US,
                        waiting_ns=0, halving_gain_ns=150 * US)
        (bubble,) = sheets["RlBubbles"]
        self.assert_row(bubble, duration_ns=60 * US, before="rollout_generate", behind="actor_update")
        steps = {run["rank_id"]: (run["decode_steps"], run["few_request_steps"], run["few_request_ns"],
                                  run["largest_batch"])
                 for run in sheets["RlRuns"] if run["role"] == "rollout_generate"}
        self.assertEqual(steps, {0: (6, 2, 200 * US, 8), 1: (4, 0, 0, 8)})

    def test_roles_on_devices_of_their_own(self):
        """Trainers wait 600 us for the rollout, engines 280 for the trainers; 20 us nobody does anything."""
        sheets = self.sheets(apart())
        self.assertEqual([row["iteration"] for row in sheets["RlIterations"]], [0, 1])
        for row in sheets["RlIterations"]:
            self.assert_row(row, wall_ns=950 * US, devices=4, bubble_ns=4 * 20 * US,
                            waiting_ns=2 * (600 + 280) * US, role_ns=(2 * 600 + 2 * 280 + 4 * 50) * US,
                            first_finish_ns=490 * US, last_finish_ns=590 * US, tail_idle_ns=100 * US)
        roles = {row["role"]: row for row in sheets["RlRoles"] if row["iteration"] == 1}
        self.assertEqual({name: (row["wall_ns"], row["waiting_ns"], row["halving_gain_ns"])
                          for name, row in roles.items()},
                         {"rollout_generate": (600 * US, 1200 * US, 600 * US),
                          "actor_compute_log_prob": (80 * US, 160 * US, 80 * US),
                          "actor_update": (200 * US, 400 * US, 200 * US),
                          "weight_sync": (50 * US, 0, 50 * US)})

    def test_parts_add_up(self):
        for traces in (colocated(), apart(), apart(iterations=3)):
            sheets = self.sheets(traces)
            for row in sheets["RlIterations"]:
                self.assertEqual(row["wall_ns"] * row["devices"], row["device_time_ns"])
                self.assertEqual(row["device_time_ns"], row["role_ns"] + row["bubble_ns"] + row["waiting_ns"] +
                                 row["other_iteration_ns"] - row["shared_ns"])
                roles = [role for role in sheets["RlRoles"] if role["iteration"] == row["iteration"]]
                self.assertEqual(sum(role["device_ns"] for role in roles), row["role_ns"])
                self.assertEqual(sum(role["waiting_ns"] for role in roles), row["waiting_ns"])
            for name, time in (("RlRoles", "device_ns"), ("RlRuns", "duration_ns")):
                for row in sheets[name]:
                    self.assertEqual(row[time], sum(row[f"{part}_ns"] for part in
                                                    ("computing", "communication", "copy", "free")))

    def test_screen(self):
        for traces, first in ((colocated(), "scale rollout_generate: halving its time saves 31.1 % of the iteration"),
                              (apart(9), "scale rollout_generate: halving its time saves 31.6 % of the iterations")):
            result = self.run_roles(traces)
            self.assertEqual(result.code, 0, result.all_err)
            lines = result.out.splitlines()
            self.assertEqual(lines[0], first)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertLessEqual(len(lines), 34)
        self.assertIn("  ... 3 more iterations", lines)

    def test_example_of_the_documents(self):
        """docs/rl.md shows what the program prints."""
        shown = (DOCS / "rl.md").read_text(encoding="utf-8").split("```")[1]
        result = self.run_tool("-m", "rl_roles", "-d", self.CAPTURES / "rl_colocated", "-o", self.out)
        self.assertEqual(shown.splitlines()[2:], result.out.splitlines())

    def test_one_iteration(self):
        sheets = self.sheets(apart(3), "--step_id", "2")
        self.assertEqual([row["iteration"] for row in sheets["RlIterations"]], [2])
        result = self.run_roles(apart(3), "--step_id", "7")
        self.assert_fails(3, result, "no iteration 7; there are 0, 1, 2")

    def test_iterations_of_directories(self):
        """verl names a directory for each step; captures of several steps may also lie in one directory."""
        later = colocated()
        for document in later.values():
            for event in document["traceEvents"]:
                event["ts"] += 5000
        numbered = {**{f"3/{name}": document for name, document in colocated().items()},
                    **{f"8/{name}": document for name, document in later.items()}}
        sheets = self.sheets(numbered)
        self.assertEqual([(row["iteration"], row["wall_ns"]) for row in sheets["RlIterations"]],
                         [(3, 950 * US), (8, 950 * US)])
        together = {**colocated(), **{name.replace("prof_", "prof_later_"): document
                                      for name, document in later.items()}}
        sheets = self.sheets(together)
        self.assertEqual([(row["iteration"], row["wall_ns"]) for row in sheets["RlIterations"]],
                         [(0, 950 * US), (1, 950 * US)])

    def test_weights_within_the_rollout(self):
        """MindSpeed-RL hands weights over within the function that generates: they are a role of their own."""
        trace = Trace(0, 1)
        trace.mark("ActorHybridWorker.generate_sequences", 0, 500)
        trace.mark("MegatronShardingManager.enter_infer_mode", 50, 150)
        trace.work("flash_fwd_splitkv_kernel", 200, 490)
        roles = {row["role"]: row["wall_ns"] for row in self.sheets({"rank0.json": trace.document()})["RlRoles"]}
        self.assertEqual(roles, {"rollout_generate": 400 * US, "weight_sync": 100 * US})

    def test_ranges_in_a_directory_of_a_role(self):
        """The capture of a stage is of one role, however often its function ran."""
        trace = Trace(0, 1)
        for begin in (0, 300):
            trace.mark("ActorRolloutHybrid.generate_sequences", begin, begin + 200)
            trace.work("flash_fwd_splitkv_kernel", begin + 10, begin + 190)
        document = trace.document()
        (role,) = self.sheets({"actor_generate/rank0.json": document})["RlRoles"]
        self.assert_row(role, role="rollout_generate", wall_ns=500 * US, computing_ns=360 * US, free_ns=140 * US)
        rows = self.sheets({"rank0.json": document})["RlRoles"]
        self.assertEqual([(row["iteration"], row["wall_ns"]) for row in rows], [(0, 200 * US), (1, 200 * US)])

    def test_what_is_missing_is_named(self):
        traces = colocated()
        del traces["actor_update/prof_rank-1.json"]
        result = self.run_roles(traces)
        self.assertEqual(result.code, 0)
        self.assertIn("actor_update was not captured on rank 1", result.all_err)
        stray = Trace(2, 3)
        update(stray, 0)
        result = self.run_roles({**colocated(), "prof_rank-2.json": stray.document()})
        self.assertEqual(result.code, 5)
        self.assertIn("1 of 5 captures are left out", result.all_err)
        self.assertIn("prof_rank-2.json", result.all_err)

    def test_a_capture_of_another_iteration_is_named(self):
        traces = colocated()
        late = Trace(2, 3, shift=100_000)
        rollout(late, [8] * 4)
        traces["rollout_generate/prof_rank-2.json"] = late.document()
        result = self.run_roles(traces)
        self.assertIn("rollout_generate/prof_rank-2.json overlaps no other capture of rollout_generate",
                      result.all_err)

    def test_captures_far_apart_are_named(self):
        traces = colocated()
        for rank in range(2):
            late = Trace(rank, 2, shift=500_000)
            update(late, 0)
            traces[f"actor_update/prof_rank-{rank}.json"] = late.document()
        result = self.run_roles(traces)
        self.assertIn("between rollout_generate and actor_update no role runs for 499.4 ms", result.all_err)
        self.assertNotIn("no role runs for", self.run_roles(colocated()).all_err)

    def test_training_has_no_roles(self):
        trace = Trace(0, 1)
        trace.mark("ProfilerStep#1", 0, 400)
        update(trace, 10)
        for name in ("rank0.json", "node0/rank0.json"):
            result = self.run_roles({name: trace.document()})
            self.assert_fails(3, result, "no roles of reinforcement learning found", "mstx or record_function")

    def test_check_knows_roles_by_directories(self):
        result = self.run_tool("check", self.job(colocated()), "--json")
        self.assertNotIn("rl_roles", [line for line in result.out.splitlines() if "cannot" in line])


if __name__ == "__main__":
    sys.exit(main(__doc__, Roles))
