#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recipes take from earlier runs, and what they write while ranks are still read.

    run_earlier.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: earlier (cluster_time_compare_summary --bp), summaries (export_summary).
Exit status: 0 passed, 1 failed, 2 usage.
"""

import collections
import contextlib
import csv
import json
import shutil
import sqlite3
import sys

from cli import Cli, main
from captures import build_job

COMPARE = "cluster_time_compare_summary"


def rows_of(file, table):
    with contextlib.closing(sqlite3.connect(file)) as database:
        return database.execute(f"SELECT * FROM {table}").fetchall()


class Earlier(Cli):
    """The run to compare with may be what cluster_time_summary wrote of it."""

    def setUp(self):
        super().setUp()
        self.now = build_job(self.CAPTURES, "2:db_new_ascend_pt", self.scratch / "now")
        self.before = build_job(self.CAPTURES, "2:db_base_ascend_pt:slow=1", self.scratch / "before")
        self.results = self.scratch / "results"
        done = self.run_tool("-m", "cluster_time_summary", "-d", self.before, "-o", self.results)
        self.assertEqual(done.code, 0, done.err)
        self.file = self.results / "cluster_analysis_output/cluster_analysis.db"

    def compared(self, baseline, *options):
        """Screen and rows."""
        shutil.rmtree(self.out, ignore_errors=True)
        done = self.run_tool("-m", COMPARE, "-d", self.now, "--bp", baseline, "-o", self.out, *options)
        self.assertEqual((done.code, done.errors), (0, []), done.err)
        return done.out, rows_of(self.out / "cluster_analysis_output/cluster_analysis.db", "ClusterTimeCompareSummary")

    def test_results_say_what_the_captures_said(self):
        for options, count in (([], 4), (["--step_id", "2"], 2)):
            captures = self.compared(self.before, *options)
            self.assertEqual((len(captures[1]), {row[-1] for row in captures[1]}), (count, {"both"}))
            self.assertNotIn(0, [row[7] for row in captures[1]])  # computation differs from that of before
            for place in (self.results, self.file.parent, self.file):
                with self.subTest(options=options, place=place):
                    self.assertEqual(self.compared(place, *options), captures)

    def test_results_of_another_tool(self):
        """Their free time and waits are other quantities; times of kernels are the same."""
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            database.execute("UPDATE ClusterTimeSummary SET free = free - 1 WHERE step = 1")
            database.commit()
        done = self.run_tool("-m", COMPARE, "-d", self.now, "--bp", self.file, "-o", self.out)
        self.assertEqual((done.code, done.errors), (0, []), done.err)
        self.assertIn("defines free time, wait and transfer differently", "\n".join(done.err))
        file = self.out / "cluster_analysis_output/cluster_analysis.db"
        columns = [column[1] for column in rows_of(file, "pragma_table_info('ClusterTimeCompareSummary')")]
        for row in rows_of(file, "ClusterTimeCompareSummary"):
            cells = dict(zip(columns, row))
            self.assertEqual(cells["freeBase"] is None, cells["step"] == 1, cells)
            if cells["step"] == 1:
                self.assertIsNone(cells["communicationTransmitStageTimeBase"], cells)
            self.assertIsNotNone(cells["computationBase"], cells)

    def test_a_rank_of_the_results(self):
        """Its waits were found when all ranks were there."""
        (rank, step, *_), *_ = rows = self.compared(self.file, "--rank_list", "1")[1]
        self.assertEqual((rank, step, len(rows)), (1, 1, 2))
        everyone = {row[:2]: row for row in self.compared(self.before)[1]}
        for row in rows:
            self.assertEqual(row[3::3], everyone[row[:2]][3::3])

    def test_captures_go_before_results(self):
        """Results of another run beside the captures do not count."""
        shutil.copytree(self.file.parent, self.before / self.file.parent.name)
        with contextlib.closing(sqlite3.connect(self.before / self.file.parent.name / self.file.name)) as database:
            database.execute("UPDATE ClusterTimeSummary SET stepTime = 1")
            database.commit()
        self.assertNotIn(0.001, [row[3] for row in self.compared(self.before)[1]])

    def test_what_is_no_result(self):
        run = ["-m", COMPARE, "-d", self.now, "-o", self.out, "--bp"]
        self.assert_fails(3, self.run_tool(*run, self.scratch / "none"), "--bp", "no such file or directory")
        self.assert_fails(3, self.run_tool(*run, self.write("text.db", "nothing" * 99)), "text.db")
        self.assert_fails(3, self.run_tool(*run, self.file, "--rank_list", "1", "--step_id", "7"), "7")
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            database.execute("ALTER TABLE ClusterTimeSummary DROP COLUMN free")
            database.commit()
        self.assert_fails(3, self.run_tool(*run, self.file), "ClusterTimeSummary lacks the column free")
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            database.execute("DROP TABLE ClusterTimeSummary")
            database.commit()
        self.assert_fails(3, self.run_tool(*run, self.file), "no earlier results")
        self.assert_fails(3, self.run_tool(*run, self.results), "no profiler database")


class Summaries(Cli):
    """export_summary writes the files of a rank while others are read."""

    def export(self, job, *options):
        done = self.run_tool("-m", "export_summary", "-d", job, "-o", self.out, *options)
        self.assertEqual((done.code, done.errors), (0, []), done.err)
        folder = self.out / "cluster_analysis_output/ExportSummary"
        return done, {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.csv")}

    def test_the_table_lists_the_files(self):
        job = build_job(self.CAPTURES, "3:twin_db_base_ascend_pt", self.scratch)
        _, files = self.export(job)
        self.assertEqual(sorted(files), [f"rank{rank}/{name}" for rank in range(3)
                                         for name in ("api_statistic.csv", "kernel_details.csv")])
        rows = rows_of(self.out / "cluster_analysis_output/cluster_analysis.db", "ExportedFiles")
        self.assertEqual({file: count for _, file, count in rows},
                         {name: len([*csv.reader(text.decode().splitlines())]) - 1 for name, text in files.items()})

    def test_through_parts(self):
        job = build_job(self.CAPTURES, "2:twin_db_base_ascend_pt", self.scratch)
        direct = self.export(job)
        parts = self.scratch / "parts"
        self.assertEqual(self.run_tool("-m", "export_summary", "-d", job, "--shard", "0/1", "-o", parts).code, 0)
        shutil.rmtree(self.out)
        done = self.run_tool("merge", parts, "-o", self.out)
        folder = self.out / "cluster_analysis_output/ExportSummary"
        self.assertEqual(done.out, direct[0].out)
        self.assertEqual({str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.csv")}, direct[1])

    def test_text_captures_keep_their_files(self):
        capture = self.capture_copy("twin_text_base_ascend_pt")
        _, files = self.export(capture)
        originals = {path.name: path.read_bytes() for path in capture.rglob("*.csv")}
        written = {name.split("/")[1]: content for name, content in files.items()}
        self.assertEqual(sorted(written), ["api_statistic.csv", "kernel_details.csv"])
        self.assertEqual(written["kernel_details.csv"], originals["kernel_details.csv"])
        # It has no api_statistic.csv: that is made of the calls in the trace.
        (trace,) = capture.rglob("trace_view.json")
        events = json.loads(trace.read_text())
        (cann,) = {event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"] == "CANN"}
        calls = collections.Counter(event["name"] for event in events if event["ph"] == "X" and event["pid"] == cann)
        rows = csv.DictReader(written["api_statistic.csv"].decode().splitlines())
        self.assertEqual({row["API Name"]: int(row["Count"]) for row in rows},
                         {name.split("@")[-1]: count for name, count in calls.items()})


if __name__ == "__main__":
    sys.exit(main(__doc__, Earlier, Summaries))
