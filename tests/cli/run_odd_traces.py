#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces as people have them: text that is damaged, events in another form, several devices in one file.

    run_odd_traces.py --tool BINARY --testdata DIR oddtraces|sharedtraps [-v]

The numbers are those of the trace that TwoSteps makes, or exit code 5 says what is wrong.

Exit status: 0 passed, 1 failed, 2 usage, 77 the traps beside the project are not there.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

from cli import Cli, main

SKIPPED = 77
TRAPS = Path(__file__).resolve().parents[3] / "shared/tools/traps/traps.py"
# Errors of those traps that do not hold: two kernels overlap on one stream, and their sum is expected;
NOT_TRACES = {"ranks_of_a_gpu_job"}

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
        self.assertEqual(json.loads(result.out)["story"], ["end to end: no change"])

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
            (rank,) = json.loads(self.run_tool("check", path, "--json").out)["ranks"]
            damages = [warning for warning in rank["warnings"] if warning["id"] == "events_damaged"]
            self.assertTrue(damages)
            for warning in damages:
                self.assertTrue(warning["advice"].startswith(mend), warning)
        path = self.write("odd.json", self.document(two_steps())[:-400])
        (rank,) = json.loads(self.run_tool("check", path, "--json").out)["ranks"]
        self.assertIn("copy the capture again", [warning["advice"][:22] for warning in rank["warnings"]])

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
            self.assertIn(said, self.run_tool("check", self.scratch / name).out)

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


class SharedTraps(Cli):
    def test_traps_beside_the_project(self):
        names = subprocess.run([sys.executable, TRAPS, "--list"], check=True, capture_output=True,
                               encoding="utf-8").stdout.split("\n")
        wanted = [name.split()[0] for name in names if name and name.split()[0] not in NOT_TRACES]
        done = subprocess.run([sys.executable, TRAPS, "--tool", self.TOOL, "--testdata", self.CAPTURES,
                               "--only", ",".join(wanted)], check=False, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if "sharedtraps" in sys.argv and not TRAPS.exists():
        print(f"{TRAPS} is not there")
        sys.exit(SKIPPED)
    sys.exit(main(__doc__, OddTraces, SharedTraps))
