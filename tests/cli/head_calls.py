# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled graphs: their times, sums, children and cases that are hard to read."""

import json
import sqlite3

from head_runs import HeadRuns


class HeadCalls(HeadRuns):
    CALLS = (
        dict(step=7, tid=100, deviceId=0, parentCallId=None, graphKey="region 0/0",
             engine="GE_STATIC", phase="steady", kind="compiled_call", w0Ns=1000, e0Ns=1200, t1Ns=1340,
             t2Ns=1470, t3Ns=1600, t4Ns=1990, platform=200, platformWait=0, dynamo=140, lookup=90,
             dynamoCompile=0, regionOther=50, frontend=340, torchairPy=130, torchairCpp=130, ge=390,
             geExec=250, epilogueCpp=80, epiloguePy=60, head=990, compile=0, headNet=990, fk0Ns=1660,
             fk1Ns=1720, firstTaskLatency=60, firstKernelLatency=120, headToFirstKernel=720,
             entryToFirstKernel=520, deviceIdleBeforeFirstKernel=464, exposedPlatform=0,
             exposedDynamo=90, exposedPy=130, exposedCpp=130, exposedGe=114, exposedLag=0,
             nConstruct=2, nContiguous=1, nClone=0, nTo=0, nLaunch=1, flags=""),
        dict(step=7, tid=100, graphKey="region 1/0", engine="GE_STATIC", phase="steady", kind="compiled_call",
             w0Ns=1990, e0Ns=2100, t1Ns=2220, t2Ns=2260, t3Ns=2380, t4Ns=2750, platform=110,
             dynamo=120, lookup=80, dynamoCompile=0, regionOther=40, frontend=230, torchairPy=40,
             torchairCpp=120, ge=370, geExec=280, epilogueCpp=60, epiloguePy=30, head=760,
             fk0Ns=2500, fk1Ns=2500, firstTaskLatency=120, firstKernelLatency=120,
             headToFirstKernel=510, entryToFirstKernel=400, deviceIdleBeforeFirstKernel=80,
             exposedPlatform=0, exposedDynamo=0, exposedPy=0, exposedCpp=10, exposedGe=70,
             exposedLag=0, nConstruct=0, nContiguous=0, nLaunch=0, flags=""))

    def test_two_steady_calls(self):
        # A database does not tell which iteration of the model a call started.
        sources = ("launch, iteration", "iteration"), ("launch, model_fifo", "model_fifo")
        for capture, expected_sources in zip(self.both(self.STEADY), sources):
            with self.subTest(capture=capture):
                result = self.head(capture)
                self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
                calls = self.rows("HEAD_CALL")
                self.assertEqual(len(calls), 2)
                for call, expected in zip(calls, self.CALLS):
                    self.assert_columns(call, expected)
                    self.assert_adds_up(call)
                self.assertEqual(tuple(call["fkSource"] for call in calls), expected_sources)
                (step,) = self.rows("HEAD_STEP")
                self.assert_columns(step, dict(
                    step=7, tid=100, calls=2, compileCalls=0, platform=310, dynamo=260,
                    torchairPy=170, torchairCpp=250, ge=760, tail=1250, stepDuration=3000,
                    exposedTotal=544, outside=0))
                self.assertAlmostEqual(step["coverage"], 1750 / 3000, 5)

    def test_summary_of_two_steady_calls(self):
        for capture in self.both(self.STEADY):
            self.head(capture)
            summary = self.summary()
            self.assert_columns(summary["head"], dict(count=2, mean=875, p50=875, p90=967, max=990,
                                                      sum=1750, exposedSum=544))
            for name, share, exposed in (
                    ("platform", 0.177, 0), ("dynamo", 0.149, 90), ("torchair_py", 0.097, 130),
                    ("torchair_cpp", 0.143, 140), ("ge", 0.434, 184)):
                self.assertAlmostEqual(summary[name]["share"], share, 3, name)
                self.assertEqual(summary[name]["exposedSum"], exposed, name)
            self.assertAlmostEqual(summary["ge"]["shareOfStep"], 760 / 3000, 5)
            self.assertAlmostEqual(summary["ge"]["exposedShare"], 184 / 544, 5)
            self.assertEqual(self.summary("region 1/0")["head"]["sum"], 760)

    def test_children_of_a_call(self):
        expected = {
            "platform": {("op", "aten::randn"): (1, 30), ("(unattributed)", "(no event)"): (None, 170)},
            "torchair_py": {("tensor_construct", "aten::lift_fresh"): (2, 4),
                            ("contiguous", "aten::contiguous"): (1, 60),
                            ("(unattributed)", "Python"): (None, 66)},
            "torchair_cpp": {("gap", "gap_before_assemble"): (None, 30),
                             ("event", "AssembleInputs"): (1, 40),
                             ("gap", "gap_in_to_out"): (None, 30),
                             ("event", "AssembleOutputs"): (1, 10),
                             ("gap", "gap_before_execute"): (None, 20)},
            "ge": {("event", "InputCopy"): (1, 40), ("of_which_launch", "launch"): (1, 15),
                   ("event", "step_info"): (2, 10), ("event", "ModelExecute (self)"): (1, 35),
                   ("event", "OutputCopy"): (1, 1), ("(unattributed)", "GE"): (None, 164)},
            "epilogue": {("refresh", "RefreshAtTensorFromGeTensor"): (1, 60),
                         ("of_which_outputs", "aten::set_"): (1, 15),
                         ("(unattributed)", "other C++"): (None, 20),
                         ("(unattributed)", "Python"): (None, 60)}}
        for capture in self.both(self.STEADY):
            self.head(capture)
            found, shares = {}, {}
            for row in self.rows("HEAD_CHILD"):
                if row["scope"] != "region 0/0":
                    continue
                segment = row["segment"]
                found.setdefault(segment, {})[row["class"], row["name"]] = (
                    row["count"], row["total"])
                if not row["class"].startswith("of_which"):
                    shares[segment] = shares.get(segment, 0) + row["shareOfSegment"]
                if row["name"] == "aten::contiguous":
                    self.assertEqual(row["exposed"], 60)
            self.assertEqual(found, expected)
            for segment, share in shares.items():
                self.assertAlmostEqual(share, 1, 4, segment)

    def test_policies(self):
        for capture in self.both(self.STEADY):
            self.assertEqual(self.head(capture, "--policy", "entry").code, 0)
            calls = self.rows("HEAD_CALL")
            for call, base, head in zip(calls, self.CALLS, (790, 650)):
                self.assert_columns(call, dict(
                    head=head, platform=0, frontend=base["dynamo"], w0Ns=base["e0Ns"],
                    deviceIdleBeforeFirstKernel=base["deviceIdleBeforeFirstKernel"],
                    **{name: base[name] for name in ("dynamo", "torchairPy", "torchairCpp", "ge")}))
                self.assert_adds_up(call)
            (step,) = self.rows("HEAD_STEP")
            self.assertEqual(step["outside"], 200 + 110)
            self.head(capture, "--policy", "step")
            self.assertEqual([call["w0Ns"] for call in self.rows("HEAD_CALL")], [1000, 1990])
            self.head(capture, "--policy", "device_idle")
            calls = self.rows("HEAD_CALL")
            self.assertEqual([call["w0Ns"] for call in calls], [1250, 2440])
            self.assert_columns(calls[0], dict(platform=0, dynamo=90, torchairPy=130,
                                               torchairCpp=130, head=740))
            for call in calls:
                self.assert_adds_up(call)
    HARD_CALLS = (
        dict(tid=200, kind="compiled_call", phase="compile", engine="GE", graphKey="region 0/0", w0Ns=100,
             e0Ns=100, t1Ns=50200, t2Ns=82100, t3Ns=91320, t4Ns=92200, platform=0, dynamo=50100,
             lookup=30, dynamoCompile=50000, regionOther=70, torchairPy=31900, torchairCpp=9220,
             ge=880, geExec=580, epilogueCpp=250, epiloguePy=50, head=92100, compile=90600,
             headNet=1500, firstTaskLatency=180, firstKernelLatency=480, fk0Ns=91500, fk1Ns=91800,
             deviceIdleBeforeFirstKernel=91694, exposedPlatform=0, exposedDynamo=50100,
             exposedPy=31900, exposedCpp=9220, exposedGe=474, flags="", nConstruct=1),
        dict(tid=200, kind="compiled_call", phase="steady", engine="GE_STATIC", graphKey="region 1/0",
             w0Ns=92200, e0Ns=92420, t1Ns=92480, t2Ns=92530, t3Ns=92650, t4Ns=92980, platform=220,
             platformWait=100, dynamo=60, lookup=30, dynamoCompile=0, regionOther=30, torchairPy=50,
             torchairCpp=120, ge=330, geExec=110, epilogueCpp=190, epiloguePy=30, head=780,
             compile=0, headNet=780, firstKernelLatency=130, fk1Ns=92780,
             deviceIdleBeforeFirstKernel=530, exposedPlatform=170, exposedDynamo=60, exposedPy=50,
             exposedCpp=120, exposedGe=130, flags="GE_FROM_CANN", nContiguous=1),
        dict(tid=200, kind="run_alone", phase="steady", engine="GE", w0Ns=92980, e0Ns=97000, t1Ns=97000,
             t2Ns=97000, t3Ns=97150, t4Ns=97400, platform=4020, dynamo=0, torchairPy=None,
             torchairCpp=150, ge=250, geExec=180, epilogueCpp=70, epiloguePy=None, head=4420,
             compile=0, headNet=4420, firstKernelLatency=150, fk1Ns=97300,
             deviceIdleBeforeFirstKernel=3190, exposedPlatform=2890, exposedDynamo=0,
             exposedPy=None, exposedCpp=150, exposedGe=150, flags="NO_PYTORCH_EVENT|NO_PYTHON_EVENT"),
        dict(tid=201, kind="cached_call", phase="steady", engine="GE", w0Ns=95000, e0Ns=95000, t1Ns=95000,
             t2Ns=95060, t3Ns=95160, t4Ns=95400, platform=0, dynamo=0, torchairPy=60,
             torchairCpp=100, ge=240, geExec=170, epilogueCpp=60, epiloguePy=10, head=400,
             compile=0, headNet=400, firstKernelLatency=130, fk1Ns=95290,
             deviceIdleBeforeFirstKernel=290, exposedPlatform=0, exposedDynamo=0, exposedPy=60,
             exposedCpp=100, exposedGe=130, flags=""))

    def test_hard_cases(self):
        for capture in self.both(self.HARD):
            with self.subTest(capture=capture):
                result = self.head(capture)
                self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
                calls = self.rows("HEAD_CALL")
                self.assertEqual(len(calls), 4)
                for call, expected in zip(calls, self.HARD_CALLS):
                    self.assert_columns(call, {"step": None, "fkSource": "time", **expected})
                    self.assert_adds_up(call)
                self.assertEqual(self.rows("HEAD_STEP"), [])
                self.assertIn("time alone", result.out)
                self.assertIn("1 call that compiles or loads a graph, 90.6 ms, the device "
                              "is idle for 90.6 ms of it", " ".join(result.out.split()))
                self.assertNotIn("NO_PYTORCH_EVENT", result.out, "flags are told in words")
                self.assertIn("1 call: GE is taken to begin with its first CANN call", result.out)

    def test_summary_of_hard_cases(self):
        for capture in self.both(self.HARD):
            self.head(capture)
            database = sqlite3.connect(self.results / "cluster_analysis.db")
            query = ("SELECT count, mean, p50, p90, max FROM HEAD_SUMMARY WHERE scope = 'all' "
                     "AND phase = 'steady' AND segment = ?")
            self.assertEqual(database.execute(query, ["head"]).fetchone(),
                             (3, 1866667, 780000, 3692000, 4420000))
            self.assertEqual(database.execute(query, ["torchair_py"]).fetchone()[:2], (2, 55000))
            database.close()

    def test_policy_entry_leaves_the_time_between_calls_out(self):
        self.head(self.CAPTURES / self.HARD, "--policy", "entry")
        self.assertEqual(self.rows("HEAD_CALL")[2]["head"], 400)

    def test_long_waits_without_steps_are_left_out(self):
        self.head(self.CAPTURES / self.HARD, "--max_gap", "4.02")
        self.assertEqual(self.rows("HEAD_CALL")[2]["platform"], 4020)
        self.head(self.CAPTURES / self.HARD, "--max_gap", "4.019")
        call = self.rows("HEAD_CALL")[2]
        self.assert_columns(call, dict(platform=0, head=400))
        self.assertIn("GAP_CLIPPED", call["flags"])

    def without_runtime_calls(self):
        copy = self.capture_copy(self.HARD)
        trace = copy / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = [event for event in json.loads(trace.read_text()) if "Model@" not in event["name"]]
        trace.write_text(json.dumps(events))
        database = self.database[self.HARD]
        connection = sqlite3.connect(next(database.glob("*/*.db")))
        connection.executescript("DROP TABLE CANN_API")
        connection.close()
        return copy, database

    def test_hard_cases_without_runtime_calls(self):
        for capture in self.without_runtime_calls():
            self.assertEqual(self.head(capture).code, 0)
            calls = self.rows("HEAD_CALL")
            self.assert_columns(calls[1], dict(
                t3Ns=92620, torchairCpp=90, ge=360, geExec=None, epilogueCpp=None, epiloguePy=30,
                firstKernelLatency=160, flags="GE_FROM_ASSEMBLE", engine="GE"))
            for position in (0, 2, 3):
                expected = {name: value for name, value in self.HARD_CALLS[position].items()}
                self.assert_columns(calls[position], expected)
            for call in calls:
                self.assert_adds_up(call)

    def test_one_step(self):
        for capture in self.both(self.STEADY):
            self.assertEqual(self.head(capture, "--step_id", "7").code, 0)
            self.assert_columns(self.rows("HEAD_CALL")[0], self.CALLS[0])
            result = self.head(capture, "--step_id", "8")
            self.assertEqual(result.code, 3)
            self.assertIn("step 8 not found", result.errors[0])
