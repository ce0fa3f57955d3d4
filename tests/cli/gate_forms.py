# SPDX-License-Identifier: Apache-2.0
"""The forms of a verdict, and the jobs in docs/ci.md that use them."""

import itertools
import json
import os
import subprocess
import sys
import textwrap

from cli import DOCS, ESCAPE, TIMEOUT_SECONDS, Result
from formats import check_document, check_junit, parse_openmetrics
from gate_runs import GateRuns
from steps import KERNELS


class GateForms(GateRuns):
    def test_files(self):
        slow = self.capture("slow", **self.SLOW)
        rules = ("--fail_on", "step_time>+3%", "--fail_on", "peak_memory>+1MB", "--fail_on", "op:X>+1%")
        result = self.gate(slow, *rules, "--export_type", "junit,openmetrics,json,md")
        self.assert_verdict(result, 1, self.HEADLINE)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["gate.json", "gate.junit.xml", "gate.md", "gate.openmetrics.txt"])
        read = {path.name: path.read_text(encoding="utf-8") for path in self.out.iterdir()}
        self.assertEqual(check_junit(read["gate.junit.xml"]),
                         {"step_time": "failure", "peak_memory": None, "op:X": "error"})
        samples = parse_openmetrics(read["gate.openmetrics.txt"])
        step = ("metric", "step_time")
        self.assertEqual(samples["msprof_gate_base_seconds", (step,)], 0.1)
        self.assertEqual(samples["msprof_gate_comparison_seconds", (step,)], 0.105)
        self.assertEqual(samples["msprof_gate_base_bytes", (("metric", "peak_memory"),)], 1 << 30)
        state = ("msprof_gate_verdict", "regression")
        self.assertEqual(samples["msprof_gate_verdict", (step, state)], 1)
        self.assertEqual(samples["msprof_gate_exit_code", ()], 1)
        self.assertEqual({name for name, labels in samples if ("metric", "op:X") in labels},
                         {"msprof_gate_verdict"}, "what was not judged has no values")
        self.assertIn("| 100.0 ms | 105.0 ms | +5.0 % |", read["gate.md"])
        check_document(json.loads(read["gate.json"]), "gate", DOCS)
        self.assertTrue(read["gate.md"].startswith("## REGRESSION step_time"))
        self.gate(self.base, "--export_type", "junit")
        self.assertEqual(check_junit((self.out / "gate.junit.xml").read_text(encoding="utf-8")),
                         {"step_time": None})

    def test_openmetrics_by_the_public_parser(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError as error:
            print(f"SKIPPED: no public parser of OpenMetrics ({error})", file=sys.stderr)
            self.skipTest("prometheus_client is not installed")
        self.gate(self.base, "--export_type", "openmetrics")
        text = (self.out / "gate.openmetrics.txt").read_text(encoding="utf-8")
        names = {family.name for family in text_string_to_metric_families(text)}
        self.assertIn("msprof_gate_base_seconds", names)

    def test_annotations(self):
        slow = self.capture("slow", **self.SLOW)
        summary = self.write("summary.md", "before\n")
        rules = [argument for number in range(12)
                 for argument in ("--fail_on", f"op:{'*' * number}Mat*>+1%")]
        result = self.gate(slow, "--fail_on", "step_time>+3%", *rules, "--export_type", "github",
                           env={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assert_verdict(result, 1, self.HEADLINE)
        commands = [line for line in result.out.splitlines() if line.startswith("::")]
        self.assertEqual(len(commands), 10)
        self.assertEqual(commands[0], "::error title=msprof-analyze gate::"
                         + self.HEADLINE.replace("%", "%25"))
        self.assertIn("and 4 more", commands[9])
        text = summary.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n## REGRESSION step_time"), text)
        self.assertFalse(self.out.exists())
        passed = self.gate(self.base, "--export_type", "github", env={"GITHUB_STEP_SUMMARY": ""})
        self.assertIn("\n::notice title=msprof-analyze gate::OK step_time", passed.out)

    def test_what_only_warns_turns_nothing_red(self):
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--warn_only", "--export_type", "junit,github",
                           env={"GITHUB_STEP_SUMMARY": ""})
        self.assertEqual(result.code, 0)
        self.assertIn("\n::warning title", result.out)
        self.assertNotIn("::error", result.out)
        text = (self.out / "gate.junit.xml").read_text(encoding="utf-8")
        self.assertEqual(check_junit(text), {"step_time": "skipped"})

    def test_names_are_only_text(self):
        bad = '</failure>&"|\n::error::x%0A\\`<b>\x1b[31m\uffff'
        new = self.capture("new", kernels=(("MatMulV2", 40_000), (bad, 12_000)))
        pattern = 'op:*</failure>&*|\n\\"*'
        result = self.gate(new, "--fail_on", "computing>+3%", "--fail_on", f"{pattern}>+1%",
                           "--fail_on_new_op", "--export_type", "junit,md,json,openmetrics,github",
                           env={"GITHUB_STEP_SUMMARY": ""})
        self.assert_verdict(result, 1, "REGRESSION computing")
        self.assertIn("+12.00 ms </failure>&'|", result.out.splitlines()[0])
        self.assertNotIn(ESCAPE, result.out)
        self.assertEqual([line for line in result.out.splitlines() if line.startswith("::error::x")],
                         [])
        read = {path.name: path.read_text(encoding="utf-8") for path in self.out.iterdir()}
        cases = check_junit(read["gate.junit.xml"])
        self.assertEqual(cases, {"computing": "failure", pattern: "error", "new_op": "failure"})
        samples = parse_openmetrics(read["gate.openmetrics.txt"])
        state = ("msprof_gate_verdict", "inconclusive")
        self.assertEqual(samples["msprof_gate_verdict", (("metric", pattern), state)], 1)
        self.assertIn(f"aten::{bad.lower()}", json.loads(read["gate.json"])["added"])
        self.assertNotIn("<b>", read["gate.md"])
        self.assertNotIn(ESCAPE, read["gate.md"])

    def test_markdown_is_small(self):
        names = [(f"Kernel{number:04}{'x' * 300}", 10) for number in range(1500)]
        new = self.capture("new", kernels=[*KERNELS, *names])
        self.gate(new, "--export_type", "md", "--allow_mismatch", "shapes")
        size = (self.out / "gate.md").stat().st_size
        self.assertTrue(1000 < size <= 64 * 1024, size)

    @staticmethod
    def examples(heading):
        """The shell commands below a heading: whole blocks, of YAML the script behind '|'."""
        text = (DOCS / "ci.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1]
        blocks = text.split("\n## ")[0].split("```")[1::2]
        for block in blocks:
            kind, body = block.split("\n", 1)
            if kind == "yaml":
                lines = body.split("|\n", 1)[1].splitlines()
                indent = len(lines[0]) - len(lines[0].lstrip())
                lines = itertools.takewhile(lambda line: line.startswith(" " * indent), lines)
                body = textwrap.dedent("\n".join(lines))
            yield body

    def job_place(self, runs, **env):
        """A directory with the captures of three runs, and a function that runs a script there."""
        place = self.scratch / f"job{len(list(self.scratch.iterdir()))}"
        (place / "perf").mkdir(parents=True)
        (place / "bin").mkdir()
        (place / "bin" / "msprof-analyze").symlink_to(self.TOOL)
        for number, run in enumerate(runs, 1):
            (place / "profiles").mkdir(exist_ok=True)
            (place / "profiles" / f"new_{number}").symlink_to(run)
        path = f"{place / 'bin'}:{os.environ['PATH']}"

        def run_in_place(text):
            return Result(subprocess.run(
                ["bash", "-c", text], cwd=place, env={**os.environ, "PATH": path, **env},
                check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                timeout=TIMEOUT_SECONDS))
        return place, run_in_place

    def test_jobs_of_the_documentation(self):
        four = self.STEPS + (100_000,)
        base = [self.capture(f"m{number}", four) for number in range(3)]
        slow = [self.capture(f"s{number}", [round(1.05 * length) for length in four])
                for number in range(3)]
        save, update, learn = [body for _, body in zip(range(3), self.examples("The baseline"))]
        place, run = self.job_place(base)
        self.assertEqual(run(save).code, 0)
        baseline = (place / "perf" / "main.json").read_bytes()
        self.assertEqual(run(update).code, 0)
        self.assertEqual((place / "perf" / "main.json").read_bytes(), baseline)
        self.assertEqual(run(learn).code, 0)
        (rules,) = self.examples("Without baseline file")
        self.assertEqual(run(rules).code, 0, "one run against itself")
        jobs = {heading: next(self.examples(heading))
                for heading in ("GitHub Actions", "GitLab CI", "A plain shell job")}
        for runs, code, verdict in ((base, 0, "OK step_time"), (slow, 1, "REGRESSION step_time")):
            place, run = self.job_place(runs, GITHUB_STEP_SUMMARY=str(self.scratch / "sum.md"))
            (place / "perf" / "main.json").write_bytes(baseline)
            for heading, script in jobs.items():
                with self.subTest(heading=heading, code=code):
                    self.assert_verdict(run(script), code, verdict)
            self.assertEqual(
                sorted(file.name for file in (place / "gate").iterdir()),
                ["gate.json", "gate.junit.xml", "gate.md", "gate.openmetrics.txt"])
        self.assertIn("## REGRESSION", (self.scratch / "sum.md").read_text(encoding="utf-8"))

    def test_json_keeps_stdout_clean(self):
        result = self.gate(self.base, "--warmup", "0", "--json")
        self.assertEqual(self.document(result)["verdict"], "ok")
        self.assertTrue(any("note: OK step_time" in line for line in result.err), result.err)

    def test_pipes_get_no_colour(self):
        self.assertNotIn(ESCAPE, self.gate(self.base, "--warmup", "0").out)

    def test_the_ordinary_comparison_stays(self):
        """Without an option of the gate there are sheets, and growth fails nothing."""
        self.assert_compared(self.compare())
