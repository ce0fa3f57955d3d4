#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces as people have them: text that is damaged, events in another form, several devices in one file.

    run_odd_traces.py --tool BINARY --testdata DIR oddtraces|lostrecords|sharedtraps [-v]

The numbers are those of the trace that TwoSteps makes, or exit code 5 says what is wrong.

Exit status: 0 passed, 1 failed, 2 usage, 77 the traps beside the project are not there.
"""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

from cli import Cli, main

SKIPPED = 77
TRAPS = Path(__file__).resolve().parents[3] / "shared/tools/traps"

START, HOST, STREAM = 1_000_000, 40, 7
# In us, of each of the two steps of 500: product 100 to 250, sum 250 to 300, copy 350 to 370, collective
# 400 to 460; the first work begins at 100, the last ends at 960.
WORK = (("aten::mm", "sgemm_128x64", "kernel", 100, 150), ("aten::add", "vectorized_add", "kernel", 250, 50),
        ("aten::copy_", "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 350, 20),
        ("c10d::allreduce_", "ncclDevKernel_AllReduce", "kernel", 400, 60))
OVERALL = {"Computing Time": 400, "Uncovered Communication Time": 120, "Free Time": 340, "SDMA": 40,
           "E2E Time": 860}
OPERATORS = {"aten::mm": 300, "aten::add": 100, "aten::copy_": 40, "c10d::allreduce_": 120}


def two_steps(arrows=True, device=0, host=HOST, first=1):
    """The events of two steps, each piece of work launched by one operator."""
    events = []
    for step in range(2):
        begin = START + 500 * step
        events.append(span("user_annotation", f"ProfilerStep#{step}", host, host, begin, 500))
        for number, (operator, name, category, start, length) in enumerate(WORK):
            link = first + step * len(WORK) + number
            at = begin + 10 + 20 * number
            events.append(span("cpu_op", operator, host, host, at, 15))
            events.append(span("cuda_runtime", "cudaLaunch", host, host, at + 2, 3, correlation=link))
            events.append(span(category, name, device, STREAM, begin + start, length,
                               correlation=link, device=device))
            if arrows:
                events += [flow("s", link, host, host, at + 2), flow("f", link, device, STREAM, begin + start)]
    return events


def span(category, name, pid, tid, begin, length, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length,
            "args": args}


def flow(kind, link, pid, tid, time):
    return {"ph": kind, "id": link, "pid": pid, "tid": tid, "ts": time, "cat": "ac2g", "name": "ac2g"}


def as_pairs(events):
    pairs = []
    for event in events:
        if event["ph"] == "X":
            end = {"ph": "E", "pid": event["pid"], "tid": event["tid"], "ts": event["ts"] + event["dur"]}
            pairs += [{**{k: v for k, v in event.items() if k != "dur"}, "ph": "B"}, end]
        else:
            pairs.append(event)
    return sorted(pairs, key=lambda event: event["ts"])


class OddTraces(Cli):
    def setUp(self):
        super().setUp()
        self.plain = self.write("plain.json", json.dumps({"traceEvents": two_steps()}))

    def write(self, name, text):
        path = self.scratch / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def numbers(self, path):
        """The two tables of a comparison with the plain trace, in us, and the run."""
        result = self.compare("--json", comparison=path, base=self.plain)
        self.assertIn(result.code, (0, 5), result.err)
        sheets = {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}
        overall = {row["index"]: row["comparison_duration_ms"] for row in sheets["OverallMetrics"]}
        operators = {row["operator_name"]: row["comparison_device_duration_ms"]
                     for row in sheets["OperatorCompareStatistic"]}
        us = lambda table, wanted: {key: round((table.get(key) or 0) * 1000) for key in wanted}
        return us(overall, OVERALL), us(operators, OPERATORS), result

    def holds(self, text, code=0, said=(), name="odd.json"):
        overall, operators, result = self.numbers(self.write(name, text))
        self.assertEqual((overall, operators), (OVERALL, OPERATORS), result.err)
        self.assertEqual(result.code, code, result.err)
        for words in said:
            self.assertIn(words, "\n".join(result.warnings))
        return result

    def told(self, text, *said):
        """Other numbers, but with exit code 5 and a warning."""
        *_, result = self.numbers(self.write("odd.json", text))
        self.assertEqual(result.code, 5, result.err)
        for words in said:
            self.assertIn(words, "\n".join(result.warnings))

    def document(self, events, **members):
        return json.dumps({**members, "traceEvents": events})

    def test_launches_by_arrow_or_by_correlation(self):
        self.holds(self.document(two_steps()))
        self.holds(self.document(two_steps(arrows=False)))

    def test_any_order(self):
        for seed in range(3):
            events = two_steps()
            random.Random(seed).shuffle(events)
            self.holds(self.document(events))

    def test_any_order_of_an_npu_trace(self):
        capture = self.capture_copy()
        trace = capture / "ASCEND_PROFILER_OUTPUT/trace_view.json"
        events = json.loads(trace.read_text())
        random.Random(1).shuffle(events)
        trace.write_text(json.dumps(events))
        result = self.compare("--json", comparison=capture)
        self.assertEqual(json.loads(result.out)["story"][-1]["text"], "end to end: no change")

    def test_beginnings_and_ends(self):
        self.holds(self.document(as_pairs(two_steps())))
        # A kernel begins when the one before it ends: in any order of the two.
        self.holds(self.document(sorted(as_pairs(two_steps()), key=lambda event: (event["ts"], event["ph"]))))
        self.holds(self.document(as_pairs(two_steps())[::-1]))
        self.told(self.document(as_pairs(two_steps()) + [{"ph": "B", "name": "x", "pid": 1, "tid": 1, "ts": 5}]),
                  "its end (ph E) is missing", '"x" at 5 us')

    def test_a_step_begins_where_the_last_one_ends(self):
        """In any order of the two, also when an operator begins with the step."""
        events = two_steps() + [span("cpu_op", "aten::first", HOST, HOST, START + 500, 5)]
        for order in ("BE", "EB"):
            pairs = sorted(as_pairs(events), key=lambda event: (event["ts"], order.find(event["ph"])))
            where = self.write(f"{order}/trace.json", self.document(pairs)).parent
            result = self.run_tool("-m", "cluster_time_summary", "-d", where, "--json", "-o", self.out)
            self.assertEqual(result.code, 0, result.err)
            rows = json.loads(result.out)["sheets"][0]["rows"]
            self.assertEqual([(row["step"], row["step_time"]) for row in rows], [(0, 500), (1, 500)])

    def test_the_mend_fits_the_reason(self):
        """Another copy of a trace lacks what the exporter did not write, too; what was damaged may be whole in it."""
        endless = [{k: v for k, v in two_steps()[1].items() if k != "dur"}]
        alone = [{"ph": "B", "name": "x", "pid": 1, "tid": 1, "ts": 5}]
        for more, mend in ((endless, "collect again"), (alone, "collect again"),
                           ([span("kernel", "k", 1, STREAM, START, 5, device=1)], "record each device")):
            path = self.write("odd.json", self.document(two_steps() + more))
            (rank,) = json.loads(self.run_tool("check", path, "--try", "--json").out)["ranks"]
            damages = [warning for warning in rank["warnings"] if warning["id"] == "events_damaged"]
            self.assertTrue(damages)
            for warning in damages:
                self.assertTrue(warning["advice"].startswith(mend), warning)
        path = self.write("odd.json", self.document(two_steps())[:-400])
        (rank,) = json.loads(self.run_tool("check", path, "--try", "--json").out)["ranks"]
        self.assertIn("copy or parse the capture again", [warning["advice"] for warning in rank["warnings"]])

    def test_an_operator_across_the_border_of_two_steps(self):
        """It launches nothing. The second step is not within it, and mm begins in it and outlives it."""
        crossing = span("cpu_op", "aten::item", HOST, HOST, START + 480, 40)
        self.holds(self.document(two_steps() + [crossing]))
        # A function from 480 to 550 us: mm and add (510 to 525, 530 to 545) are within it, the copy is not.
        call = span("python_function", "train.py(7): log", HOST, HOST, START + 480, 70)
        where = self.write("crossing/trace.json", self.document([*two_steps(), crossing, call])).parent
        stacks = {"device": ["aten::add;cudaLaunch;vectorized_add 50000", "aten::mm;cudaLaunch;sgemm_128x64 150000",
                             "train.py(7): log;aten::add;cudaLaunch;vectorized_add 50000",
                             "train.py(7): log;aten::mm;cudaLaunch;sgemm_128x64 150000"],
                  # Each time is in one path: item until mm begins, the function beside mm and add.
                  "host": ["train.py(7): log 10000", "train.py(7): log;aten::item 30000", "train.py(7): log;aten::mm 12000",
                           "train.py(7): log;aten::mm;cudaLaunch 3000"]}
        for metric, lines in stacks.items():
            result = self.run_tool("-m", "export_stacks", "-d", where, "--metric", metric, "--export_type", "text",
                                   "-o", self.out)
            self.assertEqual(result.code, 0, result.err)
            path, = self.out.rglob(f"stacks_{metric}.txt")
            found = [line.removeprefix("[main thread];") for line in path.read_text().splitlines()]
            self.assertLessEqual(set(lines), set(found), found)
            self.assertEqual([line for line in found if "log;aten::copy_" in line], [])
        # mm, add, copy and collective of the second step are the only ones in it: 1000 us in all.
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in found), 1_000_000)

    def test_captured_graphs(self):
        """One call launches all four pieces of a step."""
        for turn in (1, -1):
            events = []
            for step in range(2):
                begin, link = START + 500 * step, 90 + step
                events += [span("cpu_op", "model::replay", HOST, HOST, begin + 10, 50),
                           span("cuda_runtime", "cudaGraphLaunch", HOST, HOST, begin + 12, 9, correlation=link),
                           flow("s", link, HOST, HOST, begin + 12)]
                for _, name, category, start, length in WORK:
                    events += [span(category, name, 0, STREAM, begin + start, length, correlation=link),
                               flow("f", link, 0, STREAM, begin + start)]
            path = self.write("graph.json", self.document(events[::turn]))
            result = self.compare("--json", comparison=path, base=path)
            rows = {row["operator_name"]: row["comparison_device_duration_ms"]
                    for sheet in json.loads(result.out)["sheets"]
                    if sheet["name"] == "OperatorCompareStatistic" for row in sheet["rows"]}
            self.assertAlmostEqual(rows["model::replay"], 0.56)

    def test_collectives_by_their_operator(self):
        """A kernel of any name that c10d launched itself; one of an operator within it computes."""
        events = two_steps()
        for event in events:
            if event["name"] == "ncclDevKernel_AllReduce":
                event["name"] = "exchange_halves"
        self.holds(self.document(events))

    def test_what_stands_behind_the_end(self):
        events = two_steps()
        first, second = json.dumps(events[:20]), json.dumps(events[20:])
        for joint in (first + "," + second[1:], first + second, first + "\n" + second[:-1] + "][]"):
            self.holds(joint, 5, ["byte "])
        self.told(json.dumps(events) + " oops", "text behind the end of the trace was left out")

    def test_check_says_what_the_commands_say(self):
        events = two_steps()
        self.write("behind.json", json.dumps(events[:20]) + json.dumps(events[20:]))
        self.write("nul.json", json.dumps(events).replace("}, {", "}, " + "\0" * 700 + "{", 1))
        for name, said in (("behind.json", "events behind the end of the trace"), ("nul.json", "NUL bytes")):
            self.assertIn(said, self.run_tool("check", self.scratch / name, "--try").out)

    def test_text_between_events(self):
        text = json.dumps(two_steps())
        for put, said in (("},, {", "comma without an event"), ("}, " + "\0" * 700 + "{", "NUL bytes"),
                          ("}, [[1], 2], {", "it is not an event"), ("}, oops, {", "it is not an event")):
            result = self.holds(text.replace("}, {", put, 1), 5, [said, "byte "])
            self.assertNotIn("\0", result.all_err)

    def test_one_broken_event(self):
        """An instant that nobody needs is broken in many ways; all else stays."""
        for broken in ('{"ph": "i", "name": "x, "ts": 5}', '{"ph": "i", "name": "x\\q", "ts": 5}',
                       '{"ph": "i", "args": {"x": 1}', '{"ph": "i", "args": "x": 1}}',
                       '{"ph": "i", "name": \0\0\0\0, "ts": 5}', '{"ph": "i", "ts": NaN}'):
            for position in (1, 30, len(two_steps())):
                parts = [json.dumps(event) for event in two_steps()]
                parts.insert(position, broken)
                text = '{"traceEvents": [' + ", ".join(parts) + "]}"
                ends = broken.count("{") == broken.count("}") and broken.count('"') % 2 == 0
                if position == len(parts) - 1 and not ends:
                    self.holds(text, 5, ["the trace breaks off"])  # nothing shows where it ends
                    continue
                # A brace too many stands where the parser did not object to what came before.
                surplus = broken.endswith("}}")
                byte = text.encode().index(broken.encode()) + (len(broken) - 1 if surplus else 0)
                self.holds(text, 5, [f"byte {byte}"])

    def test_durations_that_are_missing(self):
        for missing in ({}, {"dur": None}):
            events = two_steps()
            kernel = next(event for event in events if event["name"] == "sgemm_128x64")
            del kernel["dur"]
            kernel.update(missing)
            self.told(self.document(events), "its duration is missing", "sgemm_128x64")

    def test_forms_of_the_document(self):
        events = two_steps()
        self.holds(json.dumps(events))
        self.holds(self.document(events, metadata="x" * 20_000))
        self.holds(json.dumps({"traceEvents": events, "schemaVersion": 1}))

    def test_traces_of_a_directory(self):
        """Each is found, whatever it begins with, and its rank, wherever it stands."""
        def job(rank):
            return {"distributedInfo": {"rank": rank, "world_size": 3}}
        self.write("job/a.json", json.dumps({"traceEvents": two_steps(), **job(2)}))
        self.write("job/b.json", self.document(two_steps(), metadata="x" * 20_000, **job(1)))
        self.write("job/c.json", self.document(two_steps(), **job(0)))
        result = self.run_tool("-m", "cluster_time_summary", "-d", self.scratch / "job", "--json", "-o", self.out)
        rows = json.loads(result.out)["sheets"][0]["rows"]
        self.assertEqual(sorted((row["rank"], row["computation"]) for row in rows),
                         sorted((rank, 200) for rank in range(3) for _ in range(2)))

    def test_several_devices(self):
        other = [event for event in two_steps(device=1, first=50) if event["pid"] == 1 and event["ph"] == "X"]
        self.holds(self.document(two_steps() + other[:5]), 5,
                   ["work of another device left out, the trace holds several", "device 1 with 5 pieces of work"])

    def test_several_ranks(self):
        self.holds(self.document(two_steps() + two_steps(host=HOST + 1, first=50)[:9]), 5,
                   ["work of another process left out, the trace holds several ranks"])

    def test_impossible_times(self):
        events = two_steps()
        kernel = next(event for event in events if event["name"] == "sgemm_128x64")
        self.told(self.document([{**event, "dur": 900} if event is kernel else event for event in events]),
                  "runs on under its successor", '"sgemm_128x64" at 1000100 us')
        self.told(self.document([{**event, "ts": 90_000_000_000} if event is kernel else event
                                 for event in events]), "span more than a day")

    def test_unknown_devices(self):
        self.told(self.document(two_steps() + [span("mtia_ccp_events", "x", 0, 0, START, 5)]),
                  "its category is not supported", "mtia_ccp_events")

    def test_clocks_of_a_table(self):
        capture = self.capture_copy()
        table = capture / "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
        lines = table.read_text().splitlines()
        column = lines[0].split(",").index("Start Time(us)")
        for change, said in ((lambda us: us - 500_000_000, "do not fit"),
                             (lambda us: round(us / 7000) * 7000 + 3, "may have rounded them")):
            rows = []
            for line in lines[1:]:
                cells = line.split(",")
                cells[column] = str(change(float(cells[column])))
                rows.append(",".join(cells))
            table.write_text("\n".join([lines[0], *rows]) + "\n")
            result = self.compare(comparison=capture)
            self.assertEqual(result.code, 5, result.err)
            self.assertIn(said, "\n".join(result.warnings))


class LostRecords(Cli):
    """Records that were lost, doubled, crossed, or that no such run has."""

    def setUp(self):
        super().setUp()
        self.plain = self.write("plain.json", json.dumps({"traceEvents": two_steps()}))

    write, numbers, holds, told, document = (OddTraces.write, OddTraces.numbers, OddTraces.holds, OddTraces.told,
                                             OddTraces.document)

    def lose(self, lost, arrows=True):
        """Without the work, and the ends of arrows, whose number `lost` holds for; the calls stay."""
        return [event for event in two_steps(arrows)
                if not (event.get("cat") in ("kernel", "gpu_memcpy") and lost(event["args"]["correlation"]))
                and not (event["ph"] == "f" and lost(event["id"]))]

    def gate(self, path):
        return self.run_tool("compare", "-d", path, "-bp", self.plain, "--fail_on", "e2e>+3%", "-o", self.out)

    def test_launches_without_work(self):
        """At the beginning, the middle, the end, or all of it; a gate decides nothing."""
        for arrows in (True, False):
            for lost, said in ((lambda link: link < 5, "4 of 8 launches, within 0.060 ms"),
                               (lambda link: link == 3, "1 of 8 launches"),
                               (lambda link: link > 6, "2 of 8 launches")):
                text = self.document(self.lose(lost, arrows))
                self.told(text, "launches have no work on the device", said)
                gate = self.gate(self.scratch / "odd.json")
                self.assertEqual(gate.code, 5, gate.out)
        path = self.write("all.json", self.document(self.lose(lambda link: True)))
        result = self.compare("--json", comparison=path, base=self.plain)
        self.assertEqual(result.code, 5)
        self.assertIn("launches have no work on the device", "\n".join(result.warnings))
        self.assertIn("(8 launches)", "\n".join(result.warnings))
        self.assertNotIn(self.gate(path).code, (0, 1))

    def test_every_command_names_them(self):
        where = self.write("job/trace.json", self.document(self.lose(lambda link: link == 2))).parent
        for command in (("-m", "cluster_time_summary", "-d", where), ("-m", "top_operators", "-d", where),
                        ("-m", "free_analysis", "-d", where), ("advisor", "all", "-d", where)):
            result = self.run_tool(*command, "-o", self.out)
            self.assertEqual(result.code, 5, command)
            self.assertIn("launches have no work on the device", "\n".join(result.warnings))
        self.assertIn("launches have no work on the device", self.run_tool("check", where, "--try").out.replace("\n      ", " "))

    def test_launches_that_promise_no_work(self):
        """Those that a graph captures, those that fill no memory, those that do something else."""
        events = two_steps()
        for number, (name, at) in enumerate((("cudaStreamBeginCapture", 100), ("cudaLaunchKernel", 110),
                                             ("cudaMemcpyAsync", 120), ("cudaStreamEndCapture", 130),
                                             ("cudaMemsetAsync", 140), ("cudaEventRecord", 150),
                                             ("cudaLaunchHostFunc", 160))):
            events.append(span("cuda_runtime", name, HOST, HOST, START + at, 3, correlation=900 + number))
        self.holds(self.document(events))
        self.told(self.document(events + [span("cuda_runtime", "cudaLaunchKernel", HOST, HOST, START + 170, 3,
                                               correlation=990)]), "1 of 9 launches")

    def test_work_before_its_launch(self):
        """It is left out; where much of the work is early, the clocks are wrong, and all of it stays."""
        events = two_steps()
        copy = next(event for event in events if event["cat"] == "gpu_memcpy")
        early = [{**event, "ts": START - 300} if event is copy or
                 (event["ph"] == "f" and event["id"] == copy["args"]["correlation"]) else event for event in events]
        overall, operators, result = self.numbers(self.write("odd.json", self.document(early)))
        self.assertEqual(overall, {**OVERALL, "SDMA": 20, "Free Time": 340}, result.err)
        self.assertEqual(operators, {**OPERATORS, "aten::copy_": 20})
        self.assertEqual(result.code, 5)
        self.assertIn("work left out, it begins before its launch", "\n".join(result.warnings))
        shifted = [{**event, "ts": event["ts"] - 60} if event.get("pid") == 0 else event for event in events]
        self.assertEqual(self.numbers(self.write("odd.json", self.document(shifted)))[2].code, 0)
        shifted = [{**event, "ts": event["ts"] - 340} if event.get("pid") == 0 else event for event in events]
        self.holds(self.document(shifted), 5, ["the clocks of host and device do not fit", "begin before their launch"])

    def test_records_twice(self):
        events = two_steps()
        for kind, said in (("kernel", "kernel left out, it was recorded twice"), ("gpu_memcpy", "copy left out"),
                           ("cpu_op", "operator left out")):
            again = [event for event in events if event.get("cat") == kind]
            self.holds(self.document(events + again), 5, [said])
        self.holds(self.document(events + [events[0]]), 5)  # a step

    def test_short_operators_of_rounded_times(self):
        """Within one microsecond an operator may call another of its name."""
        events = two_steps()
        for _ in range(2):
            events.append(span("cpu_op", "aten::result_type", HOST, HOST, START + 480, 0))
        self.holds(self.document(events))

    def test_two_kernels_of_one_launch(self):
        for arrows in (True, False):
            events = two_steps(arrows)
            for event in events:
                if event["ph"] == "f" and event["id"] == 2:
                    event["id"] = 1
                elif event.get("cat") == "kernel" and event["args"]["correlation"] == 2:
                    event["args"]["correlation"] = 1
            result = self.numbers(self.write("odd.json", self.document(events)))[2]
            said = [line for line in result.warnings if "launch" in line]
            self.assertEqual((result.code, len(said)), (5, 1), result.err)
            self.assertIn("kernels share the number of one launch, and another launch has none", said[0])

    def test_numbers_of_arrows(self):
        for scope in ("local", "global"):
            events = two_steps()
            for event in events:
                event.get("args", {}).pop("correlation", None)
                if event["ph"] != "X":
                    event["id2"] = {scope: hex(event.pop("id"))}
            self.holds(self.document(events))
        events = [{key: value for key, value in event.items() if key != "id"} for event in two_steps()]
        self.holds(self.document(events), 5, ["arrow left out, it has no number"])
        for event in events:
            event.get("args", {}).pop("correlation", None)
        self.told(self.document(events), "arrow left out, it has no number", "they lack the numbers that they share")

    def test_numbers_in_other_forms(self):
        for form in (float, str):
            events = two_steps()
            for event in events:
                if event["ph"] == "X" and event["pid"] == 0:
                    event["args"]["correlation"] = form(event["args"]["correlation"])
                    event["tid"] = form(event["tid"])
                elif event["ph"] != "X":
                    event["id"], event["pid"] = form(event["id"]), form(event["pid"])
            self.holds(self.document(events))
        for member in ("NaN", "Infinity", "-Infinity"):
            self.holds(self.document(two_steps()).replace('"device": 0', f'"occupancy": {member}, "device": 0'))
        events = [{**event, "ts": event["ts"] - START - 700} for event in two_steps()]
        self.holds(self.document(events))

    def test_categories(self):
        """Another name of the same thing is understood; work of an unknown kind counts, and is named."""
        for category in ("hip_runtime", "hip_api"):
            events = two_steps()
            for event in events:
                if event.get("cat") == "cuda_runtime":
                    event["cat"], event["name"] = category, "hipLaunchKernel"
            self.holds(self.document(events))
        for args in (None, {}):
            events = two_steps()
            for event in events:
                if event["name"] == "vectorized_add":
                    event["cat"], event["args"] = "gpu_special", event["args"] if args is None else args
            self.holds(self.document(events), 5, ["unknown category", '"gpu_special"'])
        marks = [span(category, "x", 0, STREAM, START + 100, 150)
                 for category in ("gpu_user_annotation", "cuda_sync", "overhead", "Trace")]
        self.holds(self.document(two_steps() + marks))

    def test_two_windows(self):
        later = []
        for event in two_steps(first=50):
            later.append({**event, "ts": event["ts"] + 2600})
        self.told(self.document(two_steps() + later), "nothing was recorded between two steps", "1.600 ms before step 0")
        between = [span("python_function", "load", HOST, HOST, START + 1000, 1600)]
        result = self.numbers(self.write("odd.json", self.document(two_steps() + between + later)))[2]
        self.assertNotIn("nothing was recorded", "\n".join(result.warnings))

    def test_rows_that_stretch_the_run(self):
        for change in ({"dur": 150_000}, {"ts": START + 120_000_000}, {"ts": START - 120_000_000}):
            events = two_steps(arrows=False)
            kernel = next(event for event in events if event["name"] == "sgemm_128x64")
            kernel.update(change)
            overall, *_, result = self.numbers(self.write("odd.json", self.document(events)))
            self.assertEqual((overall["Computing Time"], result.code), (OVERALL["Computing Time"] - 150, 5))
            self.assertIn("kernel left out, its times are impossible: the run would be more than twice as long", "\n".join(result.warnings))
        # A host that waits for a long kernel shows that it took so long.
        events = two_steps()
        last = next(event for event in events[::-1] if event["name"] == "ncclDevKernel_AllReduce")
        last["dur"] = 150_000
        wait = [span("cuda_runtime", "cudaDeviceSynchronize", HOST, HOST, START + 990, 150_000, correlation=77)]
        result = self.numbers(self.write("odd.json", self.document(events + wait)))[2]
        self.assertNotIn("twice as long", "\n".join(result.warnings))

    def test_collectives_that_were_not_recorded(self):
        job = {"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}}
        events = [event for event in two_steps(arrows=False)
                  if event["name"] != "ncclDevKernel_AllReduce" and event["args"].get("correlation", 1) % 4]
        path = self.write("odd.json", self.document(events, **job))
        said = "operators communicate, but the trace holds no collectives"
        self.assertIn(said, "\n".join(self.numbers(path)[2].warnings))
        job["distributedInfo"]["world_size"] = 1
        gloo = [span("cpu_op", "gloo:all_reduce", HOST, HOST, START + 72, 5)]
        for whole in (self.document(events, **job), self.document(events), self.document(events + gloo, **{
                "distributedInfo": {"backend": "gloo", "rank": 0, "world_size": 2}})):
            self.assertNotIn(said, "\n".join(self.numbers(self.write("odd.json", whole))[2].warnings))

    def test_text_around_the_events(self):
        text = self.document(two_steps(), note="fp8")
        self.holds(text.replace('"fp8"', '"trained with /"fp8/" on node-7"'), 5, ["what stands before the events"])
        self.holds(gzip.compress(text.encode()) + bytes(5000), name="odd.json.gz")
        for coding in ("utf-16", "utf-16-le"):
            path = self.write("odd.json", text.encode(coding))
            result = self.compare(comparison=path, base=self.plain)
            self.assertEqual(result.code, 3)
            self.assertIn("UTF-16", "\n".join(result.err))
        path = self.write("odd.json", self.document([]))
        result = self.run_tool("advisor", "all", "-d", path, "-o", self.out)
        self.assertIn("the trace holds no operators and no work", "\n".join(result.warnings))

    def test_traces_of_other_programs(self):
        plain = [{"ph": "X", "pid": 1, "tid": 1, "ts": 100 * i, "dur": 50, "name": "f"} for i in range(5)]
        def process(name):
            return {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": name}}
        times = {"Init Time (ns)": 1, "Post Final Time (ns)": 2, "Finalization Time (ns)": 3}
        for name, document in (
                ("JAX or TensorFlow", {"traceEvents": [process("/device:GPU:0"), process("/host:CPU"), *plain, {}]}),
                ("JAX or TensorFlow", {"traceEvents": [process("/job:localhost/task:0/device:GPU:0 Compute"), *plain]}),
                ("VizTracer", {"traceEvents": [{**event, "cat": "FEE"} for event in plain],
                               "viztracer_metadata": {"version": "1.0"}, "file_info": {}}),
                ("Proton (Triton)", {"traceEvents": [{**event, "cat": "kernel", "args": times} for event in plain]}),
                ("another program", {"traceEvents": [{**event, "cat": "blink"} for event in plain]})):
            path = self.write("foreign.json", json.dumps(document))
            for command in (("compare", "-d", path, "-bp", self.plain), ("advisor", "all", "-d", path),
                            ("compare", "-d", path, "-bp", self.plain, "--fail_on", "e2e>+3%")):
                result = self.run_tool(*command, "-o", self.out)
                self.assertEqual(result.code, 3, command)
                self.assertIn(f"a trace of {name}, which is not read", "\n".join(result.err))
            check = self.run_tool("check", path)
            self.assertIn(f"a trace of {name}", check.out)
            for words in ("PyTorch\n", "complete", "ProfilerActivity"):
                self.assertNotIn(words, check.out)


class SharedTraps(Cli):
    def run_traps(self, script):
        done = subprocess.run([sys.executable, TRAPS / script, "--tool", self.TOOL, "--testdata", self.CAPTURES],
                              check=False, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_traps_beside_the_project(self):
        self.run_traps("traps.py")

    def test_traps_of_records(self):
        self.run_traps("records.py")


if __name__ == "__main__":
    if "sharedtraps" in sys.argv and not TRAPS.exists():
        print(f"{TRAPS} is not there")
        sys.exit(SKIPPED)
    sys.exit(main(__doc__, OddTraces, LostRecords, SharedTraps))
