# SPDX-License-Identifier: Apache-2.0
"""What head_overhead says of its calls: advice, screen, formats and the picture."""

import csv
import json
import re
import shutil

from cli import TIMEOUT_SECONDS
from captures import build_database
from head_runs import HeadRuns
from workbook import Workbook


class HeadOutputs(HeadRuns):
    def test_advice(self):
        for capture in self.both(self.STEADY):
            result = self.head(capture)
            advice = {(row["ruleId"], row["scope"]): row for row in self.rows("HEAD_ADVICE")}
            contiguous = advice["non_contiguous_inputs", "region 0/0"]
            self.assert_columns(contiguous, dict(owner="script", value=60, threshold=20,
                                                 exposedPerStep=60, calls=1))
            rules = {rule for rule, _ in advice}
            self.assertNotIn("tensors_built", rules)
            self.assertNotIn("dynamo_lookup", rules)
            # The platform's time is long but hidden, so it is no loss.
            self.assertEqual(advice["platform_time", "region 0/0"]["severity"], "info")
            self.assertEqual(result.code, 0, result.err)
            told = " ".join(self.head(capture, "--verbose").out.split())
            self.assertIn("[warn] non contiguous inputs: region 0/0 (1 call, a fix saves up to 60.0 us in a step)", told)

    def test_thresholds_of_advice(self):
        self.head(self.CAPTURES / self.STEADY, "--thresholds", "contiguous_us=61, lookup_us=85")
        rules = {(row["ruleId"], row["scope"]) for row in self.rows("HEAD_ADVICE")}
        self.assertNotIn(("non_contiguous_inputs", "region 0/0"), rules)
        self.assertIn(("dynamo_lookup", "region 0/0"), rules)
        self.assertNotIn(("dynamo_lookup", "region 1/0"), rules)

    def test_hidden_head_is_no_bottleneck(self):
        capture = self.capture_copy(self.STEADY)
        trace = capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = json.loads(trace.read_text())
        (old,) = (event for event in events if event["name"] == "Add")
        old["dur"] = 2000  # the device is busy until both graphs run
        trace.write_text(json.dumps(events))
        result = self.head(capture)
        advice = self.rows("HEAD_ADVICE")
        self.assertIn("not the bottleneck", advice[0]["text"])
        self.assertEqual({row["severity"] for row in advice}, {"info"})
        self.assertEqual(self.summary()["head"]["exposedSum"], 0)
        self.assertIn("DEVICE_WAS_BUSY", self.rows("HEAD_CALL")[0]["flags"])
        self.assertIn("not the bottleneck", result.out)

    def test_eager_captures(self):
        build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch / "databases")
        for capture in (self.CAPTURES / "text_base_ascend_pt", self.CAPTURES / "text_level0_ascend_pt",
                        self.scratch / "databases" / "db_base_ascend_pt"):
            for kind in ("db", "text", "json", "csv"):
                with self.subTest(capture=capture, kind=kind):
                    result = self.head(capture, "--export_type", kind)
                    self.assertEqual((result.code, result.errors), (0, []))
                    self.assertIn("no compiled graph was called", result.out)
                    self.assertIn("npu_fx_compiler inference", result.out)
                    self.assertRegex(result.out, r"\d+ framework events on \d+ threads")
            self.head(capture)
            self.assertEqual(self.rows("HEAD_CALL"), [])

    def test_broken_captures_cannot_tell(self):
        result = self.head(self.CAPTURES / "broken" / "truncated_trace_ascend_pt")
        self.assertEqual((result.code, result.errors), (5, []))
        self.assertIn("no compiled graph was called", result.out)

    def test_graphs_that_only_the_runtime_shows(self):
        trace = self.write("replay/trace_view.json", json.dumps([
            {"ph": "M", "name": "process_name", "pid": 7 << 10, "tid": 0, "args": {"name": "CANN"}},
            {"ph": "X", "name": "AscendCL@aclmdlRIExecuteAsync", "pid": 7 << 10, "tid": 70,
             "ts": "1700000000000010", "dur": 30, "args": {}}]))
        result = self.head(trace.parent)
        self.assertEqual((result.code, result.errors), (0, []))
        self.assertIn("known from the runtime only", result.out)
        (call,) = self.rows("HEAD_CALL")
        self.assert_columns(call, dict(kind="runtime_alone", engine="ACLGRAPH", t3Ns=10, w0Ns=None, head=None,
                                       platform=None, nConstruct=None))
        self.assertEqual(self.rows("HEAD_SUMMARY"), [])

    def test_replays_are_not_ges(self):
        def event(name, start, end, **more):
            return {"ph": "X", "name": name, "pid": 7, "tid": 70, "ts": str(1700000000000000 + start),
                    "dur": end - start, **more}

        trace = self.write("replay/trace_view.json", json.dumps([
            {"ph": "M", "name": "process_name", "pid": 7 << 10, "tid": 0, "args": {"name": "CANN"}},
            event("npu_fx_compiler inference", 100, 900, cat="cpu_op"),
            event("acl_graph_replay", 150, 880, cat="cpu_op"),
            {**event("AscendCL@aclmdlRIExecuteAsync", 200, 300), "pid": 7 << 10}]))
        result = self.head(trace.parent)
        self.assertEqual((result.code, result.errors), (0, []))
        summary = self.summary()
        self.assertNotIn("ge", summary)
        self.assertEqual(summary["aclgraph"]["sum"], 700)
        self.assertEqual({row["segment"] for row in self.rows("HEAD_CHILD")},
                         {"platform", "torchair_py", "aclgraph"})
        self.assertIn("aclgraph replay 700.0", result.out)
        self.assertNotRegex(result.out, r"\bGE\b")
        picture = self.scratch / "replay.html"
        self.head(trace.parent, "--picture", picture)
        self.assertNotRegex(json.dumps(self.chart_of(picture.read_text(encoding="utf-8"))), r"\bGE\b")

    def test_unknown_stays_empty_in_every_format(self):
        capture = self.CAPTURES / self.HARD
        self.head(capture, "--export_type", "json")
        folder = self.results / "HeadOverhead"
        document = json.loads((folder / "head_overhead.json").read_text(encoding="utf-8"))
        sheets = {sheet["name"]: sheet["rows"] for sheet in document["sheets"]}
        self.assertEqual(list(sheets), ["HEAD_CALL", "HEAD_STEP", "HEAD_SUMMARY", "HEAD_CHILD",
                                        "HEAD_ADVICE"])
        call = sheets["HEAD_CALL"][2]
        self.assertEqual((call["torchair_py"], call["epilogue_py"], call["exposed_py"], call["step"],
                          call["platform"]), (None, None, None, None, 4_020_000))
        self.head(capture, "--export_type", "csv")
        with open(folder / "head_overhead_csv" / "HEAD_CALL.csv", encoding="utf-8") as file:
            call = list(csv.DictReader(file))[2]
        self.assertEqual((call["torchair_py"], call["epilogue_py"], call["platform"]),
                         ("", "", "4020000"))
        self.head(capture, "--export_type", "text")
        workbook = Workbook(folder / "head_overhead_head_hard.xlsx")  # it states no rank
        rows = workbook.sheets[0].rows()
        call = dict(zip(rows[0], rows[3]))
        self.assertEqual((call["torchairPy(us)"], call["platform(us)"]), (None, 4020))

    def test_ranks(self):
        ranks = self.scratch / "ranks"
        for rank in (0, 1):
            copy = ranks / f"{rank}_ascend_pt"
            shutil.copytree(self.CAPTURES / self.STEADY, copy)
            (copy / f"profiler_info_{rank}.json").write_text('{"rank_id": %d}' % rank)
        result = self.head(ranks)
        self.assertEqual((result.code, result.errors), (0, []))
        self.assertEqual([row["rankId"] for row in self.rows("HEAD_CALL")], [0, 0, 1, 1])
        self.assertIn("p50 of the head of 2 ranks: min 875.0 us (rank 0), median 875.0 us", result.out)
        self.assertEqual(result.out.count("idle/step"), 1, "the tables of one rank")
        self.assertIn("rank 1: 2 calls", self.head(ranks, "--verbose").out)
        self.head(ranks, "--export_type", "text")
        self.assertEqual(sorted(file.name for file in (self.results / "HeadOverhead").iterdir()),
                         ["head_overhead_0.xlsx", "head_overhead_1.xlsx"])

    @staticmethod
    def chart_of(page):
        """What the script of a page draws."""
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        return json.loads(data)["charts"][0]

    def test_picture(self):
        for capture in self.both(self.STEADY):
            picture = self.scratch / "pictures" / "call.html"
            result = self.head(capture, "--picture", picture)
            self.assertEqual((result.code, result.errors), (0, []))
            self.assertIn(str(picture), result.all_err)
            page = picture.read_text(encoding="utf-8")
            self.assertIn("Call 0 of region 0/0", page)  # the largest head
            self.assertNotRegex(page.split("<script", maxsplit=1)[0], r"(src|href)=\"(?!data:)")
            self.assertIn(f"Capture {capture.name}.", page)
            chart = self.chart_of(page)
            spans = {span[3]: span[:2] for lane in chart["lanes"] for span in lane["spans"]}
            # Begin and length in us.
            self.assertEqual([spans[name] for name in ("torchair python", "idle, GE and epilogue", "MatMul_1")],
                             [[340, 130], [666, 54], [720, 580]])
            self.assertIn("stream 2", [lane["title"] for lane in chart["lanes"]])
            self.assertIn("kernel of a stream, or a collective", [kind["meaning"] for kind in chart["kinds"]])
            self.assertEqual([mark["guess"] for mark in chart["marks"]], [False])
            self.head(capture, "--picture", picture, "--call", "1")
            self.assertIn("Call 1 of region 1/0", picture.read_text(encoding="utf-8"))
            missing = self.head(capture, "--picture", self.scratch / "x.html", "--call", "2")
            self.assertEqual(missing.code, 0)
            self.assertTrue(any("no such call" in line for line in missing.warnings), missing.err)
            self.assertFalse((self.scratch / "x.html").exists())
        self.assert_fails(2, self.head(self.CAPTURES / self.STEADY, "--picture", self.scratch),
                          "--picture", "name of a file")

    def test_guesses_are_marked_in_the_picture(self):
        ranks = self.scratch / "ranks"
        copy = ranks / "one_ascend_pt"
        shutil.copytree(self.CAPTURES / self.HARD, copy)
        (copy / "profiler_info_3.json").write_text('{"rank_id": 3}')
        picture = self.scratch / "call.html"
        self.head(ranks, "--picture", picture, "--call", "2")
        page = picture.read_text(encoding="utf-8")
        self.assertIn(", rank 3</h1>", page)
        self.assertEqual([(mark["label"], mark["guess"]) for mark in self.chart_of(page)["marks"]],
                         [("first kernel (a guess)", True)])
        self.assertIn("a guess by time alone", page)
        self.assertIn("Note: no event of PyTorch; its time counts as the platform's.", page)

    def test_names_in_the_picture_are_text(self):
        capture = self.capture_copy(self.STEADY)
        trace = capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        name = '<script>alert("x")</script>'
        trace.write_text(trace.read_text().replace('"aten::randn"', json.dumps(name)))
        picture = self.scratch / "call.html"
        self.assertEqual(self.head(capture, "--picture", picture).code, 0)
        page = picture.read_text(encoding="utf-8")
        self.assertNotIn("<script>alert", page)
        self.assertIn("\\u003cscript>alert", page)

    def test_options(self):
        for option, value, words in (
                ("--policy", "early", ["auto, entry, step, device_idle"]),
                ("--phase", "warm", ["steady, compile"]), ("--max_gap", "-1", []),
                ("--call", "x", []),
                ("--thresholds", "nothing=1", ["'nothing'", "lookup_us"]),
                ("--thresholds", "lookup_us=much", ["'much'", "lookup_us"])):
            with self.subTest(option=option, value=value):
                self.assert_fails(2, self.head(self.CAPTURES / self.STEADY, option, value),
                                  f"{option} {value}", *words)
        self.assertFalse(self.out.exists())
