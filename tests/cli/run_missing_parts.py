#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures with parts missing, and with rows that contradict others.

    run_missing_parts.py --tool BINARY --testdata DIR missingtables|textrecords|oddranks|oddrows|contradictions|tablesalone|databases|twojobs [-v]

The captures are copies of those of the testdata in which one thing is changed: the numbers of the whole capture are the
truth. Either they come out, or exit code 5 and a warning say what is wrong; what is unknown is null.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import gzip
import json
import shutil
import sqlite3
import sys

from cli import Cli, main
from captures import build_database, set_rank

DATABASE = "db_base_ascend_pt"
OUTPUT = "ASCEND_PROFILER_OUTPUT"


class Changed(Cli):
    """A changed capture against the whole one."""

    def database(self, *statements, name=DATABASE):
        where = self.scratch / f"copy{len(list(self.scratch.iterdir()))}"
        capture = build_database(self.CAPTURES, name, where)
        (file,) = capture.rglob("ascend_pytorch_profiler*.db")
        with sqlite3.connect(file) as database:
            for statement in statements:
                database.execute(statement)
        database.close()
        return capture

    def text(self, name="text_base_ascend_pt", change=None):
        capture = self.scratch / f"copy{len(list(self.scratch.iterdir()))}" / name
        shutil.copytree(self.CAPTURES / name, capture)
        if change:
            change(capture / OUTPUT)
        return capture

    def sheets(self, comparison, base, *more):
        result = self.compare("--json", *more, comparison=comparison, base=base)
        self.assertIn(result.code, (0, 5), result.err)
        return {sheet["name"]: sheet["rows"] for sheet in json.loads(result.out)["sheets"]}, result

    def overall_of(self, comparison, base):
        sheets, result = self.sheets(comparison, base)
        return {row["index"]: (row["base_duration_ms"], row["comparison_duration_ms"])
                for row in sheets["OverallMetrics"]}, result

    def told(self, result, *said):
        self.assertEqual(result.code, 5, result.err)
        for words in said:
            self.assertIn(words, "\n".join(result.warnings))


