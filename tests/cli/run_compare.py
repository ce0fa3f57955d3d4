#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compare says of captures that are not alike, and what it promises for any of them.

    run_compare.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: alike, promises, lists.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sys

from cli import BASE, NEW, Cli, main
from captures import build_database
from steps import write_capture


class Alike(Cli):
    """What differs before anything is compared is said first."""

    def capture(self, name, lengths=(50_000,), world_size=8, **settings):
        capture = write_capture(self.scratch / f"{name}_ascend_pt", lengths, **settings)
        groups = {"0": {"group_name": "dp", "global_ranks": list(range(world_size))}}
        (capture / "profiler_metadata.json").write_text(
            json.dumps({"parallel_group_info": groups}), encoding="utf-8")
        return capture

    def preface(self, result):
        """The lines above the table; they are a note, too, and no warning."""
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        lines = lines[:next(i for i, line in enumerate(lines) if line.startswith("Base: "))]
        self.assertLessEqual(len(lines), 5)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        self.assertFalse(any("not alike" in line for line in result.err), result.err)
        return " ".join(lines)

    def assert_told(self, base, comparison, text, *options):
        told = f"The captures are not alike (base / comparison): {text}" if text else ""
        settings = {"base": base, "comparison": comparison}
        self.assertEqual(self.preface(self.compare(*options, **settings)), told)
        result = self.compare(*options, "--json", **settings)
        notes = json.loads(result.out)["notes"]
        self.assertEqual([note for note in notes if "not alike" in note], [told] if told else [])
        if told:
            self.assertEqual(notes[0], told)
            self.assertTrue(any(told in line for line in result.warnings), result.err)

    def test_what_differs(self):
        base = self.capture("base")
        self.assert_told(base, self.capture("same"), "")
        for name, settings, text in (
                ("steps", {"lengths": (50_000, 50_000)}, "steps (1 / 2)"),
                ("ranks", {"world_size": 4}, "world_size (8 / 4)"),
                ("level", {"level": "Level0"}, "profiler_level (Level1 / Level0)"),
                ("model", {"shapes": "16,64;64,64"},
                 "shapes (100 % of the kernels / 0 % with the same type and shapes)"),
                ("both", {"lengths": (50_000, 50_000), "level": "Level2", "world_size": 1},
                 "steps (1 / 2), world_size (8 / 1), profiler_level (Level1 / Level2)")):
            with self.subTest(name):
                self.assert_told(base, self.capture(name, **settings), text)

    def test_chosen_steps_are_one_each(self):
        base, two = self.capture("base"), self.capture("two", (50_000, 50_000))
        self.assert_told(base, two, "", "--base_step", "1", "--comparison_step", "2")

    def test_other_kinds(self):
        database = build_database(self.CAPTURES, "db_new_ascend_pt", self.scratch)
        self.assert_told(BASE, NEW, "")
        self.assertIn("device (NPU / GPU)", self.preface(self.compare(comparison="gpu_new.json")))
        self.assertNotIn("device", self.preface(self.compare(comparison=database)))

    def test_the_screen_says_which_side_is_which(self):
        for comparison, kind in ((NEW, "NPU"), ("gpu_new.json", "GPU")):
            lines = self.compare(comparison=comparison).out.splitlines()
            sides = [line for line in lines if line.startswith(("Base: ", "Comparison: "))]
            self.assertEqual([side.rsplit("/", 1)[1] for side in sides],
                             [f"{BASE} (NPU)", f"{comparison} ({kind})"])
            wide = self.compare("--screen", "wide", comparison=comparison).out.splitlines()
            rows = [line.split("|")[1].strip() for line in wide if line.startswith("| ")]
            self.assertEqual(rows[-2:], ["base NPU", f"comparison {kind}"])

    def test_paths_that_differ_in_the_middle_look_different(self):
        paths = []
        for run in ("a", "b"):
            copy = self.scratch / ("long_" * 12) / f"run_{run}" / BASE
            shutil.copytree(self.CAPTURES / BASE, copy)
            paths.append(copy)
        lines = self.compare(comparison=paths[1], base=paths[0]).out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        for line, run in zip(lines, "ab"):
            self.assertTrue(line.endswith(f"/run_{run}/{BASE} (NPU)"), line)

    def test_forms_of_the_screen(self):
        self.assert_fails(2, self.compare("--screen", "huge"), "--screen: 'huge' is unknown; give fit or wide")
        fit = self.compare("--screen", "fit")
        self.assert_compared(fit)
        self.assertEqual(fit.out, self.compare().out)
        wide = self.compare("--screen", "wide").out
        self.assertIn(" Model Profiling Time Distribution ", wide)
        self.assertIn("\nend to end: ", wide)

    def test_many_differences_fill_five_lines_at_most(self):
        base, other = self.capture("base"), self.capture("other", level="Level2")
        file = other / "profiler_info_0.json"
        info = json.loads(file.read_text(encoding="utf-8"))
        info["config"]["common_config"] |= {"with_stack": True, "profile_memory": True}
        info |= {"torch_npu_version": "2.1.0." + "post" * 60, "cann_version": "8.0." + "RC" * 60}
        file.write_text(json.dumps(info), encoding="utf-8")
        old = base / "profiler_info_0.json"
        settings = json.loads(old.read_text(encoding="utf-8"))
        settings |= {"torch_npu_version": "2.0", "cann_version": "7.0"}
        old.write_text(json.dumps(settings), encoding="utf-8")
        result = self.compare(base=base, comparison=other)
        lines = result.out.splitlines()
        self.assertLessEqual(next(i for i, line in enumerate(lines) if line.startswith("Base: ")), 5)
        self.assertIn("profiler_level (Level1 / Level2)", " ".join(lines[:2]))


