#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of GPUs whose device is behind its host: what was queued before the capture, and what runs a step later.

    run_gpu_steps.py --tool BINARY --testdata DIR gpusteps|sharedgpusteps [-v]

gpusteps makes its traces; sharedgpusteps reads public traces, and is skipped where there are none.

Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import gzip
import json
import re
import sys
from fractions import Fraction
from pathlib import Path

from cli import Cli, main

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
HOST, STREAM, COLLECTIVES, COPIES = 100, 7, 20, 9


class Trace:
    """Events of one rank, in us."""

    def __init__(self):
        self.events, self.launched = [], 0

    def span(self, category, name, pid, track, begin, length, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": track, "ts": begin,
                            "dur": length, "args": args})

    def work(self, name, stream, begin, length, launched=None, category="kernel"):
        """Device work; without a time at which it was launched, without a launch."""
        self.launched += 1
        call = "cudaMemcpyAsync" if category == "gpu_memcpy" else "cudaLaunchKernel"
        if launched is not None:
            self.span("cuda_runtime", call, HOST, HOST, launched, 4, correlation=self.launched)
        self.span(category, name, 0, stream, begin, length, correlation=self.launched, stream=stream)

    def step(self, number, begin, on_device):
        """A step of 1000 us on both; on the device a product, and a collective that nothing hides."""
        self.span("user_annotation", f"ProfilerStep#{number}", HOST, HOST, begin, 1000)
        self.span("cpu_op", "aten::mm", HOST, HOST, begin + 10, 50)
        self.work("ampere_sgemm_128x64_tn", STREAM, on_device, 900, begin + 20)
        self.work("ncclDevKernel_AllReduce_Sum_f32", COLLECTIVES, on_device + 900, 100, begin + 70)


def queued_before(tail=True):
    """Three steps of a device that is 800 us behind, because the stream was full when the capture began."""
    trace = Trace()
    for begin in range(-100, 800, 100) if tail else ():
        trace.work("elementwise_kernel", STREAM, begin, 100)
    for number in range(3):
        trace.step(number + 1, 1000 * number, 800 + 1000 * number)
    return trace


def step_behind():
    """Three steps of a device that is one and a half behind. A copy for the step after, and a small collective, do not
    wait for the products."""
    trace = Trace()
    for begin in range(0, 1500, 100):
        trace.work("elementwise_kernel", STREAM, begin, 100)
    for number in range(3):
        begin = 1000 * number
        trace.work("Memcpy HtoD (Pinned -> Device)", COPIES, begin + 30, 40, begin + 15, "gpu_memcpy")
        trace.work("ncclDevKernel_AllGather_f32", COLLECTIVES, begin + 100, 20, begin + 80)
        trace.step(number + 1, begin, 1500 + begin)
    return trace


