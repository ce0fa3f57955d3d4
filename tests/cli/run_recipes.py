#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes module_statistic and operator_mfu.

    run_recipes.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: recipes, utilisation.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sqlite3
import sys

from cli import Cli, main
from captures import build_database
from workbook import Workbook


class ToyModel:
    """Runs recipes on the toy model, worked out in testdata/README.md."""

    def setUp(self):
        super().setUp()
        self.captures = self.scratch / "captures"
        build_database(self.CAPTURES, "toy_model_ascend_pt", self.captures)
        self.results = self.out / "cluster_analysis_output"

    def table(self, name="ModuleStatistic", columns="*"):
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        rows = database.execute(f"SELECT {columns} FROM {name}").fetchall()
        database.close()
        return rows


class Recipes(ToyModel, Cli):
    """module_statistic."""

    ROWS = [("ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 3, 3, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 4, 4, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 5, 5, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 6, 6, 1),
            ("ToyModel", "RMSNorm", "aten::pow", "Cast, Pow", 12, 12, 1),
            ("ToyModel", "RMSNorm", "aten::mean", "ReduceMeanD", 20, 20, 1),
            ("ToyModel", "RMSNorm", "aten::rsqrt", "Rsqrt", 5, 5, 1),
            ("ToyModel", "RMSNorm", "aten::mul", "Mul", 6, 6, 1),
            ("ToyModel", "RMSNorm", "aten::mul", "Mul", 7, 7, 1),
            ("ToyModel", "[Backward]RMSNorm", "aten::mul", "Mul", 8, 8, 1),
            ("ToyModel", "[Backward]Linear", "aten::mm", "MatMulV2", 60, 60, 1)]

    def statistic(self, *options, directory=None):
        return self.run_tool("-m", "module_statistic", "-d", directory or self.captures, "-o",
                             self.out, *options)

    def test_database(self):
        result = self.statistic()
        self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
        self.assertEqual(self.table(), [(*row, 0) for row in self.ROWS])

    def test_minus_one_means_all_steps(self):
        self.assertEqual(self.statistic("--step_id", "-1").code, 0)
        self.assertEqual(len(self.table()), len(self.ROWS))

    def test_further_runs_replace_their_table_only(self):
        self.statistic()
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        database.executescript("CREATE TABLE Other (x); INSERT INTO Other VALUES (1);"
                               "DELETE FROM ModuleStatistic;")
        database.close()
        (self.results / "notes.txt").write_text("mine")
        self.assertEqual(self.statistic().code, 0)
        self.assertEqual(len(self.table()), len(self.ROWS))
        self.assertEqual(self.table("Other"), [(1,)])
        self.assertEqual(sorted(path.name for path in self.results.iterdir()),
                         ["cluster_analysis.db", "notes.txt"])

    def test_workbook_of_each_rank(self):
        shutil.copytree(self.captures / "toy_model_ascend_pt", self.captures / "other_ascend_pt")
        output = self.captures / "other_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        next(output.glob("*.db")).rename(output / "ascend_pytorch_profiler_12.db")
        self.assertEqual(self.statistic("--export_type", "text").code, 0)
        files = sorted((self.results / "ModuleStatistic").iterdir())
        self.assertEqual([file.name for file in files],
                         ["module_statistic_0.xlsx", "module_statistic_12.xlsx"])
        sheet = Workbook(files[1]).sheets[0]
        self.assertEqual(sheet.name, "Sheet1")
        # Rows can be sorted: each has its parent and its module.
        self.assertEqual(sheet.merged, [])
        self.assertTrue(all(row[1] for row in sheet.rows()))
        self.assertEqual(sheet.rows()[1],
                         ["ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5])
        self.assertEqual(self.statistic("--export_type", "text", "--compat").code, 0)
        # Rows 2 to 13; a parent is one cell over its rows, a module within its parent.
        self.assertEqual(sorted(Workbook(files[1]).sheets[0].merged),
                         ["A3:A6", "A7:A13", "B3:B6", "B7:B11"])
        self.statistic("--rank_list", "12")
        self.assertEqual({row[-1] for row in self.table()}, {12})

    def test_captures_that_tell_no_rank_keep_their_workbooks_apart(self):
        for name in ("a_ascend_pt", "b_ascend_pt"):
            copy = self.scratch / "unknown" / name
            shutil.copytree(self.CAPTURES / "twin_text_base_ascend_pt", copy)
            for info in copy.glob("profiler_*.json"):
                info.unlink()
        result = self.statistic("--export_type", "text", directory=self.scratch / "unknown")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("2 ranks (a, b): " in line for line in result.warnings), result.err)
        self.assertEqual(len(list((self.results / "ModuleStatistic").iterdir())), 2)

    def test_json_and_csv(self):
        for kind, name in (("json", "module_statistic.json"), ("csv", "module_statistic_csv")):
            self.assertEqual(self.statistic("--export_type", kind).code, 0)
            self.assertTrue((self.results / "ModuleStatistic" / name).exists())
        document = json.loads((self.results / "ModuleStatistic" / "module_statistic.json")
                              .read_text(encoding="utf-8"))
        self.assertEqual(len(document["sheets"][0]["rows"]), len(self.ROWS))

    def test_summary_on_the_screen(self):
        result = self.statistic("--print")
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        self.assertTrue(lines[0].startswith("rank 0: kernels take 1.017 us, 90.1 % in modules (mstx ranges)"))
        self.assertEqual([line.split()[-1] for line in lines[1:lines.index("")]],  # bars follow
                         ["ToyModel", "Linear", "[Backward]Linear", "RMSNorm", "[Backward]RMSNorm"])

    def test_a_broken_rank_costs_itself_only(self):
        broken = self.captures / "b_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        broken.mkdir(parents=True)
        (broken / "ascend_pytorch_profiler_1.db").write_text("no database" * 100)
        result = self.statistic()
        self.assertEqual(result.code, 5, result.err)
        self.assertTrue(any("ascend_pytorch_profiler_1.db" in line for line in result.warnings))
        self.assertEqual(len(self.table()), len(self.ROWS))

    def test_utilisation_of_modules(self):
        self.assertEqual(self.statistic("--peak_tflops", "100").code, 0)
        uses = {row[1]: row[8] for row in self.table() if row[8]}
        self.assertEqual(uses, {"Linear": "44.31%", "[Backward]Linear": "83.33%"})
        self.assertEqual(self.table()[0][7], 0)  # the rank stays where the Python tool has it
        self.statistic("--export_type", "text", "--peak_tflops", "100")
        sheet = Workbook(self.results / "ModuleStatistic" / "module_statistic_0.xlsx").sheets[0]
        self.assertEqual(sheet.rows()[0][7], "Avg MFU")
        self.assertEqual(sheet.rows()[1][7], "44.31%")

    def test_modules_of_the_python_stack(self):
        result = self.statistic(directory=self.CAPTURES / "twin_text_base_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("nn.Module calls" in line for line in result.warnings), result.err)
        self.assertTrue(self.table())

    def test_captures_without_modules(self):
        shutil.rmtree(self.captures)
        build_database(self.CAPTURES, "db_base_ascend_pt", self.captures)
        database = next(self.captures.glob("*/*/*.db"))
        connection = sqlite3.connect(database)
        connection.executescript("DELETE FROM PYTORCH_API WHERE type = 50003;")
        connection.close()
        result = self.statistic()
        self.assert_fails(3, result, "no results")
        self.assertTrue(any("with_modules=True" in line for line in result.warnings), result.err)


class Utilisation(ToyModel, Cli):
    """operator_mfu."""

    def mfu(self, *options, directory=None):
        return self.run_tool("-m", "operator_mfu", "-d", directory or self.captures, "-o", self.out,
                             *options)

    def test_database(self):
        result = self.mfu("--peak_tflops", "100")
        self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
        kernels = self.table("OperatorMFU")
        self.assertEqual(kernels[1],
                         (0, "aten::addmm", "MatMulV2", 22000, 22200, 200, 0.25, 25.0, 100.0,
                          5_000_000, "MatMulV2", "100,250;250,100;100", "100,100", "shapes", "FP16",
                          None, ""))
        self.assertEqual([row[6] for row in kernels], [0.5, 0.25, 0.2381, 0.2273, 1.0, 0.8333])
        modules = self.table("ModuleMFU")
        self.assertEqual(modules[0], (0, "ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5,
                                      "44.31%"))
        self.assertEqual(len(modules), 10)  # those of the forward pass
        columns = '"duration(ns)", share_of_device_time, flops, actual_tflops, mfu, mfu_of_measured_clock, why_no_mfu'
        self.assertEqual(self.table("MFUSummary", "rank_id, work, kernels, " + columns),
                         [(0, "device span", 6, 9100, None, 3e7, 3.3, 0.033, None, "")] +
                         [(0, work, 6, 840, 0.826, 3e7, 35.71, 0.3571, None, "")
                          for work in ("counted matrix work", "matrix products")])
        self.assertEqual([(row[3], *row[5:]) for row in self.table("MFUWaste")],
                         [("100,250;250,100;100", 5, 780, 0.3205, 530),
                          ("100,100;100,250", 1, 60, 0.8333, 10)])

    def test_backward_modules_on_request(self):
        self.assertEqual(self.mfu("--peak_tflops", "100", "--with_backward").code, 0)
        self.assertIn((0, "ToyModel", "[Backward]Linear", "aten::mm", "MatMulV2", 60, 60, 1, "83.33%"),
                      self.table("ModuleMFU"))

    def test_the_chip_in_the_capture(self):
        device = self.captures / "toy_model_ascend_pt" / "PROF_1" / "device_0"
        device.mkdir(parents=True)
        (device / "info.json.0").write_text(
            '{"DeviceInfo": [{"id": 0, "ai_core_num": 20, "aiv_num": 40, "aic_frequency": "1800"}]}')
        self.assertEqual(self.mfu().warnings, [])
        self.assertEqual({row[8] for row in self.table("OperatorMFU")}, {294.91})
        self.mfu("--ai_core_num", "10", "--aic_frequency", "900")
        self.assertEqual({row[8] for row in self.table("OperatorMFU")}, {73.73})

    def test_without_a_peak_operations_are_told(self):
        result = self.mfu("--print")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("--peak_tflops" in line for line in result.warnings), result.err)
        self.assertIn("peak of the chip unknown", result.out)
        for row in self.table("OperatorMFU"):
            self.assertIsNone(row[6])
            self.assertGreater(row[7], 0)
            self.assertEqual(row[9], 5_000_000)
            self.assertEqual(row[16], "number or frequency of the cores unknown")
        self.assertEqual(len(self.table("ModuleMFU")[0]), 8)  # no column of utilisation

    def test_workbooks_and_screen(self):
        result = self.mfu("--peak_tflops", "100", "--export_type", "text", "--print")
        self.assertEqual(result.code, 0, result.err)
        files = sorted((self.results / "OperatorMfu").iterdir())
        self.assertEqual([file.name for file in files],
                         ["operator_mfu_kernel_0.xlsx", "operator_mfu_module_0.xlsx",
                          "operator_mfu_summary_0.xlsx"])
        kernels, modules, summary = (Workbook(file) for file in files)
        self.assertEqual(kernels.sheets[0].rows()[0][:8],
                         ["Rank ID", "Op Name", "Kernel Name", "Kernel Start(ns)", "Kernel End(ns)",
                          "Kernel Duration(ns)", "MFU", "actual_tflops"])
        self.assertEqual(modules.sheets[0].rows()[1][-1], "44.31%")
        self.assertEqual([sheet.name for sheet in summary.sheets], ["Summary", "Waste"])
        self.assertIn("35.7 %", result.out)

    def test_numbers_of_the_chip_must_be_numbers(self):
        for option, value in (("--ai_core_num", "0"), ("--ai_core_num", "2.5"),
                              ("--aic_frequency", "fast"), ("--peak_tflops", "-1"),
                              ("--peak_tflops", "inf")):
            self.assert_fails(2, self.mfu(option, value), f"{option} {value}")
        self.assertFalse(self.out.exists())

    def test_text_captures(self):
        result = self.mfu("--peak_tflops", "100", directory=self.CAPTURES / "text_base_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(self.table("OperatorMFU"))


if __name__ == "__main__":
    sys.exit(main(__doc__, Recipes, Utilisation))
