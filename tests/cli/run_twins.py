#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that every recipe makes the same tables of one job in every format.

    run_twins.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: twins (text and database of one run), parsed (raw captures, and what `parse` makes of
them as text and as database). support/same_tables.py lists what may differ, with reasons.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from captures import build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from same_tables import Results, differences, recipes_of  # noqa: E402

TOOL = CAPTURES = RAW = None  # set by main()


class OneJob(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def assert_agree(self, jobs, recipes=None):
        """jobs: {format: directory}; gives the recipes that made rows."""
        with_results = set()
        for recipe in recipes or recipes_of(TOOL):
            results = {form: Results(TOOL, recipe, job, self.options(recipe, job)) for form, job in jobs.items()}
            (first, reference), *others = results.items()
            for form, result in others:
                with self.subTest(recipe=recipe, formats=(first, form)):
                    self.assertEqual([*differences(reference, result)], [])
            if any(rows for _, rows in reference.tables.values()):
                with_results.add(recipe)
        return with_results

    @staticmethod
    def options(recipe, job):
        return {"calibrate_npu_gpu": ["--baseline_profiling_path", CAPTURES / "gpu_base.json"],
                "cluster_time_compare_summary": ["--bp", job],
                "operator_mfu": ["--peak_tflops", "9"], "module_statistic": ["--peak_tflops", "9"]}.get(recipe, [])


class Twins(OneJob):
    """Two ranks of a run, recorded in both formats at once."""

    def job(self, form):
        for rank, run in enumerate(("base", "new")):
            name = f"twin_{form}_{run}_ascend_pt"
            source = CAPTURES / name
            if not source.exists():
                source = build_database(CAPTURES, name, self.scratch)
            capture = self.scratch / form / f"{rank}_ascend_pt"
            shutil.copytree(source, capture)
            for info in capture.glob("profiler_info*.json"):
                info.unlink()
            (capture / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
        return self.scratch / form

    # What these need is in one of the two only: summaries of steps and communication, calls of CANN, step numbers.
    NOT_IN_BOTH = {"all", "communication_time", "communication_matrix", "communication_group_map", "communication_time_sum",
                   "cann_api_sum", "export_summary"}

    def test_every_recipe(self):
        recipes = [recipe for recipe in recipes_of(TOOL) if recipe not in self.NOT_IN_BOTH]
        with_results = self.assert_agree({form: self.job(form) for form in ("db", "text")}, recipes)
        self.assertLessEqual({"module_statistic", "operator_mfu", "hccl_sum", "compute_op_sum", "free_analysis",
                              "communication_bottleneck", "computational_op_masking"}, with_results)


class Parsed(OneJob):
    """A raw capture and both results of `parse`."""

    def jobs(self, name):
        jobs = {}
        for form in ("db", "text", "raw"):
            jobs[form] = self.scratch / name / form
            shutil.copytree(RAW / name, jobs[form])
            if form != "raw":
                subprocess.run([TOOL, "parse", "-d", jobs[form], "--export_type", form, "-q"], check=True,
                               stdout=subprocess.DEVNULL)
        return jobs

    def test_every_recipe(self):
        recipes = [recipe for recipe in recipes_of(TOOL) if recipe != "export_summary"]  # see below
        with_results = self.assert_agree(self.jobs("stars"), recipes)
        # Kernels of captured graphs have no record of their operator; the profiler's database does not list them.
        for name in ("hwts", "no_queue", "head_hard"):
            self.assert_agree(self.jobs(name), recipes)
        self.assertLessEqual({"all", "module_statistic", "operator_mfu", "mstx_sum", "pp_chart"}, with_results)

    def exported(self, job):
        """{file: content} that export_summary writes of the databases in the job, of its only rank."""
        out = self.scratch / "out"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([TOOL, "-m", "export_summary", "-d", job, "-o", out, "-q"], check=True, stdout=subprocess.DEVNULL)
        return {path.name: path.read_bytes() for path in out.rglob("ExportSummary/*/*.csv")}

    def written(self, job):
        """The same of the files that parse wrote as text."""
        return {name: path.read_bytes() for name in ("kernel_details.csv", "api_statistic.csv")
                for path in job.rglob(f"ASCEND_PROFILER_OUTPUT/{name}")}

    def test_files_of_ranks_are_those_of_parse(self):
        """Byte by byte: of chips with separate cores, without, and where nothing recorded states and counters."""
        for name in ("stars", "hwts", "head_hard", "head_steady"):
            with self.subTest(name):
                jobs = self.jobs(name)
                written = self.written(jobs["text"])
                self.assertEqual(len(written), 2)
                self.assertEqual(self.exported(jobs["db"]), written)

    def test_files_of_ranks_at_level0(self):
        """No types, shapes and counters; the calls of CANN are recorded in databases alone."""
        jobs = {form: self.scratch / form for form in ("db", "text")}
        for form, job in jobs.items():
            shutil.copytree(RAW / "stars", job)
            for sample in job.rglob("sample.json"):
                sample.write_text(sample.read_text(encoding="utf-8").replace('"l1"', '"l0"'), encoding="utf-8")
            for info in job.rglob("profiler_info*.json"):
                info.write_text(info.read_text(encoding="utf-8").replace("Level1", "Level0"), encoding="utf-8")
            subprocess.run([TOOL, "parse", "-d", job, "--export_type", form, "-q"], check=True, stdout=subprocess.DEVNULL)
        written, exported = self.written(jobs["text"]), self.exported(jobs["db"])
        self.assertEqual([*written], ["kernel_details.csv"])
        self.assertNotIn(b"OP State", written["kernel_details.csv"])
        self.assertEqual(exported["kernel_details.csv"], written["kernel_details.csv"])
        self.assertIn("api_statistic.csv", exported)

    def test_the_use_of_cubes_needs_the_chip(self):
        """The database does not say how many cores the chip has: without info.json the column is left out."""
        job = self.jobs("stars")["db"]
        for info in job.rglob("info.json.*"):
            info.unlink()
        header = self.exported(job)["kernel_details.csv"].split(b"\r\n")[0]
        self.assertIn(b",aic_mac_ratio,", header)
        self.assertNotIn(b"cube_utilization", header)

    def test_files_of_ranks(self):
        """Raw captures have none: parse writes them."""
        jobs = self.jobs("stars")
        raw = jobs.pop("raw")
        self.assertEqual(self.assert_agree(jobs, ["export_summary"]), {"export_summary"})
        result = Results(TOOL, "export_summary", raw)
        self.assertEqual((result.code, result.tables), (3, {}))
        self.assertIn("'msprof-analyze parse' writes these files", result.errors)


def main():
    global TOOL, CAPTURES, RAW
    arguments = parse_arguments(__doc__, OneJob.__subclasses__())
    TOOL, CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
