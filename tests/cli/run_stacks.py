#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times by call path, and the slowest operators and events.

    run_stacks.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: stacks (files for flame graphs), slowest (operators and events). Times are computed
again from the rows of databases, also of real captures where they lie beside the sources (shared/data).

Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from cli import Cli, parse_arguments, run_group
from captures import build_database

RAW = None  # set by main()
REAL = next((folder for above in Path(__file__).resolve().parents[3:5]
             if (folder := above / "shared/data/npu/db").is_dir()), Path("shared/data/npu/db"))
METRICS = ("device", "host", "free", "self_cpu_time_total", "self_npu_time_total")
LINE = re.compile(r"(.+) ([0-9]+)")
KERNELS = """SELECT t.startNs, t.endNs, name.value, type.value, core.value, shapes.value, task.value
             FROM COMPUTE_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId
             JOIN STRING_IDS name ON name.id = c.name JOIN STRING_IDS type ON type.id = c.opType
             JOIN STRING_IDS core ON core.id = c.taskType JOIN STRING_IDS task ON task.id = t.taskType LEFT JOIN STRING_IDS shapes ON shapes.id = c.inputShapes"""
COLLECTIVES = "SELECT startNs, endNs, value FROM COMMUNICATION_OP JOIN STRING_IDS ON STRING_IDS.id = opName"
COPIES = "SELECT startNs, endNs, value FROM TASK JOIN STRING_IDS ON STRING_IDS.id = taskType WHERE value = 'MEMCPY_ASYNC'"
HOST = """SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), globalTid, value, e.name
          FROM PYTORCH_API a JOIN STRING_IDS s ON s.id = a.name JOIN ENUM_API_TYPE e ON e.id = a.type"""
CALLS = HOST.replace("PYTORCH_API", "CANN_API")
OPERATORS = """SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), globalTid, callchainId, connectionId
               FROM PYTORCH_API a JOIN ENUM_API_TYPE e ON e.id = a.type WHERE e.name = 'op'"""
CHAINS = "SELECT c.id, value FROM PYTORCH_CALLCHAINS c JOIN STRING_IDS s ON s.id = stack ORDER BY c.id, stackDepth DESC"
WORK = """SELECT connectionId, endNs - startNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)
          UNION ALL SELECT connectionId, endNs - startNs FROM COMMUNICATION_OP"""


def stacks_in(file):
    """{path: ns}; fails for what flamegraph.pl would not take as a path with its number."""
    stacks = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        path, time = LINE.fullmatch(line).groups()
        assert path not in stacks and int(time) > 0 and all(path.split(";")), line
        stacks[path] = int(time)
    return stacks


def by_last_frame(stacks):
    sums = Counter()
    for path, time in stacks.items():
        sums[path.split(";")[-1]] += time
    return sums


def own_times(spans):
    """{name: ns} of (begin, end, name) of one thread: the time in which nothing that began later is open."""
    sums, edges = Counter(), sorted({edge for begin, end, _ in spans for edge in (begin, end)})
    spans = sorted((span for span in spans if span[1] > span[0]), key=lambda span: (span[0], -span[1]))
    waiting, open_spans = 0, []
    for begin, end in zip(edges, edges[1:]):
        # What lasts longer than the span in which it begins is still open behind it.
        open_spans = [span for span in open_spans if span[1] > begin]
        while waiting < len(spans) and spans[waiting][0] <= begin:
            open_spans.append(spans[waiting])
            waiting += 1
        names = [name for _, _, name in open_spans if not name.startswith("ProfilerStep#")]
        sums[names[-1] if names else "[nothing recorded]"] += end - begin
    return sums


def covered(spans):
    length, reached = 0, 0
    for begin, end in sorted(spans):
        length += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return length


