#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How recipes are run: --export_type notebook, several recipes at once.

    run_cluster.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: links, notebook, several.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from cli import Cli, main
from captures import build_job

BOTH = "hccl_sum,slow_rank"


class OfJob(Cli):
    """Runs recipes on a job of eight ranks, the sixth of which is late."""

    def setUp(self):
        super().setUp()
        self.job = build_job(self.CAPTURES, "8:db_base_ascend_pt:late=5", self.scratch)
        self.results = self.out / "cluster_analysis_output"

    def run_recipe(self, name, *options):
        return self.run_tool("-m", name, "-d", self.job, "-o", self.out, *options)

    def rows(self, table):
        with sqlite3.connect(self.results / "cluster_analysis.db") as database:
            return database.execute(f"SELECT * FROM {table}").fetchall()

    def recipes(self):
        out = self.run_tool("--help").out
        return [line.split()[0] for line in out[out.index("Recipes"):out.index("Options")].splitlines()[1:]
                if line.startswith("  ") and not line.startswith("   ")]


class Links(Cli):
    """One rank of four has a capture, and no metadata names the ranks of its group."""

    LINKS = {"0-0": (4.0, 0.5), "0-1": (61.210624, 4.0), "0-3": (61.210624, 3.9)}

    def test_they_are_known_by_their_group_rank(self):
        capture = shutil.copytree(self.CAPTURES / "text_base_ascend_pt", self.scratch / "alone_ascend_pt")
        links = {ends: {"Transport Type": "HCCS", "Transit Size(MB)": size, "Transit Time(ms)": time,
                        "Bandwidth(GB/s)": size / time, "Op Name": "allreduce_0"}
                 for ends, (size, time) in self.LINKS.items()}
        (capture / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json").write_text(
            json.dumps({"step5": {"p2p": {}, "collective": {"allreduce-total@77": links}}}), encoding="utf-8")
        result = self.run_tool("-m", "communication_matrix_sum", "-d", capture, "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("0 to group rank 1\n", result.out)  # the slowest: 15.303 GB/s
        self.assertLessEqual(max(map(len, result.out.splitlines())), 80)
        (file,) = self.out.rglob("cluster_analysis.db")
        with sqlite3.connect(file) as database:
            rows = database.execute("SELECT src_rank, dst_rank, src_group_rank, dst_group_rank, transit_size, bandwidth "
                                    "FROM CommunicationMatrixByGroupRank WHERE hccl_op_name = 'Total Op Info'").fetchall()
        database.close()
        self.assertEqual([row[:5] for row in rows], [(0, None, 0, 1, 61.210624), (0, None, 0, 3, 61.210624)])
        self.assertAlmostEqual(rows[1][5], 61.210624 / 3.9)
        result = self.run_tool("-m", "communication_matrix", "-d", capture, "-o", self.out)
        (file,) = self.out.rglob("cluster_communication_matrix_by_group_rank.json")
        (steps,) = json.loads(file.read_text(encoding="utf-8")).values()
        self.assertEqual(steps["step5"]["Total Op Info@77"]["0-3"]["Transit Size(MB)"], 61.210624)


class Notebook(OfJob):
    def notebook(self, folder):
        with open(self.results / folder / "stats.ipynb", encoding="utf-8") as file:
            return json.load(file)

    def test_structure(self):
        """What the schema of nbformat 4 asks of the parts that are used."""
        self.assertEqual(self.run_recipe("hccl_sum,slow_rank,cann_api_sum", "--export_type", "notebook").code, 5)
        for folder in ("HcclSum", "SlowRankAnalysis"):
            notebook = self.notebook(folder)
            self.assertEqual({*notebook}, {"cells", "metadata", "nbformat", "nbformat_minor"})
            self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 4))
            self.assertEqual(notebook["metadata"]["kernelspec"]["name"], "python3")
            for cell in notebook["cells"]:
                code = cell["cell_type"] == "code"
                self.assertEqual({*cell}, {"cell_type", "metadata", "source"} |
                                 ({"execution_count", "outputs"} if code else set()))
                self.assertTrue(cell["source"] and all(isinstance(line, str) for line in cell["source"]))
                if code:
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                    compile("".join(cell["source"]), folder, "exec")

    def test_reads_what_is_there(self):
        """Every file that a cell reads exists, and has the columns that a plot names."""
        self.run_recipe(BOTH, "--export_type", "notebook")
        plots = 0
        for folder in ("HcclSum", "SlowRankAnalysis"):

            def read_csv(path, folder=folder):
                with open(self.results / folder / path, newline="", encoding="utf-8") as file:
                    return next(csv.reader(file))

            def plot(table, title, labels, columns, unit, **how):
                nonlocal plots
                plots += 1
                self.assertTrue(title and unit and how)
                self.assertLessEqual({*labels, *columns}, {*table})

            def plot_heat(table, title, label, across, column, unit, **how):
                plot(table, title, [label, across], [column], unit, **how)

            scope = {"pd": type("pd", (), {"read_csv": staticmethod(read_csv)}), "Path": str, "of_rank": None,
                     "plot": plot, "plot_heat": plot_heat}
            cells = ["".join(cell["source"]) for cell in self.notebook(folder)["cells"] if cell["cell_type"] == "code"]
            for cell in cells[1:]:  # the first one has the helpers
                exec(cell, scope)  # noqa: S102: what the tool wrote
            self.assertEqual(sum(name.startswith("table_") for name in scope),
                             len([*(self.results / folder).glob("*.csv")]))
        self.assertGreaterEqual(plots, 4)

    def test_runs_in_jupyter(self):
        if shutil.which("jupyter") is None:
            self.skipTest("there is no jupyter")
        written = [self.written_notebook(name) for name in self.recipes() if name not in self.WITHOUT_CAPTURE]
        together = {**json.loads(written[0].read_text(encoding="utf-8")), "cells": []}  # a kernel takes seconds to start
        for file in written:
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            place = {**next(cell for cell in cells if cell["cell_type"] == "code"),
                     "source": ["import os\n", f"os.chdir({str(file.parent)!r})"]}
            together["cells"] += [place, *cells]
        self.write("all.ipynb", json.dumps(together))
        done = subprocess.run(["jupyter", "nbconvert", "--execute", "--to", "notebook", "--stdout", "all.ipynb"],
                              cwd=self.scratch, check=False, capture_output=True, encoding="utf-8", timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        outputs = [output for cell in json.loads(done.stdout)["cells"] for output in cell.get("outputs", [])]
        self.assertGreater(sum("image/png" in output.get("data", {}) for output in outputs), 10)

    # Jobs of recipes that find nothing in that of the other tests.
    JOBS = {"calibrate_npu_gpu": "1:toy_model_ascend_pt", "mstx2commop": "1:comm_marks_ascend_pt",
            "cann_api_sum": "2:twin_db_base_ascend_pt",
            **dict.fromkeys(("mstx_sum", "pp_chart", "p2p_pairing", "ep_load_balance"),
                            "2:pipeline_first_ascend_pt,pipeline_last_ascend_pt"),
            **dict.fromkeys(("communication_group_map", "communication_time_sum"), "text")}
    WITHOUT_CAPTURE = {"communication_matrix_sum"}  # it needs links

    def written_notebook(self, name):
        job, out = self.JOBS.get(name, "usual"), self.scratch / "notebooks" / name
        place = {"usual": self.job, "text": self.CAPTURES / "text_base_ascend_pt"}.get(job)
        if place is None:
            place = build_job(self.CAPTURES, job, self.scratch / "jobs" / name)
        more = {"calibrate_npu_gpu": ["--baseline_profiling_path", self.CAPTURES / "gpu_base.json"],
                "cluster_time_compare_summary": ["--bp", self.job]}.get(name, [])
        done = self.run_tool("-m", name, "-d", place, "-o", out, "--export_type", "notebook", *more)
        self.assertEqual(done.code, 0, (name, done.err))
        (file,) = out.rglob("stats.ipynb")
        return file

    def test_csv_files_are_those_of_text(self):
        self.run_recipe("slow_rank", "--export_type", "notebook,text")
        folder = self.results / "SlowRankAnalysis"
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"rank_stats.csv", "slow_op_stats.csv", "late_ranks.csv", "stats.ipynb"})
        with open(folder / "slow_op_stats.csv", newline="", encoding="utf-8") as file:
            first = next(csv.DictReader(file))
        self.assertEqual((first["Min(Us)"], first["Max(Us)"]), ("10000", "40007"))


