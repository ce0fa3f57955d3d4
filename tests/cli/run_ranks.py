#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands print for one rank and for many: at most 40 lines of 80 columns, stdout and stderr together.

    run_ranks.py --tool BINARY --testdata DIR ranks [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

from cli import Cli, main
from captures import build_job

COLUMNS, MOST_LINES = 80, 40
TOY, HEADS = "toy_model_ascend_pt", "head_steady_ascend_pt,head_hard_ascend_pt"
SIMULATED = Path(__file__).resolve().parents[3] / "shared" / "data" / "sim"
GOLDEN = Path(__file__).resolve().parents[1] / "golden"


class Ranks(Cli):
    def job(self, what):
        shutil.rmtree(self.scratch / "job", ignore_errors=True)
        return build_job(self.CAPTURES, what, self.scratch)

    def recipe(self, name, directory, *options):
        result = self.run_tool("-m", name, "-d", directory, "-o", self.out, *options, env={"COLUMNS": "80"})
        self.assertEqual(result.code, 0, result.err)
        return result

    def assert_fits(self, result):
        """A message that is longer than a line of the terminal takes several."""
        lines = [*result.out.splitlines(), *result.err]
        self.assertEqual([line for line in result.out.splitlines() if len(line) > COLUMNS], [])
        count = sum(-(-len(line) // COLUMNS) or 1 for line in lines)
        self.assertLessEqual(count, MOST_LINES, "\n".join(lines))

    def test_recipes_fit_on_a_screen(self):
        for name, what in (("module_statistic", TOY), ("operator_mfu", TOY), ("head_overhead", HEADS)):
            for count in (1, 2, 16):
                for more in ([], ["--print"], ["--peak_tflops", "100"]):
                    if more[1:] and name == "head_overhead":
                        continue
                    with self.subTest(recipe=name, ranks=count, more=more):
                        result = self.recipe(name, self.job(f"{count}:{what}"), *more)
                        self.assert_fits(result)
                        self.assertTrue(result.out)

    def test_verbose_shows_every_rank(self):
        for name, what in (("module_statistic", TOY), ("operator_mfu", TOY), ("head_overhead", HEADS)):
            with self.subTest(recipe=name):
                out = self.recipe(name, self.job(f"16:{what}"), "--verbose").out
                for rank in range(16):
                    self.assertIn(f"\nrank {rank}: ", "\n" + out)

    def test_the_rank_that_stands_out_is_named(self):
        job = self.job(f"16:{TOY}:slow=7")
        out = self.recipe("module_statistic", job).out
        self.assertIn("stands out: rank 7, ", out)
        self.assertIn("(+100.0 %)", out)
        self.assertIn("stands out: rank 7, ", self.recipe("operator_mfu", job, "--peak_tflops", "100").out)

    def test_the_culprit_is_named_first(self):
        """Of simulated jobs, whose truth.json says what was planted, by every command that knows; then what to ask next."""
        if not SIMULATED.is_dir():
            self.skipTest(f"{SIMULATED} is not there")
        knows = ("cluster_time_summary", "slow_rank", "communication_bottleneck", "all")
        for name, first in (("slow_rank", "rank 2 holds up the others: it computes 7.53 ms a step, they 5.0"),
                            ("moe_ep8", "rank 5 holds up the others: it computes 9.4 ms a step, they 6.9 "),
                            ("slow_link", "slow link: rank 1 to 3 (HCCS) 7.6 GB/s, the others 11.8; costs 0.012 ms a step")):
            for recipe in knows:
                with self.subTest(job=name, recipe=recipe):
                    lines = self.recipe(recipe, SIMULATED / name / "db").out.splitlines()
                    self.assertTrue(lines[0].startswith(first.rstrip()), lines[0])
                    self.assertEqual(lines[-1], f"Next: msprof-analyze advisor all -d {SIMULATED / name / 'db'}")
                    self.assertNotIn("stands out", "\n".join(lines))
        lines = self.recipe("slow_link", SIMULATED / "slow_link" / "db").out.splitlines()
        self.assertEqual(lines[0], "rank 1 to 3 (HCCS) 7.6 GB/s, the others 11.8; costs 0.012 ms a step")

    def test_one_warning_for_all_ranks(self):
        job = self.job(f"16:{TOY}")
        result = self.recipe("operator_mfu", job)
        self.assertEqual(len(result.warnings), 1, result.err)
        self.assertIn("warning: 16 ranks (0, 1, 2, ...): no MFU, ", result.warnings[0])
        self.assertTrue(any("--verbose lists all 16 warnings" in line for line in result.err), result.err)
        every = self.recipe("operator_mfu", job, "--verbose").warnings
        self.assertEqual([line.split(": ")[2] for line in every], [f"rank {rank}" for rank in range(16)])
        document = json.loads(self.recipe("operator_mfu", job, "--json").out)
        self.assertEqual(len(document["notes"]), 16, "programs get all of them")

    def test_broken_ranks_are_one_warning(self):
        job = self.job(f"16:{TOY}")
        for rank in range(3, 12):
            (database,) = job.glob(f"rank{rank}_ascend_pt/*/*.db")
            connection = sqlite3.connect(database)
            connection.execute("DROP TABLE STRING_IDS")
            connection.commit()
            connection.close()
        result = self.run_tool("-m", "module_statistic", "-d", job, "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        self.assert_fits(result)
        self.assertLessEqual(len(result.warnings), 2, result.err)

    def test_gate_and_check_fit_on_a_screen(self):
        job = self.job(f"16:{TOY}")
        for arguments in (["check", "-d", job],
                          ["compare", "-d", job, "-bp", job, "--fail_on", "e2e>+3%", "--fail_on", "kernel:*>+3%"]):
            with self.subTest(arguments=arguments):
                self.assert_fits(self.run_tool(*arguments))
        for rank in range(0, 16, 3):  # in the way, so that captures differ
            for number in range(rank):
                (job / f"rank{rank}_ascend_pt" / f"profiler_info_{rank}{number}.json").write_text("no JSON")
        self.assert_fits(self.run_tool("check", "-d", job))

    def test_transcripts_are_80_columns_wide(self):
        transcripts = [*GOLDEN.glob("recipes/**/screen.txt"), *GOLDEN.glob("gate/**/screen.txt")]
        self.assertGreaterEqual(len(transcripts), 12)
        for path in transcripts:
            with self.subTest(path=str(path.relative_to(GOLDEN))):
                lines = path.read_text(encoding="utf-8").splitlines()
                self.assertEqual([line for line in lines if len(line) > COLUMNS or "\x1b" in line], [])
                self.assertLessEqual(len(lines), MOST_LINES)


if __name__ == "__main__":
    sys.exit(main(__doc__, Ranks))
