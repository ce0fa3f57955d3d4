#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calibrate_npu_gpu.

    run_calibrate.py --tool BINARY --testdata DIR calibrate [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import sqlite3
import sys

from cli import Cli, main
from captures import build_database
from workbook import Workbook

PUSH_POP = 59
# Thread, begin, end, name: the model, a layer in it, an operator in that; the norm behind the layer.
RANGES = [(7, 0, 1000, "ToyModel"), (7, 100, 400, "Linear"), (7, 110, 390, "aten::addmm, seq = 3"),
          (7, 400, 500, "RMSNorm"), (8, 0, 1000, "Elsewhere")]
# Launch, thread, kernel, duration, device. The last but one begins as the layer ends, in the norm; the last
# is launched outside of modules.
KERNELS = [(150, 7, "gemm", 300, 0), (200, 7, "gemm", 100, 0), (250, 7, "bias", 50, 0), (400, 7, "norm", 60, 0),
           (500, 8, "lost", 9, 0)]


class Calibrate(Cli):
    def setUp(self):
        super().setUp()
        self.npu = build_database(self.CAPTURES, "toy_model_ascend_pt", self.scratch)
        self.gpu = self.scratch / "gpu.sqlite"
        database = sqlite3.connect(self.gpu)
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT,
                                      textId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, globalTid INTEGER, correlationId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
                                                     correlationId INTEGER, demangledName INTEGER);""")
        for number, (thread, start, end, name) in enumerate(RANGES):
            text, text_id = (name, None) if number % 2 else (None, 100 + number)
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (100 + number, name))
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)",
                             (start, end, PUSH_POP, thread, text, text_id))
        for number, (launch, thread, name, duration, device) in enumerate(KERNELS):
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (number, name))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?)", (launch, thread, number))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?)",
                             (5000, 5000 + duration, device, number, number))
        database.commit()
        database.close()

    def calibrate(self, *options, baseline=None):
        return self.run_tool("-m", "calibrate_npu_gpu", "-d", self.npu, "-o", self.out, "--baseline_profiling_path",
                             baseline or self.gpu, "--module_markers", "ToyModel,Linear,RMSNorm", *options)

    def table(self, name="CompareProfileReportRank0"):
        with sqlite3.connect(self.out / "cluster_analysis_output/cluster_analysis.db") as database:
            rows = database.execute(f"SELECT * FROM {name}")
            names = [column[0] for column in rows.description]
            return [dict(zip(names, row)) for row in rows]

    def test_modules_stand_beside_each_other(self):
        """The NPU's times are those of testdata/README.md."""
        result = self.calibrate("--dump_intermediate_results")
        self.assertEqual((result.code, result.errors), (0, []), result.err)
        rows = self.table()
        (linear,) = [row for row in rows if row["(NPU) Module"] == "Linear"]
        self.assertEqual((linear["(GPU) Parent Module"], linear["(GPU) Module"], linear["Match Type"]),
                         ("ToyModel", "Linear", "rule"))
        self.assertEqual((linear["(NPU) Op Name"], linear["(NPU) Op Count"], linear["(NPU) Total Kernel Duration(us)"],
                          linear["(NPU) Avg Kernel Duration(us)"]), ("aten::addmm", 5, 0.78, 0.156))
        self.assertEqual((linear["(GPU) Op Name"], linear["(GPU) Op Count"], linear["(GPU) Kernel List"],
                          linear["(GPU) Total Kernel Duration(us)"], linear["(GPU) Avg Kernel Duration(us)"]),
                         ("aten::addmm", 3, "bias, gemm", 0.45, 0.15))
        # 450 of 510 ns in modules, 780 of 916 on the NPU.
        self.assertEqual((linear["(GPU) Total Kernel Duration(%)"], linear["(NPU) Total Kernel Duration(%)"]),
                         ("88.24%", "85.15%"))
        self.assertEqual((linear["(NPU/GPU) Module Time Ratio"], linear["(NPU-GPU,us) Module Time Diff"]), ("1.73", 0.33))
        norm = [row for row in rows if row["(NPU) Module"] == "RMSNorm"]
        self.assertEqual([row["(GPU) Kernel List"] for row in norm], ["norm", None, None, None])
        self.assertEqual(norm[0]["(NPU) Op Name"], "aten::mean")  # the longest beside the longest
        self.assertEqual({row["Match Type"] for row in rows if "[Backward]" in row["(NPU) Module"]}, {"none"})
        self.assertEqual([row["Total Kernel Duration(us)"] for row in self.table("GPUProfileRank0")], [0.45, 0.06])
        self.assertEqual(len(self.table("NPUProfileRank0")), 8)

    def test_workbook(self):
        self.assertEqual(self.calibrate("--export_type", "text", "--dump_intermediate_results").code, 0)
        folder = self.out / "cluster_analysis_output/CalibrateNpuGpu"
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"compare_profile_report_0.xlsx", "npu_report_0.xlsx", "gpu_report_0.xlsx"})
        (sheet,) = Workbook(folder / "compare_profile_report_0.xlsx").sheets
        self.assertEqual(sheet.rows()[0][:5], ["(GPU) Parent Module", "(GPU) Module", "(NPU) Parent Module",
                                               "(NPU) Module", "Match Type"])

    def test_the_screen_tells_how_many_modules_it_does_not_show(self):
        """Eleven modules more, one after the other, with an operator and a kernel each, on both sides."""
        thread = 3 << 32 | 5
        with sqlite3.connect(self.npu / "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db") as npu, \
                sqlite3.connect(self.gpu) as gpu:
            for number in range(11):
                begin, name = 40000 + 100 * number, f"RMSNorm{'ABCDEFGHIJK'[number]}"
                npu.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (500 + number, name))
                npu.execute("INSERT INTO MSTX_EVENTS VALUES (?, ?, 2, ?, 4294967295, ?, ?, ?, 1, NULL)",
                            (begin, begin + 90, 100 + number, 500 + number, thread, thread))
                npu.execute("INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) "
                            "VALUES (?, ?, ?, ?, 15, 50001)", (str(begin + 10), str(begin + 80), thread, 900 + number))
                npu.execute("INSERT INTO CONNECTION_IDS VALUES (?, ?)", (900 + number, 1900 + number))
                npu.execute("INSERT INTO TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId) "
                            "VALUES (?, ?, 0, ?, ?, 43, 2)", (begin + 90, begin + 95, 1900 + number, 900 + number))
                npu.execute("INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES (35, ?, 41, 35)",
                            (900 + number,))
                gpu.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, 9, ?, NULL)", (begin, begin + 90, PUSH_POP, name))
                gpu.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, 9, ?)", (begin + 20, 300 + number))
                gpu.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, ?, 3)",
                            (begin + 30, begin + 33, 300 + number))
        result = self.calibrate()
        self.assertEqual((result.code, result.errors), (0, []), result.err)
        lines = result.out.splitlines()
        self.assertEqual(sum("  rule" in line for line in lines), 10, result.out)
        self.assertIn("  ... 3 more modules", lines)  # 11, Linear and RMSNorm

    def test_the_baseline_is_required_and_checked(self):
        result = self.run_tool("-m", "calibrate_npu_gpu", "-d", self.npu, "-o", self.out)
        self.assert_fails(2, result, "--baseline_profiling_path FILE is required")
        self.assert_fails(3, self.calibrate(baseline=self.scratch / "none"), "no such file")
        self.assert_fails(3, self.calibrate(baseline=self.write("text.txt", "nothing")), "text.txt")
        self.assert_fails(2, self.calibrate("--fuzzy_threshold", "2"), "from 0 to 1")
        sqlite3.connect(self.gpu).execute("DROP TABLE NVTX_EVENTS").connection.commit()
        self.assert_fails(3, self.calibrate(), "no table NVTX_EVENTS", "nsys")

    def test_kineto_trace(self):
        """Net has the Conv2d. Operators are those that launched the kernels, not the calls of the runtime in them."""
        result = self.calibrate("--dump_intermediate_results", baseline=self.CAPTURES / "gpu_base.json")
        self.assertEqual((result.code, result.errors), (0, []), result.err)
        rows = self.table("GPUProfileRank0")
        names = ["Parent Module", "Module", "Op Name", "Op Count", "Total Kernel Duration(us)", "Avg Kernel Duration(us)"]
        flash, backward = "aten::_scaled_dot_product_flash_attention", "aten::convolution_backward"
        self.assertEqual(sorted([row[name] for name in names] for row in rows), sorted([
            ["", "Net", "aten::mm", 1, 30000, 30000],
            ["", "Net", "aten::addmm", 1, 24000, 24000],  # 20000 by cuLaunchKernelEx and 4000 by cudaLaunchKernel
            ["", "Net", flash, 1, 20000, 20000],
            ["", "Net", "aten::relu", 1, 6000, 6000],
            ["", "Net", "aten::sum", 1, 0.5, 0.5],
            ["Net", "Conv2d", "aten::cudnn_convolution", 1, 40000, 40000],
            ["Net", "Conv2d", "aten::conv2d", 1, 5000, 5000],  # beside the convolution in it
            ["", "[Backward]Net", f"{flash}_backward", 1, 27000, 27000],
            ["", "[Backward]Net", "aten::mm", 1, 16000, 16000],
            ["Net", "[Backward]Conv2d", backward, 1, 53000, 53000]]))
        self.assertEqual(sum(row["Total Kernel Duration(us)"] for row in rows), 221000.5)
        shares = {row["(GPU) Op Name"]: row["(GPU) Total Kernel Duration(%)"] for row in self.table()
                  if row["(GPU) Module"] == "[Backward]Conv2d"}
        self.assertEqual(shares[backward], "23.98%")  # 53000 of 221000.5
        self.assertEqual({row["Match Type"] for row in self.table()}, {"none"})


if __name__ == "__main__":
    sys.exit(main(__doc__, Calibrate))
