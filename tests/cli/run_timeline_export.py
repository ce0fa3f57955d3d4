#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `msprof-analyze export timeline`.

    run_timeline_export.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: timeline (the rules of the format, what is in the trace), timelineranks (clocks of ranks,
findings, filters of ranks). Times are compared as decimals, so a nanosecond counts.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

from cli import Cli, main
from run_kineto import START, gpu_trace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
from captures import DATABASE, build_database, set_rank  # noqa: E402
from synthetic_run import EPOCH  # noqa: E402
from twin_run import Twin  # noqa: E402

RAW = None  # set below
TWIN_TEXT, TWIN_DB = "twin_text_base_ascend_pt", "twin_db_base_ascend_pt"
NS = 1000


def in_ns(us):
    ns = us * NS
    assert ns == int(ns), f"{us} us is no whole number of ns"
    return int(ns)


class Trace:
    """A trace file, and what is wrong with it by the rules of the format."""

    def __init__(self, path):
        content = path.read_bytes()
        if path.name.endswith(".gz"):
            content = gzip.decompress(content)
        # A name that stands twice in an object is lost by most programs.
        self.document = json.loads(content, parse_float=Decimal, parse_int=Decimal,
                                   object_pairs_hook=self.without_doubles)
        self.events = self.document["traceEvents"]
        self.other = self.document["otherData"]
        self.slices = [event for event in self.events if event["ph"] == "X"]
        self.marks = [event for event in self.events if event["ph"] == "i"]
        self.zero = int(self.other["zero_ns"])
        self.names = {"process": {}, "thread": {}}
        for event in self.events:
            if event["ph"] == "M" and event["name"].endswith("_name"):
                kind = event["name"].removesuffix("_name")
                key = (event["pid"], event["tid"]) if kind == "thread" else event["pid"]
                assert key not in self.names[kind], f"{kind} {key} has two names"
                self.names[kind][key] = event["args"]["name"]

    @staticmethod
    def without_doubles(pairs):
        assert len(dict(pairs)) == len(pairs), f"a name stands twice: {pairs}"
        return dict(pairs)

    def by_track(self):
        tracks = defaultdict(list)
        for event in self.slices:
            start = in_ns(event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + in_ns(event["dur"]), event["name"]))
        return tracks

    def problems(self):
        for event in self.events:
            if event["ph"] not in ("X", "s", "f", "i", "M", "C"):
                yield f"unknown phase: {event}"
            if event["ph"] == "M":
                continue
            if event["ts"] < 0 or event.get("dur", 0) < 0:
                yield f"negative: {event}"
            # A counter is a track of its process by its name.
            is_named = event["ph"] == "C" or (event["pid"], event["tid"]) in self.names["thread"]
            if not is_named or event["pid"] not in self.names["process"]:
                yield f"no name for its track: {event}"
        tracks = self.by_track()
        for track, slices in tracks.items():
            yield from self.not_nested(track, slices)
        for track in set(self.names["thread"]) - set(tracks) - {(mark["pid"], mark["tid"]) for mark in self.marks}:
            yield f"an empty track has a name: {track}"
        yield from self.loose_arrows(tracks)
        times = [event["ts"] for event in self.events if event["ph"] != "M"]
        if times and min(times) != 0:
            yield f"the first event is at {min(times)}"

    @staticmethod
    def not_nested(track, slices):
        if slices != sorted(slices, key=lambda one: (one[0], -one[1])):
            yield f"track {track} is not in order"
        open_ends = []
        for start, end, name in slices:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                yield f"track {track}: {name} at {start} ns ends {end - open_ends[-1]} ns behind the slice around it"
            open_ends.append(end)

    def loose_arrows(self, tracks):
        ends = defaultdict(dict)
        for event in self.events:
            if event["ph"] not in ("s", "f"):
                continue
            if event["ph"] in ends[event["id"]]:
                yield f"an arrow has two such ends: {event}"
            ends[event["id"]][event["ph"]] = event
            at = in_ns(event["ts"])
            if not any(start <= at <= end for start, end, _ in tracks[event["pid"], event["tid"]]):
                yield f"no slice around the end of an arrow: {event}"
            if event["ph"] == "f" and event.get("bp") != "e":
                yield f"binds to the next slice: {event}"
        for number, both in ends.items():
            if set(both) != {"s", "f"}:
                yield f"arrow {number} lacks an end"
            elif (both["s"]["cat"], both["s"]["name"]) != (both["f"]["cat"], both["f"]["name"]):
                yield f"arrow {number} has ends that do not match"

    def found(self, category=None):
        """(process, track, name, begin, length) -> how often; times in ns of the common clock."""
        return Counter((event["pid"], self.names["thread"][event["pid"], event["tid"]], event["name"],
                        self.zero + in_ns(event["ts"]), in_ns(event["dur"]))
                       for event in self.slices if category in (None, event["cat"]))


