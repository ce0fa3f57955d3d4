#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what becomes of captures that are broken or hostile: exit codes, messages, and that every
command ends in good order and leaves the capture as it is.

    run_broken.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: text, textcommands, gpu, database, databasecommands, names,
generator.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from breaking import DATABASES, GPU, ODD_NAMES, OUTPUT, TEXT, TRACE, sql  # noqa: E402
from captures import DATABASE, build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from same_tables import recipes_of  # noqa: E402
from steps import write_capture  # noqa: E402
from workbook import Workbook  # noqa: E402

TOOL = CAPTURES = None  # set by main()
TIMEOUT_SECONDS = 20
TEXT_CAPTURE, DATABASE_CAPTURE = "twin_text_base_ascend_pt", "twin_db_base_ascend_pt"
GPU_CAPTURE = "gpu_base.json"
AS_USUAL = (0, "")  # the report of the whole capture
OTHERWISE = (0, None)  # a report of what is there
# Kind -> exit code of compare, and a piece of what it says.
OF_EVENTS = {
    "nan": (5, "event left out, it is not valid JSON"),
    "infinity": (5, "event left out, invalid start or duration"),
    "beyond int64": (5, "event left out, invalid start or duration"),
    "negative durations": (5, "event left out, invalid start or duration"),
    "times that are texts": (5, "event left out, invalid start or duration"),
    "times that are lists": (5, "event left out, invalid start or duration"),
    "names that are numbers": OTHERWISE,
    "arguments that are texts": OTHERWISE,
    "long names": (0, "longer than the 32,767 characters"),
    "odd names": OTHERWISE,
}
OF_TEXT = {
    **OF_EVENTS,
    "truncated trace": (5, "the trace breaks off"),
    "truncated json": (5, "communication.json: not valid JSON: parse error at line"),
    "truncated table": (5, "row left out, it has fewer cells than the header (kernel_details.csv:"),
    "empty trace": (3, "trace_view.json: the file is empty"),
    "empty tables": (5, "kernel_details.csv: the file is empty, it has no header line"),
    "no trace": (5, "no trace_view.json and no profiler database there"),
    "no side files": (0, "no kernel_details.csv there"),
    "no output": (3, "no profiler database, no trace_view.json and no raw data"),
    "directory as trace": (3, "trace_view.json: not a regular file"),
    "directory as table": (5, "kernel_details.csv: not a regular file; it is left out"),
    "pipe as trace": (3, "trace_view.json: not a regular file"),
    "pipe as table": (5, "kernel_details.csv: not a regular file; it is left out"),
    "socket as trace": (3, "trace_view.json: "),
    "device as table": (5, "kernel_details.csv: leads out of the capture, to /dev/zero"),
    "trace that links to itself": (3, "trace_view.json: Too many levels of symbolic links"),
    "table that links to itself": (5, "kernel_details.csv: cannot open the file: Too many levels"),
    "trace outside": (3, "trace_view.json: leads out of the capture, to "),
    "table outside": (5, "kernel_details.csv: leads out of the capture, to "),
    "settings outside": (0, "profiler_info_0.json: leads out of the capture, to "),
    "metadata outside": (5, "profiler_metadata.json: leads out of the capture, to "),
    "links within": AS_USUAL,
    "loops of directories": AS_USUAL,
    "short rows": (5, "row left out, it has fewer cells than the header"),
    "missing column": (5, 'kernel_details.csv: the column "Duration(us)" is missing'),
    "unbalanced quotes": (5, "kernel_details.csv: the column "),
    "zero bytes": (5, "row left out, it has fewer cells than the header (kernel_details.csv:2)"),
    "byte order marks": AS_USUAL,
    "other line ends": AS_USUAL,
    "bad utf-8": (5, "event left out, it is not valid JSON"),
    "negative kernels": (5, "kernel left out, invalid start or duration, 2 times"),
    "kernels of nan": (5, "kernel left out, invalid start or duration, 2 times"),
    "kernels beyond int64": (5, "kernel left out, invalid start or duration, 2 times"),
    "statistics that are texts": (5, "sums of a type of kernels left out, invalid count or time, 2 times"),
    "counts beyond int64": (5, "sums of a type of kernels left out, invalid count or time, 2 times"),
    "memory beyond int64": (5, "allocation left out, invalid size, 2 times"),
    "object without events": (3, 'no "traceEvents" array'),
    "list in a list": (5, "text left out, it is not an event; reading went on at the next one"),
    "events on lines": (3, "trace_view.json: "),
    "null": (3, "trace_view.json: not JSON"),
    "names that are numbers": (5, "step_trace_time.csv has steps that the trace lacks"),
    "arguments that are texts": (5, "work of the task queue"),
    "odd names": (5, "step_trace_time.csv and trace_view.json contradict each other"),
    "no events": (5, "the trace holds no events"),
    "something behind the trace": (5, "text behind the end of the trace was left out"),
    "nested document": (5, "communication.json: "),
    "packed blanks": (3, "trace_view.json.gz: "),
    "nesting": OTHERWISE,
    "modules in modules": (0, "modules lie more than 256 levels deep"),
    "odd kernels": OTHERWISE,
}
OF_GPU = {
    **OF_EVENTS,
    "truncated": (5, "the trace breaks off, the end of the run is missing"),
    "empty": (3, "gpu_base.json: the file is empty"),
    "directory": (3, "gpu_base.json: no profiler database, no trace_view.json and no raw data"),
    "pipe": (3, "gpu_base.json: not a regular file"),
    "link to itself": (3, "gpu_base.json: Too many levels of symbolic links"),
    "no json": (3, "gpu_base.json: not JSON: it begins with neither '[' nor '{'"),
    "null": (3, "gpu_base.json: not JSON: it begins with neither '[' nor '{'"),
    "no schema": AS_USUAL,
    "no events": (3, "nothing to compare, because it holds none of the requested events"),
    "events in an object": (3, 'no "traceEvents" array'),
    "events on lines": AS_USUAL,
    "something behind the trace": (5, "text behind the end of the trace was left out"),
    "byte order mark": AS_USUAL,
    "other line ends": AS_USUAL,
    "bad utf-8": (5, "event left out, it is not valid JSON, 14 times"),
    "memory beyond int64": (5, "memory event left out, invalid size"),
    "nesting": OTHERWISE,
}
OF_DATABASES = {
    "empty file": (3, ".db: the file is empty"),
    "no database": (3, ".db: file is not a database"),
    "truncated": (3, ".db: the database was cut: it has "),
    "corrupt pages": (3, ".db: the database is damaged or incomplete"),
    "corrupt header": (3, ".db: file is not a database"),
    "unknown format": (3, ".db: sqlite_master: unsupported file format"),
    "directory": (3, ".db: not a regular file"),
    "pipe": (3, ".db: not a regular file"),
    "outside": (3, ".db: leads out of the capture, to "),
    "links within": AS_USUAL,
    "other tables": (3, "none of the tables TASK, COMMUNICATION_OP and PYTORCH_API"),
    "missing table": (5, "table COMPUTE_TASK_INFO is missing or empty: its class is unknown"),
    "no texts": (5, "text left empty, STRING_IDS does not have it"),
    "missing column": (5, "left out, table CONNECTION_IDS: no such column: connectionId"),
    "no times of tasks": (5, "left out, table TASK"),
    "empty tables": (5, "text left empty, STRING_IDS does not have it"),
    "nothing but null": (5, "row left out, invalid start or end"),
    "wrong types": (5, "row left out, invalid start or end"),
    "beyond int64": (5, "row left out, invalid start or end"),
    "negative durations": (5, "row left out, invalid start or end"),
    "latest times": (5, "row left out, invalid start or end"),
    "bad utf-8": OTHERWISE,
    "null texts": (5, "text left empty, STRING_IDS does not have it"),
    "unknown texts": (5, "text left empty, STRING_IDS does not have it"),
    "repeated ids": (5, "row left out, it was written twice"),
    "long names": (0, "longer than the 32,767 characters"),
    "odd names": OTHERWISE,
}
RECIPES = ["-m", "every recipe"]
OTHER_COMMANDS = (["check"], RECIPES, ["parse"], ["advisor", "all"], ["export", "timeline"],
                  ["compare", "--fail_on", "step_time>+3%"])


