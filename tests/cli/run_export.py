#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where results go, and in which formats.

    run_export.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: output, export.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import contextlib
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

from cli import BASE, NEW, TIMEOUT_SECONDS, Cli, main
from captures import DATABASE, build_database
from workbook import Workbook


class Output(Cli):
    def test_impossible_places(self):
        file = self.write("file", "")
        for place in ("/proc/x", file / "sub", "/proc/1/x/y"):
            with self.subTest(place=place):
                self.assert_fails(6, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", place),
                                  "-o", place)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_place(self):
        self.out.mkdir(mode=0o500)
        for place in (self.out, self.out / "sub"):
            self.assert_fails(6, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", place), "-o")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_stdout(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.TOOL, "compare", "-d", NEW, "-bp", BASE, "-o", self.out],
                                  cwd=self.CAPTURES, stdout=full, stderr=subprocess.PIPE, check=False,
                                  encoding="utf-8", timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 6)
        self.assertIn("msprof-analyze: error: cannot write to standard output", done.stderr)

    def test_streams(self):
        result = self.compare("--enable_profiling_compare")
        self.assert_compared(result)
        (workbook,) = self.workbooks()
        self.assertEqual(result.err, [f"msprof-analyze: note: the details are in {workbook}"])
        everything, quiet, verbose = self.compare(), self.compare("-q"), self.compare("-v")
        self.assertTrue(everything.out.startswith(result.out))  # lists follow
        self.assertEqual((quiet.all_err, quiet.out), ("", everything.out))
        self.assertEqual(verbose.out, everything.out)
        told = dict(line.split(" -> ") for line in verbose.err if " -> " in line)
        self.assertEqual(len(told), 14, verbose.err)  # seven files of each
        for name in (BASE, NEW):
            output = self.CAPTURES / name / "ASCEND_PROFILER_OUTPUT"
            with open(output / "kernel_details.csv", encoding="utf-8", newline="") as file:
                rows = sum(1 for _ in csv.reader(file)) - 1
            counts = re.findall(r"(\w+) (\d+) rows?", told["msprof-analyze: info: "
                                                          f"{output / 'kernel_details.csv'}"])
            self.assertEqual([table for table, _ in counts], ["kernels", "listed_collectives"])
            self.assertEqual(sum(int(count) for _, count in counts), rows)

    def test_nothing_is_left_behind(self):
        self.assert_compared(self.compare())
        self.assertEqual(sorted(self.out.iterdir()), self.workbooks())
        self.assertEqual(self.out.stat().st_mode & 0o777, 0o750)
        shutil.rmtree(self.out)
        self.assert_fails(3, self.compare(comparison=self.write("x.json", '{"a": 1}')), "traceEvents")
        self.assertEqual(list(self.out.iterdir()) if self.out.exists() else [], [])

    def test_new_directories(self):
        self.out = self.scratch / "a" / "b" / "c"
        self.assert_compared(self.compare())

    def test_runs_in_one_second(self):
        for _ in range(4):
            self.assert_compared(self.compare())
        self.assertEqual(len(self.workbooks()), 4)

    def test_runs_at_once(self):
        runs = [subprocess.Popen([self.TOOL, "compare", "-d", NEW, "-bp", BASE, "-o", self.out],
                                 cwd=self.CAPTURES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(8)]
        self.assertEqual([run.wait(TIMEOUT_SECONDS) for run in runs], [0] * 8)
        self.assertEqual(len(self.workbooks()), 8)
        self.assertEqual(sorted(self.out.iterdir()), self.workbooks())

    def test_minimal_profiling(self):
        """The last column says so unless every NPU side was collected without host activities."""
        minimal = self.capture_copy("text_level0_ascend_pt")
        info = minimal / "profiler_info_0.json"
        settings = json.loads(info.read_text(encoding="utf-8"))
        settings["config"]["common_config"]["activities"] = ["ProfilerActivity.NPU"]
        info.write_text(json.dumps(settings), encoding="utf-8")
        for base, title in ((minimal, "E2E Time"), ("gpu_base.json", "E2E Time"),
                            (BASE, "E2E Time(Not minimal profiling)")):
            with self.subTest(base=base):
                result = self.compare("--screen", "wide", comparison=minimal, base=base)
                self.assertEqual(result.code, 0, result.err)
                header = next(line for line in result.out.splitlines() if "E2E Time" in line)
                self.assertEqual(header.split("|")[-2].strip(), title)

    def test_jobs_change_nothing(self):
        outputs = []
        for jobs in ("1", "4"):
            result = self.compare("--jobs", jobs)
            self.assert_compared(result)
            outputs.append((result.out, self.overall()))
            shutil.rmtree(self.out)
        self.assertEqual(*outputs)

    def test_captures_stay_as_they_are(self):
        captures = [build_database(self.CAPTURES, f"db_{name}_ascend_pt", self.scratch / "captures")
                    for name in ("new", "base")]
        database = sqlite3.connect(captures[0] / DATABASE)
        database.execute("PRAGMA journal_mode = WAL")  # readers of such databases like to leave files
        database.close()
        captures.append(self.capture_copy())

        def state():
            return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
                    for capture in captures for path in (capture, *capture.rglob("*"))}
        before = state()
        self.assert_compared(self.compare(comparison=captures[0], base=captures[1]))
        self.assert_compared(self.compare(comparison=captures[0], base=captures[2]))
        self.assertEqual(state(), before)


