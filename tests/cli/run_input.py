#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs that cannot be used, and those of which a part can.

    run_input.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: input, partial.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import shutil
import sqlite3
import sys

from cli import BASE, Cli, main
from captures import DATABASE, build_database


class Input(Cli):
    """Exit code 3: nothing to work with. The message names the side or the file."""

    def assert_refused(self, path, *texts, base=BASE):
        self.assert_fails(3, self.compare(comparison=path, base=base), *texts)

    def test_missing(self):
        missing = self.scratch / "missing"
        self.assert_refused(missing, "-d:", missing, "No such file")
        self.assert_fails(3, self.compare(base=missing), "-bp:", missing, "No such file")
        self.assertFalse(self.out.exists(), "no directory for results that cannot come")

    def test_no_capture(self):
        folder = self.CAPTURES / "broken" / "not_a_capture"
        self.assert_refused(folder, "-d:", folder, "trace_view.json")
        self.assert_refused(folder / "notes.txt", "notes.txt", "not a capture")
        self.assert_refused(self.write("trace.txt", "[]"), "trace.txt", "not a capture")
        (self.scratch / "x_ascend_pt" / "PROF_000001_x").mkdir(parents=True)
        self.assert_refused(self.scratch / "x_ascend_pt", "x_ascend_pt", "no raw data")

    def test_broken_traces(self):
        self.assert_refused(self.write("empty.json", ""), "empty.json", "empty")
        self.assert_refused(self.write("blank.json", " \n\t"), "blank.json")
        self.assert_refused(self.write("text.json", "hello"), "text.json", "not JSON")
        self.assert_refused(self.write("cut.json.gz", b"\x1f\x8b\x08\x00"), "cut.json.gz")

    def test_traces_without_device_work(self):
        for name, content in (("empty_list.json", "[]"), ("no_events.json", '{"traceEvents": []}')):
            with self.subTest(name=name):
                result = self.compare(comparison=self.write(name, content))
                self.assert_fails(3, result, "nothing to compare")
                self.assertTrue(name in result.errors[0], result.err)

    def test_databases(self):
        name = "ascend_pytorch_profiler_0.db"
        self.assert_refused(self.write(name, "no database, just text" * 50), name,
                            "not a database")
        self.write(name, "")
        self.assert_refused(self.scratch / name, name, "the file is empty")
        self.assert_refused(self.write("other.db", ""), "other.db", "not a capture")

    def test_unknown_step(self):
        for capture in (self.CAPTURES / BASE, build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch)):
            with self.subTest(capture=capture.name):
                result = self.compare("--base_step", "7", "--comparison_step", "1", base=capture)
                self.assert_fails(3, result, capture, "step 7 not found", "1, 2")

    def test_no_steps(self):
        capture = build_database(self.CAPTURES, "db_base_ascend_pt", self.scratch)
        database = sqlite3.connect(capture / DATABASE)
        database.execute("DROP TABLE STEP_TIME")
        database.commit()
        database.close()
        result = self.compare("--base_step", "1", "--comparison_step", "1", base=capture)
        self.assert_fails(3, result, capture, "no step markers")


class Partial(Cli):
    """Exit code 5: a report, and a warning that names what is not in it."""

    def assert_partial(self, capture, *texts):
        result = self.compare(comparison=capture)
        self.assert_compared(result, code=5)
        self.assertTrue(any(all(text in line for text in texts) for line in result.warnings),
                        result.err)
        return self.overall()

    def replace(self, capture, name, old, new):
        file = capture / "ASCEND_PROFILER_OUTPUT" / name
        content = file.read_bytes()
        self.assertIn(old, content)
        file.write_bytes(content.replace(old, new, 1))

    def test_truncated_trace(self):
        self.assert_partial(self.CAPTURES / "broken" / "truncated_trace_ascend_pt", "trace_view.json",
                            "breaks off")

    def test_broken_row(self):
        copy = self.capture_copy()
        self.replace(copy, "kernel_details.csv", b"1700000000200000.000", b"soon")
        rows = self.assert_partial(copy, "kernel left out", "kernel_details.csv:2")
        self.assertEqual(rows["Computing Time"][3], 31.0)  # the TransData kernel of 5 ms is missing
        self.assertEqual(rows["Computing Time"][6], 30.0)
        self.assertEqual(rows["Conv (Forward)"][4:7:2], [53.0, 2.0])

    def test_broken_event(self):
        copy = self.capture_copy()
        self.replace(copy, "trace_view.json", b"[", b'[{"ph": "X", "name": "a", "ts": },\n')
        rows = self.assert_partial(copy, "event left out", "trace_view.json", "not valid JSON")
        self.assertEqual(rows["Computing Time"][4:7:2], [462.0, 31.0])

    def test_broken_side_files(self):
        for name, content in (("communication.json", b'{"step1": '),
                              ("memory_record.csv", b"Component,Timestamp(us)\nAPP,1\n"),
                              ("memory_record.csv", b""),
                              ("kernel_details.csv", b"Name,Duration(us)\nx,1\n")):
            with self.subTest(name=name, content=content):
                shutil.rmtree(self.out, ignore_errors=True)
                shutil.rmtree(self.scratch / BASE, ignore_errors=True)
                copy = self.capture_copy()
                (copy / "ASCEND_PROFILER_OUTPUT" / name).write_bytes(content)
                rows = self.assert_partial(copy, name, "left out")
                self.assertEqual(rows["E2E Time"][4], 1450.0)

    def test_broken_profiler_info_is_only_a_warning(self):
        copy = self.capture_copy()
        (copy / "profiler_info_0.json").write_text("{", encoding="utf-8")
        result = self.compare(comparison=copy)
        self.assert_compared(result)
        self.assertTrue(any("profiler_info_0.json" in line for line in result.warnings), result.err)

    def test_missing_side_file_is_no_error(self):
        self.assert_compared(self.compare(comparison=self.CAPTURES / "broken" / "no_csv_ascend_pt"))


if __name__ == "__main__":
    sys.exit(main(__doc__, Input, Partial))
