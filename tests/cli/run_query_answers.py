#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the tables of `msprof-analyze query` that answer as the recipes do.

    run_query_answers.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: queryanswers (modules, steps and requests of servers, roles, what is missing and why,
against the results of the recipes and of `check`), queryviews (on captures outside of the repository: modules, and views
of the public skill for the profiler's databases against the joins on a database).
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import contextlib
import json
import sqlite3
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from cli import main
from run_query import SHARED, TWIN_DB, TWIN_TEXT, Query, build_database


class Answers(Query):
    def recipe(self, name, table, capture):
        """The rows of the recipe's table, by column."""
        out = Path(tempfile.mkdtemp(dir=self.scratch))
        done = self.run_tool("-m", name, "-d", capture, "-o", out, "--export_type", "db", "-q")
        self.assertEqual(done.code, 0, done.err)
        with contextlib.closing(sqlite3.connect(out / "cluster_analysis_output" / "cluster_analysis.db")) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(f'SELECT * FROM "{table}"')]

    def assert_modules(self, capture):
        """Sums by place and by operator are those of module_statistic, those of the outermost calls hold all others."""
        of_path, of_op = Counter(), Counter()
        for row in self.recipe("module_statistic", "ModuleStatistic", capture):
            of_path[row["parentModule"]] += row["totalKernelDuration(ns)"]
            of_op[row["parentModule"], row["opName"]] += row["opCount"]
        rows = self.rows(capture, "SELECT coalesce(path, ''), sum(device_ns) FROM module GROUP BY 1")
        self.assertEqual({path: ns for path, ns in rows if ns}, {path: ns for path, ns in of_path.items() if ns})
        rows = self.rows(capture, "SELECT coalesce(m.path, ''), o.name, count(*) FROM op o JOIN module m ON m.id = o.module"
                         " AND m.rank = o.rank WHERE EXISTS (SELECT 1 FROM kernel k WHERE k.op = o.id AND k.rank = o.rank)"
                         " OR EXISTS (SELECT 1 FROM comm c WHERE c.op = o.id AND c.rank = o.rank) GROUP BY 1, 2")
        self.assertEqual({(path, name): count for path, name, count in rows}, dict(of_op))
        self.assertTrue(rows)
        ((own, within),) = self.rows(capture, "SELECT sum(device_ns), sum(CASE WHEN parent IS NULL THEN device_total_ns END)"
                                     " FROM module")
        self.assertEqual(own, within)