class OfDatabases(Cli):
    def twins(self, form):
        """Two ranks of a run, which was recorded in both formats at once."""
        job = self.scratch / form
        for rank, run in enumerate(("base", "new")):
            name = f"twin_{form}_{run}_ascend_pt"
            source = self.CAPTURES / name
            if not source.exists():
                source = build_database(self.CAPTURES, name, self.scratch)
            capture = job / f"{rank}_ascend_pt"
            shutil.copytree(source, capture)
            for info in capture.glob("profiler_info*.json"):
                info.unlink()
            (capture / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
        return job

    def databases(self):
        """(name, job) of databases of two ranks."""
        yield "twins", self.twins("db")
        for level in ("level0", "level1"):
            if (REAL / level).is_dir():
                yield level, REAL / level
            else:
                print(f"SKIPPED: there is no {REAL / level}")

    @staticmethod
    def rows(job, rank, query):
        files = sorted(job.rglob("ascend_pytorch_profiler*.db"))
        with contextlib.closing(sqlite3.connect(files[rank])) as database:
            return database.execute(query).fetchall()


class Stacks(OfDatabases):
    def stacks(self, job, metric):
        """{"rank0": {path: ns}, "all": ...}; self.screen has what was printed."""
        out = self.scratch / "stacks"
        shutil.rmtree(out, ignore_errors=True)
        result = self.run_tool("-m", "export_stacks", "--metric", metric, "-d", job, "-o", out)
        self.assertEqual(result.code, 0, result.all_err)
        self.screen = result.out.splitlines()
        files = (out / "cluster_analysis_output/ExportStacks").iterdir()
        return {file.stem.removeprefix(f"stacks_{metric}").lstrip("_") or "all": stacks_in(file) for file in files}

    def assert_has_paths(self, stacks, metric):
        """Few operators of the captures that are made have a call stack."""
        self.assertGreater(len(stacks), 0 if metric.startswith("self_") else 3)

    def test_every_form_of_a_capture_gives_the_same_files(self):
        jobs = [self.twins(form) for form in ("text", "db")]
        for metric in METRICS:
            with self.subTest(metric):
                text, database = (self.stacks(job, metric) for job in jobs)
                self.assertEqual(sorted(text), ["all", "rank0", "rank1"])
                self.assert_has_paths(text["all"], metric)
                self.assertEqual(text, database)

    def test_raw_captures_and_what_parse_makes_of_them(self):
        jobs = {form: self.scratch / form for form in ("raw", "db", "text")}
        for form, job in jobs.items():
            shutil.copytree(RAW / "stars", job)
            if form != "raw":
                subprocess.run([self.TOOL, "parse", "-d", job, "--export_type", form, "-q"], check=True,
                               stdout=subprocess.DEVNULL)
        for metric in METRICS:
            with self.subTest(metric):
                raw, database, text = (self.stacks(job, metric) for job in jobs.values())
                self.assert_has_paths(raw["all"], metric)
                self.assertEqual(database, raw)
                self.assertEqual(text, raw)

    def test_all_ranks_are_the_sum_of_each(self):
        job = self.twins("db")
        for metric in METRICS:
            files = self.stacks(job, metric)
            self.assertEqual(files["all"], Counter(files["rank0"]) + Counter(files["rank1"]))

    def test_screens_are_bounded(self):
        for form in ("text", "db"):
            job = self.twins(form)
            for metric in METRICS:
                self.stacks(job, metric)
                self.assertLessEqual(len(self.screen), 34)
                self.assertLessEqual(max(map(len, self.screen)), 80)
                self.assertRegex(self.screen[0], r"^[0-9.]+ % of the ")

    def test_host_time_is_that_of_the_rows(self):
        """Thread by thread the innermost call that is open counts. What a thread puts into the queue is its operator's."""
        for name, job in self.databases():
            found = self.stacks(job, "host")
            for rank in (0, 1):
                threads = defaultdict(list)
                for begin, end, thread, text, level in self.rows(job, rank, HOST):
                    if level != "queue" or text.startswith("Dequeue"):
                        threads[thread].append((begin, end, re.sub(r" at 0x[0-9a-f]+", "", text)))
                for begin, end, thread, text, _ in self.rows(job, rank, CALLS):
                    if thread in threads:  # others launch nothing
                        threads[thread].append((begin, end, text))
                expected = sum(map(own_times, threads.values()), Counter())
                with self.subTest(name, rank=rank):
                    self.assertEqual(by_last_frame(found[f"rank{rank}"]), expected)

    def test_own_times_of_operators_are_those_of_the_rows(self):
        """As torch_npu divides them: operators with a call stack, without operators within; what they launched."""
        for name, job in self.databases():
            for rank in (0, 1):
                paths, work, connections = defaultdict(list), Counter(), defaultdict(list)
                for chain, frame in self.rows(job, rank, CHAINS):
                    paths[chain].append(frame.strip())
                for connection, time in self.rows(job, rank, WORK):
                    work[connection] += time
                for number, connection in self.rows(job, rank, "SELECT id, connectionId FROM CONNECTION_IDS"):
                    connections[number].append(connection)
                own, launched, outer = Counter(), Counter(), defaultdict(list)
                for begin, end, thread, chain, number in sorted(self.rows(job, rank, OPERATORS),
                                                                key=lambda row: (row[2], row[0], -row[1])):
                    while outer[thread] and outer[thread][-1][0] <= begin:
                        outer[thread].pop()
                    if outer[thread]:
                        own[outer[thread][-1][1]] -= end - begin
                    operator = (thread, begin, end, chain)
                    own[operator] += end - begin
                    launched[operator] += sum(work[connection] for connection in connections[number])
                    outer[thread].append((end, operator))
                for metric, times in (("self_cpu_time_total", own), ("self_npu_time_total", launched)):
                    expected = Counter()
                    for (*_, chain), time in times.items():
                        if paths[chain] and time > 0:
                            expected[";".join(paths[chain])] += time
                    found = self.stacks(job, metric)[f"rank{rank}"]
                    # Rows of copies do not name their operator.
                    copies = sum(end - begin for begin, end, _ in self.rows(job, rank, COPIES)) if times is launched else 0
                    with self.subTest(name, rank=rank, metric=metric):
                        self.assertEqual({path: time for path, time in expected.items() if found.get(path, 0) < time}, {})
                        self.assertLessEqual(sum(found.values()) - expected.total(), copies)
                        self.assertGreater(expected.total(), copies)

    def test_device_time_is_that_of_the_rows(self):
        """Of a capture without steps all work counts, once where it overlaps."""
        for name, source in self.databases():
            job = self.scratch / f"without_steps_{name}"
            shutil.copytree(source, job)
            for file in job.rglob("ascend_pytorch_profiler*.db"):
                file.chmod(0o600)
                with contextlib.closing(sqlite3.connect(file)) as database, database:
                    database.execute("DROP TABLE IF EXISTS STEP_TIME")
                    database.execute("UPDATE STRING_IDS SET value = 'no step' WHERE value LIKE 'ProfilerStep#%'")
            for other in job.rglob("analysis.db"):
                other.unlink()
            found = self.stacks(job, "device")
            for rank in (0, 1):
                kernels = self.rows(job, rank, KERNELS)
                work = [row[:2] for query in (KERNELS, COLLECTIVES, COPIES) for row in self.rows(job, rank, query)]
                stacks = found[f"rank{rank}"]
                with self.subTest(name, rank=rank):
                    self.assertEqual(sum(stacks.values()), covered(work))
                    # Kernels go before communication and copies.
                    names = {kernel for _, _, kernel, *_ in kernels}
                    of_kernels = sum(time for path, time in stacks.items() if path.split(";")[-1] in names)
                    self.assertEqual(of_kernels, covered([row[:2] for row in kernels]))


class Slowest(OfDatabases):
    def sheets(self, job, *options):
        result = self.run_tool("-m", "top_operators", "-d", job, "-o", self.out, "--json", *options)
        self.assertEqual(result.code, 0, result.all_err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}

    def test_kernels_and_events_are_those_of_the_rows(self):
        over = 20_000
        for name, job in self.databases():
            sheets = self.sheets(job, "--top", "100000", "--over", "20us")
            for rank in (0, 1):
                kernels = self.rows(job, rank, KERNELS)
                collectives, copies = (self.rows(job, rank, query) for query in (COLLECTIVES, COPIES))
                host = defaultdict(list)  # by kind of event
                for begin, end, _, text, level in self.rows(job, rank, HOST):
                    if level != "queue" or text.startswith("Dequeue"):
                        host[level].append((begin, end, text))
                ops = [row for row in host["op"] if not row[2].startswith("ProfilerStep#")]
                calls = [row[:2] + row[3:4] for row in self.rows(job, rank, CALLS)]
                expected = sorted((kind, begin, end - begin, text) for kind, rows in (
                    ("kernel", kernels), ("communication", collectives), ("copy", copies), ("operator", ops),
                    ("task queue", host["queue"]), ("runtime call", calls), ("Python", host["trace"]))
                    for begin, end, text, *_ in rows if end - begin > over)
                for kind in ("task queue", "runtime call"):
                    self.assertIn(kind, {event[0] for event in expected})
                # Names of calls begin with their level: "Node@launch".
                found = sorted((row["kind"], row["start_ns"], row["duration_ns"],
                                row["name"].rpartition("@" if row["kind"] == "runtime call" else "\n")[2])
                               for row in sheets["SlowEvents"] if row["rank_id"] == rank)
                with self.subTest(name, rank=rank):
                    self.assertGreater(len(expected), 3)
                    self.assertEqual(found, expected)
                calls = defaultdict(list)
                for begin, end, kernel, kind, core, shapes, task in kernels:
                    shapes = "" if shapes in (None, "N/A") else shapes.strip('"')
                    # At Level0 the kind of task tells the core.
                    calls[(kind, shapes, core) if kind != "N/A" else (kernel, shapes, task)].append(end - begin)
                expected = {key: (len(times), sum(times), max(times)) for key, times in calls.items()}
                found = {(row["type"], row["input_shapes"], row["core"]):
                         (row["calls"], row["total_ns"], row["max_ns"])
                         for row in sheets["TopKernelsOfRanks"] if row["rank_id"] == rank and row["kind"] == "kernel"}
                with self.subTest(name, rank=rank, what="kernels"):
                    self.assertEqual(found, expected)

    def test_every_form_of_a_capture_gives_the_same_events(self):
        text, database = (self.sheets(self.twins(form), "--over", "1us") for form in ("text", "db"))
        self.assertGreater(len(text["SlowEvents"]), 3)
        for name, rows in text.items():
            for row in rows:  # the database of the twin has no counters
                row.update({key: "" if key != "busiest_share_percent" else None
                            for key in row if key.startswith(("bound", "busiest", "counters"))})
            self.assertEqual(rows, database[name], name)

    def test_screens_are_bounded(self):
        result = self.run_tool("-m", "top_operators", "-d", self.twins("db"), "-o", self.out, "--top", "500")
        lines = result.out.splitlines()
        self.assertLessEqual(len(lines), 34)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn(" takes most: ", lines[0])

    def test_thresholds_have_a_unit(self):
        job = self.twins("db")
        for text in ("5", "1m", "ms", "-1ms", "nanms", "1e30s"):
            self.assert_fails(2, self.run_tool("-m", "top_operators", "-d", job, "-o", self.out, f"--over={text}"),
                              "--over", "1ms, 500us")
        self.assertEqual(self.sheets(job, "--over", "1.5ms")["SlowEvents"], self.sheets(job, "--over", "1500us")["SlowEvents"])


def run():
    global RAW
    arguments = parse_arguments(__doc__, (Stacks, Slowest))
    Cli.TOOL, Cli.CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(run())
