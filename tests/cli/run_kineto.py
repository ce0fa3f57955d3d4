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


# Of a GPU job of 4 ranks: name of the group, its ranks, collective, elements given and got, begin and end of a step.
# Both halves of the job call their group "1". Rank 3 comes 30 us late to the first, rank 1 to the second.
TYPE, BYTES = "BFloat16", 2
REDUCE = ("allreduce", 1000, 1000, 400, 460)
GATHER = ("_allgather_base", 500, 1000, 300, 340)


def gpu_trace(rank, *, on_kernels=True, pg_config=True, cut=False, steps=3):
    """The metadata is on the kernels, as Kineto writes it, or only on record_param_comms."""
    half = [0, 1] if rank < 2 else [2, 3]
    events = []
    for step in range(steps):
        begin = START + 500 * step
        events.append(span("user_annotation", f"ProfilerStep#{step}", HOST, HOST, begin, 500))
        works = [("aten::mm", "sgemm", 100, 150, {})]
        for name, ranks, late, (kind, given, got, start, end) in (("0", [0, 1, 2, 3], 3, REDUCE), ("1", half, 1, GATHER)):
            start += 30 if rank == late else 0
            listed = f"[{ranks[0]}, ..., {ranks[-1]}]" if cut else str(ranks)
            works.append(("record_param_comms", f"ncclDevKernel_{kind}(ncclDevKernelArgs)", start, end - start,
                          {"Collective name": kind, "In msg nelems": given, "Out msg nelems": got,
                           "Group size": len(ranks), "dtype": TYPE, "Process Group Name": name,
                           "Process Group Description": "default_pg" if name == "0" else "tp",
                           "Process Group Ranks": listed}))
        for place, (operator, kernel, start, length, about) in enumerate(works):
            link, at = 10 * step + place + 1, begin + 10 + 20 * place
            events.append(span("cpu_op", operator, HOST, HOST, at, 15, **about))
            events.append(span("cuda_runtime", "cudaLaunchKernel", HOST, HOST, at + 2, 3, correlation=link))
            events.append(span("kernel", kernel, rank, STREAM, begin + start, length, correlation=link, device=rank,
                               **(about if on_kernels else {})))
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 4, "ranks": [0, 1, 2, 3]},
              {"pg_name": "1", "pg_desc": "tp", "pg_size": 2, "ranks": half}]
    job = {"backend": "nccl", "rank": rank, "world_size": 4, **({"pg_config": groups} if pg_config else {})}
    return {"schemaVersion": 1, "deviceProperties": [{"id": rank, "name": "X100", "totalGlobalMem": 1}],
            "distributedInfo": job, "traceEvents": events}


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

    def job(self, **how):
        for rank in range(4):
            self.write(f"job/worker{rank}.pt.trace.json", gpu_trace(rank, **how))
        return self.scratch / "job"

    def recipe(self, name, job):
        result = self.run_tool("-m", name, "-d", job, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        return self.sheets(result)

    def test_groups_of_a_gpu_job(self):
        for how in ({}, {"on_kernels": False}, {"pg_config": False}):
            sheets = self.recipe("hccl_sum", self.job(**how))
            self.assertEqual({row["group_name"]: row["ranks"] for row in sheets["HcclGroupNameMap"]},
                             {"0 [0, 1, 2, 3]": "0;1;2;3", "1 [0, 1]": "0;1", "1 [2, 3]": "2;3"})
            # Times of all ranks and steps, in ns: 11 of 60 or 40 us less what the late ranks came late.
            sums = {row["op_type"]: row["sum_ns"] for row in sheets["HcclAllRankStats"]}
            self.assertEqual(sums, {"allreduce": 3 * (4 * 60 - 30) * 1000, "allgather": 3 * (4 * 40 - 30) * 1000})

    def test_group_map_of_a_gpu_job(self):
        for how in ({}, {"cut": True}):
            rows = self.recipe("communication_group_map", self.job(**how))["CommunicationGroupMapping"]
            self.assertEqual(sorted((row["pg_name"], row["rank_set"]) for row in rows),
                             [("default_pg", "(0,1,2,3)"), ("tp", "(0,1)"), ("tp", "(2,3)")])

    def test_sizes_of_a_gpu_job(self):
        """One allreduce of twelve takes four times as long on all ranks."""
        for rank in range(4):
            trace = gpu_trace(rank, steps=12)
            last = [event for event in trace["traceEvents"] if "allreduce" in event["name"]][-1]
            last["dur"] += 140
            self.write(f"job/worker{rank}.pt.trace.json", trace)
        job = self.scratch / "job"
        result = self.run_tool("-m", "slow_link", "-d", job, "-o", self.out)
        self.assertIn("in 1 of 2 kinds of collectives (type, bytes, ranks)", result.out)
        self.assertEqual({row["op_type_related_ranks_data_size"] for row in self.recipe("slow_link", job)["SlowLinkSum"]},
                         {f"allreduce4_{1000 * BYTES}"})

    def test_no_level_tells_waits_of_a_gpu_job(self):
        result = self.run_tool("-m", "cluster_time_summary", "-d", self.job(), "-o", self.out)
        self.assertIn("the wait for other ranks is unknown", result.all_err)
        self.assertNotIn("profiler_level", result.all_err)

    def test_groups_that_no_gpu_job_has(self):
        for key, value in (("Group size", 2**31), ("Group size", 5), ("Process Group Ranks", "[0, 4294967296]")):
            trace = gpu_trace(0, pg_config=False)
            for event in trace["traceEvents"]:
                if event.get("args", {}).get("Process Group Name") == "1":
                    event["args"][key] = value
            path = self.write("odd/worker0.pt.trace.json", trace)
            result = self.run_tool("-m", "hccl_sum", "-d", path.parent, "-o", self.out)
            self.assertEqual(result.code, 5, (key, value, result.err))
            self.assertIn("group members left out, they are more than the job has ranks or out of range", result.all_err)

    def test_late_ranks_of_a_gpu_job(self):
        result = self.run_tool("-m", "slow_rank", "-d", self.job(), "-o", self.out, "--json")
        self.assertEqual(result.code, 0, result.err)
        (late,) = [sheet["rows"] for sheet in json.loads(result.out)["sheets"] if sheet["name"] == "LateRanks"]
        # Both of the groups that have one name: rank 1 comes late to its own alone.
        self.assertEqual({(row["ranks"], row["most_ns"]) for row in late}, {("1", 30_000), ("3", 30_000)})

    def test_check_of_a_gpu_job(self):
        def ability(**how):
            facts = json.loads(self.run_tool("check", self.job(**how), "--json").out)
            return {analyzer["name"]: analyzer["ability"] for analyzer in facts["ranks"][0]["analyzers"]}
        self.assertEqual(ability()["cluster: slow_link"], "can_run")
        self.assertEqual(ability()["cluster: communication_group_map"], "can_run")
        # A trace without the document names groups only with its events.
        self.assertEqual(ability(pg_config=False)["cluster: slow_rank"], "can_run")


if __name__ == "__main__":
    sys.exit(main(__doc__, Kineto))
