#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that equal runs compare as equal, cell by cell of every sheet.

    run_agreement.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: formats and recipes (one run as text and as database), parts
(recipes at once, and through files of parts), commands (what several of them say of one pair of
captures), itself (a capture and the same capture).
Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from captures import build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from recipe_runs import job_for, required_options  # noqa: E402
from same_tables import recipes_of  # noqa: E402

TOOL = CAPTURES = None  # set by main()
TIMEOUT_SECONDS = 60
OVERALL, COMMUNICATION, API = ["OverallMetrics"], ["CommunicationCompare"], ["ApiCompare"]
MODULES = ["ModuleCompareStatistic", "ModuleCompare"]
OPERATORS = ["OperatorCompareStatistic", "OperatorCompare"]
MEMORY = ["MemoryCompareStatistic", "MemoryCompare"]
KERNELS, KERNEL_TYPES = ["KernelCompare"], ["KernelTypeCompare"]
KNOWN = {*OVERALL, *COMMUNICATION, *API, *MODULES, *OPERATORS, *MEMORY, *KERNELS, *KERNEL_TYPES}
BASE, COMPARISON = "base_", "comparison_"


class Equal(unittest.TestCase):
    """Holds the halves of each sheet against each other."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def path(self, name):
        capture = CAPTURES / name
        return capture if capture.exists() else build_database(CAPTURES, name, self.scratch)

    def sheets(self, base, comparison, *options):
        """Name -> sheet of the comparison."""
        done = subprocess.run(
            [TOOL, "compare", "-d", self.path(comparison), "-bp", self.path(base), "--json",
             *options],
            check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {sheet["name"]: sheet for sheet in json.loads(done.stdout)["sheets"]}

    def assert_equal_halves(self, base, comparison, expected, *options):
        """Of KNOWN there are exactly the sheets, and each of all sheets says that nothing differs."""
        with self.subTest(base=base, comparison=comparison, options=options):
            sheets = self.sheets(base, comparison, *options)
            self.assertEqual([name for name in sheets if name in KNOWN], expected)
            found = [f"{name}, {text}" for name, sheet in sheets.items()
                     for text in self.differences(sheet)]
            self.assertEqual(found, [])

    @staticmethod
    def differences(sheet):
        """What the rows say of differences, as texts."""
        columns = sheet["columns"]
        pairs = [(column, COMPARISON + column[len(BASE):]) for column in columns
                 if column.startswith(BASE)]
        differences = {column: 1 if column.endswith("ratio") else 0 for column in columns
                       if "diff" in column}
        if not sheet["rows"] or not pairs or not differences:
            yield f"no rows or nothing to compare: {columns}"
        for row in sheet["rows"]:
            place = " | ".join(str(row[column]) for column in columns[:5])
            for base, comparison in pairs:
                if row[base] != row[comparison]:
                    yield f"{place}: {base} is {row[base]!r}, not {row[comparison]!r}"
            for column, value in differences.items():
                if row[column] not in (None, value):
                    yield f"{place}: {column} is {row[column]!r}"


class Formats(Equal):
    """One run in both formats, either way round."""

    ALL = OVERALL + COMMUNICATION + MODULES + MEMORY + API + KERNELS
    ALL_OPERATORS = OVERALL + COMMUNICATION + OPERATORS + MEMORY + API + KERNELS

    def assert_agree(self, expected, *options):
        for run in ("base", "new"):
            text, database = f"twin_text_{run}_ascend_pt", f"twin_db_{run}_ascend_pt"
            self.assert_equal_halves(text, database, expected, *options)
            self.assert_equal_halves(database, text, expected, *options)

    def test_every_sheet(self):
        self.assert_agree(self.ALL)

    def test_operators_instead_of_modules(self):
        self.assert_agree(self.ALL_OPERATORS, "--disable_module")
        self.assert_agree(self.ALL_OPERATORS, "--disable_module", "--use_input_shape")

    def test_opened_operators(self):
        self.assert_agree(self.ALL_OPERATORS, "--disable_module", "--max_kernel_num", "4")
        sheets = self.sheets("twin_text_base_ascend_pt", "twin_db_base_ascend_pt",
                             "--disable_module", "--max_kernel_num", "4")
        names = [row["base_operator_name"] for row in sheets["OperatorCompare"]["rows"]]
        self.assertIn("aten::native_layer_norm_backward", names, "the operator of 5 kernels")

    def test_kernel_types(self):
        self.assert_agree(self.ALL[:-1] + KERNEL_TYPES, "--use_kernel_type")

    def test_without_details(self):
        """Nothing is matched there, so only the sheets by name have equal halves."""
        self.assert_agree(OVERALL + COMMUNICATION + MODULES[:1] + MEMORY[:1] + API + KERNELS,
                          "--disable_details")

    def test_steps(self):
        for step in ("1", "2"):
            options = ["--base_step", step, "--comparison_step", step]
            self.assert_agree(self.ALL, *options)
            self.assert_agree(self.ALL_OPERATORS, "--disable_module", *options)


class Recipes(Equal):
    """What recipes tell of one run in both formats."""

    def tables(self, capture, *options):
        out = self.scratch / "out" / capture
        done = subprocess.run(
            [TOOL, *options, "-d", self.path(capture), "-o", out, "--export_type", "csv"],
            check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {file.name: file.read_text(encoding="utf-8").splitlines()
                for file in out.rglob("*.csv")}

    def assert_agree(self, expected, *options):
        for run in ("base", "new"):
            with self.subTest(run=run, options=options):
                text = self.tables(f"twin_text_{run}_ascend_pt", *options)
                database = self.tables(f"twin_db_{run}_ascend_pt", *options)
                self.assertLessEqual(expected, text.keys())
                for name, lines in text.items():
                    self.assertGreater(len(lines), 1, name)
                    self.assertEqual(lines, database[name], name)

    def test_module_statistic(self):
        self.assert_agree({"ModuleStatistic.csv"}, "-m", "module_statistic", "--peak_tflops", "9")

    def test_operator_mfu(self):
        self.assert_agree({"OperatorMFU.csv", "ModuleMFU.csv", "MFUSummary.csv", "MFUWaste.csv"},
                          "-m", "operator_mfu", "--peak_tflops", "9")


def contents(directory):
    """Path -> what is in it, of the files below; of databases and workbooks without their frame."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.suffix == ".db":
            with contextlib.closing(sqlite3.connect(path)) as database:
                found[name] = list(database.iterdump())
        elif path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as workbook:
                found[name] = {part: workbook.read(part) for part in workbook.namelist()
                               if not part.startswith("docProps")}
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