class GpuSteps(Cli):
    def trace(self, trace, name="a.pt.trace.json"):
        return self.write(name, json.dumps({"traceEvents": trace.events}))

    def document(self, *arguments):
        result = self.run_tool(*arguments, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        self.assertNotIn("launch", "\n".join(result.warnings))
        return json.loads(result.out)

    def assert_three_equal_steps(self, trace):
        """Each computes 900 us, and communicates 100."""
        advisor = self.document("advisor", "all", "-d", trace)
        for row in advisor["accounting"]:
            self.assertEqual(row["window_ns"], 1_000_000)
            self.assertEqual({leaf.partition(".")[0]: 0 for leaf in row["leaves"]}, {"comp": 0, "comm": 0}, row)
            self.assertEqual(sum(row["leaves"].values()), 1_000_000)
        self.assertEqual([row["step"] for row in advisor["accounting"]], [1, 2, 3])
        self.assertEqual((advisor["step_ns"], advisor["capture"]["dropped_steps"]), (1_000_000, []))
        (table,) = self.document("-m", "cluster_time_summary", "-d", trace.parent)["sheets"]
        self.assertEqual([(row["step_time"], row["computation"], row["free"]) for row in table["rows"]],
                         [(1000, 900, 0)] * 3)
        gate = self.document("compare", "-d", trace, "-bp", trace, "--fail_on", "step_time>+3%", "--warmup", "0",
                             "--min_steps", "1")
        self.assertEqual([metric["base"] for metric in gate["metrics"]], [1_000_000])

    def overall(self, trace, other, *options):
        """Row -> ms on both sides."""
        sheet = self.document("compare", "-d", other, "-bp", trace, "--enable_profiling_compare", *options)["sheets"][0]
        return {row["index"].strip(): (row["base_duration_ms"], row["comparison_duration_ms"])
                for row in sheet["rows"]}

    def test_work_of_earlier_steps_is_of_none(self):
        trace = self.trace(queued_before())
        self.assert_three_equal_steps(trace)
        screen = self.run_tool("compare", "-d", trace, "-bp", trace, "-o", self.out)
        self.assertEqual((screen.code, screen.warnings[1:]), (0, []), screen.err)
        self.assertRegex(screen.out, r"\nEnd to end +3000\.00 +3000\.00 .*\nAll 3 steps +3000\.00 +3000\.00 ")

    def test_work_of_earlier_steps_changes_no_sum(self):
        with_tail = self.trace(queued_before())
        rows = self.overall(with_tail, self.trace(queued_before(tail=False), "b.pt.trace.json"))
        self.assertEqual(rows["E2E Time"], (3, 3))
        self.assertEqual(rows["Computing Time"], (2.7, 2.7))
        self.assertEqual({name for name, (before, after) in rows.items() if before != after}, set())

    def test_a_device_more_than_a_step_behind(self):
        trace = self.trace(step_behind())
        self.assert_three_equal_steps(trace)
        parts = ("E2E Time", "Computing Time", "Uncovered Communication Time", "Free Time")
        for steps, options in ((3, []), (1, ["--base_step", "2", "--comparison_step", "3"]),
                               (1, ["--base_step", "1", "--comparison_step", "2"])):
            rows = self.overall(trace, trace, *options)
            for name, us in zip(parts, (1000, 900, 100, 0)):
                self.assertEqual(rows.get(name, (0, 0)), (steps * us / 1000, steps * us / 1000), (options, name))

    def test_work_that_lost_its_launch_later_is_told(self):
        trace = queued_before()
        for begin in range(4000, 6000, 100):
            trace.work("elementwise_kernel", STREAM, begin, 100)
        result = self.run_tool("advisor", "all", "-d", self.trace(trace), "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("work of the device without a launch in the trace, operators lack its time (2.000 of 5.000 ms)",
                      "\n".join(result.warnings))

    def test_launches_that_lost_their_work_are_told_beside_earlier_work(self):
        """Their work is not what ran before them."""
        trace = queued_before()
        trace.span("cuda_runtime", "cudaLaunchKernel", HOST, HOST, 900, 4, correlation=900)
        result = self.run_tool("advisor", "all", "-d", self.trace(trace), "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        self.assertIn("launches have no work on the device", "\n".join(result.warnings))


def works_of(path):
    """Steps on the host, and work of the device with the time of its launch or None, in us."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = [event for event in json.load(file, parse_float=Fraction)["traceEvents"] if event.get("ph") == "X"]
    calls = {event["args"]["correlation"]: event["ts"] for event in events
             if event.get("cat") in ("cuda_runtime", "cuda_driver", "hip_runtime") and "correlation" in event.get("args", {})}
    steps = sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                   if event["name"].startswith("ProfilerStep#") and event.get("cat") != "gpu_user_annotation")
    return steps, [(event["ts"], event["ts"] + event["dur"], calls.get(event["args"].get("correlation")))
                   for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]


class SharedGpuSteps(Cli):
    """Public traces."""

    def setUp(self):
        super().setUp()
        if not (SHARED / "traces").is_dir():
            self.skipTest("there is no folder shared/data/traces beside the project")

    def test_work_queued_before_the_capture(self):
        """968 pieces of work, 31.8 ms, run before the first that was launched in the capture."""
        path = SHARED / "traces/tracelens/mi300_resnet_act_checkpoint.json.gz"
        steps, works = works_of(path)
        ends = [max(end for _, end, launched in works if launched and begin <= launched <= stop) for begin, stop in steps]
        first = max(end for _, end, launched in works if launched is None)
        self.assertLess(abs(first - min(start for start, _, launched in works if launched)), 0.01)
        result = self.run_tool("advisor", "all", "-d", path, "--json", "-o", self.out)
        self.assertEqual((result.code, result.warnings), (0, []), result.err)
        rows = json.loads(result.out)["accounting"]
        self.assertEqual([row["window_ns"] for row in rows],
                         [round(1000 * (end - begin)) for begin, end in zip([first, *ends], ends)])
        compared = self.run_tool("compare", "-d", path, "-bp", path, "--enable_profiling_compare", "-o", self.out)
        self.assertEqual(compared.code, 0, compared.err)
        self.assertRegex(compared.out, rf"\nAll 3 steps +{float(ends[-1] - first) / 1000:.3f} ")

    def test_parts_of_compare_add_up_to_the_steps(self):
        """Of each trace, with all steps."""
        traces = [path for path in sorted([*SHARED.glob("gpu/*.json.gz"), *SHARED.glob("traces/**/*.json.gz")])
                  if path.parent.name not in ("capture_traces", "dlrm_8ranks")]
        self.assertGreater(len(traces), 8)
        for path in traces:
            with self.subTest(path.name):
                screen = self.run_tool("compare", "-d", path, "-bp", path, "--enable_profiling_compare",
                                       "-o", self.out).out
                found = re.findall(r"^(\S.*?) {2,}(-?[\d.]+) ", screen.split("\n\n")[1], re.M)
                times = {name: float(time) for name, time in found if not name.startswith("Peak memory")}
                *parts, whole = [time for name, time in times.items() if name != "End to end"]
                if all(not name.startswith(("Step", "All ")) for name in times):  # no steps
                    parts, whole = [*parts, whole], times["End to end"]
                self.assertAlmostEqual(sum(parts), whole, delta=5e-4 * len(times) + 1e-5 * whole)


if __name__ == "__main__":
    sys.exit(main(__doc__, GpuSteps, SharedGpuSteps))