class Several(OfJob):
    def test_same_tables_as_one_by_one(self):
        names = ["hccl_sum", "slow_rank", "compute_op_sum", "module_statistic"]
        for options in ([], ["--step_id", "1"]):
            with self.subTest(options=options):
                shutil.rmtree(self.out, ignore_errors=True)
                self.assertEqual(self.run_recipe(",".join(names), *options).code, 0)
                together = self.tables()
                shutil.rmtree(self.out)
                for name in names:
                    self.assertEqual(self.run_recipe(name, *options).code, 0)
                self.assertEqual(together, self.tables())
                self.assertGreater(len(together), 6)

    def tables(self):
        with sqlite3.connect(self.results / "cluster_analysis.db") as database:
            names = [name for name, in database.execute("SELECT name FROM sqlite_master ORDER BY name")]
            return {name: database.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}

    def test_each_rank_is_read_once(self):
        result = self.run_recipe(BOTH, "-v")
        self.assertEqual(sum(" -> " in line for line in result.err), 8, result.err)

    def test_options_go_to_those_that_have_them(self):
        self.assertEqual(self.run_recipe(BOTH, "--top_num", "1").code, 0)
        self.assertEqual(len(self.rows("HcclTopOpStats")), 1)
        self.assertEqual(self.run_recipe(BOTH, "--exclude_op_name").code, 2)

    def test_one_that_finds_nothing_does_not_stop_the_others(self):
        result = self.run_recipe("cann_api_sum,slow_rank")
        self.assertEqual(result.code, 5)
        self.assertTrue(any("cann_api_sum: no results" in line for line in result.err), result.err)
        self.assertEqual(self.rows("SlowRank"), [(5, 4)])
        self.assertEqual(self.run_recipe("cann_api_sum").code, 3)

    def test_wrong_lists(self):
        for names in ("hccl_sum,", "hccl_sum,nothing"):
            self.assertEqual(self.run_recipe(names).code, 2)
        self.assertEqual(self.run_recipe(BOTH, "--json").code, 2)


if __name__ == "__main__":
    sys.exit(main(__doc__, Links, Notebook, Several))
