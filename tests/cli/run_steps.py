#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that --step_id shows the chosen step and nothing of another one.

    run_steps.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: steps (captures of testdata), stepsshared (captures of ../shared; skipped where there
are none). docs/steps.md says for the sheets of every recipe which columns of the steps add up to those of the whole run.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import contextlib
import json
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from captures import build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from recipe_runs import REQUIRED  # noqa: E402
from same_tables import recipes_of  # noqa: E402

TOOL = CAPTURES = None  # set by main()
SHARED = ROOT.parent / "shared" / "data"
TIMEOUT_SECONDS = 120
RANK_COLUMNS = ("rank", "rank_id")
STEP_COLUMNS = ("step", "step_id")
ROWS = "rows"  # in the table of the docs: the number of rows
# Recipes that read two runs, whose times they compare: there is nothing to add up.
RECIPES_OF_TWO_RUNS = {*REQUIRED}
# Lists that end after so many rows otherwise.
LONG_LISTS = {"top_operators": ["--top", "100000"]}


def rules():
    """{sheet: (is_at_most, columns)} from docs/steps.md."""
    text = (ROOT / "docs" / "steps.md").read_text(encoding="utf-8")
    table = text.split("| Sheets | The steps add up in | Otherwise |\n")[1].split("\n\n")[0]
    found = {}
    for line in table.splitlines()[1:]:
        sheets, columns, _ = (cell.strip() for cell in line.strip("|").split("|"))
        for sheet in re.findall(r"`(\w+)`", sheets):
            found[sheet] = columns.startswith("at most"), re.findall(r"`(\w+)`", columns)
    return found


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def sums(sheet, column):
    """{rank: sum} of a column, and of all ranks as "all"."""
    rank_column = next((name for name in RANK_COLUMNS if name in sheet["columns"]), None)
    found = {"all": 0}
    for row in sheet["rows"]:
        value = 1 if column == ROWS else row[column]
        if not number(value):
            continue
        found["all"] += value
        if rank_column:
            found[row[rank_column]] = found.get(row[rank_column], 0) + value
    return found


class OfSteps(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def run_tool(self, *options):
        return subprocess.run([TOOL, *map(str, options)], check=False, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", timeout=TIMEOUT_SECONDS)

    def sheets(self, job, recipes, *options):
        """{(recipe, sheet): sheet}"""
        found = {}
        with tempfile.TemporaryDirectory(dir=self.scratch) as out:
            done = self.run_tool("-m", ",".join(recipes), "-d", job, "-o", out, "--export_type", "json", "-q", *options)
            self.assertIn(done.returncode, (0, 3, 5), done.stderr)
            for file in Path(out).rglob("*.json"):
                document = json.loads(file.read_text(encoding="utf-8"))
                if file.stem in recipes and "sheets" in document:
                    found.update({(file.stem, sheet["name"]): sheet for sheet in document["sheets"]})
        return found

    def runs(self, job, steps, recipes):
        """The sheets of the whole run, and {step: sheets}."""
        some = [recipe for recipe in recipes if recipe not in LONG_LISTS]
        calls = [(part, more, step) for part, more in [(some, [])] + [([name], LONG_LISTS[name]) for name in recipes
                                                                       if name in LONG_LISTS] if part
                 for step in (None, *steps)]
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda call: self.sheets(job, call[0], *call[1], *(
                [] if call[2] is None else ["--step_id", call[2]])), calls))
        found = {step: {} for step in (None, *steps)}
        for (_, _, step), result in zip(calls, results):
            found[step].update(result)
        return found.pop(None), found

    def assert_steps_add_up(self, job, steps, recipes=None):
        """Gives the sheets of which something was added up."""
        recipes = recipes or [recipe for recipe in recipes_of(TOOL) if recipe not in RECIPES_OF_TWO_RUNS]
        whole, of_steps = self.runs(job, steps, recipes)
        table, added = rules(), set()
        for (recipe, name), sheet in whole.items():
            self.assertIn(name, table, f"{recipe}: docs/steps.md says nothing of its sheet")
            at_most, columns = table[name]
            for column in columns:
                with self.subTest(job=job.name, recipe=recipe, sheet=name, column=column):
                    self.assertIn(column, (*sheet["columns"], ROWS))
                    expected, total = sums(sheet, column), {}
                    for sheets in of_steps.values():
                        for rank, value in sums(sheets.get((recipe, name), {"rows": [], "columns": []}), column).items():
                            total[rank] = total.get(rank, 0) + value
                    for rank, value in expected.items():
                        of_rank = total.get(rank, 0)
                        if not (math.isclose(of_rank, value, rel_tol=1e-9, abs_tol=1e-3) or
                                (at_most and 0 < of_rank < value)):
                            self.fail(f"rank {rank}: {of_rank} in the steps, {value} in the run")
                    if expected["all"] > 0:
                        added.add(name)
        for step, sheets in of_steps.items():
            self.assert_only_step(job, step, sheets)
        return added

    def assert_only_step(self, job, step, sheets):
        for (recipe, name), sheet in sheets.items():
            for column in set(STEP_COLUMNS) & {*sheet["columns"]}:
                with self.subTest(job=job.name, recipe=recipe, sheet=name, step=step):
                    self.assertLessEqual({str(row[column]) for row in sheet["rows"]}, {step, f"step{step}", "None", ""})

    def assert_calls(self, job, databases, steps):
        """Calls of CANN that start in the step, as SQL counts them: {rank: database}."""
        for step in steps:
            sheet = self.sheets(job, ["cann_api_sum"], "--step_id", step)["cann_api_sum", "CannApiSumRank"]
            counts, times = sums(sheet, "total_count"), sums(sheet, "total_time_ns")
            for rank, database in databases.items():
                with self.subTest(job=job.name, step=step, rank=rank), \
                        contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as rows:
                    self.assertEqual((counts[rank], times[rank]), rows.execute(
                        "SELECT count(*), sum(c.endNs - c.startNs) FROM CANN_API c, STEP_TIME s "
                        "WHERE s.id = ? AND c.startNs BETWEEN s.startNs AND s.endNs", (step,)).fetchone())

    @staticmethod
    def databases(job):
        found = {}
        for file in job.rglob("ascend_pytorch_profiler_*.db"):
            found[int(file.stem.rsplit("_", 1)[1])] = file
        return found


