# SPDX-License-Identifier: Apache-2.0
"""Repeated runs, ranks of a job, and baselines."""

import json

from cli import DOCS
from formats import check_document
from gate_runs import GateRuns
from steps import write_capture


class GateManyRuns(GateRuns):
    def runs(self, name, factor=1.0):
        """Three runs that differ by 0.3 % from each other."""
        return [self.capture(f"{name}{number}",
                             [round(factor * length * noise) for length in self.STEPS])
                for number, noise in enumerate((0.997, 1.0, 1.003))]

    def many(self, comparison, base, *more):
        arguments = [argument for path in comparison for argument in ("-d", path)]
        arguments += [argument for path in base for argument in ("-bp", path)]
        return self.run_tool("compare", *arguments, *more)

    def test_repeated_runs(self):
        base, same, slow = self.runs("a"), self.runs("b"), self.runs("c", 1.05)
        result = self.many(slow, base, "--fail_on", "step_time>+3%", "--json")
        document = self.document(result)
        self.assertEqual(document["verdict"], "regression")
        (metric,) = document["metrics"]
        self.assertEqual(metric["base_runs"], [99_700_000, 100_000_000, 100_300_000])
        self.assertEqual((metric["probability"], metric["low_confidence"]), (0.05, False))
        self.assertNotIn("low confidence", self.many(slow, base, "--warmup", "0").out)
        self.assert_verdict(self.many(same, base, "--fail_on", "step_time>+0%"), 0, "OK step_time")

    def test_warmup_is_recognised(self):
        """What a slow first step was in five is left out and said; --warmup goes before it."""
        base = self.capture("warm", (150_000, 100_100, 99_900, 99_800, 100_200))
        slow = self.capture("slow", (290_000, 105_100, 104_900, 104_800, 105_200))
        result = self.gate(slow, "--noise", "auto", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %")
        self.assertIn("\nfirst step left out as warm-up: 1.50 times the later ones in the base, 2.76 times in "
                      "the comparison\n", result.out)
        document = self.document(self.gate(slow, "--json", "--noise", "auto", base=base))
        self.assertEqual(document["warmup"]["steps"], 1)
        # Of four steps the mean of the middle two.
        self.assertEqual(document["metrics"][0]["base_runs"], [100_000_000])
        self.assertEqual(sum(part["change_ns"] for part in document["contributions"]),
                         document["metrics"][0]["change"])
        all_steps = self.document(self.gate(slow, "--json", "--warmup", "0", base=base))
        self.assertIsNone(all_steps["warmup"])
        self.assertEqual(all_steps["metrics"][0]["base_runs"], [100_100_000])
        alone = self.gate(slow, "--noise", "auto", base=self.capture("calm", (100_000,) * 5))
        self.assertIn("only the comparison was slow there, --warmup 0 judges all steps", alone.out)
        # A baseline keeps all steps, and the same is left out of it.
        from_file = self.gate(slow, base=self.saved(base))
        self.assertEqual(from_file.out, result.out)

    def test_drift_is_taken_off(self):
        base = self.capture("drifting", [98_000 + 1_000 * step for step in range(5)])
        slow = self.capture("slow", [103_000 + 1_000 * step for step in range(5)])
        result = self.gate(slow, "--noise", "auto", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 0.3 %)")
        self.assertIn("\n  drift of +1.00 % per step subtracted\n", result.out)
        flat = self.capture("flat", [100_000] * 5)
        apart = self.gate(base, "--noise", "auto", base=flat)
        self.assert_verdict(apart, 0, "OK step_time 100.0 -> 100.0 ms")
        self.assertIn("drift differs and is not subtracted: +0.00 % per step in the base, +1.00 % in the comparison; "
                      "in the last step the change is +2.0 %", apart.out)
        document = self.document(self.gate(base, "--json", "--noise", "auto", base=flat))
        self.assertTrue(document["metrics"][0]["drift"]["differs"])

    def test_learned_noise(self):
        noise = self.scratch / "noise.json"
        result = self.run_tool("compare", "--learn_noise", noise, *self.runs("a"))
        self.assertEqual(result.code, 0, result.err)
        learned = json.loads(noise.read_text(encoding="utf-8"))["relative_noise"]
        self.assertAlmostEqual(learned["step_time"], 0.003)
        self.assertEqual(learned["comm_exposed"], 0)
        noise.write_text(json.dumps({"kind": "msprof-analyze-noise", "schema_version": 1,
                                     "relative_noise": {"step_time": 0.02}}), encoding="utf-8")
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--noise", noise)
        self.assert_verdict(result, 4, "UNDECIDED step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 2.0 %): "
                            "not above three times the noise, 6.000 ms; only a limit above it decides")

    def job(self, name, *lengths):
        for rank, length in enumerate(lengths):
            write_capture(self.scratch / name / f"rank{rank}_ascend_pt", (length,) * 3, rank=rank)
        return self.scratch / name

    def test_ranks_of_a_job(self):
        base = self.job("base", 100_000, 100_000, 100_000)
        new = self.job("new", 100_000, 101_000, 110_000)
        for stat, code, line in (("worst", 1, "REGRESSION step_time 100.0 -> 110.0 ms"),
                                 ("median", 0, "OK step_time 100.0 -> 101.0 ms"),
                                 ("p95", 1, "REGRESSION step_time 100.0 -> 110.0 ms")):
            with self.subTest(stat=stat):
                self.assert_verdict(self.gate(new, "--rank_stat", stat, base=base), code, line)
        alone = self.gate(new / "rank0_ascend_pt", "--warmup", "0", base=base)
        self.assert_verdict(alone, 4, "NOT COMPARABLE world_size (3 / 1)")
        broken = new / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        broken.write_text("no trace", encoding="utf-8")
        result = self.gate(new, "--rank_stat", "median", base=base)
        self.assertEqual(result.code, 5, (result.out, result.err))
        self.assertTrue(any("rank1" in line for line in result.warnings), result.err)

    def test_jobs_change_nothing(self):
        base, new = self.job("base", 100_000, 100_000), self.job("new", 100_000, 110_000)
        one, four = (self.gate(new, "--warmup", "1", "--min_steps", "2", "--json", "--jobs", jobs,
                               base=base) for jobs in ("1", "4"))
        self.assertEqual((one.code, one.out), (four.code, four.out))

    def saved(self, *captures, more=()):
        file = self.scratch / "base.json"
        options = [argument for path in captures for argument in ("-d", path)]
        result = self.run_tool("compare", *options, "--save_baseline", file, *more)
        self.assertEqual((result.code, result.out), (0, ""), result.err)
        check_document(json.loads(file.read_text(encoding="utf-8")), "baseline", DOCS)
        return file

    def test_a_baseline_stands_for_its_captures(self):
        file = self.saved(self.base)
        self.assertLess(file.stat().st_size, 10_000)
        slow = self.capture("slow", **self.SLOW)
        rules = ("--fail_on", "step_time>+3%", "--fail_on", "kernel:*Mat*>+3%")
        from_capture, from_file = (
            self.document(self.gate(slow, *rules, "--json", base=base)) for base in (self.base, file))
        for document in (from_capture, from_file):
            document.pop("base")
        self.assertEqual(from_capture, from_file)
        self.assert_verdict(self.gate(slow, base=file), 1, self.HEADLINE)  # needs no option

    def test_baselines_know_how_they_were_made(self):
        file = self.saved(self.base, more=["--warmup", "0", "--rank_stat", "median"])
        self.assert_verdict(self.gate(self.base, base=file), 4, "NOT COMPARABLE rank_stat (median / worst)")
        module = self.gate(self.base, "--fail_on", "api:aten::*>+3%", base=self.saved(self.base))
        self.assert_verdict(module, 4, "INCONCLUSIVE api:aten::*")
        self.assertIn("--save_baseline", module.out)

    def test_a_baseline_fills_to_ten_runs(self):
        file = self.saved(self.base)
        for number in range(12):
            run = self.capture(f"run{number}", (99_500 + 100 * number,) * 3)
            self.assertEqual(self.gate(run, "--update_baseline", base=file).code, 0)
        document = json.loads(file.read_text(encoding="utf-8"))
        check_document(document, "baseline", DOCS)
        self.assertEqual([run["samples"]["step_time"][0] // 1000 for run in document["runs"]],
                         [99_900, *range(99_500, 100_400, 100)])

    def test_only_improvements_replace_a_baseline(self):
        slow, fast = self.capture("slow", **self.SLOW), self.capture("fast", (90_000,) * 3)
        file = self.saved(self.base)
        before = file.read_bytes()
        for capture, code in ((self.base, 0), (slow, 1)):
            self.assertEqual(self.gate(capture, "--update_baseline", base=file).code, code)
            self.assertEqual(file.read_bytes(), before)
        self.assert_verdict(self.gate(fast, "--update_baseline", base=file), 0, "IMPROVED step_time")
        document = json.loads(file.read_text(encoding="utf-8"))
        check_document(document, "baseline", DOCS)
        self.assertEqual(document["oldest_anchor"]["medians"]["step_time"], 100_000_000)
        # 3 % below the new baseline is an improvement, but runs of one program may differ by as much: it is one more run.
        lucky = self.capture("lucky", (87_300,) * 3)
        for _ in range(2):  # the second time it is known
            result = self.gate(lucky, "--update_baseline", base=file)
            self.assertEqual(result.code, 0, result.out)
            document = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual([run["samples"]["step_time"][0] for run in document["runs"]], [90_000_000, 87_300_000])
            self.assertEqual(document["oldest_anchor"]["medians"]["step_time"], 100_000_000)
        faster = self.capture("faster", (80_000,) * 3)
        self.assertEqual(self.gate(faster, "--update_baseline", base=file).code, 0)
        document = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(document["oldest_anchor"]["medians"]["step_time"], 100_000_000)
        self.assertEqual(document["runs"][0]["samples"]["step_time"], [80_000_000] * 3)
        result = self.gate(self.capture("now", (82_000,) * 3), base=file)
        self.assertIn("since the oldest baseline, 100.0 ms: -18.0 %", result.out)
