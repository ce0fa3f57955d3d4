#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What CANN's own msprof leaves: mindstudio_profiler_output.

    run_msprof.py --tool BINARY --testdata DIR exported [-v]

The numbers are those of the text capture from which the results of msprof are made.

Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import shutil
import sys
from copy import deepcopy

from cli import BASE, Cli, main
from msprof_output import OUTPUT, TIME, export

PROF = "PROF_000001_20260225061520123_ABCDEFGH"


class Exported(Cli):
    def setUp(self):
        super().setUp()
        self.capture = self.CAPTURES / BASE
        self.prof = export(self.capture, self.scratch / PROF)

    def times(self, given, code=0):
        result = self.run_tool("compare", "-d", given, "-bp", given, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        (rows,) = (sheet["rows"] for sheet in json.loads(result.out)["sheets"] if sheet["name"] == "OverallMetrics")
        return {row["index"].strip(): row["base_duration_ms"] for row in rows}, result

    def types(self, given, code=0):
        """(type, core) -> number and time of its kernels."""
        result = self.run_tool("-m", "compute_op_sum", "-d", given, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        return json.loads(result.out)["sheets"][0]["rows"], result

    def checked(self, given):
        return json.loads(self.run_tool("check", given, "--json").out)["ranks"][0]

    def test_the_numbers_of_the_run(self):
        times = self.times(self.prof)[0]
        # Of the run in testdata/README.md; without steps from the first to the last task.
        self.assertEqual((times["Computing Time"], times["E2E Time"]), (462, 1450))
        self.assertEqual(self.times(self.prof / OUTPUT)[0], times)
        self.assertEqual(self.types(self.prof)[0], self.types(self.capture)[0])

    def test_slices(self):
        whole = self.times(self.prof)[0]
        sliced = export(self.capture, self.scratch / "sliced" / PROF, slices=3)
        self.assertEqual(len(list((sliced / OUTPUT).glob("msprof_slice_*"))), 3)
        self.assertEqual(self.times(sliced)[0], whole)
        self.assertEqual(self.types(sliced)[0], self.types(self.prof)[0])
        for lost in ("op_summary_slice_1_*.csv", "msprof_slice_0_*.json"):
            with self.subTest(lost=lost):
                copy = export(self.capture, self.scratch / f"without_{lost[:6]}" / PROF, slices=3)
                next((copy / OUTPUT).glob(lost)).unlink()
                result = self.times(copy, 5)[1]
                self.assertIn(f"{copy}: {lost} is missing, what it holds is lost; copy the capture again",
                              "\n".join(result.warnings))
                self.assertFalse(self.checked(copy)["complete"])

    def test_the_last_export_is_read(self):
        whole = self.times(self.prof)[0]
        export(self.CAPTURES / "text_new_ascend_pt", self.prof, time="20260101000000")
        times, result = self.times(self.prof)
        self.assertEqual(times, whole)
        self.assertIn("exported several times; the last export is read, ", "\n".join(result.warnings))
        warnings = {warning["id"]: warning for warning in self.checked(self.prof)["warnings"]}
        self.assertEqual({path.rsplit("/")[-1] for path in warnings["several_exports"]["paths"]},
                         {f"{table}_20260101000000{ending}" for table, ending in
                          (("msprof", ".json"), ("op_summary", ".csv"), ("op_statistic", ".csv"))})

    def test_names_of_early_versions(self):
        """Numbers behind the table are no times: all of these files are read."""
        rows = (self.prof / OUTPUT / f"op_summary_{TIME}.csv").read_text().splitlines(keepends=True)
        for number, part in enumerate((rows[1:5], rows[5:])):
            (self.prof / OUTPUT / f"op_summary_0_{number}.csv").write_text("".join([rows[0], *part]))
        (self.prof / OUTPUT / f"op_summary_{TIME}.csv").unlink()
        self.assertEqual(self.types(self.prof)[0], self.types(self.capture)[0])

    def test_check(self):
        facts = self.checked(self.prof)
        self.assertEqual((facts["kind"], facts["framework"], facts["complete"]), ("npu_text", "msprof", True))
        self.assertEqual(facts["unread_tables"], ["api_statistic", "task_time"])
        for content in ("kernels", "kernel_types", "kernel_cores", "counters"):
            self.assertTrue(facts["recorded"][content], content)
        self.assertIn("not read      api_statistic, task_time", self.run_tool("check", self.prof).out)

    def test_communication_that_msprof_analyzed(self):
        """PROF_*/analyze: the numbers are those of the collectives of the run, without sends and receives."""
        copy = self.scratch / "one_step_ascend_pt"
        shutil.copytree(self.capture, copy)
        path = copy / "ASCEND_PROFILER_OUTPUT/communication.json"
        (name, step), *_ = json.loads(path.read_text()).items()
        operator = next(value for key, value in step["collective"].items() if key != "Total Op Info")
        send = deepcopy(operator)
        for links, size, time in ((send, 100, 1), (operator, 6, 2)):
            links["Communication Bandwidth Info"]["RDMA"].update({"Transit Size(MB)": size, "Transit Time(ms)": time})
        step["p2p"] = {"hcom_send__003_0_1@group_0": send}
        path.write_text(json.dumps({name: step}))
        prof = export(copy, self.scratch / "analyzed" / PROF, analyzed=True)

        def sheets(given):
            result = self.run_tool("-m", "communication_time_sum", "-d", given, "--json", "-o", self.out)
            self.assertEqual(result.code, 0, result.err)
            return [[{key: value for key, value in row.items() if key not in ("step", "rank_id", "rank_set")}
                     for row in sheet["rows"]] for sheet in json.loads(result.out)["sheets"]]
        self.assertEqual(sheets(prof), sheets(copy))
        self.assertEqual(sheets(prof / "analyze/communication.json"), sheets(copy))
        result = self.run_tool("compare", "-d", prof, "-bp", prof, "--screen", "wide", "-o", self.out)
        self.assertIn(" 3.000GB/s ", result.out)  # 6 MB in 2 ms
        facts = self.checked(prof)
        self.assertTrue(facts["recorded"]["bandwidths"])
        self.assertIn("communication_matrix", facts["unread_tables"])

    def test_rank_and_place(self):
        self.write(f"{PROF}/host/info.json", json.dumps({"rank_id": 3, "hostname": "node-7"}))
        facts = self.checked(self.scratch)
        self.assertEqual((facts["rank"], facts["host"], facts["path"]), (3, "node-7", str(self.prof)))
        result = self.run_tool("-m", "compute_op_sum", "-d", self.scratch, "--rank_list", "3", "-o", self.out)
        self.assertEqual((result.code, result.warnings), (0, []))

    def test_tables_alone(self):
        summary = self.prof / OUTPUT / f"op_summary_{TIME}.csv"
        self.assertEqual(self.types(summary)[0], self.types(self.capture)[0])
        (self.prof / OUTPUT / f"msprof_{TIME}.json").unlink()
        self.assertEqual(self.types(self.prof)[0], self.types(self.capture)[0])
        self.assertIn("no_trace", {warning["id"] for warning in self.checked(self.prof)["warnings"]})
        summary.unlink()
        # Without any table that is read it is no capture.
        (self.prof / OUTPUT / f"op_statistic_{TIME}.csv").unlink()
        self.assert_fails(3, self.run_tool("-m", "compute_op_sum", "-d", self.prof, "-o", self.out), self.prof)

    def test_a_header_that_is_not_whole(self):
        (summary,) = (self.prof / OUTPUT).glob("op_summary*")
        summary.write_text(summary.read_text().replace("Task Duration(us)", "Task Length(us)"))
        result = self.times(self.prof, 5)[1]
        self.assertIn(f'{summary}: the column "Task Duration(us)" is missing; it is left out',
                      "\n".join(result.warnings))

    def test_several_devices(self):
        """One is read, of all files the same; what is left out is named."""
        alone = self.times(self.prof)[0]
        of_device_0 = self.types(self.prof)[0]
        other = export(self.CAPTURES / "text_new_ascend_pt", self.scratch / "other", device=1) / OUTPUT
        output = self.prof / OUTPUT
        trace = output / f"msprof_{TIME}.json"
        events = json.loads((other / trace.name).read_text())
        # The second device has less work, but more collectives.
        (hardware,) = {event["pid"] for event in events if event.get("args", {}).get("name") == "Ascend Hardware"}
        work = [event for event in events if event["ph"] != "M" and event["pid"] == hardware]
        others = [event for event in events if event["ph"] == "M" or event["pid"] != hardware]
        trace.write_text(json.dumps(work[:len(work) // 3] + others + others + json.loads(trace.read_text())))
        for table in ("op_summary", "op_statistic"):
            name = f"{table}_{TIME}.csv"
            rows = list(csv.reader((output / name).read_text().splitlines()))
            others = list(csv.reader((other / name).read_text().splitlines()))
            if table == "op_statistic":
                rows, others = ([["Device_id", *each[0]]] + [[device, *row] for row in each[1:]]
                                for device, each in ((0, rows), (1, others)))
            with open(output / name, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows[:1] + others[1:] + rows[1:])
        times, result = self.times(self.prof, 5)
        self.assertEqual(times, alone)
        self.assertIn("events of another device or rank left out", "\n".join(result.warnings))
        self.assertIn("row of another device left out, the table holds several", "\n".join(result.warnings))
        # Alone the table has no trace that says which one.
        types, result = self.types(output / f"op_summary_{TIME}.csv", 5)
        self.assertNotEqual(types, of_device_0)
        self.assertIn("device 0 in place of 1", "\n".join(result.warnings))


if __name__ == "__main__":
    sys.exit(main(__doc__, Exported))
