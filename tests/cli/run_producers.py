#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What newer producers of captures write: steps that programs mark themselves, shapes at Level0, tables of the 950.

    run_producers.py --tool BINARY --testdata DIR producers [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import sqlite3
import sys

from cli import Cli, main
from captures import DATABASE, build_database

STEPS = ((1, 1_700_000_000_000_000_000, 990_000_000), (2, 1_700_000_001_000_000_000, 990_000_000))  # of the captures


class Producers(Cli):
    def database(self, *statements):
        capture = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch / "job")
        with sqlite3.connect(capture / DATABASE) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
        return self.scratch / "job"

    def steps(self, job):
        result = self.run_tool("-m", "cluster_time_summary", "-d", job, "--json", "-o", self.out)
        self.assertIn(result.code, (0, 5), result.err)
        return {row["step"]: row["computation"] for row in json.loads(result.out)["sheets"][0]["rows"]}

    def checked_steps(self, job):
        return json.loads(self.run_tool("check", job, "--try", "--json").out)["ranks"][0]["steps"]

    def marks(self):
        yield "CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, " \
              "category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, " \
              "connectionId INTEGER)"
        for number, start, length in STEPS:
            yield f"INSERT INTO STRING_IDS VALUES ({9000 + number}, 'ProfilerStep#{number}')"
            yield f"INSERT INTO MSTX_EVENTS VALUES ({start}, {start + length}, 2, 0, 0, {9000 + number}, 1, 1, 0, -1)"

    def test_marked_steps_of_databases(self):
        recorded = self.steps(self.database())
        self.assertEqual(set(recorded), {1, 2})
        for without in ("DROP TABLE STEP_TIME", "DELETE FROM STEP_TIME"):
            with self.subTest(without=without):
                self.tearDown()
                self.setUp()
                job = self.database(without, *self.marks())
                self.assertEqual(self.steps(job), recorded)
                self.assertEqual(self.checked_steps(job), [1, 2])

    def test_marked_steps_of_traces(self):
        capture = self.capture_copy()
        job = self.scratch / "job"
        job.mkdir()
        capture = capture.rename(job / capture.name)
        recorded = self.steps(job)
        trace = capture / "ASCEND_PROFILER_OUTPUT/trace_view.json"
        events = [event for event in json.loads(trace.read_text()) if "ProfilerStep" not in event["name"]]
        events += [{"ph": "X", "name": f"ProfilerStep#{number}", "pid": 77, "tid": 1001, "ts": f"{start // 1000}.000",
                    "dur": length / 1000, "args": {"event_type": "start/end"}} for number, start, length in STEPS]
        trace.write_text(json.dumps(events))
        self.assertEqual(self.steps(job), recorded)

    def test_advice_for_shapes(self):
        """Level0 records them in current versions: the level is no advice where there are shapes."""
        def said(*statements):
            self.tearDown()
            self.setUp()
            job = self.database(*statements)
            return "\n".join(self.run_tool("-m", "operator_mfu", "-d", job, "-o", self.out).warnings)
        no_type = "UPDATE COMPUTE_TASK_INFO SET opType = (SELECT id FROM STRING_IDS WHERE value = 'float'), " \
                  "name = opType"
        with_shapes = said(no_type)
        self.assertIn("no kernel with a known number of operations; kernels have shapes", with_shapes)
        self.assertNotIn("Level1", with_shapes)
        self.assertIn("collect with profiler_level Level1", said(no_type, "UPDATE COMPUTE_TASK_INFO SET inputShapes = NULL"))

    def test_work_of_the_950(self):
        for table, said in (("CCU", "CCU tasks are not supported yet (table CCU)"),
                            ("DPU_TASK", "DPU tasks are not supported yet (table DPU_TASK)")):
            with self.subTest(table=table):
                self.tearDown()
                self.setUp()
                job = self.database(f"CREATE TABLE {table} (deviceId INTEGER, startNs INTEGER, endNs INTEGER)",
                                    f"INSERT INTO {table} VALUES (0, 1700000000000000000, 1700000000000000009)")
                result = self.run_tool("-m", "cluster_time_summary", "-d", job, "-o", self.out)
                self.assertEqual(result.code, 5, result.err)
                self.assertIn(said, "\n".join(result.warnings))


if __name__ == "__main__":
    sys.exit(main(__doc__, Producers))
