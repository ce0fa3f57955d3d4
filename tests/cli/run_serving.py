#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of servers: what they do by their names, where their time goes, and what changed.

    run_serving.py --tool BINARY --testdata DIR serving [-v]

The captures are made here, so that all numbers are known.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

from cli import BASE, Cli, main

from captures import build_database  # noqa: E402: found only now

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
from make_serving_captures import (DECODE, DETAILED, DUMMY, HOST, MARK, PREFILL, SGLANG, VLLM,  # noqa: E402
                                   span, steps, trace)


class Serving(Cli):
    def write_trace(self, name, document):
        return self.write(name, json.dumps(document))

    def phases(self, document, code=0):
        job = self.write_trace("job/rank0.json", document).parent
        result = self.run_tool("-m", "serving_phases", "-d", job, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def test_phases(self):
        for names in (VLLM, DETAILED, SGLANG):
            rows = {(row["phase"], row["size"]): row for row in self.phases(trace(steps(), names))["ServingPhases"]}
            self.assertEqual(set(rows), {("prefill", "up to 4096 tokens"), ("decode", "16 requests"),
                                         ("decode", "32 requests")})
            decode = rows["decode", "32 requests"]
            for column, value in (("steps", 5), ("warm_up_steps", 1), ("median_ns", 300_000), ("sum_ns", 1_500_000),
                                  ("time_to_next_token_ns", 300_000), ("time_per_prompt_token_ns", None), ("attention_ns", 5 * 40_000),
                                  ("matrix_ns", 5 * 100_000), ("sampling_ns", 5 * 10_000),
                                  ("other_kernel_ns", 0), ("communication_ns", 0), ("host_ns", 5 * 150_000)):
                self.assertEqual(decode[column], value, (names, column))
            self.assertAlmostEqual(decode["tokens_per_second"], 32 / 300e-6, places=1)
            prefill = rows["prefill", "up to 4096 tokens"]
            for column, value in (("steps", 3), ("median_ns", 1_000_000), ("time_per_prompt_token_ns", 250), ("time_to_next_token_ns", None),
                                  ("matrix_ns", 3 * 700_000), ("host_ns", 3 * 250_000)):
                self.assertEqual(prefill[column], value, (names, column))
            self.assertAlmostEqual(prefill["tokens_per_second"], 4e6, places=1)
            self.assertEqual(rows["decode", "16 requests"]["median_ns"], 200_000)

    def test_two_times_have_two_names(self):
        """What a token of a prompt takes is a part of a step; what a request waits for its next token is a step."""
        self.phases(trace(steps()))
        lines = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out).out.splitlines()
        for start, line in (("prefill  up to 4096 tokens", "  250 ns a prompt token"),
                            ("decode   32 requests", "  300.0 us to the next token")):
            (at,) = [at for at, text in enumerate(lines) if text.startswith(start)]
            self.assertEqual(lines[at + 1], line)
        self.assertNotIn("ms/token", "\n".join(lines))

    def test_steps_add_up(self):
        rows = self.phases(trace(steps()))["ServingSteps"]
        self.assertEqual(len(rows), 12)
        parts = ("attention", "matrix", "sampling", "other_kernel", "communication", "waiting", "copy", "host")
        for row in rows:
            self.assertEqual(sum(row[f"{part}_ns"] for part in parts), row["duration_ns"])
        self.assertEqual([row["warm_up"] for row in rows], [0] * 6 + [1] + [0] * 5)
        self.assertEqual([row["start_ns"] - rows[0]["start_ns"] for row in rows[:4]],
                         [0, 1_000_000, 2_000_000, 3_000_000])

    def test_padding_of_graphs(self):
        """A graph for 32 requests runs 24: of 32 that are computed 8 are in vain."""
        names = (SGLANG[0], "decode[bs={requests}/32 tok={tokens} d=1]", SGLANG[2])
        document = trace([(DECODE, 24, 24, 300, 100)] * 4, names)
        rows = self.phases(document)["ServingSteps"]
        self.assertEqual({(row["graph_size"], row["padding_percent"]) for row in rows}, {(32, 25)})
        result = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out)
        self.assertIn("graph of 32", result.out)
        self.assertIn("padding: graphs computed for 128 requests but only 96 were there, 25.0 % wasted", result.out)

    def test_dummy_steps(self):
        rows = self.phases(trace(steps()[:3] + [(DUMMY, 0, 0, 300, 100)] * 3))["ServingPhases"]
        dummy = {row["phase"]: row for row in rows}["dummy"]
        self.assertEqual((dummy["steps"], dummy["matrix_ns"], dummy["time_to_next_token_ns"],
                          dummy["time_per_prompt_token_ns"]), (3, 300_000, None, None))

    def test_marks_within_marks_are_one_step(self):
        document = trace(steps())
        for event in list(document["traceEvents"]):
            if event["cat"] == "user_annotation" and "generation_32" in event["name"]:
                document["traceEvents"].append(span("user_annotation", "step[DECODE bs=32]", HOST, event["ts"] + 1, 50))
        rows = self.phases(document)["ServingPhases"]
        self.assertEqual(sum(row["steps"] for row in rows), 11)

    def test_screen(self):
        self.write_trace("job/rank0.json", trace(steps()))
        result = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("steps of the server: 11 on 1 rank, without 1 of warm-up", result.out)
        self.assertIn("  host 50.0 %, other matrix work 33.3 %, attention 13.3 %, sampling 3.3 %", lines)

    def test_training_has_no_steps_of_a_server(self):
        document = trace(steps(), ("ProfilerStep#1",) * 3)
        self.write_trace("job/rank0.json", document)
        result = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out)
        self.assertNotEqual(result.code, 0)
        self.assertIn("no steps of a server", result.all_err)

    def test_stages_of_vllm_ascend_on_a_gpu(self):
        """Steps begin with "prepare input"; attention tells what they do."""
        document = trace(steps(), ("prepare input",) * 3)
        opened = [event for event in document["traceEvents"] if event["name"] == "prepare input"]
        for number, event in enumerate(opened):
            document["traceEvents"].append(span("user_annotation", "forward", HOST, event["ts"] + MARK + 2, 8))
            for kernel in document["traceEvents"] if number < 3 else ():
                if kernel["name"] == "flash_fwd_splitkv_kernel" and 0 <= kernel["ts"] - event["ts"] < 100:
                    kernel["name"] = "flash_fwd_kernel"
        rows = self.phases(document)["ServingSteps"]
        self.assertEqual([row["phase"] for row in rows], ["prefill"] * 3 + ["decode"] * 9)
        self.assertEqual([row["start_ns"] for row in rows],
                         [1000 * event["ts"] for event in opened])

    def test_stages_of_vllm_ascend_in_text_and_databases(self):
        """The first step of the test captures attends to its own tokens, the second one to a cache as well."""
        names = (("ProfilerStep#1", "prepare input"), ("ProfilerStep#2", "prepare input"), ("aten::conv2d", "forward"),
                 ("Grad", "Xrad"))
        found = {}
        for form, capture in (("text", self.CAPTURES / BASE),
                              ("db", build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch / "built"))):
            job = self.scratch / form
            shutil.copytree(capture, job / "rank0_ascend_pt", ignore=shutil.ignore_patterns("step_trace_time.csv"))
            for path in sorted(job.rglob("*")):
                if path.suffix in (".json", ".csv"):
                    text = path.read_text(encoding="utf-8")
                    for old, new in names:
                        text = text.replace(old, new)
                    path.write_text(text, encoding="utf-8")
                elif path.suffix == ".db":
                    database = sqlite3.connect(path)
                    with database:
                        for name in names:
                            database.execute("UPDATE STRING_IDS SET value = replace(value, ?, ?)", name)
                    database.close()
            result = self.run_tool("-m", "serving_phases", "-d", job, "--json", "-o", self.out)
            self.assertEqual(result.code, 0, result.all_err)
            found[form] = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}["ServingSteps"]
        for rows in found.values():
            self.assertEqual([row["phase"] for row in rows], ["prefill", "mixed"])
        for column in ("start_ns", "duration_ns", "attention_ns", "matrix_ns"):
            self.assertEqual(*([row[column] for row in rows] for rows in found.values()))

    def behind(self, late, all_steps):
        """A trace in which the device begins all work of the steps `late` us later: it is busy with earlier work."""
        document = trace(all_steps)
        for event in document["traceEvents"]:
            if event["cat"] == "kernel":
                event["ts"] += late
        return document

    def test_work_of_before_the_capture(self):
        """Of the only step 160 us are known: attention, product and sampling, and 10 us between. Before that the device
        was busy for 8.02 ms, which is no part of the step, on any screen."""
        document = self.behind(8000, [(DECODE, 32, 32, 300, 100)])
        (row,) = self.phases(document)["ServingSteps"]
        self.assertEqual((row["duration_ns"], row["time_to_next_token_ns"], row["host_ns"]), (160_000, 160_000, 10_000))
        job = self.scratch / "job"
        left_out = "left out: 8.020 ms, device busy with earlier work (not in the trace)"
        for words in (("-m", "serving_phases", "-d", job), ("-m", "free_analysis", "-d", job),
                      ("-m", "cluster_time_summary", "-d", job), ("advisor", "-d", job),
                      ("compare", "-d", job / "rank0.json", "-bp", job / "rank0.json")):
            result = self.run_tool(*words, "-o", self.out)
            self.assertIn(left_out, result.out, words)
            self.assertLessEqual(max(map(len, result.out.splitlines())), 80, words)
        (account,) = json.loads(self.run_tool("advisor", "-d", job, "--json", "-o", self.out).out)["accounting"]
        self.assertEqual((account["window_ns"], account["earlier_work_ns"]), (160_000, 8_020_000))

    def test_a_step_without_its_end(self):
        """The sampler launches a kernel that is not there."""
        document = trace([(DECODE, 32, 32, 300, 100)])
        document["traceEvents"] = [event for event in document["traceEvents"]
                                   if (event["cat"], event["name"]) != ("kernel", "elementwise_kernel")]
        (row,) = self.phases(document, code=5)["ServingSteps"]
        self.assertIsNone(row["time_to_next_token_ns"])
        screen = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out).out
        self.assertIn("  time per token unknown: the end of the last step is missing\n", screen)
        self.assertNotIn("us to the next token", screen)

    def test_steps_of_a_burst(self):
        """Ten steps, launched while the device is 8 ms behind: each has its 300 us, but for the ends."""
        rows = self.phases(self.behind(8000, [(DECODE, 32, 32, 300, 100)] * 10))["ServingSteps"]
        self.assertEqual([row["duration_ns"] for row in rows], [160_000] + [300_000] * 9)

    def test_a_device_that_keeps_up_leaves_nothing_out(self):
        for late in (0, 900):
            (row,) = self.phases(self.behind(late, [(DECODE, 32, 32, 300, 100)]))["ServingSteps"]
            self.assertGreaterEqual(row["duration_ns"], 1000 * late)
            screen = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out).out
            self.assertNotIn("left out", screen)

    def test_names_that_are_none(self):
        for name in ("execute_context_x(1)_generation_0(0)", "execute_context_1_generation_2", "step[DECODE]",
                     "decode[bs=x tok=1]", "execute_context_1(99999999999999999999)_generation_0(0)", "execute_graph"):
            self.write_trace("job/rank0.json", trace(steps(), (name,) * 3))
            result = self.run_tool("-m", "serving_phases", "-d", self.scratch / "job", "-o", self.out)
            self.assertIn("no steps of a server", result.all_err, name)

    def findings(self, document):
        path = self.write_trace("rank0.json", document)
        result = self.run_tool("advisor", "-d", path, "--json", "-o", self.out)
        self.assertIn(result.code, (0, 5), result.err)
        return json.loads(result.out)

    def test_advisor_compares_steps_that_do_the_same(self):
        """A step that reads prompts is no long step among those that decode; one that takes four times as long is."""
        ids = [finding["id"] for finding in self.findings(trace(steps()[:6] + steps()[7:]))["findings"]]
        self.assertNotIn("step.long", [name.split("/")[0] for name in ids])
        longer = steps()
        longer[-2] = (DECODE, 32, 32, 1200, 900)
        found = [finding for finding in self.findings(trace(longer))["findings"]
                 if finding["id"].startswith("step.long")]
        self.assertEqual([finding["steps"] for finding in found], [[10]])

    def decoding(self, with_graph):
        """Steps of 300 us that decode with a graph, of 600 without: one operator holds the matrix product up, and the
        device is free for 300 us more."""
        events, begin = [], 1_000_000
        for number, graph in enumerate(with_graph):
            requests = 32 if graph else 33
            product = 60 if graph else 260
            launches = ((5, "cudaGraphLaunch"), ) if graph else ((5, "cudaLaunchKernel"), (250, "cudaLaunchKernel"))
            events += [span("user_annotation", f"step[DECODE bs={requests}]", HOST, begin, 50 if graph else 300),
                       span("cpu_op", "aten::mm", HOST, begin + 10, 30 if graph else 245)]
            for place, (at, name) in enumerate(launches):
                events.append(span("cuda_runtime", name, HOST, begin + at, 2, correlation=10 * number + place))
            for place, (name, start, length) in enumerate((("flash_fwd_splitkv_kernel", 20, 40),
                                                           ("sgemm_128x64", product, 100))):
                correlation = 10 * number + (0 if graph else place)
                events.append(span("kernel", name, 7, begin + start, length, pid=0, device=0, stream=7,
                                   correlation=correlation))
            begin += 300 if graph else 600
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}

    def test_steps_without_a_graph(self):
        found = [finding for finding in self.findings(self.decoding([True] * 4 + [False] * 3 + [True] * 4))["findings"]
                 if finding["id"] == "host.graph_missed"]
        self.assertEqual([finding["steps"] for finding in found], [[4, 5, 6]])
        metrics = {metric["name"]: metric["value"] for metric in found[0]["metrics"]}
        self.assertEqual((metrics["steps_without_graph"], metrics["requests_without_graph"]), (3, 33))
        # 3 of 11 steps would be shorter by 300 us.
        self.assertLess(abs(found[0]["alone_ns"] - 300_000 * 3 / 11), 0.2 * 300_000 * 3 / 11)
        for with_graph in ([True] * 11, [False] * 11):
            ids = [finding["id"] for finding in self.findings(self.decoding(with_graph))["findings"]]
            self.assertNotIn("host.graph_missed", ids)

    def test_the_first_step_is_no_warm_up(self):
        """It reads prompts, and takes more than three times as long as those that decode. It is warm-up where it
        takes longer than others that read prompts."""
        for first, warm_up in ((1000, False), (1500, True)):
            run = steps()
            run[0] = (PREFILL, 2, 4000, first, 700)
            path = self.write_trace("job/rank0.json", trace(run))
            result = self.run_tool("-m", "cluster_time_summary", "-d", path.parent, "-o", self.out)
            self.assertEqual("step 0 is left out" in result.out, warm_up, result.out)
            document = self.findings(trace(run))
            self.assertEqual(document["capture"]["dropped_steps"], [0] if warm_up else [])

    def both(self, **changes):
        return (self.write_trace("base.json", trace(steps())),
                self.write_trace("new.json", trace(steps(**changes))))

    def test_compare_by_phase(self):
        base, new = self.both(more=30, other=64)
        result = self.compare("--json", base=base, comparison=new)
        rows = {f"{row['phase']}, {row['size']}": row for row in next(
            sheet["rows"] for sheet in json.loads(result.out)["sheets"] if sheet["name"] == "ServingPhases")}
        decode = rows["decode, 32 requests"]
        self.assertEqual((decode["base_steps"], decode["comparison_steps"]), (5, 5))
        self.assertAlmostEqual(decode["base_time_to_next_token_us"], 300)
        self.assertAlmostEqual(decode["comparison_time_to_next_token_us"], 330)
        self.assertIsNone(decode["base_time_per_prompt_token_us"])
        self.assertAlmostEqual(rows["prefill, up to 4096 tokens"]["base_time_per_prompt_token_us"], 0.25)
        self.assertAlmostEqual(decode["comparison_host_us"] - decode["base_host_us"], 30)
        self.assertAlmostEqual(decode["diff_ratio"], 1.1)
        self.assertAlmostEqual(rows["prefill, up to 4096 tokens"]["diff_ratio"], 1)
        self.assertIsNone(rows["decode, 16 requests"]["comparison_steps"])
        result = self.compare(base=base, comparison=new)
        self.assert_compared(result)
        self.assertIn("decode, 32 requests: 300.0 -> 330.0 us to the next token (+10.0 %), 5 steps", result.out)
        self.assertIn("only in the base:\n  decode, 16 requests (3 steps)", result.out)
        self.assertIn("only in the comparison:\n  decode, 64 requests (3 steps)", result.out)

    def gate(self, base, new, *rules):
        options = [part for rule in rules for part in ("--fail_on", rule)]
        return self.run_tool("compare", "-d", new, "-bp", base, *options, "-o", self.out)

    def test_gate_by_phase(self):
        base, new = self.both(more=30)
        result = self.gate(base, new, "decode:time_per_token>+3%")
        self.assertEqual(result.code, 1, result.all_err + result.out)
        self.assertIn("decode:time_per_token", result.out)
        self.assertNotIn("warm-up", result.out)
        self.assertEqual(self.gate(base, new, "prefill:time_per_token>+3%").code, 0)
        self.assertEqual(self.gate(base, new, "decode:time_per_token@16>+3%").code, 0)
        self.assertEqual(self.gate(base, new, "decode:time_per_token@32>+3%").code, 1)
        self.assertEqual(self.gate(base, base, "decode:time_per_token>+3%").code, 0)

    def test_gate_of_prefill(self):
        """A token takes 250 ns, and 275 ns."""
        base, new = self.both(prompts=100)
        result = self.gate(base, new, "prefill:time_per_token>+3%")
        self.assertEqual(result.code, 1, result.all_err + result.out)
        self.assertIn("host", result.out)
        self.assertEqual(self.gate(base, new, "prefill:time_per_token>+12%").code, 0)
        self.assertEqual(self.gate(base, new, "decode:time_per_token>+3%").code, 0)

    def test_gate_pairs_sizes(self):
        """More steps with many requests are no regression, and neither are sizes that only one side has."""
        base = self.write_trace("base.json", trace(steps()))
        new = self.write_trace("new.json", trace(steps(other=64) + [(DECODE, 32, 32, 300, 100)] * 30))
        result = self.gate(base, new, "decode:time_per_token>+3%")
        self.assertEqual(result.code, 0, result.all_err + result.out)
        self.assertIn("size 16 only in the base", result.out)
        new = self.write_trace("new.json", trace([(DECODE, 8, 8, 300, 100)] * 5))
        result = self.gate(base, new, "decode:time_per_token>+3%")
        self.assertEqual(result.code, 4, result.all_err + result.out)
        self.assertIn("no step size is on both sides", result.out)

    def test_gate_with_a_baseline(self):
        base, new = self.both(more=30)
        saved = self.scratch / "baseline.json"
        result = self.run_tool("compare", "-d", base, "--save_baseline", saved, "-o", self.out)
        self.assertEqual(result.code, 0, result.all_err)
        self.assertEqual(self.gate(saved, new, "decode:time_per_token>+3%").code, 1)
        self.assertEqual(self.gate(saved, base, "decode:time_per_token>+3%").code, 0)

    def test_wrong_size(self):
        base = self.write_trace("base.json", trace(steps()))
        result = self.gate(base, base, "decode:time_per_token@x>+3%")
        self.assertEqual(result.code, 2, result.all_err)
        self.assertIn("decode:time_per_token@32", result.all_err)


if __name__ == "__main__":
    sys.exit(main(__doc__, Serving))