class QueryAnswers(Answers):
    def assert_same(self, capture, table, columns, expected, order="id"):
        """`columns`: of the query by column of the recipe's table, which has no NULL but empty cells."""
        self.assertTrue(expected)
        rows = self.rows(capture, f"SELECT {', '.join(columns.values())} FROM {table} ORDER BY {order}")
        self.assertEqual([[None if value == "" else value for value in row] for row in rows],
                         [[None if row[name] == "" else row[name] for name in columns] for row in expected])

    def test_modules(self):
        twin = build_database(self.CAPTURES, TWIN_DB, self.scratch)
        for capture in (TWIN_TEXT, twin, "text_base_ascend_pt", "gpu_base.json"):
            with self.subTest(capture=capture):
                self.assert_modules(capture)
        self.assertEqual(*(self.rows(capture, "SELECT * FROM module ORDER BY id") for capture in (TWIN_TEXT, twin)))

    def test_modules_within_modules(self):
        rows = self.rows(TWIN_TEXT, "SELECT id, parent, start, start + dur, device_ns, device_total_ns FROM module")
        total = defaultdict(int)
        for number, parent, begin, end, own, _ in reversed(rows):
            total[number] += own
            if parent is not None:
                self.assertLess(parent, number)
                self.assertLessEqual(rows[parent][2], begin)
                self.assertLessEqual(end, rows[parent][3] + 1000)
                total[parent] += total[number]
        self.assertEqual([row[5] for row in rows], [total[row[0]] for row in rows])
        self.assertTrue(any(row[1] is not None for row in rows))

    def test_steps_of_servers(self):
        expected = self.recipe("serving_phases", "ServingSteps", "serving_base.json")
        columns = {"step": "id", "phase": "phase", "requests": "requests", "promptTokens": "prompt_tokens",
                   "outputTokens": "output_tokens", "graphSize": "graph_size", "warmUp": "warm_up", "startNs": "start",
                   "durationNs": "dur", "timePerPromptTokenNs": "time_per_prompt_token_ns",
                   "timeToNextTokenNs": "time_to_next_token_ns"}
        parts = ("attention", "matrix", "sampling", "otherKernel", "communication", "waiting", "copy", "host")
        columns |= {f"{part}Ns": part.replace("K", "_k") + "_ns" for part in parts}
        self.assert_same("serving_base.json", "serving_step", columns, expected)
        (sums,) = self.rows("serving_base.json", "SELECT sum(dur), sum(" + " + ".join(
            columns[f"{part}Ns"] for part in parts) + ") FROM serving_step")
        self.assertEqual(sums[0], sums[1])
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT * FROM serving_step"), [])

    def test_requests(self):
        expected = self.recipe("serving_requests", "ServingRequests", "server_requests")
        columns = {"requestId": "request_id", "dpRank": "dp_rank", "startNs": "start", "promptTokens": "prompt_tokens",
                   "replyTokens": "reply_tokens", "queueNs": "queue_ns", "firstTokenNs": "first_token_ns",
                   "perTokenNs": "per_token_ns", "endToEndNs": "end_to_end_ns", "prefixHitPercent": "prefix_hit_percent",
                   "preemptions": "preemptions", "transferNs": "transfer_ns"}
        self.assert_same("server_requests", "request", columns, expected, "rank, id")
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT * FROM request"), [])

    def test_roles(self):
        for capture in ("rl_apart", "rl_colocated"):
            with self.subTest(capture=capture):
                expected = self.recipe("rl_roles", "RlRoles", capture)
                columns = {"iteration": "iteration", "role": "role", "kind": "kind", "devices": "devices",
                           "startNs": "start_ns", "endNs": "end_ns", "wallNs": "wall_ns", "overlapNs": "overlap_ns",
                           "deviceNs": "device_ns", "computingNs": "computing_ns", "communicationNs": "communication_ns",
                           "copyNs": "copy_ns", "freeNs": "free_ns", "waitingNs": "waiting_ns",
                           "halvingGainNs": "halving_gain_ns"}
                self.assert_same(capture, "rl_role", columns, expected)
                answer = self.run_tool("query", capture, "SELECT count(*) FROM rl_role")
                self.assertEqual((answer.code, answer.warnings), (0, []))  # none of the roles is left out
        none = self.ask(TWIN_TEXT, "SELECT * FROM rl_role")
        self.assertEqual(none["rows"], [])
        self.assertIn("no roles", " ".join(none["notes"]))

    def test_why_data_is_missing(self):
        """Reasons are those that `check` lists; what was recorded needs none."""
        for capture in ("text_level0_ascend_pt", TWIN_TEXT, "gpu_base.json"):
            with self.subTest(capture=capture):
                (of_rank,) = json.loads(self.run_tool("check", "-d", capture, "--json").out)["ranks"]
                reasons = {lack["reason"] for analysis in of_rank["analyzers"] for lack in analysis["lacks"]}
                found = {}
                for what, state, why, setting in self.rows(capture, "SELECT what, state, why, setting FROM captured"
                                                           " WHERE state IS NULL OR state IN ('yes', 'no')"):
                    self.assertEqual(state, {True: "yes", False: "no", None: None}[of_rank["recorded"][what]])
                    self.assertTrue(why is None or (state == "no" and why in reasons), why)
                    self.assertTrue(state == "no" or setting is None)
                    found[what] = why, setting
                self.assertEqual(set(found), set(of_rank["recorded"]))
                if capture == "text_level0_ascend_pt":
                    self.assertEqual(found["kernel_types"][1], "profiler_level=Level1")
                    self.assertIn("aic_metrics=PipeUtilization", found["counters"][1])
                    self.assertEqual(found["communication_tasks"][1], "profiler_level=Level1")
                    self.assertIn("mstx", found["mstx"][0])

    def test_warnings_and_labels(self):
        """What `check` warns of; a rank without a number is its label."""
        rows = self.rows("scheduled_ascend_pt", "SELECT what, why, setting FROM captured WHERE state = 'warning'")
        (of_rank,) = json.loads(self.run_tool("check", "-d", "scheduled_ascend_pt", "--json").out)["ranks"]
        self.assertEqual(rows, [[one["id"], one["text"], one["advice"]] for one in of_rank["warnings"]])
        self.assertTrue(rows)
        self.assertEqual(self.rows("head_steady_ascend_pt", "SELECT DISTINCT rank FROM captured"), [["head_steady"]])