class Parts(Equal):
    """Every recipe at once, and from the parts that a run before wrote."""

    def run_tool(self, *options):
        """Exit code and output; 3 where the captures lack what a recipe needs, 5 where they lack a table."""
        done = subprocess.run([TOOL, *options], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)
        self.assertIn(done.returncode, (0, 3, 5), done.stderr)
        return done.returncode, done.stdout

    def test_every_recipe(self):
        recipes = recipes_of(TOOL)
        self.assertLessEqual({"module_statistic", "operator_mfu", "head_overhead"}, {*recipes})
        with_results = 0
        for recipe in recipes:
            with self.subTest(recipe=recipe):
                job = job_for(recipe, CAPTURES, self.scratch)
                more = required_options(recipe, CAPTURES, job)
                run = ["-m", recipe, "--export_type", "db,text,xlsx,json,csv,md", "--print", *more]
                out = self.scratch / f"out_{recipe}"
                direct = self.run_tool(*run, "-d", job, "-o", out / "direct")
                for shard in ("0/2", "1/2"):
                    self.run_tool("-m", recipe, "-d", job, "--shard", shard, "-o", out / "parts", *more)
                self.assertEqual(len([*(out / "parts").glob("*.part")]), 3)
                travelled = self.run_tool("merge", out / "parts", "--export_type", "db,text,xlsx,json,csv,md",
                                          "--print", "-o", out / "travelled")
                self.assertEqual(direct, travelled)
                first, second = contents(out / "direct"), contents(out / "travelled")
                self.assertEqual(first, second)
                with_results += direct[0] == 0 and len(direct[1]) > 10 and len(first) > 2
        # There are no links, and the trace of the GPU has no modules.
        self.assertGreaterEqual(with_results, len(recipes) - 2)


