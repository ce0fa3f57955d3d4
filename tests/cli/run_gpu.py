#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of GPUs: their ranks, their steps, and that commands agree about both.

    run_gpu.py --tool BINARY --testdata DIR gpu|capturedgraphs [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sys

from cli import Cli, main

# Of a step of 1000 us: a matrix product from 100 to 400, an addition to 500, a collective from 450 to
# 650, and nothing else.
COMPUTING, EXPOSED, FREE = 400, 150, 450
HOST, MARKS = 100, "user_annotation"


class Trace:
    """Events of one rank, in us."""

    def __init__(self):
        self.events, self.links = [], 0

    def span(self, category, name, track, begin, length):
        pid = 0 if category == "kernel" else HOST
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": track,
                            "ts": begin, "dur": length})

    def kernel(self, name, stream, begin, length, launched):
        self.links += 1
        self.span("cuda_runtime", "cudaLaunchKernel", HOST, launched, 4)
        self.span("kernel", name, stream, begin, length)
        ends = (("s", HOST, HOST, launched), ("f", 0, stream, begin))
        for ph, pid, tid, time in ends:
            self.events.append({"ph": ph, "id": self.links, "pid": pid, "tid": tid, "ts": time,
                                "cat": "ac2g", "name": "ac2g", **({"bp": "e"} if ph == "f" else {})})

    def step(self, number, begin, mark=True, longer=0):
        if mark:
            self.span(MARKS, f"ProfilerStep#{number}", HOST, begin, 1000)
        self.span("cpu_op", "aten::mm", HOST, begin + 10, 50)
        self.kernel("ampere_sgemm_128x64_tn", 7, begin + 100, 300, begin + 20)
        self.kernel("elementwise_kernel", 7, begin + 400, 100 + longer, begin + 75)
        self.kernel("ncclDevKernel_AllReduce_Sum_f32", 20, begin + 450, 200, begin + 115)

    def text(self, rank=None, behind=False):
        job = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2}}
        events = {"traceEvents": self.events}
        return json.dumps({**events, **job} if behind else {**job, **events})


def steps(count, longer=0, **how):
    trace = Trace()
    for number in range(count):
        trace.step(number + 1, 1000 * number, longer=longer, **how)
    return trace