class TimelineCli(Cli):
    maxDiff = None

    def export(self, capture, *more, code=0, name="trace.json"):
        path = self.out / name
        result = self.run_tool("export", "timeline", "-d", capture, "-o", path, *more)
        self.assertEqual(result.code, code, result.err)
        self.screen, self.warnings = result.out, result.warnings
        trace = Trace(path)
        self.assertEqual([*trace.problems()], [])
        self.assertLessEqual(max(map(len, result.out.splitlines())), 80)
        return trace


class Timeline(TimelineCli):

    def test_rules_hold_for_every_kind_of_capture(self):
        raw = sorted(path.name for path in RAW.iterdir())
        self.assertIn("stars", raw)
        for capture in ("text_base_ascend_pt", "text_level0_ascend_pt", TWIN_TEXT, "gpu_base.json", "gpu_new.json",
                        "serving_base.json", "graph_replay", "head_hard_ascend_pt", "rl_apart",
                        *(RAW / name for name in raw)):
            for more in ((), ("--python",), ("--max_events", "20")):
                with self.subTest(capture=capture, more=more):
                    trace = self.export(capture, *more)
                    self.assertGreater(len(trace.slices), 10)
                    if "--max_events" in more:
                        self.assertLessEqual(len(trace.slices), 20)

    def test_planted_events(self):
        run = Twin(slow=False)
        trace = self.export(TWIN_TEXT)
        host = {(f"thread {op.thread}", op.name, EPOCH + op.start, op.dur) for op in run.ops}
        kernels = {("stream 2", one.name, EPOCH + one.start, one.dur) for one in run.kernels + run.tasks}
        found = {event[1:] for event in trace.found()}
        self.assertEqual(host - found, set())
        self.assertEqual(kernels - found, set())
        collectives = {(f"communication, group {name}", run_.name, EPOCH + run_.start, run_.dur)
                       for run_ in run.comm_ops for name in [{"group_0": "dp", "group_1": "tp"}[run_.group]]}
        self.assertEqual({event[1:] for event in trace.found("communication")}, collectives)
        queue = {("task queue, thread 1003", f"Dequeue@{name}", EPOCH + round(start * 1e6), round(dur * 1e6))
                 for _, _, name, _, start, dur in run.queue}
        self.assertEqual(queue - found, set())
        on_device = {event[1:] for event in trace.found("device")}
        self.assertEqual(on_device, kernels)

    def test_arrows_lead_from_the_operator_to_its_kernels(self):
        run = Twin(slow=False)
        trace = self.export(TWIN_TEXT)
        ends = defaultdict(dict)
        for event in trace.events:
            if event["ph"] in ("s", "f"):
                ends[event["id"]][event["ph"]] = trace.zero + in_ns(event["ts"])
        expected = Counter((EPOCH + one.op.start, EPOCH + one.start) for one in run.launches)
        self.assertEqual(Counter((both["s"], both["f"]) for both in ends.values()), expected)

    def test_twins_are_equal(self):
        text = self.export(TWIN_TEXT, "--python")
        database = self.export(build_database(self.CAPTURES, TWIN_DB, self.scratch), "--python")
        self.assertEqual(text.zero, database.zero)
        self.assertEqual(self.in_both(text), self.in_both(database))

    @staticmethod
    def in_both(trace):
        """Without what is planted in one of the twins only: calls of CANN, and the tasks of collectives on their stream."""
        return {event: count for event, count in trace.found().items()
                if "AscendCL@" not in event[2] and not event[1].startswith("stream 4")}

    def test_raw_and_parsed_are_equal(self):
        found = {}
        for form in ("raw", "text", "db"):
            job = self.scratch / form
            shutil.copytree(RAW / "stars", job)
            if form != "raw":
                subprocess.run([self.TOOL, "parse", "-d", job, "--export_type", form, "-q"], check=True,
                               stdout=subprocess.DEVNULL)
            # The profiler calls the level of collectives "Hccl" in its databases.
            found[form] = Counter({(*event[:2], event[2].replace("Hccl@", "Communication@"), *event[3:]): count
                                   for event, count in self.export(job).found().items()})
        self.assertEqual(found["raw"], found["text"])
        self.assertEqual(found["raw"], found["db"])

    def test_python_is_shown_if_asked_for(self):
        names = {call.name for call in Twin(slow=False).python}
        self.assertEqual(names & {event["name"] for event in self.export(TWIN_TEXT).slices}, set())
        self.assertEqual(names - {event["name"] for event in self.export(TWIN_TEXT, "--python").slices}, set())

    def test_window(self):
        whole = self.export(TWIN_TEXT)
        first = EPOCH + round(10e6)  # the first step of the twin run begins there
        begin, end = first + 95_500_000, first + 300_000_000
        part = self.export(TWIN_TEXT, "--from", "95.5", "--to", "300")
        expected = Counter()
        for (process, track, name, start, length), count in whole.found().items():
            stop = start + length
            if start < end and stop > begin:
                cut = (process, track, name, max(start, begin), min(stop, end) - max(start, begin))
                expected[cut] += count
        self.assertEqual(part.found(), expected)
        for event in part.events:
            if event["ph"] != "M":
                at = part.zero + in_ns(event["ts"])
                self.assertTrue(begin <= at and at + in_ns(event.get("dur", Decimal(0))) <= end, event)
        self.assertEqual(part.zero, begin)
        cut = {event["name"]: event["args"]["cut"] for event in part.slices if "cut" in event.get("args", {})}
        self.assertEqual(cut["ProfilerStep#1"], "begins earlier, ends later")
        self.assertEqual(cut["aten::linear"], "begins earlier")
        self.assertEqual(cut["aten::sum"], "ends later")

    def test_step(self):
        trace = self.export(TWIN_TEXT, "--step", "2")
        # On the host from 500 to 990 ms, on the device from 525 ms on, when the work of step 1 is done.
        self.assertEqual((trace.zero, max(start + length for *_, start, length in trace.found())),
                         (EPOCH + 500_000_000, EPOCH + 990_000_000))
        steps = {event[2]: event[3:] for event in trace.found("step")}
        self.assertEqual(steps["step 2"], (EPOCH + 525_000_000, 465_000_000))
        result = self.run_tool("export", "timeline", "-d", TWIN_TEXT, "-o", self.out, "--step", "7")
        self.assertEqual(result.code, 3)
        self.assertIn("step 7 not found; available steps: 1, 2", result.errors[0])

    def test_longest_slices_stay(self):
        whole = self.export(TWIN_TEXT, "--python")
        lengths = sorted((event["dur"] for event in whole.slices), reverse=True)
        for most in (1, 17, len(lengths) - 1, len(lengths), 1000):
            part = self.export(TWIN_TEXT, "--python", "--max_events", most)
            self.assertEqual(sorted((event["dur"] for event in part.slices), reverse=True), lengths[:most])
            left_out = max(0, len(lengths) - most)
            self.assertEqual(int(part.other["left_out_slices"]), left_out)
            self.assertEqual(f"left out: the {left_out} shortest" in self.screen, left_out > 0)

    def gpu_trace(self, *ops):
        """Operators of one thread (name, begin, length in us), of which the last one launches a kernel."""
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur} for name, ts, dur in ops]
        launched = ops[-1][1]
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": launched, "dur": 1,
                    "args": {"correlation": 9}},
                   {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 9, "pid": 1, "tid": 1, "ts": launched},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200, "dur": 20,
                    "args": {"stream": 7, "correlation": 9, "device": 0}},
                   {"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": 9, "pid": 0, "tid": 7, "ts": 200}]
        return self.write("odd.json", json.dumps({"deviceProperties": [{"id": 0}], "traceEvents": events}))

    def test_overlapping_slices_move(self):
        """Of a trace in which an operator ends behind the one around it."""
        trace = self.export(self.gpu_trace(("aten::outer", 100, 50), ("aten::late", 120, 40), ("aten::inner", 125, 5)))
        found = {event[2]: event[1] for event in trace.found()}
        self.assertEqual((found["aten::outer"], found["aten::late"], found["aten::inner"]),
                         ("thread 1", "thread 1 (2)", "thread 1"))
        self.assertEqual(trace.other["moved_slices"], "1")

    def test_names_are_escaped(self):
        name = 'aten::"odd"\\ \x01 \u202e ümläut'
        trace = self.export(self.gpu_trace((name, 100, 50)))
        self.assertIn(name, {event["name"] for event in trace.slices})
        self.assertNotIn("\u202e".encode(), (self.out / "trace.json").read_bytes())

    def test_packed(self):
        plain = self.export(TWIN_TEXT)
        packed = self.export(TWIN_TEXT, name="trace.json.gz")
        self.assertEqual(plain.document, packed.document)
        self.assertEqual((self.out / "trace.json.gz").read_bytes()[:2], b"\x1f\x8b")
        usual = self.scratch / "folder"
        self.assertEqual(self.run_tool("export", "timeline", TWIN_TEXT, "-o", usual).code, 0)
        self.assertEqual(Trace(usual / "timeline.json.gz").document, plain.document)
        self.assertEqual([path.name for path in usual.iterdir()], ["timeline.json.gz"])

    def test_jobs_make_no_difference(self):
        for more in ((), ("--max_events", "100")):
            documents = [self.export("rl_apart", *more, "--jobs", jobs).document for jobs in (1, 4)]
            self.assertEqual(*documents)

    def test_usage(self):
        def fails(code, text, *arguments):
            result = self.run_tool("export", *arguments, "-o", self.out)
            self.assertEqual(result.code, code, result.err)
            self.assertIn(text, result.errors[0])
            self.assertEqual(result.out, "")
            self.assertFalse((self.out / "timeline.json.gz").exists())

        fails(2, "give what to export: msprof-analyze export timeline -d DIR")
        fails(2, "give what to export", TWIN_TEXT)
        fails(2, "-d,--profiling_path is required", "timeline")
        fails(2, "unexpected argument 'more'", "timeline", TWIN_TEXT, "more")
        one = ("timeline", TWIN_TEXT)
        fails(2, "--max_events 0: give a whole number above 0", *one, "--max_events", "0")
        fails(2, "--from soon: give a time in ms", *one, "--from", "soon")
        fails(2, "--from 5 is not before --to 5", *one, "--from", "5", "--to", "5")
        fails(2, "give one of --step, --from with --to, and --around", *one, "--step", "1", "--from", "5")
        fails(2, "invalid rank 'x'", *one, "--ranks", "x")
        fails(2, "no finding 'none.such'", *one, "--around", "none.such")
        fails(3, "nothing lies in that part", *one, "--from", "100000")
        fails(3, "", "timeline", self.scratch / "nowhere")

    def test_file_cannot_be_written(self):
        self.out.mkdir()
        (self.out / "trace.json").mkdir()
        (self.out / "trace.json" / "timeline.json.gz").mkdir()
        result = self.run_tool("export", "timeline", TWIN_TEXT, "-o", self.out / "trace.json")
        self.assertEqual(result.code, 6, result.err)
        self.assertEqual(result.out, "")


