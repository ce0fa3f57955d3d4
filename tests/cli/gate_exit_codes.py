# SPDX-License-Identifier: Apache-2.0
"""Exit codes of the gate, and the verdicts that they stand for."""

import shutil

from gate_runs import GateRuns
from captures import DATABASE, build_database
from formats import check_junit


class GateExitCodes(GateRuns):
    def test_0_ok(self):
        same = self.capture("same")
        for options in (["--fail_on", "step_time>+3%"], ["--min_steps", "3"], ["--noise", "auto"]):
            self.assert_verdict(self.gate(same, *options), 0, "OK step_time 100.0 -> 100.0 ms (+0.0 %")
        self.assertEqual(self.workbooks(), [])
        self.assertFalse(self.out.exists(), "a gate writes no files unless it is told to")

    def test_0_improved(self):
        slow = self.capture("slow", **self.SLOW)
        self.assert_verdict(self.gate(self.base, "--fail_on", "step_time>+3%", base=slow), 0,
                            "IMPROVED step_time 105.0 -> 100.0 ms (-4.8 %, limit 3 %, noise 0.3 %): "
                            "-3.0 ms MatMulV2, -1.5 ms exposed allreduce, -0.5 ms free time")

    def test_1_regression(self):
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--fail_on", "step_time>+3%")
        self.assert_verdict(result, 1, self.HEADLINE)
        self.assertEqual(result.out.splitlines()[0], self.HEADLINE)
        self.assertIn("low confidence", result.out.splitlines()[1])
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+6%"), 0, "OK step_time")
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+3%&+6ms"), 0, "OK step_time")
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+3%&+4ms"), 1, "REGRESSION")
        self.assert_verdict(self.gate(slow, "--warn_only"), 0, "REGRESSION step_time")

    def test_2_usage(self):
        for option, value, words in (
                ("--fail_on", "step_tiem>+3%", ["did you mean 'step_time'?"]),
                ("--fail_on", "step_time>+3%&fast", ["character 5", "'fast'", "+200us"]),
                ("--allow_mismatch", "zzz", ["'zzz'", "cann_version"]),
                ("--min_abs", "20", ["20us or 16MB"]), ("--min_share", "much", ["0.5%"]),
                ("--rank_stat", "best", ["worst, median or p95"]),
                ("--on_inconclusive", "hope", ["pass, warn or fail"]),
                ("--warmup", "-1", ["-1"]), ("--min_steps", "0", ["0"]),
                ("--memory_limit", "much", ["8G"]),
                ("--export_type", "junit,text", ["'text'", "junit"])):
            with self.subTest(option=option, value=value):
                self.assert_fails(2, self.gate(self.base, option, value), option, *words)
        self.assert_fails(2, self.gate(self.base, "--warmup", "1", "--base_step", "1",
                                       "--comparison_step", "1"), "--base_step", "no sheets")
        self.assert_fails(2, self.gate(self.base, "-d", self.base), "-d is given 2 times", "--fail_on")
        self.assert_fails(2, self.gate(self.base, "--fail_on", "free>+1%", "--fail_on", "free>+1ms"),
                          "--fail_on free>+1ms", "free already has a limit")
        self.assert_fails(2, self.gate(self.base, "--update_baseline"), "--update_baseline",
                          "--save_baseline")
        self.assert_fails(2, self.gate(self.base, "--export_type", "github", "--json"), "--json")
        self.assert_fails(2, self.run_tool("compare", "--learn_noise", self.scratch / "n.json",
                                           self.base, self.base), "--learn_noise", "2 runs are too few")

    def test_3_input(self):
        missing = self.scratch / "missing"
        self.assert_fails(3, self.gate(missing, "--warmup", "1"), "-d:", missing)
        self.assert_fails(3, self.gate(self.base, "--warmup", "1", base=missing), "-bp:", missing)
        self.assert_fails(3, self.gate(self.base, "--gate", missing), "--gate", missing)
        self.assert_fails(3, self.gate(self.base, "--noise", missing), "--noise", missing)
        cut = self.write("cut.json", '{"kind": "msprof-analyze-baseline", "runs": [')
        self.assert_fails(3, self.gate(self.base, base=cut), "-bp:", cut, "breaks off")
        future = self.write("future.json",
                            '{"kind": "msprof-analyze-baseline", "schema_version": 99}')
        self.assert_fails(3, self.gate(self.base, base=future), future, "schema_version 99")

    def test_4_inconclusive(self):
        short = self.capture("short", (100_000, 100_000))
        line = "INCONCLUSIVE step_time 100.0 -> 100.0 ms: a run of the comparison has 2 steps, 3 are needed"
        self.assert_verdict(self.gate(short, "--fail_on", "step_time>+3%"), 4, line)
        self.assert_verdict(self.gate(short, "--on_inconclusive", "pass"), 0, line)
        warned = self.gate(short, "--on_inconclusive", "warn")
        self.assert_verdict(warned, 0, line)
        self.assertEqual(len(warned.warnings), 1, warned.err)
        self.assert_verdict(self.gate(short, "--min_steps", "2"), 0, "OK step_time")
        self.assert_verdict(self.gate(self.base, "--warmup", "1"), 4, "INCONCLUSIVE step_time 100.1 -> 100.1 ms: a run of the base has 2 steps")
        nothing = self.gate(self.base, "--fail_on", "op:Conv*>+1%")
        self.assert_verdict(nothing, 4, "INCONCLUSIVE op:Conv*: no name on either side matches")
        unmarked = self.capture("unmarked", steps=False)
        self.assert_verdict(self.gate(unmarked, "--warmup", "0", base=unmarked), 4,
                            "INCONCLUSIVE step_time: the captures have no step markers")
        self.assert_verdict(self.gate(unmarked, "--fail_on", "e2e>+1%", base=unmarked), 0, "OK e2e")

    def test_4_not_comparable(self):
        other = self.capture("other", level="Level2")
        line = "NOT COMPARABLE profiler_level (Level1 / Level2): "
        self.assert_verdict(self.gate(other, "--fail_on", "step_time>+3%"), 4, line)
        self.assert_verdict(self.gate(other, "--on_inconclusive", "pass"), 4, line)
        allowed = self.gate(other, "--allow_mismatch", "profiler_level,soc")
        self.assert_verdict(allowed, 0, "OK step_time")
        self.assertIn("allowed to differ: profiler_level (Level1 / Level2)", allowed.out)
        larger = self.capture("larger", shapes="16,64;64,64")
        self.assert_verdict(self.gate(larger, "--warmup", "0"), 4, "NOT COMPARABLE shapes (")

    def test_5_partial(self):
        cut = self.capture("cut", **self.SLOW)
        trace = cut / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        whole = trace.read_bytes()
        for part in (0.7, 0.9, 0.999):
            trace.write_bytes(whole[:int(part * len(whole))])
            for options in ([], ["--warn_only"], ["--on_inconclusive", "pass"],
                            ["--fail_on", "step_time>+90%"], ["--min_steps", "1"]):
                with self.subTest(part=part, options=options):
                    result = self.gate(cut, "--fail_on", "comm_total>+90%", *options)
                    self.assertIn(result.code, (4, 5), (result.out, result.err))
        result = self.gate(cut, "--fail_on", "step_time>+90%", "--export_type", "junit")
        self.assertEqual(check_junit((self.out / "gate.junit.xml").read_text(encoding="utf-8")),
                         {"step_time": "skipped", "complete_input": "error"})
        self.assert_verdict(result, 5, "INCONCLUSIVE step_time")
        self.assertIn("judged on partial data", result.out.splitlines()[1])
        self.assertTrue(any("trace_view.json" in line for line in result.warnings), result.err)

    def test_5_cut_databases(self):
        capture = build_database(self.CAPTURES, "twin_db_base_ascend_pt", self.scratch)
        whole = (capture / DATABASE).read_bytes()
        copy = self.scratch / "cut"
        shutil.copytree(capture, copy / capture.name)
        for part in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            with self.subTest(part=part):
                (copy / capture.name / DATABASE).write_bytes(whole[:int(part * len(whole))])
                result = self.gate(copy, "--fail_on", "e2e>+90%", "--warn_only", base=capture)
                self.assertIn(result.code, (3, 5), (result.out, result.err))

    def test_5_broken_side_files(self):
        for name in ("kernel_details.csv", "memory_record.csv"):
            slow = self.capture(f"slow_{name}", **self.SLOW)
            file = slow / "ASCEND_PROFILER_OUTPUT" / name
            file.write_bytes(file.read_bytes()[:-4])
            result = self.gate(slow, "--fail_on", "step_time>+3%")
            self.assert_verdict(result, 5, "REGRESSION step_time")
            self.assertTrue(any(name in line for line in result.warnings), result.err)
        saved = self.scratch / "partial.json"
        result = self.run_tool("compare", "-d", slow, "--save_baseline", saved)
        self.assertEqual(result.code, 5, result.err)
        self.assertFalse(saved.exists(), "a baseline keeps whole data only")

    def test_a_directory_in_place_of_a_file_that_is_not_read(self):
        same = self.capture("same")
        (same / "ASCEND_PROFILER_OUTPUT" / "communication.json").mkdir()
        self.assert_verdict(self.gate(same, "--fail_on", "step_time>+3%"), 0, "OK step_time")

    def test_5_kernels_that_end_too_early(self):
        """A list of kernels that was cut between two lines: the device still computed."""
        same = self.capture("same")
        file = same / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[:-2]), encoding="utf-8")
        result = self.gate(same, "--fail_on", "op:MatMul*>+3%")
        self.assert_verdict(result, 5, "INCONCLUSIVE op:MatMul*")
        self.assertTrue(any("step 3" in line for line in result.warnings), result.err)
