# SPDX-License-Identifier: Apache-2.0
"""What the gate judges, and by which runs, ranks and baselines."""

import json
import shutil
import sqlite3

from gate_runs import GateRuns
from captures import DATABASE, build_database


class GateMetrics(GateRuns):
    def test_free_time_names_what_the_host_did(self):
        base = self.capture("quick", item_us=1_000)
        slow = self.capture("waits", (104_900, 105_000, 105_100), item_us=6_000)
        result = self.gate(slow, "--fail_on", "step_time>+3%", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, "
                            "noise 0.3 %): +5.0 ms free time (operator calls: aten::item +5.000 ms)")
        self.assertIn("on the host while free time grew:\n      +5.000 ms aten::item\n", result.out)
        (call,) = self.document(self.gate(slow, "--fail_on", "step_time>+3%", "--json",
                                          base=base))["host_calls"]
        self.assertEqual((call["name"], call["leaf"], call["change_ns"]),
                         ("aten::item", "free.dispatch.op", 5_000_000))

    def test_the_screen_says_the_verdict_once(self):
        slow = self.capture("slow", **self.SLOW)
        self.assertEqual(self.gate(slow, "--fail_on", "step_time>+3%").out.count("REGRESSION"), 1)
        near = self.capture("near", [length + 200 for length in self.STEPS],
                            kernels=(("MatMulV2", 40_100), ("Relu", 2_000)))
        lines = self.gate(near, "--fail_on", "step_time>+3%").out.splitlines()
        self.assertEqual(len(lines), 2, "the verdict and its confidence, no change below the noise")

    def test_one_long_step_is_named_and_decides_only_if_asked(self):
        """Six steps of 100 ms; the fourth takes 400 ms longer."""
        even = self.capture("even", (100_000,) * 6)
        long = self.capture("long", (100_000,) * 3 + (500_000,) + (100_000,) * 2)
        rule = ("--fail_on", "step_time>+3%")
        result = self.gate(long, *rule, base=even)
        self.assert_verdict(result, 0, "OK step_time 100.0 -> 100.0 ms")
        self.assertRegex(result.out, r"step \d+: \+400\.0 ms of \+400\.0; median unchanged")
        metrics = {row["name"]: row for row in
                   self.document(self.gate(long, *rule, "--json", base=even))["metrics"]}
        longest = metrics["step_time_max"]
        self.assertEqual((longest["base"], longest["comparison"], longest["limit"]),
                         (100_000_000, 500_000_000, ""))
        self.assert_verdict(self.gate(long, "--fail_on", "step_time_max>+50%", base=even), 1,
                            "REGRESSION step_time_max 100.0 -> 500.0 ms (+400.0 %")
        same = self.gate(even, *rule, base=even)
        self.assertNotIn("step_time_max", same.out)
        self.assertNotIn("median unchanged", same.out)

    def test_metrics(self):
        slow = self.capture("slow", reserved_mb=1536, **self.SLOW)
        for expression, line in (
                ("computing>+3%", "computing 42.00 -> 45.00 ms (+7.1 %, limit 3 %, noise 0.2 %): "
                                  "+3.00 ms MatMulV2"),
                ("comm_exposed>+5%&+200us", "comm_exposed 10.00 -> 11.50 ms (+15.0 %, limit 5 % and "
                                            "200.0 us, noise 0.0 %): +1.50 ms exposed allreduce"),
                ("comm_total>+1ms", "comm_total 10.00 -> 11.50 ms"),
                ("peak_memory>+256MB", "peak_memory 1.074 -> 1.611 GB (+50.0 %, limit 256.0 MB"),
                ("e2e>+1%", "e2e 251.9 -> 266.4 ms (+5.8 %, limit 1 %, noise 0.3 %): "
                            "+9.0 ms computing, +4.5 ms exposed allreduce, +1.0 ms free between tasks"),
                ("op:MatMul*>+7%", "op:MatMul* 40.00 -> 43.00 ms (+7.5 %"),
                ("op:aten::mat*>+7%", "op:aten::mat* 40.00 -> 43.00 ms"),
                ("kernel:aclnn_M*>+7%", "kernel:aclnn_M* 40.00 -> 43.00 ms (+7.5 %, limit 7 %, noise "
                                        "0.0 %): +3.00 ms aclnn_MatMulV2")):
            with self.subTest(expression=expression):
                self.assert_verdict(self.gate(slow, "--fail_on", expression), 1, f"REGRESSION {line}")
        free = self.gate(slow, "--fail_on", "free>+1%")
        self.assert_verdict(free, 4, "UNDECIDED free 48.00 -> 48.50 ms (+1.0 %, limit 1 %, noise 219.0 %): "
                            "not above three times the noise, 315.4 ms; three runs a side decide")

    def test_above_the_limit_is_never_ok(self):
        """A kernel of 153 us: 8 % more is 12 us, 25 % more is within what such kernels usually differ by."""
        def kernel(name, length):
            return self.capture(name, kernels=(("Gemm", 40_000), ("MatMulV2", length), ("Relu", 2_000)))

        base, rule = kernel("small", 153), ("--fail_on", "op:MatMul*>+5%")
        for name, length, percent in (("more", 165, "+7.8 %"), ("much", 191, "+24.8 %")):
            new = kernel(name, length)
            with self.subTest(length=length):
                line = f"UNDECIDED op:MatMul* 153.0 -> {length}.0 us ({percent}, limit 5 %, noise 11.0 %): not above"
                self.assert_verdict(self.gate(new, *rule, base=base), 4, line)
                self.assert_verdict(self.gate(new, *rule, "--strict", base=base), 1, line)
                self.assert_verdict(self.gate(new, *rule, "--strict", "--warn_only", base=base), 0, line)
                self.assert_verdict(self.gate(new, *rule, "--on_inconclusive", "pass", base=base), 0, line)
                document = self.document(self.gate(new, *rule, "--json", base=base))
                self.assertEqual((document["verdict"], document["metrics"][0]["verdict"]), ("undecided",) * 2)
        self.assert_verdict(self.gate(kernel("within", 160), *rule, base=base), 0, "OK op:MatMul*")
        self.assert_verdict(self.gate(kernel("far", 230), *rule, base=base), 1, "REGRESSION op:MatMul*")

    def test_patterns_without_a_match_name_what_there_is(self):
        for rule, names in (("kernel:MatMul*", ["names of kernels (aclnn_MatMulV2)", "their types (MatMulV2)"]),
                            ("op:aclnn*", ["types of kernels (MatMulV2)", "kernel: matches names"])):
            with self.subTest(rule=rule):
                result = self.gate(self.base, "--fail_on", f"{rule}>+3%")
                self.assert_verdict(result, 4, f"INCONCLUSIVE {rule}: no name on either side matches")
                for text in names:
                    self.assertIn(text, result.out)

    def test_new_operators(self):
        new = self.capture("new", kernels=(("MatMulV2", 40_000), ("Gelu", 2_000)))
        self.assert_verdict(self.gate(new, "--warmup", "0"), 0, "OK step_time")
        result = self.gate(new, "--fail_on_new_op")
        self.assert_verdict(result, 1, "REGRESSION new_op 0 -> 2 (+2, limit 0): Gelu, aten::gelu")
        self.assertIn("only in the base: Relu, aten::relu", result.out)

    def test_gate_file(self):
        slow = self.capture("slow", **self.SLOW)
        rules = {"metrics": [{"metric": "step_time", "limit": "+3%", "min_abs": "6ms"},
                             {"metric": "op:MatMul*", "limit": "+2%", "min_share": "5%"}]}
        file = self.write("gate.json", json.dumps(rules))
        result = self.gate(slow, "--gate", file)
        self.assert_verdict(result, 4, "UNDECIDED step_time")
        self.assertIn("not above the floor of 6.000 ms; a smaller min_abs of its rule decides", result.out)
        self.assertIn("not above the smallest share of the step that counts, 5.000 ms; a smaller min_share of its "
                      "rule decides", result.out)
        self.assert_verdict(self.gate(slow, "--gate", file, "--fail_on", "step_time>+3%"), 1,
                            "REGRESSION step_time")
        for wrong, words in ((b'{"metric": []}', ['unknown name "metric"', "metrics"]),
                             (b'{"metrics": [{"metric": "free"}]}', ['"limit"']),
                             (b'{"metrics": [{"metric": "free", "limit": "3"}]}', ["free: limit", "'3'"]),
                             (b'{"metrics": [{"metric": "free", "limit": "3%"},'
                              b'{"metric": "free", "limit": "3ms"}]}', ["free is listed twice"]),
                             (b'{"min_steps": "3"}', ["min_steps", "whole number"])):
            with self.subTest(wrong=wrong):
                file.write_bytes(wrong)
                self.assert_fails(2, self.gate(slow, "--gate", file), "--gate", *words)

    def test_contributions_add_up(self):
        slow = self.capture("slow", **self.SLOW)
        document = self.document(self.gate(slow, "--fail_on", "step_time>+3%", "--json"))
        parts = document["contributions"]
        self.assertEqual([(part["name"], part["change_ns"]) for part in parts],
                         [("MatMulV2", 3_000_000), ("exposed allreduce", 1_500_000),
                          ("free time (host not recorded)", 500_000), ("other", 0)])
        (metric,) = document["metrics"]
        self.assertEqual(sum(part["change_ns"] for part in parts), metric["change"])
        self.assertEqual(metric["base_runs"], [100_000_000])

    def test_contributions_are_of_the_metric_that_decides(self):
        slow = self.capture("slow", **self.SLOW)
        base = self.scratch / "baseline.json"
        self.run_tool("compare", "-d", self.base, "--save_baseline", base)
        for name, explained in (("e2e", "e2e"), ("computing", "computing"),
                                ("comm_exposed", "comm_exposed"), ("free", "free"),
                                ("op:*", "op:*"), ("comm_total", ""), ("op:MatMul*", ""),
                                ("peak_memory", "")):
            with self.subTest(name=name):
                ran = self.gate(slow, "--fail_on", f"{name}>+0%", "--fail_on", "step_time>+90%", "--json", base=base)
                document = self.document(ran)
                self.assertEqual(document["explained"], explained)
                if not explained:
                    self.assertEqual(document["contributions"], [], "another metric's parts say nothing of it")
                    continue
                (metric,) = [metric for metric in document["metrics"]
                             if metric["name"] == explained]
                self.assertEqual(sum(part["change_ns"] for part in document["contributions"]),
                                 metric["comparison"] - metric["base"])

    def test_undecided_metrics_have_no_causes(self):
        """Parts of what was not decided would be made to add up to a change that nobody judged."""
        slow = self.capture("slow", **self.SLOW)
        for options in (("--min_steps", "50"), ("--min_abs", "1s")):
            ran = self.gate(slow, "--fail_on", "step_time>+3%", *options)
            verdict, *rest = ran.out.splitlines()
            self.assertRegex(verdict, "^(INCONCLUSIVE|UNDECIDED) step_time 100.0 -> 105.0 ms")
            self.assertNotRegex(ran.out, r"\d ns\b")
            self.assertNotIn("MatMulV2", verdict + rest[0])

    def test_the_screen_has_at_most_12_lines(self):
        slow = self.capture("slow", **self.SLOW)
        rules = [part for name in ("computing", "free", "e2e", "copies", "comm_total", "comm_exposed", "op:*", "kernel:*",
                                   "op:MatMul*", "peak_memory", "lccl", "step_time")
                 for part in ("--fail_on", f"{name}>+{1 if name == 'step_time' else 90}%")]
        lines = self.gate(slow, *rules).out.splitlines()
        self.assertLessEqual(len(lines), 12, lines)
        self.assertTrue(lines[0].startswith("REGRESSION"), lines)
        self.assertRegex(lines[-1], r"^\.\.\. \d+ more lines with -v$")
        whole = self.gate(slow, "-v", *rules).out.splitlines()
        self.assertEqual(whole[:len(lines) - 1], lines[:-1])
        self.assertEqual(len(whole), len(lines) - 1 + int(lines[-1].split()[1]))

    def test_free_time_is_that_of_the_comparison(self):
        """Of captures without steps, with an LCCL kernel of 20 ms. The sheet's Free Time holds the copies."""
        base, new = (build_database(self.CAPTURES, f"db_{name}_ascend_pt", self.scratch)
                     for name in ("base", "new"))
        for capture in (base, new):
            with sqlite3.connect(capture / DATABASE) as database:
                database.execute("DELETE FROM STEP_TIME")
            database.close()
        sheets = json.loads(self.compare("--enable_profiling_compare", "--json", base=base,
                                         comparison=new).out)["sheets"]
        rows = {row["index"].strip(): row for row in sheets[0]["rows"]}
        for metric, index in (("free copies", "Free Time"), ("computing", "Computing Time"),
                              ("comm_exposed", "Uncovered Communication Time"),
                              ("e2e", "E2E Time")):
            with self.subTest(metric=metric):
                rules = [text for name in metric.split() for text in ("--fail_on", f"{name}>+0%")]
                judged = self.document(self.gate(new, *rules, "--json", base=base))["metrics"]
                for side in ("base", "comparison"):
                    self.assertAlmostEqual(sum(part[side] for part in judged) / 1e6,
                                           rows[index][f"{side}_duration_ms"], places=2)

    def test_e2e_begins_with_the_first_device_task(self):
        """A copy before the first kernel takes 50 ms longer: end to end and free time with it."""
        database = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch)
        slow = shutil.copytree(database, self.scratch / "slow_db_ascend_pt")
        with sqlite3.connect(slow / DATABASE) as tasks:
            tasks.execute("UPDATE TASK SET startNs = startNs - 50000000 WHERE connectionId = 101")
        tasks.close()
        text = self.CAPTURES / "text_base_ascend_pt"
        slow_text = shutil.copytree(text, self.scratch / "slow_text_ascend_pt")
        trace = slow_text / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = trace.read_text(encoding="utf-8")
        for ends, longer in (("dur\": 10000, ", "dur\": 60000, "), ("dur\": 50000}", "dur\": 100000}")):
            old = f'"ts": "1700000000150000.000", "{ends}'
            self.assertEqual(events.count(old), 1, old)
            events = events.replace(old, f'"ts": "1700000000100000.000", "{longer}')
        lines = events.splitlines(keepends=True)  # the ends of the arrows to the copy move with it
        events = "".join(line.replace("1700000000150000.000", "1700000000100000.000")
                         if '"ph": "f"' in line and '"tid": 2,' in line else line for line in lines)
        trace.write_text(events, encoding="utf-8")
        for base, capture in ((database, slow), (text, slow_text)):
            with self.subTest(capture=capture.name):
                self.assert_verdict(self.gate(capture, "--fail_on", "e2e>+1%", base=base), 1,
                                    "REGRESSION e2e 1450.0 -> 1500.0 ms (+3.4 %, limit 1 %, "
                                    "noise 0.3 %): +50.0 ms free between tasks")
                document = json.loads(self.compare("--enable_profiling_compare", "--json",
                                                   base=base, comparison=capture).out)
                changed = {row["index"]: row["diff_duration_ms"]
                           for row in document["sheets"][0]["rows"] if row["diff_duration_ms"]}
                self.assertEqual(changed, {"Free Time": 50, "SDMA": 50, "E2E Time": 50})