class Steps(OfSteps):
    def job(self, *names):
        job = self.scratch / f"job{len(names)}"
        for rank, name in enumerate(names):
            if name.endswith(".json"):
                job.mkdir(exist_ok=True)
                shutil.copy(CAPTURES / name, job)
                continue
            source = CAPTURES / name
            capture = job / f"{rank}_ascend_pt"
            shutil.copytree(source if source.is_dir() else build_database(CAPTURES, name, self.scratch / "built"), capture)
            for info in capture.glob("profiler_info*.json"):
                info.unlink()
            (capture / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
        return job

    def test_databases(self):
        added = self.assert_steps_add_up(self.job("twin_db_base_ascend_pt", "twin_db_new_ascend_pt"), ("1", "2"))
        self.assertLessEqual({"CannApiSum", "ComputeOpAllRankStats", "HcclPerRankStats", "ModuleStatistic", "TopKernels",
                              "OperatorMFU", "StackPaths", "ClusterTimeSummary"}, added)

    def test_text(self):
        added = self.assert_steps_add_up(self.job("twin_text_base_ascend_pt", "twin_text_new_ascend_pt"), ("1", "2"))
        self.assertLessEqual({"ClusterCommunicationTime", "ClusterCommunicationBandwidth", "ClusterStepTraceTime", "CannApiSum",
                              "ModuleStatistic", "TopOperators"}, added)

    def test_marks(self):
        added = self.assert_steps_add_up(self.job("pipeline_first_ascend_pt", "pipeline_last_ascend_pt"), ("1", "2"))
        self.assertLessEqual({"MSTXAllFrameworkStats", "MSTXAllDeviceStats", "StepTaskInfo", "COMMUNICATION_OP"}, added)

    def test_server(self):
        added = self.assert_steps_add_up(self.job("serving_base.json"), [str(step) for step in range(12)],
                                         ["serving_phases", "cluster_time_summary", "top_operators"])
        self.assertEqual(added, {"ServingSteps", "ClusterTimeSummary", "TopKernels", "TopKernelsOfRanks", "TopOperators",
                                 "TopOperatorsOfRanks"})

    def test_comparison_of_a_step(self):
        """Against itself, a step has the calls of the step and no others."""
        capture = self.job("twin_db_base_ascend_pt") / "0_ascend_pt"
        rows = {}
        for step in ("1", "2", None):
            options = [] if step is None else ["--base_step", step, "--comparison_step", step]
            done = self.run_tool("compare", "-d", capture, "-bp", capture, "--json", *options)
            sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(done.stdout)["sheets"]}
            rows[step] = {name: sum(row[column] for row in sheets[name] if number(row[column])) for name, column in
                          (("ApiCompare", "base_calls"), ("KernelCompare", "base_calls"))}
        for name, value in rows[None].items():
            self.assertGreater(value, 0)
            self.assertEqual(rows["1"][name] + rows["2"][name], value, name)


class StepsShared(OfSteps):
    def path(self, name):
        path = SHARED / name
        if not path.exists():
            self.skipTest(f"{path} is not there")
        return path

    def test_simulated_job(self):
        job = self.path("sim/slow_rank/db")
        added = self.assert_steps_add_up(job, ("10", "11"))
        self.assertLessEqual({"CannApiSum", "ClusterCommunicationTime", "ClusterCommunicationMatrix", "ModuleStatistic"}, added)
        self.assert_calls(job, self.databases(job), ("10", "11"))
        rank = self.sheets(job, ["cann_api_sum"], "--rank_list", "0", "--step_id", "10")["cann_api_sum", "CannApiSum"]
        self.assertEqual((sums(rank, "total_count")["all"], sums(rank, "total_time_ns")["all"]), (212, 6957890))

    def test_database(self):
        job = self.path("npu/db_mstx")
        self.assert_steps_add_up(job, ("50", "51"))
        self.assert_calls(job, self.databases(job), ("50", "51"))

    def test_raw(self):
        self.assert_steps_add_up(self.path("raw/stack_mstx_gc"), ("5", "6"))

    def test_gpu(self):
        job = self.scratch / "gpu"
        job.mkdir()
        shutil.copy(self.path("gpu/ddp_nccl.json.gz"), job)
        added = self.assert_steps_add_up(job, ("4", "5", "6"), ["cluster_time_summary", "hccl_sum", "compute_op_sum",
                                                                "operator_mfu", "top_operators", "export_stacks"])
        self.assertLessEqual({"ClusterTimeSummary", "HcclAllRankStats", "TopKernels", "StackPaths"}, added)


def main():
    global TOOL, CAPTURES
    arguments = parse_arguments(__doc__, (Steps, StepsShared))
    TOOL, CAPTURES = arguments.tool, arguments.captures
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