class Gpu(Cli):
    def trace(self, trace, name="job/a.pt.trace.json", **how):
        return self.write(name, trace.text(**how)).parent

    def json(self, *arguments, code=0):
        result = self.run_tool(*arguments, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        return json.loads(result.out)

    def times(self, directory, *more):
        """(rank, step) -> row of the account."""
        document = self.json("-m", "cluster_time_summary", "-d", directory, *more)
        (rows,) = [sheet["rows"] for sheet in document["sheets"]
                   if sheet["name"] == "ClusterTimeSummary"]
        return {(row["rank"], row["step"]): row for row in rows}

    def accounts(self, directory, *more):
        document = self.json("advisor", "all", "-d", directory, *more)
        return {(row["rank"], row["step"]): {part: sum(time for leaf, time in row["leaves"].items()
                                                       if leaf.startswith(part)) / 1000
                                             for part in ("", "comp.", "comm.", "copy.", "free.")}
                for row in document["accounting"]}

    def assert_same_accounts(self, directory, expected):
        """Step, computing, exposed communication and free time, in us, by rank and step."""
        times = self.times(directory)
        self.assertEqual({key: (row["step_time"], row["computation"],
                                row["communication_not_overlap_computation"], row["free"])
                          for key, row in times.items()}, expected)
        accounts = self.accounts(directory)
        self.assertEqual({key: (row[""], row["comp."], row["comm."], row["free."])
                          for key, row in accounts.items()}, expected)

    def test_ranks_are_those_of_the_traces(self):
        self.trace(steps(2), "job/a.pt.trace.json", rank=1)
        job = self.trace(steps(2, longer=100), "job/b.pt.trace.json", rank=0, behind=True)
        usual, longer = (1000, COMPUTING, EXPOSED, FREE), (1000, COMPUTING + 100, EXPOSED - 100, FREE + 0)
        last = {}
        for rank, row in ((0, longer), (1, usual)):
            last.update({(rank, step): row for step in (1, 2)})
        self.assert_same_accounts(job, last)
        self.assertEqual(set(self.times(job, "--rank_list", "1")), {(1, 1), (1, 2)})
        self.assertEqual(self.json("advisor", "all", "-d", job)["capture"]["ranks"], [0, 1])

    def test_a_step_can_be_chosen(self):
        job = self.trace(steps(3))
        self.assertEqual(set(self.times(job, "--step_id", "2")), {("a", 2)})
        for more, kernels in (([], 6), (["--step_id", "2"], 2)):  # of no type that is known
            document = self.json("-m", "compute_op_sum", "-d", job, *more)
            self.assertEqual({row["count"] for sheet in document["sheets"] for row in sheet["rows"]
                              if sheet["name"] == "ComputeOpAllRankStats"}, {kernels})
        trace = job / "a.pt.trace.json"
        self.assertIn("\nStep                                 1000.00     1000.00 ",
                      self.run_tool("compare", "-d", trace, "-bp", trace, "--base_step", "2",
                                    "--comparison_step", "2", "-o", self.out).out)

    def test_a_step_without_work_at_the_end_is_no_step(self):
        trace = steps(2)
        trace.span(MARKS, "ProfilerStep#3", HOST, 2010, 30)
        row = (1000, COMPUTING, EXPOSED, FREE)
        self.assert_same_accounts(self.trace(trace), {("a", 1): row, ("a", 2): row})

    def test_without_steps_the_window_is_the_work(self):
        trace = steps(2, mark=False)
        trace.span("cuda_runtime", "cudaDeviceSynchronize", HOST, 1200, 460)
        job = self.trace(trace)
        # From 100 to 1650.
        self.assert_same_accounts(job, {("a", -1): (1550, 2 * COMPUTING, 2 * EXPOSED, 450)})
        self.assertEqual(self.json("advisor", "all", "-d", job)["step_ns"], 1_550_000)

    def test_the_screen_leaves_out_the_warm_up(self):
        trace = Trace()
        trace.span(MARKS, "ProfilerStep#1", HOST, 1000, 2000)
        trace.kernel("elementwise_kernel", 7, 2500, 100, 1100)
        for number in (2, 3):
            trace.step(number, 1000 * (number + 1))
        job = self.trace(trace)
        self.assertEqual({step for _, step in self.times(job)}, {1, 2, 3})
        screen = self.run_tool("-m", "cluster_time_summary", "-d", job, "-o", self.out).out
        self.assertRegex(screen, r"\n  step +1\.000 +1\.000 +1\.000")
        self.assertIn("\n  step 1 is left out here: warm-up", screen)
        advisor = self.json("advisor", "all", "-d", job)
        self.assertEqual((advisor["step_ns"], advisor["capture"]["dropped_steps"]), (1_000_000, [1]))

    def test_parts_of_the_comparison_add_up_to_the_step(self):
        trace = self.trace(steps(1)) / "a.pt.trace.json"
        screen = self.run_tool("compare", "-d", trace, "-bp", trace, "-o", self.out).out
        times = {line[:34].strip(): float(line[34:44]) for line in screen.splitlines()
                 if not line.startswith(" ") and line[34:44].strip().replace(".", "").isdigit()}
        step = times.pop("Step")
        self.assertEqual(step, 1000)
        self.assertEqual(round(sum(times.values()) - times["End to end"], 3), step)
        self.assertEqual(times["Before first and after last task"], 450)

    def test_without_device_work_nothing_is_judged(self):
        trace = Trace()
        trace.span(MARKS, "ProfilerStep#1", HOST, 0, 1000)
        trace.span("cpu_op", "aten::mm", HOST, 10, 900)
        job = self.trace(trace, rank=3)
        screen = self.run_tool("advisor", "all", "-d", job, "-o", self.out)
        self.assertEqual(screen.code, 0, screen.err)
        self.assertEqual(screen.out, "1 rank: no device work was recorded, so nothing is judged\n"
                                     "  on the host of rank 3: 1 step, median 1.000 ms\n"
                                     "    operator calls 90 %, host not recorded 10 %\n"
                                     "    -> capture with activities=[CPU, CUDA]\n")
        document = self.json("advisor", "all", "-d", job)
        self.assertEqual((document["findings"], document["accounting"]), ([], []))
        self.assertEqual((document["step_ns"], document["floor_ns"]), (None, None))
        self.assertEqual(document["on_host"],
                         {"rank": 3, "steps": 1, "median_step_ns": 1_000_000,
                          "all_steps_ns": 1_000_000,
                          "leaves": {"free.dispatch.op": 900_000, "free.host_idle": 100_000}})
        for recipe in ("cluster_time_summary", "free_analysis"):
            result = self.run_tool("-m", recipe, "-d", job, "-o", self.out)
            self.assertEqual(result.code, 3, result.err)
            self.assertIn("rank 3: no device work was recorded, so nothing is judged",
                          "\n".join(result.warnings))
        other = self.write("other.json", steps(1).text())
        for base, side in ((other, "comparison"), (job / "a.pt.trace.json", "captures")):
            result = self.run_tool("compare", "-d", job / "a.pt.trace.json", "-bp", base, "-o", self.out)
            self.assertEqual(result.code, 0, result.err)
            self.assertIn(f"Nothing is judged: no device work was recorded in the {side}.", result.out)
            self.assertIn("\nOn the host: comparison 1 step, median 1.000 ms", result.out)
            self.assertNotIn("Computing", result.out)
        trace = job / "a.pt.trace.json"
        rows = [sheet["rows"] for sheet in self.json("compare", "-d", trace, "-bp", trace)["sheets"]
                if sheet["name"] == "OperatorCompareStatistic"]
        self.assertIsNone(rows[0][0]["base_device_duration_ms"], "unknown, not idle")


class CapturedGraphs(Cli):
    """Replays in a trace, and the traces of their capture beside it; see make_graph_captures.py."""

    def setUp(self):
        super().setUp()
        self.job = self.scratch / "job"
        shutil.copytree(self.CAPTURES / "graph_replay", self.job)
        self.graphs = self.job / "capture_traces"

    def modules(self, *options):
        return self.run_tool("-m", "module_statistic", "-d", self.job, "-o", self.out, *options)

    def test_the_traces_of_the_capture_are_no_ranks(self):
        result = self.run_tool("check", "-d", self.job, "--json")
        self.assertEqual(len(json.loads(result.out)["ranks"]), 1, result.out)
        aside = self.graphs.rename(self.job / "others")
        named = self.run_tool("check", "-d", self.job, "--graph_capture", aside, "--json")
        self.assertEqual(len(json.loads(named.out)["ranks"]), 1, named.out)

    def test_operators_of_the_capture_cost_the_host_nothing(self):
        explained = self.run_tool("advisor", "all", "-d", self.job, "-o", self.out, "-v")
        shutil.rmtree(self.graphs)
        alone = self.run_tool("advisor", "all", "-d", self.job, "-o", self.out)
        self.assertEqual(explained.code, 0, explained.err)
        self.assertIn("28 of 28 kernels matched", "\n".join(explained.err))
        findings = explained.out.split("About the capture:")[0]
        self.assertEqual(findings, alone.out.split("About the capture:")[0])
        self.assertIn("device free", findings)

    def test_a_broken_capture_that_was_found_explains_less(self):
        (self.graphs / "graph_capture_rank_0.4.json").write_text('{"traceEvents": [', encoding="utf-8")
        result = self.modules()
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("graph_capture_rank_0.4.json", "\n".join(result.err))
        self.assertIn("28 of 28 kernels matched", "\n".join(result.err))
        self.assertIn("the shapes may be those of another batch", "\n".join(result.err))

    def test_a_broken_capture_that_was_named_ends_the_run(self):
        broken = self.write("broken.json.gz", "no archive")
        result = self.modules("--graph_capture", broken)
        self.assertEqual(result.code, 3, result.err)
        self.assertIn("broken.json.gz", "\n".join(result.err))

    def test_a_named_capture_explains_a_replay_or_the_result_is_partial(self):
        other = self.CAPTURES / "gpu_base.json"
        result = self.run_tool("-m", "graph_replays", "-d", self.job, "-o", self.out, "--graph_capture", other)
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("gpu_base.json: no graph was captured there", "\n".join(result.err))
        eager = self.scratch / "eager"
        eager.mkdir()
        shutil.copy(other, eager)
        graphs = self.graphs / "graph_capture_rank_0.2.json"
        result = self.run_tool("-m", "graph_replays", "-d", eager, "-o", self.out, "--graph_capture", graphs)
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("it replays no captured graph", "\n".join(result.err))

    def test_the_captures_of_another_rank_are_not_read(self):
        """Their names tell ranks. Those of others are taken only where the rank has none of its own."""
        own = self.graphs / "graph_capture_rank_0.2.json"
        foreign = (self.CAPTURES / "graph_foreign" / "fewer_kernels.json").read_text(encoding="utf-8")
        (self.graphs / "execution_details.json").unlink()
        (self.graphs / "graph_capture_rank_1.2.json").write_text(foreign, encoding="utf-8")
        read = self.modules("-v")
        self.assertEqual(read.code, 0, read.err)
        self.assertNotIn("rank_1.2.json ->", "\n".join(read.err))
        for file in self.graphs.glob("*rank_0*"):
            file.unlink()
        self.assertFalse(own.exists())
        self.assertIn("rank_1.2.json ->", "\n".join(self.modules("-v").err))

    def test_captures_for_other_batches_are_not_read(self):
        shutil.copy(self.graphs / "graph_capture_rank_0.2.json", self.graphs / "graph_capture_rank_0.8.json")
        listed = json.loads((self.graphs / "execution_details.json").read_text(encoding="utf-8"))
        listed.append({"file": "graph_capture_rank_0.8.json", "batch_size": 8, "mode": "FULL"})
        (self.graphs / "execution_details.json").write_text(json.dumps(listed), encoding="utf-8")
        read = self.modules("-v")
        self.assertIn("rank_0.4.json ->", "\n".join(read.err))
        self.assertNotIn("rank_0.8.json ->", "\n".join(read.err))


if __name__ == "__main__":
    sys.exit(main(__doc__, Gpu, CapturedGraphs))
