#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times by call path, and the slowest operators and events.

    run_stacks.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: stacks (files for flame graphs), slowest (operators and events). Captures record one run
in every format. Times are computed again from the rows of databases, of real captures as well where they lie beside the
sources (shared/data).

Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
from collections import defaultdict
from pathlib import Path

from captures import build_database
from cli import Cli, main

REAL = Path(__file__).resolve().parents[3] / "shared/data/npu/db"
METRICS = ("device", "host", "free")
LINE = re.compile(r"(.+) ([0-9]+)")


def stacks_in(file):
    """{path: ns}; fails for what flamegraph.pl would not take as a path with its number."""
    stacks = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        path, time = LINE.fullmatch(line).groups()
        assert path not in stacks and int(time) > 0 and all(path.split(";")), line
        stacks[path] = int(time)
    return stacks


def by_last_frame(stacks):
    sums = defaultdict(int)
    for path, time in stacks.items():
        sums[path.split(";")[-1]] += time
    return dict(sums)


def own_times(spans):
    """{name: ns} of (begin, end, name) of one thread: the time in which nothing that began later is open."""
    sums, edges = defaultdict(int), sorted({edge for begin, end, _ in spans for edge in (begin, end)})
    spans = sorted(spans, key=lambda span: (span[0], -span[1]))
    waiting, open_spans = 0, []
    for begin, end in zip(edges, edges[1:]):
        while waiting < len(spans) and spans[waiting][0] <= begin:
            open_spans.append(spans[waiting])
            waiting += 1
        # What ends before the one around it is closed; what lasts longer ends with it.
        for place, span in enumerate(open_spans):
            if span[1] <= begin:
                del open_spans[place:]
                break
        name = open_spans[-1][2] if open_spans else "[nothing recorded]"
        sums["[nothing recorded]" if name.startswith("ProfilerStep#") and len(open_spans) == 1 else name] += end - begin
    return sums


class OfDatabases(Cli):
    def ranks(self, form):
        """Two ranks of a run, recorded in both formats at once."""
        job = self.scratch / form
        for rank, run in enumerate(("base", "new")):
            name = f"twin_{form}_{run}_ascend_pt"
            source = self.CAPTURES / name
            if not source.exists():
                source = build_database(self.CAPTURES, name, self.scratch)
            shutil.copytree(source, job / f"{rank}_ascend_pt")
            for info in (job / f"{rank}_ascend_pt").glob("profiler_info*.json"):
                info.unlink()
            (job / f"{rank}_ascend_pt/profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
        return job

    def databases(self):
        """{name: job with databases of ranks}"""
        jobs = {"twins": self.ranks("db")}
        for level in ("level0", "level1"):
            if (REAL / level).is_dir():
                jobs[level] = REAL / level
            else:
                print(f"SKIPPED: there is no {REAL / level}")
        return jobs

    @staticmethod
    def rows(job, rank, query):
        (file,) = job.rglob(f"ascend_pytorch_profiler_{rank}.db")
        with contextlib.closing(sqlite3.connect(file)) as database:
            return database.execute(query).fetchall()


class Stacks(OfDatabases):
    def stacks(self, job, metric, *options):
        """{file name: {path: ns}}"""
        out = self.scratch / "stacks"
        shutil.rmtree(out, ignore_errors=True)
        result = self.run_tool("-m", "export_stacks", "--metric", metric, "-d", job, "-o", out, *options)
        self.assertEqual(result.code, 0, result.all_err)
        self.screen = result.out.splitlines()
        return {file.name: stacks_in(file) for file in (out / "cluster_analysis_output/ExportStacks").glob("*.txt")}

    def test_every_form_of_a_capture_gives_the_same_files(self):
        for metric in METRICS:
            with self.subTest(metric):
                text, database = (self.stacks(job, metric) for job in (self.scratch / "text", self.scratch / "db"))
                self.assertEqual(sorted(text), [f"stacks_{metric}.txt", f"stacks_{metric}_rank0.txt",
                                                f"stacks_{metric}_rank1.txt"])
                self.assertGreater(len(text[f"stacks_{metric}.txt"]), 3)
                self.assertEqual(text, database)

    def setUp(self):
        super().setUp()
        self.jobs = self.databases()
        self.ranks("text")

    def test_raw_captures_and_what_parse_makes_of_them(self):
        for metric in METRICS:
            found = {}
            for form in ("raw", "db", "text"):
                job = self.scratch / f"parsed_{form}"
                if not job.exists():
                    shutil.copytree(self.RAW / "stars", job)
                    if form != "raw":
                        subprocess.run([self.TOOL, "parse", "-d", job, "--export_type", form, "-q"], check=True,
                                       stdout=subprocess.DEVNULL)
                found[form] = self.stacks(job, metric)
            with self.subTest(metric):
                self.assertTrue(found["raw"])
                self.assertEqual(found["db"], found["raw"])
                self.assertEqual(found["text"], found["raw"])

    def test_all_ranks_are_the_sum_of_each(self):
        for metric in METRICS:
            files = self.stacks(self.jobs["twins"], metric)
            sums = defaultdict(int)
            for rank in (0, 1):
                for path, time in files[f"stacks_{metric}_rank{rank}.txt"].items():
                    sums[path] += time
            self.assertEqual(files[f"stacks_{metric}.txt"], sums)

    def test_host_time_is_that_of_the_rows(self):
        """The innermost call that is open counts, thread by thread."""
        for name, job in self.jobs.items():
            found = self.stacks(job, "host")
            for rank in (0, 1):
                texts = dict(self.rows(job, rank, "SELECT id, value FROM STRING_IDS"))
                threads = defaultdict(list)
                (levels,) = (dict(self.rows(job, rank, "SELECT id, name FROM ENUM_API_TYPE")),)
                prefix = {"node": "Node", "model": "Model", "acl": "AscendCL", "runtime": "Runtime", "hccl": "Communication"}
                for begin, end, thread, text, kind in self.rows(
                        job, rank, "SELECT startNs, endNs, globalTid, name, type FROM PYTORCH_API"):
                    if levels[kind] != "queue" or texts[text].startswith("Dequeue"):
                        threads[thread].append((int(begin), int(end), texts[text]))
                for begin, end, thread, text, kind in self.rows(
                        job, rank, "SELECT startNs, endNs, globalTid, name, type FROM CANN_API"):
                    threads[thread].append((begin, end, f"{prefix[levels[kind]]}@{texts[text]}"))
                expected = defaultdict(int)
                for spans in threads.values():
                    for frame, time in own_times(spans).items():
                        expected[frame.replace(";", ",")] += time
                with self.subTest(name, rank=rank):
                    self.assertEqual(by_last_frame(found[f"stacks_host_rank{rank}.txt"]),
                                     {frame: time for frame, time in expected.items() if time > 0})