class Promises(Cli):
    """What `check` promises, `compare` does; what is left out has the same reason in both."""

    SHEETS = {"compare: overall": "OverallMetrics", "compare: memory": "MemoryCompareStatistic",
              "compare: communication": "CommunicationCompare", "compare: api": "ApiCompare",
              "compare: operators": "OperatorCompareStatistic", "compare: kernels": "KernelCompare"}
    REASONS = ("device activity", "host operators", "memory", "communication", "kernels")

    def gpu(self, name, *events):
        rows = [{"ph": "X", "pid": 1, "tid": 1, "args": {}, **event} for event in events]
        return self.write(name, json.dumps({"schemaVersion": 1, "traceEvents": rows}))

    def made_captures(self):
        op = {"cat": "cpu_op", "name": "aten::mm", "ts": 1000.0, "dur": 10.0}
        kernel = {"cat": "kernel", "name": "gemm", "ts": 1020.0, "dur": 5.0, "pid": 0, "tid": 7,
                  "args": {"stream": 7, "correlation": 1}}
        nccl = {**kernel, "name": "ncclKernel_AllReduce_RING", "ts": 1030.0}
        memory = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1002.0,
                  "args": {"Addr": 1, "Bytes": 1024, "Device Type": 1, "Device Id": 0,
                           "Total Allocated": 1024, "Total Reserved": 2048}}
        yield self.gpu("no_device.json", op)
        yield self.gpu("no_memory.json", op, kernel)
        yield self.gpu("no_operators.json", kernel, nccl)
        yield self.gpu("whole.json", op, kernel, nccl, memory)
        alone = self.scratch / "alone_1_20240101000000000_ascend_pt"
        write_capture(alone, [50_000], allreduce_us=0)
        yield alone
        output = alone / "ASCEND_PROFILER_OUTPUT"
        (output / "communication.json").write_text('{"step1": {"p2p": {}, "collective": {}}}')
        (output / "operator_memory.csv").write_text("Name,Size(KB),Allocation Time(us)\n")
        yield alone

    def captures(self):
        yield from self.made_captures()
        for path in sorted(self.CAPTURES.iterdir()):
            if path.suffix == ".sql":
                yield build_database(self.CAPTURES, path.stem, self.scratch)
            elif path.suffix == ".json" or path.name.endswith("_ascend_pt"):
                yield path

    def test_hold(self):
        for number, capture in enumerate(self.captures()):
            with self.subTest(number=number, capture=capture.name):
                check = json.loads(self.run_tool("check", "-d", capture, "--try", "--json").out)
                done = self.run_tool("compare", "-d", capture, "-bp", capture, "--json",
                                     "--disable_module", "-o", self.out)
                report = json.loads(done.out) if done.out else {"sheets": [], "notes": done.errors}
                self.assert_kept(check["ranks"][0]["analyzers"], report)

    def assert_kept(self, analyzers, report):
        there = {sheet["name"] for sheet in report["sheets"]}
        if any("no record of operators' memory" in note for note in report["notes"]):
            there.discard("MemoryCompareStatistic")  # it has no allocations
        for analyzer in analyzers:
            sheet = self.SHEETS.get(analyzer["name"])
            if sheet is None:
                continue
            runs = analyzer["ability"] != "cannot_run"
            self.assertEqual(runs, sheet in there, (analyzer, report["notes"]))
            if not runs:
                reason = analyzer["lacks"][0]["reason"]
                self.assertTrue(any(word in reason and word in note for word in self.REASONS
                                    for note in report["notes"]), (reason, report["notes"]))