class MissingTables(Changed):
    def test_without_details_of_kernels(self):
        """Computing comes from the types of tasks; classes are unknown."""
        for lose in ("DROP TABLE", "DELETE FROM"):
            overall, result = self.overall_of(self.database(f"{lose} COMPUTE_TASK_INFO"), self.database())
            self.told(result, "COMPUTE_TASK_INFO is missing or empty")
            base, comparison = overall["Computing Time"]
            self.assertGreater(base, 0)
            self.assertAlmostEqual(comparison, base)
            for index, (_, value) in overall.items():
                if index.startswith(("Conv", "Matmul", "Flash Attention", "Vector", "Cube")):
                    self.assertIsNone(value, index)

    def test_without_connections(self):
        sheets, result = self.sheets(self.database("DROP TABLE CONNECTION_IDS"), self.database())
        self.told(result, "CONNECTION_IDS is missing")
        rows = sheets["OperatorCompareStatistic"]
        self.assertTrue(any(row["base_device_duration_ms"] for row in rows))
        for row in rows:
            if row["comparison_operator_number"]:
                self.assertIsNone(row["comparison_device_duration_ms"])
                self.assertIsNone(row["diff_duration_ms"])

    def test_without_tasks_of_collectives(self):
        overall, result = self.overall_of(self.database("DROP TABLE COMMUNICATION_TASK_INFO"), self.database())
        self.told(result, "COMMUNICATION_TASK_INFO is missing")
        self.assertAlmostEqual(*overall["Uncovered Communication Time"])
        # TASK has tasks that wait, too, but not for whom: 28 ms instead of 14.
        sheets, _ = self.sheets(self.database("DROP TABLE COMMUNICATION_TASK_INFO"), self.database())
        self.assertEqual([(row["base_duration_ms"], row["comparison_duration_ms"])
                          for row in sheets["OverallMetrics"] if row["index"].endswith("Wait")],
                         [(14, None), (6, None)])

    def test_without_launches(self):
        """Operators' device time is unknown; the account of the device stays."""
        def no_arrows(folder):
            path = folder / "trace_view.json"
            path.write_text(json.dumps([event for event in json.loads(path.read_text()) if event["ph"] not in "sf"]))
        _, result = self.sheets(self.text(change=no_arrows), self.text())
        self.told(result, "work of the device without a launch in the trace, operators lack its time (462.000 of")
        gpu = json.loads((self.CAPTURES / "gpu_base.json").read_text())
        work = [event for event in gpu["traceEvents"] if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
        lost = [event for number, event in enumerate(work) if number % 2]
        for event in lost:
            event["args"].pop("correlation", None)
        places = {(event["pid"], event["tid"], event["ts"]) for event in lost}
        gpu["traceEvents"] = [event for event in gpu["traceEvents"]
                              if event["ph"] != "f" or (event["pid"], event["tid"], event["ts"]) not in places]
        trace = self.scratch / "lost.json"
        trace.write_text(json.dumps(gpu))
        self.told(self.compare(base=self.CAPTURES / "gpu_base.json", comparison=trace), "without a launch in the trace")

    def test_clocks_of_host_and_device(self):
        """An hour between launches and what they launched."""
        for hours in (-1, 1):
            gpu = json.loads((self.CAPTURES / "gpu_base.json").read_text())
            for event in gpu["traceEvents"]:
                if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") or event["ph"] == "f":
                    event["ts"] += hours * 3.6e9
            trace = self.scratch / "apart.json"
            trace.write_text(json.dumps(gpu))
            self.told(self.compare(base=self.CAPTURES / "gpu_base.json", comparison=trace),
                      "the clocks of host and device do not fit")


class TextRecords(Changed):
    """Text captures that lost records, or have them twice or of others."""

    BASE = "text_base_ascend_pt"

    def events(self, change):
        """A copy in which change(events) returns the events of the trace."""
        def alter(folder):
            path = folder / "trace_view.json"
            path.write_text(json.dumps(change(json.loads(path.read_text()))))
        return self.text(change=alter)

    def lines(self, name, change):
        """A copy in which change(lines) returns the lines of a file."""
        def alter(folder):
            path = folder / name
            path.write_text("".join(change(path.read_text().splitlines(keepends=True))))
        return self.text(change=alter)

    def unchanged(self, capture):
        """The sheets are those of the whole capture."""
        sheets, result = self.sheets(capture, self.BASE)
        for row in (row for rows in sheets.values() for row in rows):
            for name in row:
                if name.startswith("base_"):
                    self.assertEqual(row[name], row[name.replace("base_", "comparison_")], (name, row))
        return result

    def test_launches_without_work(self):
        """Work of the first step is lost with the ends of its arrows: 12 launches, worked out from the trace."""
        second = 1_700_000_001_000_000

        def lose(events):
            return [event for event in events if event["ph"] == "M" or event.get("pid") == 1000
                    or float(event.get("ts", 0)) >= second]
        capture = self.events(lose)
        whole = json.loads((self.CAPTURES / self.BASE / OUTPUT / "trace_view.json").read_text())
        arrows = [event for event in whole if event.get("cat") == "async_npu"]
        kept = {event["id"] for event in lose(arrows) if event["ph"] == "f"}
        lost = sum(event["ph"] == "s" and event["id"] not in kept for event in arrows)
        self.assertGreater(lost, 0)
        _, result = self.sheets(capture, self.BASE)
        self.told(result, "launches have no work on the device", f"{lost} of {sum(e['ph'] == 's' for e in arrows)}")
        gate = self.compare("--fail_on", "e2e>+3%", "--min_steps", "1", comparison=capture, base=self.BASE)
        self.assertEqual(gate.code, 5, gate.err)

    def test_events_written_twice(self):
        def twice(events):
            return events + [event for event in events if event["ph"] == "X"]
        self.told(self.unchanged(self.events(twice)), "it was written twice", "trace_view.json")

    def test_tables_that_were_joined(self):
        capture = self.lines("step_trace_time.csv", lambda lines: lines + lines)
        self.told(self.run_tool("-m", "all", "-d", capture, "-o", self.out), "the header stands in the table twice")
        self.told(self.unchanged(self.lines("kernel_details.csv", lambda lines: lines + lines)), "the header stands")

    def test_tables_without_rows(self):
        for name, said in (("kernel_details.csv", "kernel_details.csv"), ("operator_memory.csv", "operator_memory.csv has no rows")):
            with self.subTest(name=name):
                _, result = self.sheets(self.lines(name, lambda lines: lines[:1]), self.BASE)
                self.told(result, said)

    def test_arrows_without_a_number(self):
        def rename(events):
            for event in events:
                if event["ph"] in "sf":
                    del event["id"]
            return events
        self.told(self.sheets(self.events(rename), self.BASE)[1], "arrow left out, it has no number")

    def test_operators_that_launched_are_lost(self):
        def lose(events):
            begins = {(e["tid"], e["ts"]) for e in events if e.get("cat") == "async_npu" and e["ph"] == "s"}
            return [e for e in events if e.get("cat") != "cpu_op" or (e["tid"], e["ts"]) not in begins]
        self.told(self.sheets(self.events(lose), self.BASE)[1], "operators that launched work were lost")

    def test_work_before_its_launch(self):
        def earlier(events):
            end = next(e for e in events if e.get("cat") == "async_npu" and e["ph"] == "f")
            launch = next(e for e in events if e.get("cat") == "async_npu" and e["ph"] == "s" and e["id"] == end["id"])
            end["ts"] = str(float(launch["ts"]) - 50_000)
            return events
        self.told(self.sheets(self.events(earlier), self.BASE)[1], "its work begins before it")

    def test_overlap_analysis_without_its_kernels(self):
        def lose(events):
            lost = {(e["tid"], e["ts"]) for e in events if e["ph"] == "X" and e["name"].startswith("hcom_")}
            gone = {e["id"] for e in events if e["ph"] == "f" and (e["tid"], e["ts"]) in lost}
            return [e for e in events if e.get("id") not in gone and not (e["ph"] == "X" and (e["tid"], e["ts"]) in lost)]
        self.told(self.sheets(self.events(lose), self.BASE)[1], "collectives of the trace were lost")

    def test_processes_without_names(self):
        def lose(events):
            return [event for event in events if event["name"] != "process_name"]
        self.told(self.sheets(self.events(lose), self.BASE)[1], "names of processes are missing")

    def test_a_trace_without_events(self):
        self.told(self.run_tool("advisor", "all", "-d", self.events(lambda _: []), "-o", self.out), "the trace holds no events")

    def test_threads_that_are_unknown(self):
        def lose(events):
            for event in events:
                if event.get("cat") == "python_function":
                    del event["tid"]
            return events
        self.told(self.sheets(self.events(lose), self.BASE)[1], "its pid or tid is missing")

    def test_an_empty_document(self):
        self.told(self.sheets(self.lines("communication.json", lambda _: ["{}"]), self.BASE)[1], "communication.json is empty")

    def test_steps_of_another_run(self):
        capture = self.lines("step_trace_time.csv", lambda lines: [lines[0], *("7" + line for line in lines[1:])])
        self.told(self.sheets(capture, self.BASE)[1], "step_trace_time.csv is of another run")

    def test_columns_of_steps(self):
        """What the others tell comes out, under a header that was damaged, too."""
        def rows(capture):
            result = self.run_tool("-m", "all", "-d", capture, "--json", "-o", self.out)
            return next(sheet["rows"] for sheet in json.loads(result.out)["sheets"] if "Step" in sheet["name"]), result
        whole, _ = rows(self.text())
        for name in (",Overlapped,", ",Stage,", ",Bubble,", ",Preparing"):
            with self.subTest(name=name):
                capture = self.lines("step_trace_time.csv", lambda lines: [lines[0].replace(name, name[:3] + "_" + name[3:]), *lines[1:]])
                damaged, result = rows(capture)
                self.told(result, f'the column "{name.strip(",")}" is missing')
                for one, other in zip(whole, damaged):
                    if name == ",Preparing":
                        self.assertIsNone(other["preparing"])
                        other["preparing"] = one["preparing"]
                    for key, value in one.items():
                        if isinstance(value, float):
                            self.assertAlmostEqual(other[key], value, places=2, msg=key)

    def test_columns_of_kernels(self):
        for name in ("Type", "Accelerator Core", "Input Shapes", "Output Data Types"):
            capture = self.lines("kernel_details.csv", lambda lines: [lines[0].replace("," + name + ",", ",odd,"), *lines[1:]])
            self.told(self.sheets(capture, self.BASE)[1], f'the column "{name}" is missing')

    def test_numbers_as_reals(self):
        def reals(events):
            for event in events:
                for key in ("pid", "tid"):
                    if isinstance(event.get(key), int):
                        event[key] = float(event[key])
            return events
        self.assertEqual(self.unchanged(self.events(reals)).code, 0)

    def test_other_encodings(self):
        def wide(folder, name):
            path = folder / name
            path.write_text(path.read_text(), encoding="utf-16")
        for name in ("kernel_details.csv", "communication.json"):
            capture = self.text(change=lambda folder: wide(folder, name))
            self.told(self.sheets(capture, self.BASE)[1], "the text is UTF-16", name)
        refused = self.compare(comparison=self.text(change=lambda folder: wide(folder, "trace_view.json")), base=self.BASE)
        self.assertEqual(refused.code, 3)
        self.assertIn("the text is UTF-16", "".join(refused.errors))

    def test_zeros_behind_packed_data(self):
        def pack(folder):
            path = folder / "trace_view.json"
            path.write_bytes(gzip.compress(path.read_bytes()) + bytes(4096))
        self.assertEqual(self.unchanged(self.text(change=pack)).code, 0)


class OddRanks(Changed):
    def test_the_name_of_the_file_has_the_rank(self):
        for content in ("{", '{"rank_id": "../../x"}', '{"rank_id": -5}', '{"rank_id": 1.5}', '{"rank_id": null}'):
            with self.subTest(content=content):
                capture = self.text()
                (capture / "profiler_info_0.json").unlink()
                (capture / "profiler_info_3.json").write_text(content)
                for path in (capture, capture / OUTPUT):
                    result = self.run_tool("-m", "cluster_time_summary", "-d", path, "--json", "-o", self.out)
                    self.assertEqual({row["rank"] for row in json.loads(result.out)["sheets"][0]["rows"]}, {3})
                    self.assertIn("profiler_info_3.json", "\n".join(result.warnings))
                checked = json.loads(self.run_tool("check", "-d", capture, "--json").out)
                self.assertEqual([rank["rank"] for rank in checked["ranks"]], [3])
                asked = json.loads(self.run_tool("advisor", "all", "-d", capture, "--json", "-o", self.out).out)
                self.assertEqual(asked["capture"]["ranks"], [3])

    def test_numbers_that_no_job_has(self):
        for number in (2**31, 2**63 - 1, 2**64):
            capture = self.text()
            info = capture / "profiler_info_0.json"
            info.rename(capture / f"profiler_info_{number}.json")
            result = self.run_tool("-m", "cluster_time_summary", "-d", capture, "--json", "-o", self.out)
            self.told(result, f"rank {min(number, 2**63 - 1)} is out of range")
            self.assertNotIn(f'"rank": {number}', result.out)
            checked = json.loads(self.run_tool("check", "-d", capture, "--json").out)
            self.assertEqual(checked["ranks"][0]["rank"], 0, "by its process groups")
            self.assertEqual([warning["id"] for warning in checked["warnings"]], ["rank_impossible"])

    def test_groups_that_no_job_has(self):
        for ranks in ([0, 2**31], [-1, 0], [0, 0], list(range(5))):
            def change(folder, ranks=ranks):
                path = folder.parent / "profiler_metadata.json"
                document = json.loads(path.read_text())
                document["parallel_group_info"]["group_0"]["global_ranks"] = ranks
                path.write_text(json.dumps({**document, "distributed_args": {"world_size": 4}}))
            with self.subTest(ranks=ranks):
                result = self.run_tool("-m", "communication_group_map", "-d", self.text(change=change), "-o", self.out)
                self.told(result, "they are more than the job has ranks or out of range", f"group group_0: {len(ranks)} members in a job of 4")

    def test_ranks_that_no_group_has(self):
        for column in ("srcRank", "dstRank"):
            capture = self.database(f"UPDATE COMMUNICATION_TASK_INFO SET {column} = 2147483648 WHERE rowid = 3")
            result = self.run_tool("-m", "slow_link", "-d", capture, "-o", self.out)
            self.told(result, "it is in no group")


class OddRows(Changed):
    def test_half_of_the_tasks_at_0(self):
        """The steps stay as long as they are."""
        statement = "UPDATE TASK SET startNs = 0, endNs = endNs - startNs WHERE rowid % 2"
        result = self.run_tool("-m", "cluster_time_summary", "-d", self.database(statement), "--json", "-o", self.out)
        self.told(result, "times span more than a day")
        whole = self.run_tool("-m", "cluster_time_summary", "-d", self.database(), "--json", "-o", self.out)
        steps = [[row["step_time"] for row in json.loads(run.out)["sheets"][0]["rows"]] for run in (result, whole)]
        self.assertEqual(len(steps[0]), len(steps[1]))
        for damaged, right in zip(*steps):
            self.assertLessEqual(damaged, right * 1.01)

    def test_no_task_takes_time(self):
        result = self.sheets(self.database("UPDATE TASK SET endNs = startNs"), self.database())[1]
        self.told(result, "take no time, their durations are damaged")

    def test_bad_times_cost_their_rows(self):
        operator = "PYTORCH_API WHERE type = 50001"
        for table in ("TASK", "COMMUNICATION_OP", operator, "STEP_TIME"):
            for column in ("startNs", "endNs"):
                for value in ("0", "-5", "'word'", "NULL", "9000000000000000000"):
                    with self.subTest(table=table, column=column, value=value):
                        first = f"(SELECT min(rowid) FROM {table})"
                        name = table.split()[0]
                        capture = self.database(f"UPDATE {name} SET {column} = {value} WHERE rowid = {first}")
                        for arguments in (["advisor", "all"], ["-m", "cluster_time_summary"]):
                            result = self.run_tool(*arguments, "-d", capture, "--json", "-o", self.out)
                            self.assertNotIn("the part of a rank", result.all_err)
                            self.assertEqual(result.code, 5, result.err)

    def test_numbers_that_tie_tables_together(self):
        """What belongs to what is lost with a number that is NULL, or that no other table has."""
        no_task = "TASK does not have its globalTaskId"
        details, parts = "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO"
        one_operator = "SELECT min(rowid) FROM PYTORCH_API WHERE type = 50001 AND connectionId IS NOT NULL"
        for statement, said in (
                ("DROP TABLE TASK", "table TASK is missing"),
                ("DROP TABLE COMMUNICATION_OP", "COMMUNICATION_OP does not have its opId"),
                ("UPDATE TASK SET globalTaskId = NULL WHERE globalTaskId = 4", no_task),
                (f"UPDATE {details} SET globalTaskId = 987654 WHERE globalTaskId = 4", no_task),
                (f"UPDATE {parts} SET globalTaskId = NULL WHERE rowid = 2", no_task),
                (f"UPDATE {parts} SET globalTaskId = 987654 WHERE rowid = 2", no_task),
                (f"UPDATE {parts} SET opId = 987654 WHERE rowid = 2", "COMMUNICATION_OP does not have its opId"),
                (f"UPDATE {parts} SET taskType = NULL WHERE rowid = 2", "its taskType is NULL"),
                *((f"UPDATE {details} SET {column} = NULL WHERE globalTaskId = 4", f"text left empty, {column} is NULL")
                  for column in ("name", "opType", "taskType")),
                ("UPDATE TASK SET taskType = NULL WHERE rowid = 3", "text left empty, taskType is NULL"),
                ("UPDATE TASK SET streamId = NULL WHERE rowid = 3", "stream of a task is unknown"),
                ("UPDATE COMMUNICATION_OP SET opName = NULL WHERE rowid = 2", "text left empty, opName is NULL"),
                ("UPDATE COMMUNICATION_OP SET groupName = NULL WHERE rowid = 2", "group of a collective is unknown"),
                *((f"UPDATE PYTORCH_API SET {column} = NULL WHERE rowid = ({one_operator})", said)
                  for column, said in (("name", "text left empty, name is NULL"), ("type", "its type is NULL"),
                                       ("globalTid", "thread of an operator is unknown"))),
                ("UPDATE TASK SET connectionId = NULL", "operator of a task is unknown, its connectionId is NULL"),
                ("UPDATE COMMUNICATION_OP SET connectionId = NULL WHERE rowid = 2", "its connectionId is NULL"),
                ("UPDATE COMMUNICATION_OP SET connectionId = 987654 WHERE rowid = 2",
                 "TASK lacks its connectionId"),
                ("UPDATE CONNECTION_IDS SET connectionId = NULL WHERE rowid = 2", "launches of an operator are lost"),
                (f"UPDATE PYTORCH_API SET connectionId = 987654 WHERE rowid = ({one_operator})",
                 "CONNECTION_IDS does not have its connectionId")):
            with self.subTest(statement=statement):
                result = self.compare(comparison=self.database(statement))
                self.told(result, said, "ascend_pytorch_profiler_0.db")
                self.assertEqual(sum(said in line for line in result.warnings), 1, result.err)

    def test_names_of_kernels_that_are_none(self):
        self.assertEqual(self.compare(comparison=self.text(), base="text_base_ascend_pt").code, 0)
        for column, cells in (("Type", ("", "12.5")), ("Accelerator Core", ("", "12.5", "-", "AI\x01CORE", "?"))):
            for cell in cells:
                def change(folder, column=column, cell=cell):
                    path = folder / "kernel_details.csv"
                    rows = list(csv.reader(path.open()))
                    rows[3][rows[0].index(column)] = cell
                    with path.open("w", newline="") as table:
                        csv.writer(table).writerows(rows)
                with self.subTest(column=column, cell=cell):
                    result = self.compare(comparison=self.text(change=change), base="text_base_ascend_pt")
                    self.told(result, f"its {column} names nothing", "kernel_details.csv:4")

    def test_frequencies_that_make_no_sense(self):
        for row in ("0, 1700000000000000000, 0", "0, 'word', 1500"):
            capture = self.database("CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER)",
                                    f"INSERT INTO AICORE_FREQ VALUES (0, 1700000000100000000, 1800), ({row})")
            result = self.run_tool("-m", "freq_analysis", "-d", capture, "--json", "-o", self.out)
            self.told(result, "invalid core frequency ignored", "AICORE_FREQ")

    def test_bad_numbers_of_steps(self):
        for value in ("-7", "NULL", "'word'"):
            capture = self.database(f"UPDATE STEP_TIME SET id = {value} WHERE rowid = 2")
            result = self.run_tool("-m", "cluster_time_summary", "-d", capture, "--json", "-o", self.out)
            self.told(result, "step left out, its number is invalid")

    def test_bad_times_of_calls_that_copy(self):
        for value in ("-7", "NULL", "'word'"):
            capture = self.database(f"UPDATE CANN_API SET startNs = {value}", name="twin_db_base_ascend_pt")
            result = self.run_tool("advisor", "all", "-d", capture, "--json", "-o", self.out)
            self.told(result, "row left out, invalid start or end", "CANN_API")


class Contradictions(Changed):
    def test_rows_written_twice(self):
        for table in ("TASK", "STEP_TIME", "PYTORCH_API", "CONNECTION_IDS"):
            capture = self.database(f"INSERT INTO {table} SELECT * FROM {table}")
            sheets, result = self.sheets(capture, self.database())
            self.told(result, "it was written twice", table)
            self.assertTrue({"OverallMetrics", "ApiCompare", "ModuleCompare"} <= set(sheets), set(sheets))
            for row in (row for rows in sheets.values() for row in rows):
                for name in row:
                    if name.startswith("base_"):
                        self.assertEqual(row[name], row[name.replace("base_", "comparison_")], (table, name, row))

    def test_sums_of_a_step_written_twice(self):
        def twice(folder):
            table = folder / "step_trace_time.csv"
            lines = table.read_text().splitlines(keepends=True)
            table.write_text("".join([*lines, lines[1]]))

        def steps(capture):
            result = self.run_tool("-m", "all", "-d", capture, "--json", "-o", self.out)
            rows = next(sheet["rows"] for sheet in json.loads(result.out)["sheets"] if "Step" in sheet["name"])
            return sorted(rows, key=lambda row: row["step"]), result
        whole = steps(self.text())[0]
        damaged, result = steps(self.text(change=twice))
        self.told(result, "it was written twice", "step_trace_time.csv")
        self.assertTrue(whole)
        self.assertEqual(damaged, whole)

    def test_steps_that_overlap(self):
        last = "(SELECT max(rowid) FROM STEP_TIME)"
        capture = self.database(f"UPDATE STEP_TIME SET startNs = startNs - 15000000 WHERE rowid = {last}")
        self.told(self.compare(comparison=capture), "steps overlap", "5000 us before step")

    def test_a_table_of_kernels_that_was_cut(self):
        def cut(folder):
            table = folder / "kernel_details.csv"
            lines = table.read_text().splitlines(keepends=True)
            table.write_text("".join(lines[:len(lines) * 2 // 3]))
        for others, said in (((), "kernel_details.csv and op_statistic.csv contradict each other"),
                             (("op_statistic.csv",), "step_trace_time.csv has more computing"),
                             (("op_statistic.csv", "step_trace_time.csv"), "the trace has more computing")):
            def change(folder, others=others):
                cut(folder)
                for name in others:
                    (folder / name).unlink()
            self.told(self.compare(comparison=self.text(change=change)), said)
        whole = self.compare(comparison=self.text())
        self.assertEqual(whole.code, 0, whole.err)


class TablesAlone(Changed):
    """Captures without trace and database, and single tables of them."""

    def without_trace(self):
        return self.text(change=lambda folder: (folder / "trace_view.json").unlink())

    def kernels_of(self, path):
        result = self.run_tool("-m", "compute_op_sum", "-d", path, "--json", "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        return [sheet["rows"] for sheet in json.loads(result.out)["sheets"]]

    def test_compute_op_sum_needs_no_trace(self):
        whole = self.kernels_of(self.text())
        self.assertTrue(whole[0])
        self.assertEqual(self.kernels_of(self.without_trace()), whole)

    SUMS_ALONE = "only sums of kernels by type are known"

    def sums_alone(self, name="text_base_ascend_pt"):
        """A lone op_statistic.csv, and its rows."""
        table = self.text(name) / "ASCEND_PROFILER_OUTPUT/op_statistic.csv"
        alone = self.scratch / f"attached{len(list(self.scratch.iterdir()))}" / table.name
        alone.parent.mkdir()
        table.rename(alone)
        return alone, list(csv.DictReader(alone.open()))

    def test_compute_op_sum_of_sums_alone(self):
        """Count, sum, mean and extremes are those of the table; what sums do not tell is null, of all ranks, too."""
        alone, rows = self.sums_alone()

        def without_kernels(folder):
            (folder / "kernel_details.csv").unlink()
            (folder.parent / "profiler_info_0.json").rename(folder.parent / "profiler_info_1.json")
        job = self.text(change=without_kernels).parent
        shutil.copytree(self.CAPTURES / "text_base_ascend_pt", job / "whole_ascend_pt")
        for path, ranks, code in ((alone, 1, 5), (alone.parent, 1, 5), (job, 2, 0)):
            result = self.run_tool("-m", "compute_op_sum", "-d", path, "--json", "-o", self.out)
            self.assertEqual(result.code, code, result.err)
            self.assertIn(self.SUMS_ALONE, "\n".join(result.warnings))
            by_type, _, by_name = (sheet["rows"] for sheet in json.loads(result.out)["sheets"])
            self.assertEqual(len(by_type), len(rows))
            self.assertEqual(bool(by_name), ranks > 1)
            found = {(row["op_type"], row["task_type"]): row for row in by_type}
            for row in rows:
                sums = found[row["OP Type"], row["Core Type"]]
                self.assertEqual(sums["count"], ranks * int(row["Count"]))
                self.assertAlmostEqual(sums["sum_ns"], ranks * float(row["Total Time(us)"]) * 1000)
                self.assertAlmostEqual(sums["mean_ns"], float(row["Avg Time(us)"]) * 1000, delta=1)
                self.assertAlmostEqual(sums["min_ns"], float(row["Min Time(us)"]) * 1000)
                self.assertAlmostEqual(sums["max_ns"], float(row["Max Time(us)"]) * 1000)
                self.assertEqual([sums[name] for name in ("std_ns", "q1ns", "median_ns", "q3ns")], [None] * 4)

    def test_ranks_without_kernels_are_unknown(self):
        """They are not ranks whose kernels take no time."""
        job = self.scratch / "job"
        shutil.copytree(self.CAPTURES / "text_base_ascend_pt", job / "rank0_ascend_pt")
        lost = job / "rank1_ascend_pt"
        shutil.copytree(self.CAPTURES / "text_base_ascend_pt", lost)
        (lost / "profiler_info_0.json").rename(lost / "profiler_info_1.json")
        for name in ("kernel_details.csv", "op_statistic.csv", "trace_view.json"):
            (lost / OUTPUT / name).unlink()
        result = self.run_tool("-m", "compute_op_sum", "-d", job, "-o", self.out)
        self.told(result, "no kernel_details.csv there, kernel types and shapes are unknown")
        self.assertIn("of the compute kernels: 76.000 of 462.000 ms (16 %) on 1 of\n  2 ranks\n", result.out)
        self.assertNotIn("min 0.000", result.out)

    def test_the_screen_of_captures_without_trace(self):
        """What changed in total and by type, and a warning that counts the captures."""
        (base, before), (comparison, after) = self.sums_alone(), self.sums_alone("text_new_ascend_pt")
        whole = self.CAPTURES / "text_base_ascend_pt"
        total = [sum(float(row["Total Time(us)"]) for row in rows) for rows in (before, after)]
        kernels = [capture / OUTPUT / "kernel_details.csv" for capture in (whole, self.CAPTURES / "text_new_ascend_pt")]
        for ends, captures in (((base, comparison), 2), ((whole, comparison), 1), (kernels, 2)):
            result = self.compare(base=ends[0], comparison=ends[1])
            self.assertEqual(result.code, 5, result.err)
            (warning,) = result.warnings
            self.assertEqual("2 times, first" in warning, captures == 2, warning)
            lines = [line.split() for line in result.out.splitlines()]
            shown = next(line for line in lines if line[:2] == ["All", "kernels"])
            self.assertEqual([float(value) * 1000 for value in shown[2:4]], total)
            self.assertEqual(lines[lines.index(shown) + 1], ["MatMulV2", "76.000", "96.000", "+20.000", "+26.3"])

    def test_sums_of_kernels_alone_are_compared(self):
        alone, rows = self.sums_alone()
        result = self.run_tool("compare", "-d", alone, "-bp", alone, "--json", "-o", self.out)
        self.told(result, self.SUMS_ALONE)
        (sheet,) = (sheet["rows"] for sheet in json.loads(result.out)["sheets"] if sheet["name"] == "KernelTypeCompare")
        self.assertEqual({(row["kernel_type"], row["core_type"]): (row["base_calls"], row["base_total_duration_us"])
                          for row in sheet},
                         {(row["OP Type"], row["Core Type"]): (int(row["Count"]), float(row["Total Time(us)"]))
                          for row in rows})
        self.assertIn("only the kernel sums of op_statistic.csv are known", " ".join(self.run_tool("check", alone).out.split()))

    def test_sums_of_communication_need_no_trace(self):
        written = []
        for number, capture in enumerate((self.text(), self.without_trace())):
            out = self.scratch / f"sums{number}"
            result = self.run_tool("-m", "all", "-d", capture, "-o", out)
            self.assertEqual(result.code, 0, result.err)
            written.append({file.name: file.read_bytes() for file in out.rglob("*") if file.is_file()})
        self.assertEqual(*written)
        self.assertTrue(written[0])

    def test_a_table_alone(self):
        capture = self.text()
        alone = self.scratch / "alone"
        alone.mkdir()
        shutil.copy(capture / OUTPUT / "kernel_details.csv", alone)
        strip = lambda sheets: [[{k: v for k, v in row.items() if k != "rank"} for row in rows] for rows in sheets]
        self.assertEqual(len(self.kernels_of(alone / "kernel_details.csv")[0]), len(self.kernels_of(capture)[0]))
        self.assertEqual(strip(self.kernels_of(alone)), strip(self.kernels_of(alone / "kernel_details.csv")))
        sheets, result = self.sheets(alone / "kernel_details.csv", capture)
        self.told(result, "no trace_view.json and no profiler database there")
        self.assertNotIn("OverallMetrics", sheets)
        rows = sheets["KernelCompare"]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(row["base_total_duration_us"], row["comparison_total_duration_us"], row)

    def test_what_needs_the_trace_says_so(self):
        capture = self.without_trace()
        for arguments in (["advisor", "all"], ["-m", "cluster_time_summary"], ["-m", "hccl_sum"]):
            result = self.run_tool(*arguments, "-d", capture, "-o", self.out)
            self.assertEqual(result.code, 3, result.err)
            self.assertIn("no trace_view.json and no profiler database there", result.all_err)
        result = self.run_tool("check", capture)
        self.assertIn("no trace_view.json", result.out)

    def test_files_of_pytorch_that_are_no_profiles(self):
        snapshot = self.write("memory.pickle", b"\x80\x04}q\x00.")
        graph = self.write("et.json", json.dumps({"schema": "1.1.1", "pid": 5, "start_ts": 1, "nodes": []}))
        for path, said in ((snapshot, "a memory snapshot of PyTorch"), (graph, "an execution trace of PyTorch")):
            self.assertIn(said, self.compare(comparison=path).all_err)
            self.assertIn(said, self.run_tool("check", path).out.replace("\n", " ").replace("  ", " "))

    def test_tables_that_nothing_reads_set_no_ranks_apart(self):
        job = self.scratch / "job"
        for rank in (0, 1):
            capture = self.database("CREATE TABLE SOME_TABLE (value)", f"INSERT INTO SOME_TABLE SELECT 1 WHERE {rank}")
            (file,) = capture.rglob("ascend_pytorch_profiler*.db")
            with sqlite3.connect(file) as database:
                set_rank(database, rank)
            database.close()
            file.rename(file.with_name(f"ascend_pytorch_profiler_{rank}.db"))
            shutil.move(capture, job / f"rank{rank}_ascend_pt")
        page = self.run_tool("check", job).out
        self.assertIn("(2 captures)", page)
        self.assertRegex(page, "not read .*SOME_TABLE")

    def test_tables_that_nothing_reads(self):
        capture = self.database("CREATE TABLE SOME_TABLE (deviceId INTEGER)", "INSERT INTO SOME_TABLE VALUES (0)",
                                "CREATE TABLE EMPTY_TABLE (deviceId INTEGER)")
        (rank,) = json.loads(self.run_tool("check", "-d", capture, "--json").out)["ranks"]
        self.assertIn("SOME_TABLE", rank["unread_tables"])
        self.assertNotIn("EMPTY_TABLE", rank["unread_tables"])  # has no rows
        self.assertIn("SOME_TABLE", self.run_tool("check", capture).out)


class Databases(Changed):
    """Tables that refer to each other, and what belongs to another device, rank or run."""

    TWIN = "twin_db_base_ascend_pt"

    def damaged(self, *said, statements):
        """A changed database against the whole one: told, and a gate judges nothing."""
        capture = self.database(*statements, name=self.TWIN)
        self.told(self.compare("--fail_on", "e2e>+3%", comparison=capture, base=self.whole()), *said)
        return capture

    def whole(self):
        return self.database(name=self.TWIN)

    def test_the_whole_one(self):
        result = self.compare("--fail_on", "e2e>+3%", comparison=self.whole(), base=self.whole())
        self.assertEqual(result.code, 0, result.err)
        self.assertNotIn("were deleted", result.err)

    def test_device_records_that_were_lost(self):
        """At the beginning, in the middle, at the end, all: operators launched what no task did."""
        for count, offset in ((3, 0), (1, 10), (2, 15), (1000, 0)):  # of 19
            statements = [f"CREATE TABLE lost AS SELECT t.globalTaskId FROM TASK t JOIN COMPUTE_TASK_INFO i ON "
                          "i.globalTaskId = t.globalTaskId JOIN CONNECTION_IDS c ON c.connectionId = t.connectionId "
                          f"ORDER BY t.startNs LIMIT {count} OFFSET {offset}"]
            for table in ("COMPUTE_TASK_INFO", "TASK_PMU_INFO", "TASK"):  # anew, as if they were never written
                statements += [f"CREATE TABLE kept AS SELECT * FROM {table} WHERE globalTaskId NOT IN "
                               "(SELECT globalTaskId FROM lost)", f"DELETE FROM {table}",
                               f"INSERT INTO {table} SELECT * FROM kept", "DROP TABLE kept"]
            capture = self.database(*statements, name=self.TWIN)
            self.told(self.compare(comparison=capture, base=self.whole()),
                      "launches have no work on the device, it was lost", f"({min(count, 19)} of ")
            gate = self.compare("--fail_on", "e2e>+3%", comparison=capture, base=self.whole())
            self.assertEqual(gate.code, 5 if count < 1000 else 4, gate.err)  # 4: there is nothing to judge
        result = self.run_tool("-m", "compute_op_sum", "-d", capture, "--json", "-o", self.out)
        self.told(result, "launches have no work on the device")

    def test_work_before_its_launch(self):
        self.damaged("work left out, it begins before its launch", "50.000 ms before", statements=(
            "UPDATE TASK SET startNs = (SELECT a.startNs - 50000000 FROM PYTORCH_API a JOIN CONNECTION_IDS c ON "
            "c.id = a.connectionId WHERE c.connectionId = TASK.connectionId) WHERE globalTaskId = "
            "(SELECT globalTaskId FROM COMPUTE_TASK_INFO ORDER BY globalTaskId LIMIT 1 OFFSET 4)",))

    def test_rows_that_were_deleted(self):
        self.damaged("rows of TASK_PMU_INFO were deleted", "3 of ",
                     statements=("DELETE FROM TASK_PMU_INFO WHERE rowid BETWEEN 4 AND 6",))
        self.damaged("rows of PYTORCH_API were deleted", statements=("DELETE FROM PYTORCH_API WHERE rowid = 5",))
        self.damaged("operators are missing in PYTORCH_API", statements=(
            "DELETE FROM PYTORCH_API WHERE rowid > (SELECT COUNT(*) / 2 FROM PYTORCH_API)",))
        self.damaged("operators are missing in PYTORCH_API", statements=("DELETE FROM PYTORCH_API",))
        self.damaged("table META_DATA is empty", statements=("DELETE FROM META_DATA",))

    def test_details_that_are_missing(self):
        self.damaged("kernels of TASK are not in COMPUTE_TASK_INFO", "2 kernels", statements=(
            "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId > (SELECT globalTaskId FROM COMPUTE_TASK_INFO "
            "ORDER BY globalTaskId DESC LIMIT 1 OFFSET 2)",))
        self.damaged("tasks of collectives are not in COMMUNICATION_TASK_INFO", "5 of 11", statements=(
            "DELETE FROM COMMUNICATION_TASK_INFO WHERE rowid > 6",))

    def test_several_devices_in_one_database(self):
        columns = ("startNs + 3000000", "endNs + 3000000", "1", "connectionId", "globalTaskId + 100000", "globalPid",
                   "taskType", "contextId", "streamId", "taskId", "modelId")
        names = "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId"
        capture = self.database(f"INSERT INTO TASK ({names}) SELECT {', '.join(columns)} FROM TASK", name=self.TWIN)
        overall, result = self.overall_of(capture, self.whole())
        self.told(result, "work of other devices left out, the database holds several", "33 of 66 rows of TASK; device 0")
        for index, (base, value) in overall.items():
            self.assertEqual(base, value, index)

    def test_a_device_that_the_map_does_not_name(self):
        """ASCEND_RT_VISIBLE_DEVICES numbers devices anew."""
        overall, result = self.overall_of(self.database("UPDATE TASK SET deviceId = 3", name=self.TWIN), self.whole())
        self.assertEqual(result.code, 0, result.err)
        for index, (base, value) in overall.items():
            self.assertEqual(base, value, index)

    def test_marks_of_steps_on_a_stream(self):
        """They last longer than the work, and are none."""
        capture = self.database(
            "INSERT INTO STRING_IDS SELECT MAX(id) + 1, 'MsTx' FROM STRING_IDS",
            "INSERT INTO TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId) SELECT "
            "MIN(startNs), MAX(endNs) + 40000000, 0, 4000000001, 90000, (SELECT MAX(id) FROM STRING_IDS), 2 FROM TASK",
            name=self.TWIN)
        overall, result = self.overall_of(capture, self.whole())
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(*overall["E2E Time"])

    def test_communication_that_was_not_recorded(self):
        self.damaged("operators communicate, but table COMMUNICATION_OP is missing or empty", statements=(
            "DROP TABLE COMMUNICATION_OP", "DROP TABLE COMMUNICATION_TASK_INFO",
            "INSERT INTO STRING_IDS SELECT MAX(id) + 1, 'HcclAllreduce' FROM STRING_IDS"))

    def test_files_that_were_cut(self):
        """The last page would be read as zeros; so would one that only the file of writes has."""
        whole = self.whole()
        capture = self.whole()
        (file,) = capture.rglob("*.db")
        with sqlite3.connect(file) as database:
            (size,) = database.execute("PRAGMA page_size").fetchone()
        database.close()
        content = file.read_bytes()
        for lost in (1, size, 3 * size):
            file.write_bytes(content[:-lost])
            result = self.compare(comparison=capture, base=whole)
            self.assertEqual(result.code, 3, result.err)
            self.assertIn("was cut", result.all_err)
        file.write_bytes(content)
        wal = file.with_name(file.name + "-wal")
        database = sqlite3.connect(file)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        for _ in range(4):
            database.execute("INSERT INTO META_DATA VALUES ('note', ?)", ("x" * 3 * size,))
            database.commit()
        writes, content = wal.read_bytes(), file.read_bytes()
        database.close()
        for kept, code in ((len(writes), 0), (len(writes) - 100, 3), (len(writes) - size - 24, 3)):
            copy = self.whole()
            (file,) = copy.rglob("*.db")
            file.write_bytes(content)
            file.with_name(file.name + "-wal").write_bytes(writes[:kept])
            result = self.compare(comparison=copy, base=whole)
            self.assertEqual(result.code, code, result.err)
            if code:
                self.assertIn("its file -wal was cut", result.all_err)

    def test_analysis_of_another_run(self):
        capture = self.whole()
        (file,) = capture.rglob("*.db")
        with sqlite3.connect(file) as database:
            (name, start) = database.execute("SELECT s.value, o.startNs FROM COMMUNICATION_OP o JOIN STRING_IDS s ON "
                                             "s.id = o.opName ORDER BY o.startNs").fetchone()
        database.close()
        analysis = file.with_name("analysis.db")
        for apart, code in ((0, 0), (7_000_000, 5)):
            analysis.unlink(missing_ok=True)
            with sqlite3.connect(analysis) as database:
                database.execute("CREATE TABLE CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, "
                                 "elapse_time, transit_time, wait_time, synchronization_time, idle_time, step, type)")
                database.execute("INSERT INTO CommAnalyzerTime VALUES (?, '1', ?, 1, 1, 0, 0, 0, 'step1', 'collective')",
                                 (name, start / 1000 + apart))
            database.close()
            result = self.run_tool("-m", "communication_time", "-d", capture, "--json", "-o", self.out)
            self.assertEqual(result.code, code, result.err)
            if code:
                self.told(result, "analysis.db is of another rank or run")

    def test_msmonitor(self):
        """Collectives without tasks are no damage there, and nothing is to be parsed again."""
        capture = self.database("DROP TABLE COMMUNICATION_TASK_INFO", "DROP TABLE PYTORCH_API",
                                "DROP TABLE CONNECTION_IDS", "DROP TABLE TASK_PMU_INFO",
                                "DELETE FROM TASK WHERE globalTaskId NOT IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)",
                                "CREATE TABLE kept AS SELECT * FROM TASK", "DELETE FROM TASK",
                                "INSERT INTO TASK SELECT * FROM kept", "DROP TABLE kept", name=self.TWIN)
        (file,) = capture.rglob("*.db")
        database = self.scratch / "msmonitor_4711_20260101000000000_0.db"
        file.rename(database)
        result = self.compare("--fail_on", "e2e>+3%", comparison=database, base=database)
        self.assertEqual(result.code, 0, result.err)
        page = self.run_tool("check", database).out
        for words in ("ProfilerActivity", "profiler_level", "parse again"):
            self.assertNotIn(words, page + "".join(line for line in result.warnings))


class TwoJobs(Changed):
    def test_captures_that_are_days_apart(self):
        job = self.scratch / "jobs"
        for rank, date in ((0, 20250109101616137), (1, 20250109101716137), (2, 20250112101616137)):
            capture = job / f"node_1{rank}_{date}_ascend_pt"
            shutil.copytree(self.CAPTURES / "text_base_ascend_pt", capture)
            (capture / "profiler_info_0.json").rename(capture / f"profiler_info_{rank}.json")
            (capture / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        result = self.run_tool("-m", "cluster_time_summary", "-d", job, "--json", "-o", self.out)
        self.told(result, "belongs to another job")
        self.assertEqual({row["rank"] for row in json.loads(result.out)["sheets"][0]["rows"]}, {2})

    def test_captures_of_other_devices_and_sizes(self):
        """Nothing is computed over an NPU's and a GPU's capture, or jobs of 2 and of 8 ranks."""
        def gpu(job, rank, world):
            trace = json.loads((self.CAPTURES / "gpu_base.json").read_text())
            trace["distributedInfo"].update(rank=rank, world_size=world)
            (job / f"rank{rank}.json").write_text(json.dumps(trace))
        devices, sizes = self.text().parent, self.scratch / "sizes"
        sizes.mkdir()
        gpu(devices, 1, 2)
        for rank, world in ((0, 2), (1, 2), (5, 8)):
            gpu(sizes, rank, world)
        for job, left, kept in ((devices, "rank1.json", {0}), (sizes, "rank5.json", {0, 1})):
            result = self.run_tool("-m", "cluster_time_summary", "-d", job, "--json", "-o", self.out)
            self.told(result, f"{left}: left out, its kind of device or size of the job (world_size) differs from")
            self.assertEqual({row["rank"] for row in json.loads(result.out)["sheets"][0]["rows"]}, kept)
            groups = json.loads(self.run_tool("check", "-d", job, "--json").out)["groups"]
            self.assertEqual(sorted(len(group["captures"]) for group in groups), sorted([len(kept), 1]))


if __name__ == "__main__":
    sys.exit(main(__doc__, MissingTables, TextRecords, OddRanks, OddRows, Contradictions, TablesAlone, Databases, TwoJobs))
