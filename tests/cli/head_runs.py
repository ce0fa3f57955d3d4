# SPDX-License-Identifier: Apache-2.0
"""Runs head_overhead on the captures worked out in testdata/README.md, "Compiled graphs"."""

import sqlite3

from cli import Cli
from captures import build_database


class HeadRuns(Cli):
    EPOCH = 1_700_000_000_000_000_000
    TIMES = "w0Ns e0Ns t1Ns t2Ns t3Ns t4Ns fk0Ns fk1Ns".split()
    STEADY, HARD = "head_steady_ascend_pt", "head_hard_ascend_pt"

    def setUp(self):
        super().setUp()
        self.results = self.out / "cluster_analysis_output"
        self.database = {name: build_database(self.CAPTURES, name, self.scratch / "databases")
                         for name in (self.STEADY, self.HARD)}

    def both(self, name):
        """The run as text and as a database."""
        return self.CAPTURES / name, self.database[name]

    def head(self, capture, *options):
        return self.run_tool("-m", "head_overhead", "-d", capture, "-o", self.out, *options)

    def rows(self, table):
        """Rows as dictionaries, times in microseconds; points in time behind the epoch."""
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        cursor = database.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        whole = {name for name in names if name.startswith("n") and name != "name"} | {
            "rankId", "callId", "parentCallId", "step", "pid", "tid", "deviceId", "calls",
            "compileCalls", "count"}
        rows = []
        for row in cursor.fetchall():
            values = dict(zip(names, row))
            for name in names:
                if isinstance(values[name], int) and name not in whole:
                    offset = self.EPOCH if name in self.TIMES else 0
                    values[name] = (values[name] - offset) / 1000
            rows.append(values)
        database.close()
        return rows

    def assert_columns(self, row, expected):
        self.assertEqual({name: row[name] for name in expected}, expected)

    def assert_adds_up(self, call):
        parts = [call[name] or 0 for name in ("platform", "dynamo", "torchairPy", "torchairCpp", "ge")]
        self.assertEqual(sum(parts), call["head"])
        exposed = [call[f"exposed{name}"] or 0
                   for name in ("Platform", "Dynamo", "Py", "Cpp", "Ge", "Lag")]
        self.assertEqual(sum(exposed), call["deviceIdleBeforeFirstKernel"])

    def summary(self, scope="all", phase="steady"):
        return {row["segment"]: row for row in self.rows("HEAD_SUMMARY")
                if (row["scope"], row["phase"]) == (scope, phase)}