class Lists(Cli):
    """Lists of sums begin with what changed most, on the screen and in the sheets. What changes in the twin run is
    planted: testdata/README.md says where."""

    TWINS = {"base": "twin_text_base_ascend_pt", "comparison": "twin_text_new_ascend_pt"}
    # The names of the first rows: largest changes, either of them in the order of the base.
    FIRST = {"CommunicationCompare": ("base_communication_op_name", ["allreduce", "|", "|", "|", "allgather"]),
             "ModuleCompareStatistic": ("operator_name", ["[ TOTAL ]", "aten::gelu", "aten::relu"]),
             "MemoryCompareStatistic": ("operator_name", ["aten::linear", "aten::to"]),
             "ApiCompare": ("api_name", ["aten::gelu", "aten::sum", "aten::linear", "aten::addmm"]),
             "KernelCompare": ("kernel", ["Gelu", "Relu", "MatMulV2"])}

    def sheets(self, *options, base=TWINS["base"], comparison=TWINS["comparison"]):
        result = self.compare("--json", *options, base=base, comparison=comparison)
        self.assertEqual(result.code, 0, result.all_err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def names(self, sheets):
        return {name: [row[key] for row in sheets[name][:len(first)]] for name, (key, first) in self.FIRST.items()}

    def test_the_largest_change_comes_first(self):
        expected = {name: first for name, (_, first) in self.FIRST.items()}
        self.assertEqual(self.names(self.sheets()), expected)

    def test_what_became_faster_does_too(self):
        """The sides the other way round: gelu is gone, and relu, sum and linear take less."""
        back = self.names(self.sheets(base=self.TWINS["comparison"], comparison=self.TWINS["base"]))
        expected = {name: first for name, (_, first) in self.FIRST.items()}
        self.assertEqual(back, expected)

    def test_the_reference_has_another_order(self):
        compat = self.sheets("--compat")
        self.assertEqual([row["api_name"] for row in compat["ApiCompare"]][:2], ["aten::linear", "aten::addmm"])
        self.assertEqual(compat["ApiCompare"][-1]["api_name"], "aten::gelu")
        self.assertEqual([row["kernel"] for row in compat["KernelCompare"]][-1], "Gelu")
        for name, rows in self.sheets().items():
            if rows and "order_id" in rows[0]:
                self.assertEqual([row["order_id"] for row in rows], [*range(1, len(rows) + 1)], name)

    def lists(self, *options):
        """{title: lines} of the tables below the story."""
        result = self.compare(*options, base=self.TWINS["base"], comparison=self.TWINS["comparison"])
        self.assertEqual(result.code, 0, result.all_err)
        self.assertLessEqual(max(map(len, result.out.splitlines())), 80)
        blocks = [block.splitlines() for block in result.out.split("\n\n") if block.strip()]
        self.assertFalse("\n\n\n" in result.out or result.out.endswith("\n\n"))
        return {lines[0].split("  ")[0]: [line.split() for line in lines[1:]] for lines in blocks
                if lines[0].endswith("Diff %") and not lines[0].startswith("Time (")}

    def test_the_screen_has_the_first_rows(self):
        """Kernels and collectives are in the story."""
        self.assertEqual(self.lists(), {
            "Operators of modules, device (ms)": ["/ Net_0 aten::gelu 0.000 10.000 +10.000 new".split(),
                                                  "(1 more in ModuleCompareStatistic)".split()],
            "Operators, memory (MB)": ["aten::linear 9.44 11.53 +2.10 +22.2".split()]})
        compat = self.compare("--compat", base=self.TWINS["base"], comparison=self.TWINS["comparison"])
        self.assertNotIn("Diff %", compat.out)

    def test_lists_that_were_asked_for_are_longer(self):
        """They have what costs less than 1 % of the steps, too."""
        self.assertEqual(self.lists("--enable_api_compare"), {
            "Operators, host (ms)": ["aten::gelu 0.000 6.000 +6.000 new".split(), "aten::sum 80.000 84.000 +4.000 +5.0".split()]})
        kernels = self.lists("--enable_kernel_compare")
        self.assertEqual([row[0] for row in kernels["Kernels by type and shapes (ms)"]], ["Gelu", "Relu"])


if __name__ == "__main__":
    sys.exit(main(__doc__, Alike, Promises, Lists))
