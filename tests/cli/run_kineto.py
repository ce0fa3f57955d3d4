#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler: of NPUs, as torch_npu's plug-in writes them, and what Kineto says of collectives.

    run_kineto.py --tool BINARY --testdata DIR kineto [-v]

The captures are made here, so that all numbers are known.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import sys

from cli import Cli, main

START, HOST, DEVICE, STREAM = 1_000_000, 4000, 3, 7
# In us, of each of the two steps of 500: operator, kernel, type, begin, length.
NPU_WORK = (("aten::mm", "aclnnMatmul_MatMulCommon_MatMulV2", "KERNEL_AICORE", 100, 150),
            ("aten::add", "Add_0123456789abcdef0123456789abcdef_high_performance_1", "KERNEL_AIVEC", 250, 50))
ALLREDUCE = (400, 60)
GROUP = "10.0.0.1%eth0_60000_0_1"


def span(category, name, pid, tid, begin, length, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length,
            "args": args}


def flow(kind, number, pid, tid, time):
    return {"ph": kind, "id": number, "pid": pid, "tid": tid, "ts": time, "cat": "ac2g", "name": "ac2g"}


def metadata(event, pid, tid, **args):
    return {"ph": "M", "name": event, "ts": 0, "pid": pid, "tid": tid, "args": args}


def npu_trace(*, collectives=True, records=True, delay=0):
    """As torch_npu writes it: arrows begin with the kernel, at an empty call that has its name, and their number
    is that of the operator as a record function; collectives have no arrows."""
    events = []
    for step in range(2):
        begin, number = START + 500 * step, 100 + 10 * step
        events.append(span("user_annotation", f"ProfilerStep#{step}", HOST, HOST, begin, 500, **{"External id": 7}))
        for place, (operator, kernel, core, start, length) in enumerate(NPU_WORK):
            record, external = number + place, number + place + 1  # the other numbers name other operators
            ids = {"External id": external, "Record function id": record}
            at, on_device = begin + 10 + 20 * place, begin + start + delay
            events.append(span("cpu_op", operator, HOST, HOST, at, 15, **(ids if records else {"External id": record})))
            events += [span("privateuse1_runtime", kernel, HOST, HOST, on_device, 0),
                       flow("s", record, HOST, HOST, on_device),
                       span("kernel", kernel, DEVICE, STREAM, on_device, length, type=core, streamId=STREAM),
                       flow("f", record, DEVICE, STREAM, on_device)]
        events.append(span("cpu_op", "c10d::allreduce_", HOST, HOST, begin + 60, 15, **{"External id": 9}))
        if collectives:
            start, length = ALLREDUCE
            events.append(span("collective_comm", f"hcom_allReduce__001_{step}_1", DEVICE, STREAM, begin + start,
                               length, **{"External id": 2**30 + step, "commName": GROUP, "streamId": STREAM}))
    events += [metadata("process_name", DEVICE, 0, name="NPU"),
               metadata("process_labels", DEVICE, 0, labels="Ascend NPU"),
               metadata("thread_name", DEVICE, STREAM, name=f"NPU stream {STREAM}")]
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}


class Kineto(Cli):
    def write(self, name, document):
        path = self.scratch / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document))
        return path

    def sheets(self, result):
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def compared(self, document, *options):
        path = self.write("npu.json", document)
        result = self.compare("--json", *options, comparison=path, base=path)
        return self.sheets(result), result

    def test_npu_is_recognised(self):
        path = self.write("npu.json", npu_trace())
        result = self.run_tool("check", path)
        self.assertIn("NPU trace of torch.profiler", result.out)
        self.assertNotIn("GPU trace", result.out)
        facts = json.loads(self.run_tool("check", path, "--json").out)
        self.assertEqual(facts["ranks"][0]["kind"], "npu_torch_trace")

    def test_npu_times(self):
        sheets, result = self.compared(npu_trace())
        rows = {row["index"].strip(): row["comparison_duration_ms"] for row in sheets["OverallMetrics"]}
        for name, time in (("Computing Time", 0.4), ("Uncovered Communication Time", 0.12), ("Free Time", 0.34),
                           ("E2E Time", 0.86)):
            self.assertAlmostEqual(rows[name], time, msg=name)
        self.assertAlmostEqual(rows["Matmul"], 0.3)
        self.assertAlmostEqual(rows["Vector"], 0.1)
        operators = {row["operator_name"]: row["comparison_device_duration_ms"]
                     for row in sheets["OperatorCompareStatistic"]}
        self.assertAlmostEqual(operators["aten::mm"], 0.3)
        self.assertAlmostEqual(operators["aten::add"], 0.1)
        # The plug-in does not say which operator a collective belongs to.
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("whose operator the trace does not name", "\n".join(result.warnings))
        self.assertIn("hcom_allReduce__001_0_1", "\n".join(result.warnings))

    def test_npu_kernels_and_collectives(self):
        sheets, _ = self.compared(npu_trace())
        kernels = {row["kernel"]: row["comparison_total_duration_us"] for row in sheets["KernelCompare"]}
        self.assertEqual(kernels, {"MatMulV2": 300, "Add": 100})
        collectives = {row["comparison_communication_op_name"]: row["comparison_total_duration_us"]
                       for row in sheets["CommunicationCompare"]}
        self.assertEqual(collectives.get("allreduce"), 120)
        sheets, _ = self.compared(npu_trace(), "--use_kernel_type")
        self.assertEqual({(row["kernel_type"], row["core_type"]) for row in sheets["KernelTypeCompare"]},
                         {("MatMulV2", "KERNEL_AICORE"), ("Add", "KERNEL_AIVEC")})

    def test_npu_operators_by_their_external_id(self):
        """Versions that do not write the number of the record function."""
        sheets, _ = self.compared(npu_trace(records=False))
        operators = {row["operator_name"]: row["comparison_device_duration_ms"]
                     for row in sheets["OperatorCompareStatistic"]}
        self.assertAlmostEqual(operators["aten::mm"], 0.3)

    def test_npu_collectives_that_the_plug_in_lost(self):
        _, result = self.compared(npu_trace(collectives=False))
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("holds no collectives of the device", "\n".join(result.warnings))

    def test_npu_group_of_collectives(self):
        self.write("job/npu.json", npu_trace())
        result = self.run_tool("-m", "hccl_sum", "-d", self.scratch / "job", "--json", "-o", self.out)
        groups = self.sheets(result)["HcclGroupNameMap"]
        self.assertEqual([row["group_name"] for row in groups], [GROUP])


if __name__ == "__main__":
    sys.exit(main(__doc__, Kineto))