def shifted(path, ns):
    """Moves all times of a database."""
    database = sqlite3.connect(path)
    for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
            if column.lower() in ("startns", "endns", "timestampns", "start_ns", "end_ns"):
                database.execute(f'UPDATE "{table}" SET "{column}" = "{column}" + {ns}')
    database.commit()
    database.close()


class TimelineRanks(TimelineCli):
    SHIFT = 7_654_321

    def gpu_job(self, shift):
        """Four ranks; the clock of rank 1 is so many us ahead."""
        for rank in range(4):
            trace = gpu_trace(rank)
            for event in trace["traceEvents"]:
                event["ts"] += shift if rank == 1 else 0
            self.write(f"gpu_{shift}/rank{rank}.json", json.dumps(trace))
        return self.scratch / f"gpu_{shift}"

    def job(self, shift=0, ranks=2, source="db_base_ascend_pt", groups=True):
        job = self.scratch / f"job_{shift}_{ranks}_{groups}"
        for rank in range(ranks):
            capture = build_database(self.CAPTURES, source, job / f"of{rank}").rename(job / f"rank{rank}_ascend_pt")
            (job / f"of{rank}").rmdir()
            path = (capture / DATABASE).with_name(f"ascend_pytorch_profiler_{rank}.db")
            (capture / DATABASE).rename(path)
            with sqlite3.connect(path) as database:
                set_rank(database, rank)
            database.close()
            if rank == 1:
                shifted(path, shift)
        return job

    def test_clocks_are_aligned(self):
        """All ranks run the same kernel at one time, and the clock of one of them is ahead."""
        at = {START * NS + 500_000 * step + 100_000 for step in range(3)}
        found = {}
        for shift in (0, 7654, -123_456):
            trace = self.export(self.gpu_job(shift))
            self.assertEqual(self.warnings, [])
            found[shift] = trace.found()
            for rank in range(4):
                self.assertEqual({event[3] for event in found[shift] if event[0] == rank and event[2] == "sgemm"}, at)
            for _, track, name, start, length in trace.found("communication"):
                if "allreduce" in name:
                    self.assertIn(start + length, {begin + 360_000 for begin in at}, track)
        self.assertEqual(found[0], found[7654])
        self.assertEqual(found[0], found[-123_456])

    def test_clocks_that_are_unknown(self):
        job = self.job(self.SHIFT)
        for path in job.glob("rank*/*/*.db"):
            database = sqlite3.connect(path)
            for table in ("COMMUNICATION_OP", "COMMUNICATION_TASK_INFO"):
                database.execute(f"DELETE FROM {table}")
            database.commit()
            database.close()
        trace = self.export(job, code=5)  # the collectives are lost, too
        self.assertEqual(sum("no collectives tell how the clock of rank 1 differs from that of rank 0" in text
                             for text in self.warnings), 1, self.warnings)
        self.assertIn("no collectives tell", trace.other["clocks"])
        starts = {event[0]: event[3] for event in trace.found() if event[2] == "ProfilerStep#1"}
        self.assertEqual(starts[1] - starts[0], self.SHIFT)

    def test_ranks(self):
        job = self.job(self.SHIFT, ranks=3)
        whole = self.export(job).found()
        for ranks, wanted in (("1", {1}), ("0,2", {0, 2}), ("1-2", {1, 2})):
            trace = self.export(job, "--ranks", ranks)
            self.assertEqual(trace.found(), {event: count for event, count in whole.items() if event[0] in wanted})
            self.assertEqual(trace.names["process"], {rank: f"rank {rank}" for rank in wanted})

    def findings(self, job):
        result = self.run_tool("advisor", "all", "-d", job, "--json", "--evidence", "100")
        return json.loads(result.out)["findings"]

    def test_marks_of_findings(self):
        job = self.job()
        trace = self.export(job)
        marks = {(mark["name"], mark["pid"], trace.zero + in_ns(mark["ts"])) for mark in trace.marks}
        self.assertTrue(marks)
        for number, finding in enumerate(self.findings(job), 1):
            if finding["kind"] not in ("fault", "opportunity"):
                continue
            for place in finding["evidence"]:
                self.assertIn((f"{number} {finding['key']}", place["rank"], place["start_ns"]), marks)
        self.assertEqual({name.split(" ")[0] for name, *_ in marks} - {str(n + 1) for n in range(len(self.findings(job)))},
                         set())

    def test_around_a_finding(self):
        job = self.job(source="twin_db_new_ascend_pt")
        asked = 0
        for number, finding in enumerate(self.findings(job), 1):
            if not finding["evidence"] or finding["kind"] not in ("fault", "opportunity"):
                continue
            asked += 1
            place = finding["evidence"][0]
            margin = max(place["dur_ns"], 1_000_000)
            begin, end = place["start_ns"] - margin, place["start_ns"] + place["dur_ns"] + margin
            by_key = self.export(job, "--around", finding["key"])
            by_number = self.export(job, "--around", number)
            self.assertEqual(by_key.document, by_number.document)
            self.assertEqual(by_key.other["finding"], finding["key"])
            for *_, start, length in by_key.found():
                self.assertTrue(begin <= start <= start + length <= end, finding["key"])
            self.assertIn((f"{number} {finding['key']}", place["rank"], place["start_ns"]),
                          {(mark["name"], mark["pid"], by_key.zero + in_ns(mark["ts"])) for mark in by_key.marks})
            self.assertIn(place["rank"], by_key.names["process"])
            self.assertEqual(set(self.export(job, "--around", number, "--ranks", "0").names["process"]), {0})
        self.assertGreater(asked, 0)


def with_raw(run):
    """The directory behind --raw."""
    global RAW  # pylint: disable=global-statement
    if "--raw" in sys.argv:
        RAW = Path(sys.argv[sys.argv.index("--raw") + 1])
    return run()


if __name__ == "__main__":
    sys.exit(with_raw(lambda: main(__doc__, Timeline, TimelineRanks)))
