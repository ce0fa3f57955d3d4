# SPDX-License-Identifier: Apache-2.0
"""What compare, the gate and advisor say of a change that was put into a capture, and which runs count."""

import json
import re
import shutil

from gate_runs import GateRuns

MANY = tuple((f"Kind{number}", 4_000) for number in range(10))
SLOWER = tuple((name, 4_600) for name, _ in MANY)  # 15 %: 600 us each, 6 ms in all


class GateChanges(GateRuns):
    def planted(self):
        """Ten kinds of kernels take 15 % longer, and so does the step: 6 ms of 100."""
        return (self.capture("even", kernels=MANY),
                self.capture("slower", [length + 6_000 for length in self.STEPS], kernels=SLOWER))

    def first(self, *arguments):
        """The first line on a screen of unknown width."""
        return self.run_tool("compare", *arguments).out.splitlines()[0]

    def test_a_slow_down_of_all_kernels(self):
        """Every command says that the kernels are slower, by the same number."""
        base, slow = self.planted()
        gate = self.gate(slow, base=base, *("--fail_on", "step_time>+3%"))
        self.assert_verdict(gate, 1, "REGRESSION step_time 100.0 -> 106.0 ms (+6.0 %, limit 3 %, noise 0.3 %): "
                            "+6.0 ms computing spread over 10 kinds of kernels (+15.0 %)")
        self.assertIn("\n  +6.000 ms computing spread over 10 kinds of kernels (+15.0 %)\n", gate.out)
        # The median of three steps, each of which takes 6 ms more.
        story = self.compare(comparison=slow, base=base).out.split("\n\n")[-1].splitlines()
        self.assertEqual(story[1:3], ["median of 3 steps: +6.000 ms (+6.0 %)",
                                      "  +6.000 ms computing spread over 10 kinds of kernels (+15.0 %)"])
        one = self.compare("--base_step", "2", "--comparison_step", "2", comparison=slow, base=base).out
        self.assertIn("\nstep: +6.000 ms (+6.0 %)\n  +6.000 ms computing spread over 10 kinds of kernels", one)

    def test_advisor_says_the_same(self):
        base, slow = self.planted()
        before = self.scratch / "before.json"
        before.write_text(self.run_tool("advisor", "all", "-d", base, "--json").out, encoding="utf-8")
        advise = ("advisor", "all", "-d", slow, "--baseline", before, "-o", self.out, "-l", "en")
        lines = self.run_tool(*advise).out.splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith("step"))
        self.assertRegex(lines[at], r"^step( of rank 0)?: \+6\.000 ms \(\+6\.0 %\)$")
        self.assertTrue(lines[at + 1].startswith("  +6.000 ms "), lines[at + 1])
        change = json.loads(self.run_tool(*advise, "--json").out)["step_change"]
        self.assertEqual(change["now_ns"] - change["before_ns"], 6_000_000)
        self.assertEqual(sum(part["now_ns"] - part["before_ns"] for part in change["parts"]), 6_000_000)
        self.assertEqual(sum(part["now_ns"] - part["before_ns"] for part in change["parts"]
                             if part["leaf"].startswith("comp.")), 6_000_000)

    def test_the_headline_is_one_line_of_100_characters(self):
        base, slow = self.planted()
        long = self.capture("long", [length + 30_000 for length in self.STEPS],
                            kernels=(("MatMulV2", 40_000), ("Fused" * 40, 32_000)), level="Level2")
        for comparison, more, beginning in (
                (slow, [], "REGRESSION step_time 100.0 -> 106.0 ms (+6.0 %, limit 3 %, noise 0.3 %): +6.0 ms computing"),
                (long, ["--allow_mismatch", "profiler_level,shapes"],
                 "REGRESSION step_time 100.0 -> 130.0 ms (+30.0 %, limit 3 %, noise 0.3 %)"),
                (long, ["--allow_mismatch", "shapes"], "NOT COMPARABLE profiler_level (Level1 / Level2)"),
                (slow, ["--fail_on", "op:Kind0*>+3%", "--fail_on", "op:none>+3%"], "REGRESSION op:Kind0*"),
                (slow, ["--fail_on", "op:none>+3%"], "INCONCLUSIVE op:none: no name on either side matches")):
            with self.subTest(beginning=beginning):
                first = self.first("-bp", base, "-d", comparison, "--min_steps", "3", *(
                    more if "--fail_on" in more else [*more, "--fail_on", "step_time>+3%"]))
                self.assertTrue(first.startswith(beginning), first)
                self.assertLessEqual(len(first), 100, first)
        document = self.document(self.run_tool("compare", "-bp", base, "-d", slow, "--fail_on", "step_time>+3%", "--json"))
        self.assertLessEqual(len(document["headline"]), 100)

    def test_operators_are_no_calls_of_the_runtime(self):
        base, slow = self.CAPTURES / "gpu_base.json", self.CAPTURES / "gpu_new.json"
        result = self.run_tool("compare", "-bp", base, "-d", slow, "--fail_on", "e2e>+1%", "--json")
        document = json.loads(result.out)
        self.assertEqual([part["name"] for part in document["operators"]
                          if re.match("cu[A-Z]|cuda", part["name"])], [])
        self.assertNotEqual(document["operators"], [])

    def test_the_same_capture_counts_once(self):
        """A path, a link and a copy are one run; what is on both sides is named."""
        link, copy = self.scratch / "link_ascend_pt", self.scratch / "copy_ascend_pt"
        link.symlink_to(self.base)
        shutil.copytree(self.base, copy)
        other = self.capture("other", [length + 10 for length in self.STEPS])
        for same in (self.base, link, copy):
            with self.subTest(same=same.name):
                result = self.run_tool("compare", "-bp", self.base, "-bp", same, "-d", other,
                                       "--fail_on", "step_time>+3%", "--json")
                (metric,) = self.document(result)["metrics"]
                self.assertEqual(len(metric["base_runs"]), 1)
                self.assertIn(f"{same}: the same capture as -bp {self.base}; it counts once", "\n".join(result.err))
        both = self.run_tool("compare", "-bp", self.base, "-d", copy, "--fail_on", "step_time>+3%")
        self.assert_verdict(both, 0, "OK step_time 100.0 -> 100.0 ms")
        self.assertIn(f"{copy}: the same capture as -bp {self.base}; it is compared with itself", "\n".join(both.err))
        different = self.run_tool("compare", "-bp", self.base, "-d", other, "--fail_on", "step_time>+3%")
        self.assertNotIn("the same capture", "\n".join(different.err))

    def test_a_capture_of_equal_sizes_is_another_one(self):
        other = self.capture("other", (99_901, 100_001, 100_101))
        result = self.run_tool("compare", "-bp", self.base, "-bp", other, "-d", self.base,
                               "--fail_on", "step_time>+3%", "--json")
        (metric,) = self.document(result)["metrics"]
        self.assertEqual(metric["base_runs"], [100_000_000, 100_001_000])

    def test_a_baseline_remembers_its_warmup(self):
        lengths = (180_000, 100_000, 100_000, 100_000)
        base, now = self.capture("warm", lengths), self.capture("now", [length + 100 for length in lengths])
        file = self.scratch / "warm.json"
        self.assertEqual(self.run_tool("compare", "-d", base, "--warmup", "1", "--save_baseline", file).code, 0)
        for more in ([], ["--warmup", "1"]):
            (metric,) = self.document(self.gate(now, "--json", *more, base=file))["metrics"]
            self.assertEqual((metric["base"], metric["comparison"]), (100_000_000, 100_100_000))
        for count in ("0", "2"):
            self.assert_verdict(self.gate(now, "--warmup", count, base=file), 4,
                                f"NOT COMPARABLE warmup (1 / {count}): give --warmup 1")

    def test_chips_that_may_be_the_same(self):
        """A raw capture cannot tell chips of one family apart; write_capture() names none."""
        files = {}
        for name, soc in (("text", "Ascend910B"), ("database", "Ascend910B or 910C"), ("older", "Ascend910A")):
            files[name] = self.scratch / f"{name}.json"
            self.run_tool("compare", "-d", self.base, "--save_baseline", files[name])
            document = json.loads(files[name].read_text(encoding="utf-8"))
            document["runs"][0]["facts"]["soc"] = soc
            files[name].write_text(json.dumps(document), encoding="utf-8")
        rule = ("--fail_on", "step_time>+3%")
        self.assert_verdict(self.gate(files["database"], *rule, base=files["text"]), 0, "OK step_time")
        self.assert_verdict(self.gate(files["older"], *rule, base=files["database"]), 4,
                            "NOT COMPARABLE soc (Ascend910B or 910C / Ascend910A): ")