def state(directory):
    """What must not change: names, kinds, times and bytes of everything below."""
    found = {}
    for path in sorted([directory, *directory.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return found


class Result:
    def __init__(self, done):
        self.code, self.out = done.returncode, done.stdout
        self.err = [line for line in done.stderr.splitlines() if "--force to read" not in line]
        self.problems = [line for line in self.err
                         if not line.startswith(("msprof-analyze: note: ", "msprof-analyze: info: "))]
        self.errors = [line for line in self.err if line.startswith("msprof-analyze: error: ")]


class Broken(unittest.TestCase):
    """Every test has a directory of its own, self.scratch, and self.out in it for results."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.out = self.scratch / "out"

    def run_tool(self, *arguments):
        return Result(subprocess.run(
            [TOOL, *map(str, arguments)], check=False, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="surrogateescape",
            timeout=TIMEOUT_SECONDS))

    def whole(self, name):
        return build_database(CAPTURES, name, self.scratch) if "db_" in name else CAPTURES / name

    def broken(self, name, breaks):
        """A copy of the capture that `breaks` changed."""
        copy = self.scratch / "broken" / name
        shutil.rmtree(copy.parent, ignore_errors=True)
        whole = self.whole(name)
        if whole.is_dir():
            shutil.copytree(whole, copy)
        else:
            copy.parent.mkdir()
            shutil.copy(whole, copy)
        breaks(copy)
        return copy

    def compare(self, capture, *more, base=None):
        return self.run_tool("compare", "-d", capture, "-bp", base or self.whole(TEXT_CAPTURE),
                             "-o", self.out, *more)

    def assert_orderly(self, result, codes):
        """A known exit code, a line for each problem, and none twice."""
        self.assertIn(result.code, codes, result.err)
        for line in result.err:
            self.assertTrue(line.startswith("msprof-analyze: "), result.err)
        self.assertEqual(len(set(result.problems)), len(result.problems), result.err)
        told = bool(result.out)  # by `check`, whose page is there all the same
        self.assertEqual(len(result.errors), 1 if result.code == 3 and not told else 0, result.err)
        if result.code == 5:
            self.assertTrue(result.problems, "a partial result without a word")

    def assert_as_told(self, result, code, text):
        self.assert_orderly(result, (code,))
        if text == "":
            self.assertEqual(result.problems, [])
        elif text:
            self.assertTrue(any(text in line for line in result.problems), result.err)

    def check_kinds(self, name, kinds, table):
        self.assertEqual(set(kinds), set(table), "the table is complete")
        for kind, (code, text) in table.items():
            with self.subTest(kind=kind):
                capture = self.broken(name, kinds[kind])
                before = state(capture)
                self.assert_as_told(self.compare(capture), code, text)
                self.assertEqual(state(capture), before, "the capture was changed")

    def check_whole_ones(self, name, kinds, table):
        usual = self.compare(self.whole(name), "--json").out
        for kind in (kind for kind, told in table.items() if told == AS_USUAL):
            with self.subTest(kind=kind):
                broken = self.broken(name, kinds[kind])
                report = self.compare(broken, "--json")
                self.assertEqual(report.problems, [])
                self.assertEqual(report.out.replace(str(broken), str(self.whole(name))), usual)

    def all_recipes(self, base):
        """One run of every recipe there is, in place of RECIPES."""
        known = recipes_of(TOOL)
        self.assertIn("slow_rank", known)
        return ["-m", ",".join(known), "--bp", base,
                "--baseline_profiling_path", CAPTURES / GPU_CAPTURE]

    def check_other_commands(self, name, kinds, commands=OTHER_COMMANDS):
        """They end in good order, and the capture stays as it is."""
        recipes = self.all_recipes(self.whole(name))
        for kind, breaks in kinds.items():
            capture = self.broken(name, breaks)
            before = state(capture)
            for command in commands:
                with self.subTest(kind=kind, command=command):
                    if "--fail_on" in command:
                        arguments = [*command, "-bp", self.whole(name)]
                    elif command == RECIPES:
                        arguments = [*recipes, "-o", self.out]
                    else:
                        arguments = [*command, *([] if command == ["check"] else ["-o", self.out])]
                    result = self.run_tool(*arguments, "-d", capture)
                    self.assert_orderly(result, (0, 1, 3, 4, 5))
            self.assertEqual(state(capture), before, f"{kind}: the capture was changed")


class Text(Broken):
    def test_kinds(self):
        self.check_kinds(TEXT_CAPTURE, TEXT, OF_TEXT)

    def test_what_is_whole_is_reported_as_usual(self):
        self.check_whole_ones(TEXT_CAPTURE, TEXT, OF_TEXT)

    def test_links_out_are_followed_on_request(self):
        for kind in ("trace outside", "table outside"):
            with self.subTest(kind=kind):
                capture = self.broken(TEXT_CAPTURE, TEXT[kind])
                self.assertIn("--force follows such links", self.compare(capture).problems[0])
                self.assert_as_told(self.compare(capture, "--force"), *AS_USUAL)

    def test_check_follows_no_link_out(self):
        """Not even to the documents that only it reads."""
        capture = self.broken(TEXT_CAPTURE, lambda path: None)
        documents = {"profiler_info_0.json": {"rank_id": 7}, "version.json": {"cann_version": "7.7"},
                     "profiler_metadata.json": {"torch_npu_version": "7.7"},
                     "PROF_000001_20261122_A/host/info.json": {"hostname": "seven"}}
        for name, content in documents.items():
            elsewhere = self.scratch / "elsewhere" / name
            elsewhere.parent.mkdir(parents=True, exist_ok=True)
            elsewhere.write_text(json.dumps(content))
            (capture / name).parent.mkdir(parents=True, exist_ok=True)
            (capture / name).unlink(missing_ok=True)
            (capture / name).symlink_to(elsewhere)
        result = self.run_tool("check", "-d", capture, "--json")
        for name in documents:
            self.assertIn(f"{name}: leads out of the capture, to ", result.out)
        self.assertNotIn("7.7", result.out)
        self.assertNotIn("seven", result.out)
        followed = self.run_tool("check", "-d", capture, "--json", "--force").out
        self.assertNotIn("leads out", followed)
        self.assertIn("7.7", followed)
        self.assertIn("seven", followed)

    def test_paths_with_every_kind_of_letter(self):
        parent = self.scratch / "sp ace" / "\u00fcn\u00ef \u76ee\u5f55 \U0001f600" / "quo'te\"&$(x)%41;#?"
        parent.mkdir(parents=True)
        for name in (TEXT_CAPTURE, DATABASE_CAPTURE):
            with self.subTest(name=name):
                capture = shutil.copytree(self.whole(name), parent / name)
                self.assert_as_told(self.compare(capture), *AS_USUAL)

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_files_that_must_not_be_read(self):
        capture = self.broken(TEXT_CAPTURE, lambda path: (path / OUTPUT / "communication.json").chmod(0))
        self.assert_as_told(self.compare(capture), 5, "Permission denied")
        capture = self.broken(TEXT_CAPTURE, lambda path: (path / OUTPUT / TRACE).chmod(0))
        self.assert_as_told(self.compare(capture), 3, "Permission denied")


class TextCommands(Broken):
    def test_kinds(self):
        self.check_other_commands(TEXT_CAPTURE, TEXT)


class Gpu(Broken):
    # All but kernels, which are not compared with those of GPUs, and modules, of which the trace has
    # none: either is told of the whole capture, too.
    COMPARISONS = ("--disable_module", "--enable_profiling_compare", "--enable_operator_compare",
                   "--enable_memory_compare", "--enable_communication_compare",
                   "--enable_api_compare")

    def compare(self, capture, *more):
        return super().compare(capture, *self.COMPARISONS, *more, base=self.whole(GPU_CAPTURE))

    def test_kinds(self):
        self.check_kinds(GPU_CAPTURE, GPU, OF_GPU)

    def test_what_is_whole_is_reported_as_usual(self):
        self.check_whole_ones(GPU_CAPTURE, GPU, OF_GPU)

    def test_other_commands(self):
        self.check_other_commands(GPU_CAPTURE, GPU, [["check"], RECIPES, ["advisor", "all"],
                                                     ["compare", "--fail_on", "computing>+3%"]])


class Database(Broken):
    def test_kinds(self):
        self.check_kinds(DATABASE_CAPTURE, DATABASES, OF_DATABASES)

    def writer(self, capture):
        database = sqlite3.connect(capture / DATABASE, isolation_level=None)
        self.addCleanup(database.close)
        return database

    def test_a_lock_is_waited_for_and_told(self):
        capture = self.broken(DATABASE_CAPTURE, lambda path: None)
        writer = self.writer(capture)
        for lock in ("IMMEDIATE", "EXCLUSIVE"):
            with self.subTest(lock=lock):
                writer.execute(f"BEGIN {lock}")
                self.assert_as_told(self.compare(capture), 3,
                                    f"process {os.getpid()} is writing to the database; try again")
                writer.execute("ROLLBACK")
        self.assert_as_told(self.compare(capture), *AS_USUAL)

    def test_readers_do_not_lock_out(self):
        capture = self.broken(DATABASE_CAPTURE, lambda path: None)
        reader = self.writer(capture)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM TASK").fetchone()
        self.assert_as_told(self.compare(capture), *AS_USUAL)

    def test_an_interrupted_write_is_told(self):
        capture = self.broken(DATABASE_CAPTURE, lambda path: None)
        writer = self.writer(capture)
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("PRAGMA cache_spill = 1")
        writer.execute("BEGIN")
        for _ in range(9):
            writer.execute("INSERT INTO TASK SELECT * FROM TASK")
        killed = shutil.copytree(capture, self.scratch / "killed_ascend_pt")
        self.assertTrue((killed / OUTPUT / f"{DATABASE.name}-journal").exists())
        before = state(killed)
        self.assert_as_told(self.compare(killed), 3, f"which left {DATABASE.name}-journal")
        self.assertEqual(state(killed), before)

    def with_wal(self):
        """A copy of a capture whose last writes were not merged, without the -shm file."""
        capture = self.broken(DATABASE_CAPTURE, lambda path: None)
        writer = self.writer(capture)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("DELETE FROM STEP_TIME WHERE id > 1")
        copy = self.scratch / "wal_ascend_pt"
        (copy / OUTPUT).mkdir(parents=True)
        for ending in ("", "-wal"):
            shutil.copy(f"{capture / DATABASE}{ending}", copy / OUTPUT)
        return copy

    def test_writes_in_the_wal_are_seen(self):
        capture = self.with_wal()
        (capture / OUTPUT).chmod(0o500)
        self.addCleanup((capture / OUTPUT).chmod, 0o700)
        before = state(capture)
        result = self.compare(capture, "--base_step", "1", "--comparison_step", "2")
        self.assert_as_told(result, 3, "step 2 not found")
        self.assertEqual(state(capture), before)
        self.assert_as_told(self.compare(capture), 5, "steps are missing in STEP_TIME")
        self.assertEqual(state(capture), before)

    def test_a_broken_wal_is_no_crash(self):
        capture = self.with_wal()
        wal = capture / OUTPUT / f"{DATABASE.name}-wal"
        whole = wal.read_bytes()
        for content in (whole[:100], b"\xff" * 5000, whole[:40] + b"\0" * 4096 + whole[4136:]):
            wal.write_bytes(content)
            self.assert_orderly(self.compare(capture), (0, 3, 5))
            self.assertEqual(wal.read_bytes(), content)


class DatabaseCommands(Broken):
    def test_kinds(self):
        self.check_other_commands(DATABASE_CAPTURE, DATABASES)


class Names(Broken):
    """Names of captures are only text, wherever they appear."""

    HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def check_text(self, name, text):
        self.assertIsNone(self.HIDDEN.search(text.replace("\r\n", "\n")), f"{name}: {text[:300]!r}")

    def check_files(self):
        """No hidden character in any file; workbooks hold them nowhere as cells."""
        seen = set()
        for path in (path for path in self.out.rglob("*") if path.is_file()):
            seen.add(path.suffix)
            if path.suffix == ".xlsx":
                for sheet in Workbook(path).sheets:
                    for cell in sheet.cells.values():
                        self.assertNotEqual(cell.value, "(a formula)")
                        if isinstance(cell.value, str):
                            self.check_text(path.name, cell.value)
            elif path.suffix != ".db":
                self.check_text(path.name, path.read_text(encoding="utf-8"))
        return seen

    def captures(self):
        yield self.broken(TEXT_CAPTURE, TEXT["odd names"])
        yield self.broken(TEXT_CAPTURE, TEXT["odd kernels"])
        yield self.broken(DATABASE_CAPTURE, DATABASES["odd names"])

    def test_in_every_format(self):
        for capture in self.captures():
            result = self.compare(capture, "--export_type", "xlsx,json,csv,md")
            self.assert_orderly(result, (0, 5))
            self.check_text("stdout", result.out)
            self.assertEqual(self.check_files(), {".xlsx", ".json", ".csv", ".md"})

    def test_cells_are_no_formulas(self):
        self.compare(self.broken(TEXT_CAPTURE, TEXT["odd kernels"]), "--export_type", "csv")
        cells = {cell for path in self.out.rglob("KernelCompare.csv")
                 for row in csv.reader(path.open(newline="", encoding="utf-8")) for cell in row}
        self.assertIn("'=1+1", cells)
        self.assertEqual([cell for cell in cells if cell[:1] in tuple("=@\t")], [])

    def test_summaries_of_databases_hold_no_formulas(self):
        odd = sql("UPDATE STRING_IDS SET value = '=1+1' WHERE value = 'MatMulV2'",
                  "UPDATE STRING_IDS SET value = '@' || char(27) || '[31m' || char(8238) "
                  "WHERE value = 'aclrtMemcpyAsync' OR value = 'Relu'")
        result = self.run_tool("-m", "export_summary", "-d", self.broken(DATABASE_CAPTURE, odd),
                               "-o", self.out)
        self.assert_orderly(result, (0,))
        cells = {cell for path in self.out.rglob("*.csv")
                 for row in csv.reader(path.open(newline="", encoding="utf-8")) for cell in row}
        self.assertLessEqual({"'=1+1", "'@\\x1b[31m\\u202e"}, cells)
        self.assertEqual([cell for cell in cells
                          if cell[:1] in tuple("=@\t") or any(c in cell for c in "\x1b\u202e")], [])

    def test_json_keeps_them(self):
        capture = self.broken(TEXT_CAPTURE, TEXT["odd kernels"])
        document = json.loads(self.compare(capture, "--json").out)
        names = {value for sheet in document["sheets"] for row in sheet["rows"]
                 for value in row.values()}
        for name in ("\x1b[31mred\x1b[0m", "\u202egpj.exe", "\u009b5m"):
            self.assertIn(name, names)

    def test_of_other_commands(self):
        for capture in self.captures():
            for recipe in ("module_statistic", "operator_mfu", "head_overhead"):
                for export in ("text", "csv", "json", "db"):
                    with self.subTest(capture=capture, recipe=recipe, export=export):
                        result = self.run_tool("-m", recipe, "-d", capture, "-o", self.out,
                                               "--export_type", export, "--print")
                        self.assert_orderly(result, (0, 3, 5))
                        self.check_text("stdout", result.out)
                        self.check_files()

    def test_of_a_gate(self):
        base = write_capture(self.scratch / "base_ascend_pt", (100_000,) * 5)
        new = write_capture(self.scratch / "new_ascend_pt", (120_000,) * 5,
                            kernels=[("MatMulV2", 40_000),
                                     *((name or "empty", 1500) for name in ODD_NAMES[:12])])
        result = self.run_tool("compare", "-d", new, "-bp", base, "--fail_on", "computing>+3%",
                               "--fail_on_new_op", "--allow_mismatch", "shapes", "-o", self.out,
                               "--export_type", "junit,md,json,openmetrics,github")
        self.assert_orderly(result, (1,))
        self.check_text("stdout", result.out)
        self.assertEqual(self.check_files(), {".xml", ".md", ".json", ".txt"})

    def test_of_captures(self):
        name = "\x1b[31m\u202e\nmsprof-analyze: error: fake|<b>`=1_ascend_pt"
        capture = shutil.copytree(self.whole(TEXT_CAPTURE), self.scratch / name)
        for arguments in (["compare", "-bp", capture, "--export_type", "xlsx,json,csv,md"],
                          ["compare", "-bp", capture, "--json"], ["check"], ["check", "--json"],
                          ["-m", "module_statistic"],
                          ["compare", "--save_baseline", self.out / "baseline.json"],
                          ["compare", "-bp", capture, "--fail_on", "e2e>+3%", "--export_type",
                           "junit,md,json,openmetrics"]):
            with self.subTest(arguments=arguments):
                if arguments[0] != "check" and "--save_baseline" not in arguments:
                    arguments += ["-o", self.out]
                result = self.run_tool(*arguments, "-d", capture)
                self.assert_orderly(result, (0, 4))
                self.check_text("what is said", result.out + "\n".join(result.err))
        self.check_files()

    def test_of_ranks_and_groups_make_no_files_elsewhere(self):
        capture = build_database(CAPTURES, "toy_model_ascend_pt", self.scratch / "job")
        for name in ("../../../escaped", "/etc/passwd", "a/b\x1b"):
            (capture / "profiler_info_0.json").write_text(json.dumps({"rank_id": name}))
            result = self.run_tool("-m", "module_statistic", "-d", capture, "-o", self.out,
                                   "--export_type", "text")
            self.assert_orderly(result, (0,))
        (folder,) = (self.out / "cluster_analysis_output").iterdir()
        self.assertEqual({path.suffix for path in folder.iterdir()}, {".xlsx"})
        self.assertEqual({path.name for path in self.scratch.iterdir()}, {"job", "out"})


class Generator(Broken):
    """The kinds of the generator that is shared with other tools, where it is at hand."""

    TOOLS = Path(__file__).resolve().parents[3] / "shared" / "tools" / "fuzz_capture.py"
    AS_USUAL = {"byte_order_marks", "duplicate_keys", "odd_path", "other_line_ends",
                "symlinked_files", "bad_utf8_db", "queue_without_ids",
                "unreadable_file"}
    REFUSED = {"zero_byte_db": "the file is empty", "not_a_db": "not a database",
               "truncated_db": "the database was cut", "missing_output_directory": "no profiler database"}
    LEFT_OUT = {"bad_utf8_in_names": "not valid JSON", "negative_durations": "left out",
                "nan_values": "left out", "missing_columns_db": "no such column",
                "null_strings": "text left empty"}
    # A kernel that is called like a collective contradicts op_statistic.csv, a collective that is not the account of the
    # steps; of repeated events steps are named.
    CONTRADICTS = {"odd_names", "duplicate_ids", "long_names"}

    def expected(self, kind):
        """Exit codes, and a piece of what is said."""
        if kind in self.AS_USUAL:
            return (0,), ""
        if kind in self.REFUSED:
            return (3,), self.REFUSED[kind]
        if kind in self.LEFT_OUT:
            return (5, 3), self.LEFT_OUT[kind]
        if kind in self.CONTRADICTS:
            return (0, 5), ""
        return (0, 3, 5), ""

    def test_kinds(self):
        if not self.TOOLS.exists():
            self.skipTest(f"{self.TOOLS} is not there")
        for name in (TEXT_CAPTURE, DATABASE_CAPTURE):
            for seed in range(2):
                target = self.scratch / f"{name}_{seed}"
                made = subprocess.run(
                    [self.TOOLS, "--src", self.whole(name), "--dst", target, "--kind", "all",
                     "--seed", str(seed)], check=False, capture_output=True, encoding="utf-8")
                if "ModuleNotFoundError" in made.stderr:
                    self.skipTest(made.stderr.splitlines()[-1])
                self.assertEqual(made.returncode, 0, made.stderr)
                for line in made.stdout.splitlines():
                    variant = json.loads(line)
                    with self.subTest(**variant):
                        codes, text = self.expected(variant["kind"])
                        result = self.compare(variant["capture"], base=self.whole(name))
                        self.assert_orderly(result, codes)
                        self.assertIn(text, "\n".join(result.problems))
                        if seed > 0:
                            continue
                        recipes = self.run_tool(*self.all_recipes(self.whole(name)), "-d",
                                                variant["capture"], "-o", self.out)
                        self.assert_orderly(recipes, (0, 3, 5))


def main():
    global TOOL, CAPTURES
    arguments = parse_arguments(__doc__, Broken.__subclasses__())
    TOOL, CAPTURES = arguments.tool, arguments.captures
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