class Commands(Equal):
    """compare, its gate, recipes and advisor take the numbers of a step from one accounting."""

    STEP = 2  # its groups do not communicate at once

    def document(self, *options):
        done = subprocess.run([TOOL, *options, "--json"], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def leaves(self, capture):
        """Leaf -> ns, as advisor has them."""
        (row,) = [row for row in self.document("advisor", "all", "-d", capture)["accounting"]
                  if row["step"] == self.STEP]
        return row["leaves"]

    def changes_of_gate(self, base, new):
        """Leaf -> ns on both sides of what changed; that of kernels is "comp"."""
        gate = self.document("compare", "-d", new, "-bp", base, "--fail_on", "step_time>+50%",
                             "--warmup", "1", "--min_steps", "1")
        found = {}
        for part in gate["contributions"]:
            if part["kind"] == "remainder":
                self.assertEqual(part["change_ns"], 0, "one step: its parts are all of it")
                continue
            leaf = part["leaf"] or "comp"
            before = found.get(leaf, (0, 0))
            found[leaf] = (before[0] + part["base_ns"], before[1] + part["comparison_ns"])
        return found

    def rows_of_compare(self, base, new):
        """Name of a row -> ns on both sides; rows of several groups are added up."""
        (sheet, *_) = self.document("compare", "-d", new, "-bp", base, "--enable_profiling_compare",
                                    "--base_step", str(self.STEP), "--comparison_step",
                                    str(self.STEP))["sheets"]
        found = {}
        for row in sheet["rows"]:
            sides = [round(row[f"{side}_duration_ms"] * 1e6) for side in ("base", "comparison")]
            name = row["index"].strip()
            found[name] = tuple(map(sum, zip(found.get(name, (0, 0)), sides)))
        return found

    # Column of the table, and the leaves that it is the sum of.
    COLUMNS = {"stepTime": ("",), "computation": ("comp.",), "free": ("free.",),
               "communicationNotOverlapComputation": ("comm.",),
               "communicationWaitStageTime": ("comm.wait_peer", "comm.bubble"),
               "communicationTransmitStageTime": ("comm.transfer", "comm.slow", "comm.inner"),
               "memoryNotOverlapComputationCommunication": ("copy.",)}

    def test_time_summary(self):
        """Every column of every step is a sum of leaves."""
        for name in ("twin_text_base", "twin_db_new", "text_base", "db_base", "text_level0"):
            path, out = self.path(f"{name}_ascend_pt"), self.scratch / f"out_{name}"
            subprocess.run([TOOL, "-m", "cluster_time_summary", "-d", path, "-o", out, "--export_type", "db", "-q"],
                           check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)
            with contextlib.closing(sqlite3.connect(out / "cluster_analysis_output/cluster_analysis.db")) as database:
                rows = database.execute(f"SELECT step, {', '.join(self.COLUMNS)} FROM ClusterTimeSummary").fetchall()
            accounts = self.document("advisor", "all", "-d", path)["accounting"]
            self.assertEqual(len(rows), len(accounts))
            for (step, *cells), account in zip(rows, accounts):
                with self.subTest(capture=name, step=step):
                    self.assertEqual(step, account["step"])
                    for (column, leaves), cell in zip(self.COLUMNS.items(), cells):
                        expected = sum(time for leaf, time in account["leaves"].items() if leaf.startswith(leaves))
                        if "comm.unsplit" in account["leaves"] and column.endswith("StageTime"):
                            self.assertIsNone(cell, column)
                        else:
                            self.assertEqual(round(cell * 1000), expected, column)

    def test_one_account(self):
        for kind in ("text", "db"):
            with self.subTest(kind=kind):
                base, new = (self.path(f"twin_{kind}_{run}_ascend_pt") for run in ("base", "new"))
                accounts = [self.leaves(capture) for capture in (base, new)]

                def of(*starts):
                    return tuple(sum(time for leaf, time in account.items()
                                     if leaf.startswith(starts)) for account in accounts)
                rows = self.rows_of_compare(base, new)
                self.assertEqual(rows["Wait"], of("comm.wait_peer"))
                self.assertEqual(rows["Transmit"], of("comm.transfer", "comm.inner"))
                self.assertEqual(rows["Computing Time"], of("comp."))
                self.assertGreater(rows["Wait"][1], rows["Wait"][0])

                gate = self.changes_of_gate(base, new)
                changed = {leaf for account in accounts for leaf in account
                           if not leaf.startswith("comp.") and len({*of(leaf)}) > 1}
                self.assertEqual({*gate} - {"comp"}, changed)
                for leaf in changed:
                    self.assertEqual(gate[leaf], of(leaf), leaf)
                self.assertEqual(gate["comp"][1] - gate["comp"][0], of("comp.")[1] - of("comp.")[0])


class Itself(Equal):
    """A capture against itself."""

    def test_text(self):
        for capture in ("twin_text_new_ascend_pt", "text_base_ascend_pt"):
            self.assert_itself(capture, MODULES + MEMORY + API, KERNELS)

    def test_database(self):
        for capture in ("twin_db_new_ascend_pt", "db_base_ascend_pt"):
            self.assert_itself(capture, MODULES + MEMORY + API, KERNELS)

    def test_gpu(self):
        self.assert_itself("gpu_new.json", MODULES + MEMORY + API, [])

    def assert_itself(self, capture, host, kernels):
        self.assert_equal_halves(capture, capture, OVERALL + COMMUNICATION + host + kernels)


def main():
    global TOOL, CAPTURES
    arguments = parse_arguments(__doc__, Equal.__subclasses__())
    TOOL, CAPTURES = arguments.tool, arguments.captures
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