class Export(Cli):
    """--export_type and --json."""

    def names(self):
        """What lies in the output directory, without the stem."""
        prefix = "performance_comparison_result_"
        names = sorted(path.name for path in self.out.iterdir())
        for name in names:
            self.assertTrue(name.startswith(prefix), name)
        self.assertEqual(len({name[len(prefix):len(prefix) + 14] for name in names}), 1, names)
        return [name[len(prefix) + 14:] for name in names]

    def path(self, ending):
        (path,) = self.out.glob("*" + ending)
        return path

    def test_types(self):
        for types, endings in (("xlsx", [".xlsx"]), ("json", [".json"]), ("md", [".md"]),
                               ("csv", ["_csv"]), ("JSON, xlsx,json", [".json", ".xlsx"])):
            with self.subTest(types=types):
                shutil.rmtree(self.out, ignore_errors=True)
                result = self.compare("--export_type", types)
                self.assertEqual((result.code, result.errors), (0, []))
                self.assertEqual(self.names(), endings)
                self.assertIn("\nEnd to end ", result.out)

    def test_option_twice(self):
        result = self.compare("--export-type=json", "--export_type", "md")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.names(), [".json", ".md"])

    def test_every_file_is_named_on_stderr(self):
        result = self.compare("--export_type", "xlsx,json,csv,md", "--enable_profiling_compare")
        self.assertEqual(result.err, [f"msprof-analyze: note: the details are in {self.path(ending)}"
                                      for ending in (".xlsx", ".json", "_csv", ".md")])

    def test_database_has_the_rows_of_the_csv(self):
        self.assertEqual(self.compare("--export_type", "db,csv").code, 0)
        (path,) = self.out.glob("*.db")
        (directory,) = self.out.glob("*_csv")
        with contextlib.closing(sqlite3.connect(path)) as database:
            tables = [name for name, in database.execute("SELECT name FROM sqlite_master")]
            self.assertGreater(len(tables), 4)
            for name in tables:
                with open(directory / f"{name}.csv", encoding="utf-8", newline="") as file:
                    rows = list(csv.reader(file))[1:]
                found, = database.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()
                self.assertEqual(found, len(rows), name)
            columns = [row[1] for row in database.execute("PRAGMA table_info(KernelCompare)")]
        self.assertIn("base_total_duration_us", columns)

    def test_unknown_types(self):
        for types, unknown in (("pdf", "pdf"), ("xlsx,text", "text"), ("xlsx json", "xlsx json")):
            with self.subTest(types=types):
                self.assert_fails(2, self.compare("--export_type", types), "--export_type",
                                  f"'{unknown}'", "xlsx, db, json, csv, md, html")
        self.assert_fails(2, self.compare("--export_type"), "--export_type")
        self.assertFalse(self.out.exists())

    def test_json_on_stdout(self):
        result = self.compare("--json", "--enable_profiling_compare")
        self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
        document = json.loads(result.out)
        self.assertEqual([*document], ["schema_version", "notes", "story", "settings", "sheets"])
        self.assertEqual(document["schema_version"], 2)
        sheet, parts = document["sheets"]
        self.assertEqual(parts["name"], "ChangeParts")
        self.assertEqual((sheet["name"], sheet["base"], sheet["comparison"]),
                         ("OverallMetrics", str(self.CAPTURES / BASE), str(self.CAPTURES / NEW)))
        rows = {row["index"]: row for row in sheet["rows"]}
        for row in sheet["rows"]:
            self.assertEqual([*row], sheet["columns"])
        self.assertEqual(rows["Conv (Forward)"],
                         {"index": "Conv (Forward)", "base_duration_ms": 58,
                          "base_duration_ratio": 58 / 1450, "base_number": 3,
                          "comparison_duration_ms": 78, "comparison_duration_ratio": 78 / 1470,
                          "comparison_number": 3, "diff_duration_ms": 20, "diff_ratio": 78 / 58,
                          "level": 1})
        self.assertFalse(self.out.exists(), "--json writes no files")

    def test_json_with_files(self):
        result = self.compare("--json", "--export_type", "json,csv")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.names(), [".json", "_csv"])
        self.assertEqual(self.path(".json").read_text(encoding="utf-8"), result.out)

    def test_json_needs_no_output_directory(self):
        self.out = Path("/proc/x")
        self.assertEqual(self.compare("--json").code, 0)

    def test_json_keeps_exit_codes(self):
        result = self.compare("--json", comparison=self.CAPTURES / "broken" / "truncated_trace_ascend_pt")
        self.assertEqual(result.code, 5, result.err)
        (note,) = [note for note in json.loads(result.out)["notes"] if "breaks off" in note]
        self.assertTrue(any(note in line for line in result.warnings), result.err)
        self.assert_fails(3, self.compare("--json", comparison="missing"), "missing")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_stdout(self):
        for arguments in (["compare", "-d", NEW, "-bp", BASE, "--json"], ["check", "-d", BASE],
                          ["check", "-d", BASE, "--json"]):
            with self.subTest(arguments=arguments), \
                    open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([self.TOOL, *arguments], cwd=self.CAPTURES, stdout=full,
                                      stderr=subprocess.PIPE, check=False, encoding="utf-8",
                                      timeout=TIMEOUT_SECONDS)
                self.assertEqual(done.returncode, 6)
                self.assertIn("msprof-analyze: error: cannot write to standard output", done.stderr)

    def test_csv(self):
        self.assertEqual(
            self.compare("--export_type", "csv", "--enable_profiling_compare").code, 0)
        self.assertEqual(sorted(file.name for file in self.path("_csv").iterdir()),
                         ["ChangeParts.csv", "OverallMetrics.csv"])
        with open(self.path("_csv") / "OverallMetrics.csv", newline="", encoding="utf-8") as file:
            rows = {row["index"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows["Matmul"]["comparison_duration_ms"], "114")
        self.assertEqual((rows["Wait"]["level"], rows["Wait"]["base_number"]), ("2", ""))

    def test_compat(self):
        result = self.compare("--compat", comparison=self.CAPTURES / "text_level0_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        self.assertEqual([line[:6] for line in (lines[0], *lines[-3:])],
                         ["+-----", "| NPU ", "| NPU ", "+-----"])  # the table and nothing else
        (workbook,) = self.workbooks()
        sheets = {sheet.name: sheet.rows() for sheet in Workbook(workbook).sheets}
        self.assertNotIn("Notes", sheets)
        self.assertNotIn("N/A", [cell for row in sheets["OverallMetrics"] for cell in row])
        self.assertTrue(any("not alike" in line for line in result.warnings), result.err)

    def test_notes_are_in_every_file(self):
        broken = self.CAPTURES / "broken" / "truncated_trace_ascend_pt"
        self.assertEqual(self.compare("--export_type", "xlsx,json,csv,md", comparison=broken).code, 5)
        notes = json.loads(self.path(".json").read_text(encoding="utf-8"))["notes"]
        self.assertNotEqual(notes, [])
        sheet = Workbook(self.path(".xlsx")).sheets[-1]
        self.assertEqual((sheet.name, sheet.rows()), ("Notes", [["Note"], *([note] for note in notes)]))
        with open(self.path("_csv") / "Notes.csv", newline="", encoding="utf-8") as file:
            self.assertEqual([row["note"] for row in csv.DictReader(file)], notes)
        self.assertIn("\n## Notes\n", self.path(".md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(__doc__, Output, Export))