# By columns of the views, with whole numbers where the skill rounds.
JOINS = {
    "compute_view": """SELECT name.value AS op_name, kind.value AS op_type, k.endNs - k.startNs AS duration_ns
        FROM COMPUTE_TASK_INFO i JOIN TASK k ON k.globalTaskId = i.globalTaskId
        JOIN STRING_IDS name ON name.id = i.name JOIN STRING_IDS kind ON kind.id = i.opType""",
    "comm_view": """SELECT name.value AS op_name, kind.value AS op_type, team.value AS group_name,
        o.endNs - o.startNs AS duration_ns FROM COMMUNICATION_OP o JOIN STRING_IDS name ON name.id = o.opName
        JOIN STRING_IDS kind ON kind.id = o.opType JOIN STRING_IDS team ON team.id = o.groupName""",
    "dispatch_view": """SELECT kind.value AS task_type, k.endNs - k.startNs AS task_duration_ns,
        call.value AS cann_api_name, a.endNs - a.startNs AS cann_duration_ns, k.startNs AS task_start_ns,
        a.startNs AS cann_start_ns, op.value AS pytorch_api_name, p.endNs - p.startNs AS pytorch_duration_ns
        FROM TASK k JOIN STRING_IDS kind ON kind.id = k.taskType
        LEFT JOIN CANN_API a ON a.connectionId = k.connectionId LEFT JOIN STRING_IDS call ON call.id = a.name
        LEFT JOIN CONNECTION_IDS c ON c.connectionId = k.connectionId
        LEFT JOIN PYTORCH_API p ON p.connectionId = c.id LEFT JOIN STRING_IDS op ON op.id = p.name""",
}


@unittest.skipUnless(SHARED.is_dir(), "no captures in ../shared/data")
class QueryViews(Answers):
    def test_views_of_the_skill(self):
        for job in ("npu/db/level1/rank0_ascend_pt", "npu/db_mstx/rank1_ascend_pt"):
            (file,) = (SHARED / job).glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db")
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                for view, join in JOINS.items():
                    with self.subTest(job=job, view=view):
                        cursor = database.execute(join)
                        columns = ", ".join(column[0] for column in cursor.description)
                        expected = Counter(cursor)
                        self.assertGreater(sum(expected.values()), 3)
                        for sql in (f"SELECT {columns} FROM {view}", join):
                            rows = self.rows(SHARED / job, sql, "--max_rows", "100000")
                            self.assertEqual(Counter(map(tuple, rows)), expected)

    def test_modules_within_modules(self):
        for capture in ("npu/text/level1", "npu/db_mstx", "raw/stack_mstx_gc"):
            with self.subTest(capture=capture):
                self.assert_modules(SHARED / capture)

    def test_formats_have_rows(self):
        for capture in ("npu/text/level1", "raw/level1", "gpu/ddp_nccl.json.gz"):
            for view in JOINS:
                with self.subTest(capture=capture, view=view):
                    self.assertTrue(self.rows(SHARED / capture, f"SELECT * FROM {view} LIMIT 1") or
                                    (capture == "raw/level1" and view == "comm_view"))


if __name__ == "__main__":
    sys.exit(main(__doc__, QueryAnswers, QueryViews))
