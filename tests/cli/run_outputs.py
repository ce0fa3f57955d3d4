#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what becomes of outputs when they cannot be written, runs are ended, or memory is short.

    run_outputs.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: places, room, streams, killed, ended, together, memory.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import fcntl
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402
from running import (SIGNALS, end_after, finish, left_behind, run, start, table_sizes,  # noqa: E402
                     wait_for)
from steps import write_capture  # noqa: E402

TOOL = CAPTURES = RAW = None  # set by main()
BASE, NEW = "text_base_ascend_pt", "text_new_ascend_pt"
MODULES = "twin_text_new_ascend_pt"
RESULTS, DONE_MARK = "ASCEND_PROFILER_OUTPUT", "analyse.done"
TYPES = ("xlsx", "json", "csv", "md")
MFU_TABLES = {"OperatorMFU", "ModuleMFU", "MFUSummary", "MFUWaste"}


class Outputs(unittest.TestCase):
    """Every test has a directory of its own, self.scratch, and self.out in it for results."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.out = self.scratch / "out"

    # Command lines; without `capture` of a small one that is whole.
    def compare(self, *more, capture=None):
        return [TOOL, "compare", "-d", capture or CAPTURES / NEW, "-bp", CAPTURES / BASE, "-o",
                self.out, *more]

    def gate(self, *more, capture=None):
        return [TOOL, "compare", "-d", capture or CAPTURES / NEW, "-bp", CAPTURES / BASE, "-o",
                self.out, "--min_steps", "1", "--fail_on", "step_time>+300%", *more]

    def baseline(self, capture=None):
        return [TOOL, "compare", "-d", capture or CAPTURES / NEW, "--save_baseline",
                self.out / "main.json"]

    def recipe(self, *more, name="operator_mfu", capture=None):
        peak = ["--peak_tflops", "300"] if name == "operator_mfu" else []
        return [TOOL, "-m", name, "-d", capture or CAPTURES / MODULES, "-o", self.out, *peak, *more]

    def parse(self, *more, run_name="stars"):
        (source,) = (RAW / run_name).glob("*_ascend_pt")
        return [TOOL, "parse", "-d", source, "-o", self.out, *more]

    @property
    def database(self):
        return self.out / "cluster_analysis_output" / "cluster_analysis.db"

    def parsed(self):
        """The directory of results that parse writes."""
        (source,) = (RAW / "stars").glob("*_ascend_pt")
        return self.out / source.name / RESULTS

    def broken_capture(self):
        """One that can be found, but not be read."""
        broken = self.scratch / "broken_ascend_pt"
        if not broken.exists():
            shutil.copytree(CAPTURES / NEW, broken)
            trace = broken / RESULTS / "trace_view.json"
            trace.write_text("no JSON", encoding="utf-8")
        return broken

    def assert_ends(self, ended, code, *texts):
        """One error line, with all texts."""
        self.assertEqual(ended.code, code, ended.err)
        self.assertEqual(len(ended.errors), 1, ended.err)
        for text in texts:
            self.assertIn(str(text), ended.errors[0])

    def assert_nothing_behind(self):
        self.assertEqual(left_behind(self.scratch), [])


class Places(Outputs):
    """Places where nothing can be written are told before the captures are read."""

    def assert_refused(self, arguments, *texts):
        with self.subTest(arguments=arguments[1:]):
            ended = run(arguments)
            self.assert_ends(ended, 6, *texts)
            self.assert_nothing_behind()

    def test_reading_would_fail(self):
        """What the others rely on."""
        for arguments in (self.compare(capture=self.broken_capture()),
                          self.gate(capture=self.broken_capture()),
                          self.recipe(capture=self.broken_capture())):
            self.assertEqual(run(arguments).code, 3)

    def test_no_directory_can_be_made(self):
        broken = self.broken_capture()
        self.out = Path("/proc/out")
        for arguments in (self.compare(capture=broken), self.recipe(capture=broken), self.parse(),
                          self.gate("--export_type", "json", capture=broken)):
            self.assert_refused(arguments, "-o: /proc/out")

    def test_directories_where_files_should_be(self):
        broken = self.broken_capture()
        places = {
            self.database: self.recipe(capture=broken),
            self.out / "cluster_analysis_output" / "OperatorMfu" / "operator_mfu.json":
                self.recipe("--export_type", "json", capture=broken),
            self.out / "gate.md": self.gate("--export_type", "md", capture=broken),
            self.out / "cluster_analysis_output" / "ModuleStatistic" / "module_statistic_0.xlsx":
                self.recipe("--export_type", "text", name="module_statistic", capture=broken),
            self.out / "main.json": self.baseline(capture=broken),
        }
        for place, arguments in places.items():
            place.mkdir(parents=True)
            self.assert_refused(arguments, place, "a directory has this name")

    def test_names_that_are_too_long(self):
        name = self.scratch / ("x" * 300)
        self.out = name
        places = (self.compare(), self.recipe(), self.parse(), self.baseline(),
                  [TOOL, "-m", "head_overhead", "-d", self.broken_capture(), "-o", self.scratch,
                   "--picture", name])
        for arguments in places:
            self.assert_refused(arguments, "File name too long")

    def test_the_working_directory_is_gone(self):
        self.out = "."
        ended = run(["sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh",
                     *self.compare()], cwd=self.scratch)
        self.assert_ends(ended, 3, "No such file or directory")

    def test_a_file_where_results_should_be(self):
        self.parsed().parent.mkdir(parents=True)
        self.parsed().write_text("mine", encoding="utf-8")
        self.assert_refused(self.parse("--force"), RESULTS, "a file has this name")
        self.assertEqual(self.parsed().read_text(encoding="utf-8"), "mine")

    def test_devices_are_not_replaced(self):
        self.assert_refused([TOOL, "compare", "-d", self.broken_capture(), "--save_baseline",
                             "/dev/null"], "--save_baseline: /dev/null")
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_databases_that_cannot_be_extended(self):
        self.database.parent.mkdir(parents=True)
        self.database.write_text("a text of mine, and no database", encoding="utf-8")
        arguments = self.recipe(capture=self.broken_capture())
        self.assert_refused(arguments, self.database, "not a database")
        self.assertIn("mine", self.database.read_text(encoding="utf-8"))

    def test_databases_that_others_write_to(self):
        self.assertEqual(run(self.recipe()).code, 0)
        other = sqlite3.connect(self.database)
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
        before = self.database.read_bytes()
        ended = run(self.recipe())
        self.assert_ends(ended, 6, "cluster_analysis.db-wal")
        self.assertEqual(self.database.read_bytes(), before)
        other.close()
        self.assertEqual(run(self.recipe()).code, 0)
        self.assertIn("theirs", table_sizes(self.database))

    def run_as_nobody(self, arguments):
        """Root may write everywhere."""
        if os.geteuid() != 0:
            return run(arguments)
        self.scratch.chmod(0o755)
        try:
            return run(arguments, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            return self.skipTest("nobody but root can run the tool here")

    def test_no_permission(self):
        broken = self.broken_capture()
        self.out.mkdir(mode=0o500)
        self.out.chmod(0o555)
        for arguments in (self.compare(capture=broken), self.recipe(capture=broken), self.parse()):
            self.assert_ends(self.run_as_nobody(arguments), 6, "-o", "Permission denied")

    def test_write_protected_files(self):
        self.assertEqual(run(self.recipe()).code, 0)
        self.database.chmod(0o444)
        for path in (self.out, self.database.parent):
            path.chmod(0o777)
        ended = self.run_as_nobody(self.recipe(capture=self.broken_capture()))
        self.assert_ends(ended, 6, "cluster_analysis.db", "Permission denied")


class Room(Outputs):
    """Without room the run ends with 6, old outputs stay, and nothing unfinished does."""

    def assert_survives(self, arguments, contents, sizes=(0, 1000, 5000)):
        """`contents()` reads the old outputs; the files may have so many bytes."""
        for size in sizes:
            with self.subTest(arguments=arguments[1:], size=size):
                before = contents()
                ended = run(arguments, {resource.RLIMIT_FSIZE: size})
                self.assert_ends(ended, 6)
                self.assertEqual(contents(), before)
                self.assert_nothing_behind()

    def files(self):
        """Path -> content, of everything in self.out."""
        return {path: path.read_bytes() for path in sorted(self.out.rglob("*")) if path.is_file()}

    def test_reports(self):
        for kind in TYPES:
            self.assert_survives(self.compare("--export_type", kind), self.files, (0, 1000, 2000))

    def test_all_types_or_none(self):
        self.assert_survives(self.compare("--export_type", ",".join(TYPES)), self.files, (20_000,))

    def test_recipes(self):
        for kind, most in (("db", 3000), ("json", 3000), ("csv", 500), ("text", 3000)):
            arguments = self.recipe("--export_type", kind, name="module_statistic")
            self.assertEqual(run(arguments).code, 0)
            self.assert_survives(arguments, self.files, (0, most))

    def test_every_size_of_a_workbook(self):
        """The library overlooks some writes that fail."""
        arguments = self.recipe("--export_type", "text", name="module_statistic")
        self.assertEqual(run(arguments).code, 0)
        (workbook,) = self.out.rglob("*.xlsx")
        whole = workbook.stat().st_size
        for size in range(500, 12 * whole // 10, 1500):
            ended = run(arguments, {resource.RLIMIT_FSIZE: size})
            self.assertIn(ended.code, (0, 6), ended.err)
            self.assertGreaterEqual(workbook.stat().st_size, whole - 100)  # times differ
        self.assert_nothing_behind()

    def test_gates(self):
        self.assertEqual(run(self.baseline()).code, 0)
        self.assertEqual(run(self.gate("--export_type", "json,junit")).code, 0)
        self.assert_survives(self.gate("--export_type", "json"), self.files, (0, 1000))
        self.assert_survives(self.baseline(), self.files, (0, 1000))

    def test_pages(self):
        picture = self.scratch / "call.html"
        arguments = [TOOL, "-m", "head_overhead", "-d", CAPTURES / "head_steady_ascend_pt", "-o",
                     self.out, "--picture", picture]
        self.assertEqual(run(arguments).code, 0)
        self.assert_survives([*arguments, "--export_type", "json"], picture.read_bytes, (0, 1000))

    def test_parsing(self):
        self.assertEqual(run(self.parse()).code, 0)
        self.assert_survives(self.parse("--force"), self.files, (0, 1000, 30_000))

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_full_disks(self):
        self.out.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.out]
        if subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no mounting here")
        self.addCleanup(subprocess.run, ["umount", self.out], check=True)
        (self.out / "filler").write_bytes(bytes(60_000))
        for kind in TYPES:
            self.assert_survives(self.compare("--export_type", kind), self.files, (1 << 30,))
        for kind in ("db", "text"):
            arguments = self.recipe("--export_type", kind, name="module_statistic")
            self.assert_survives(arguments, self.files, (1 << 30,))


class Streams(Outputs):
    """What was printed and does not arrive is an error."""

    def commands(self):
        return ([TOOL, "--help"], [TOOL, "--version"], [TOOL, "check", "-d", CAPTURES / NEW],
                [TOOL, "check", "-d", CAPTURES / NEW, "--json"], self.compare("--json"),
                self.compare("--export_type", "json"), self.gate(),
                self.gate("--json"), self.recipe("--print"))

    def assert_output_error(self, arguments, **settings):
        with self.subTest(arguments=arguments[1:]):
            self.assert_ends(run(arguments, **settings), 6, "standard output")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in self.commands():
                self.assert_output_error(arguments, stdout=full)

    def test_reader_is_gone(self):
        for arguments in self.commands():
            read, write = os.pipe()
            os.close(read)
            self.assert_output_error(arguments, stdout=write)
            os.close(write)

    def test_closed(self):
        """Nor does what was printed get into another file."""
        shell = ["sh", "-c", 'exec "$@" >&-', "sh"]
        for arguments in self.commands():
            self.assert_output_error([*shell, *arguments])
        self.assertIn("MFUSummary", table_sizes(self.database))
        for report in self.out.glob("*.json"):
            self.assertIn("sheets", json.loads(report.read_text(encoding="utf-8")))

    def test_stderr_is_closed_or_full(self):
        for redirect in ("2>&-", "2>/dev/full"):
            ended = run(["sh", "-c", f'exec "$@" {redirect}', "sh", *self.compare()])
            self.assertEqual(ended.code, 0)


class Killed(Outputs):
    """kill -9 at any moment leaves the old output or the new one; the next run tidies up."""

    RUNS = 20

    def kill_often(self, arguments, check):
        """Kills runs at moments all over their duration."""
        whole = run(arguments)
        self.assertEqual(whole.code, 0, whole.err)
        killed = 0
        for moment in range(self.RUNS):
            ended = end_after(start(arguments), whole.seconds * moment / self.RUNS, signal.SIGKILL)
            self.assertIn(ended.code, (0, -signal.SIGKILL), ended.err)
            killed += ended.code != 0
            check()
        self.assertGreater(killed, 0)
        self.assertEqual(run(arguments).code, 0)
        check()
        self.assert_nothing_behind()

    def test_databases(self):
        arguments = self.recipe()
        self.assertEqual(run(arguments).code, 0)
        other = sqlite3.connect(self.database)
        other.execute("CREATE TABLE theirs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
                      "i + 1 FROM n WHERE i < 2000) SELECT i, zeroblob(5000) FROM n")
        other.commit()
        other.close()
        expected = table_sizes(self.database)
        self.kill_often(arguments, lambda: self.assertEqual(table_sizes(self.database), expected))

    def test_parsed_captures(self):
        arguments = self.parse("--force")
        self.assertEqual(run(arguments).code, 0)
        names = sorted(os.listdir(self.parsed()))
        sizes = [file.stat().st_size for file in sorted(self.parsed().iterdir())]

        def check():
            self.assertEqual(sorted(os.listdir(self.parsed())), names)
            self.assertEqual([file.stat().st_size for file in sorted(self.parsed().iterdir())],
                             sizes)

        self.kill_often(arguments, check)

    def test_reports(self):
        def check():
            for report in self.out.glob("*.json"):
                json.loads(report.read_text(encoding="utf-8"))
            for folder in self.out.glob("*_csv"):
                self.assertTrue((folder / "OverallMetrics.csv").is_file())

        self.kill_often(self.compare("--export_type", "json,csv"), check)

    def test_other_things_stay(self):
        """Only what runs of this program left, and no run uses, is removed."""
        self.out.mkdir()
        kept = {self.out / ".msprof-analyze-unfinished", self.out / ".hidden",
                self.out / ".msprof-analyze-unfinished-file"}
        for path in kept - {self.out / ".msprof-analyze-unfinished-file"}:
            path.mkdir()
        (self.out / ".msprof-analyze-unfinished-file").write_text("mine", encoding="utf-8")
        used = self.out / ".msprof-analyze-unfinished-used"
        used.mkdir()
        (self.out / ".msprof-analyze-unfinished-dead" / "part_csv").mkdir(parents=True)
        lock = os.open(used, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.addCleanup(os.close, lock)
        self.assertEqual(run(self.compare("--export_type", "csv")).code, 0)
        hidden = {path for path in self.out.iterdir() if path.name.startswith(".")}
        self.assertEqual(hidden, kept | {used})


class Ended(Outputs):
    """Signals end a run within a second, and nothing unfinished stays."""

    def assert_ended(self, ended, number):
        self.assert_ends(ended, SIGNALS[number], "unfinished outputs were removed")
        self.assertLess(ended.seconds, 1)
        self.assert_nothing_behind()

    def test_at_any_moment(self):
        capture = self.scratch / "long_ascend_pt"
        write_capture(capture, [100_000] * 1000)
        commands = (self.parse("--force"), self.compare("--export_type", "xlsx,csv",
                                                        capture=capture),
                    self.recipe(capture=capture), self.baseline(capture=capture))
        for arguments in commands:
            whole = run(arguments)
            self.assertEqual(whole.code, 0, whole.err)
            codes = set()
            for moment in range(1, 13):
                number = [*SIGNALS][moment % len(SIGNALS)]
                ended = end_after(start(arguments), whole.seconds * moment / 13, number)
                # Before the first instruction of the program it ends as any other.
                self.assertIn(ended.code, (0, SIGNALS[number], -number), ended.err)
                self.assertLess(ended.seconds, 1)
                self.assert_nothing_behind()
                codes.add(ended.code)
                if ended.code == SIGNALS[number]:
                    self.assert_ended(ended, number)
            self.assertTrue(codes & {*SIGNALS.values()}, arguments[1:])

    def test_while_nobody_reads(self):
        """A pipe that is full keeps the run where it is."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, bytes(4096))
        except BlockingIOError:
            os.set_blocking(write, True)
        for number in SIGNALS:
            process = start(self.compare("--json", "-v"), stdout=write)
            wait_for(process, "read by the reader")
            self.assert_ended(end_after(process, 0.2, number), number)
        os.close(write)

    def test_old_outputs_stay(self):
        baseline = self.out / "main.json"
        self.assertEqual(run(self.baseline()).code, 0)
        before = baseline.read_bytes()
        ended = end_after(start(self.baseline()), 0.01, signal.SIGTERM)
        self.assertIn(ended.code, (0, 143, -15))
        self.assertEqual(json.loads(baseline.read_bytes())["runs"], json.loads(before)["runs"])

    def test_hang_up_is_ignored_under_nohup(self):
        process = start(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *self.compare("-v")])
        wait_for(process, "read by the reader")
        self.assertEqual(end_after(process, 0, signal.SIGHUP).code, 0)


class Together(Outputs):
    """Runs at once do not spoil each other's results."""

    def test_recipes_into_one_database(self):
        commands = 4 * [self.recipe(), self.recipe(name="module_statistic")]
        runs = [start(arguments) for arguments in commands]
        for each in runs:
            ended = finish(each)
            self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(set(table_sizes(self.database)), MFU_TABLES | {"ModuleStatistic"})
        self.assert_nothing_behind()

    def test_files_of_one_name(self):
        commands = [self.recipe("--export_type", kind) for kind in 4 * ["json", "csv", "text"]]
        for each in [start(arguments) for arguments in commands]:
            ended = finish(each)
            self.assertEqual(ended.code, 0, ended.err)
        for document in self.out.rglob("*.json"):
            json.loads(document.read_text(encoding="utf-8"))
        self.assert_nothing_behind()

    def test_parsing_twice(self):
        ended = [finish(each) for each in [start(self.parse()) for _ in range(3)]]
        self.assertEqual(sorted(each.code for each in ended), [0, 2, 2])
        self.assertTrue((self.parsed() / DONE_MARK).is_file())
        ended = [finish(each) for each in [start(self.parse("--force")) for _ in range(3)]]
        self.assertEqual([each.code for each in ended], [0, 0, 0])
        self.assertTrue((self.parsed() / DONE_MARK).is_file())
        self.assert_nothing_behind()

    def test_waiting_is_told(self):
        self.database.parent.mkdir(parents=True)
        lock = os.open(self.database.parent, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for number in (None, signal.SIGINT):
            process = start(self.recipe())
            wait_for(process, "another run writes there, waiting for its end")
            if number is None:
                os.close(lock)
                self.assertEqual(finish(process).code, 0)
                lock = os.open(self.database.parent, os.O_RDONLY)
                fcntl.flock(lock, fcntl.LOCK_EX)
            else:
                self.assertEqual(end_after(process, 0, number).code, SIGNALS[number])
        os.close(lock)


class Memory(Outputs):
    """Without memory the run ends with 7 and one line, wherever it is."""

    STEPS = 4000

    def capture(self):
        capture = self.scratch / "large_ascend_pt"
        write_capture(capture, [100_000] * self.STEPS)
        return capture

    def ends(self, arguments, limits):
        """Exit codes under limits that grow; the last is enough."""
        codes = []
        for limit in limits:
            ended = run(arguments, {resource.RLIMIT_AS: limit << 20})
            if ended.code != 0:
                self.assert_ends(ended, 7, "memory")
            self.assert_nothing_behind()
            codes.append(ended.code)
        return codes

    def test_at_any_moment(self):
        capture = self.capture()
        commands = (self.compare("--export_type", "xlsx,json,csv", capture=capture),
                    self.recipe(capture=capture),
                    self.baseline(capture=capture))
        for arguments in commands:
            with self.subTest(arguments=arguments[1:]):
                codes = self.ends(arguments, [20, 50, 80, 90, 100, 110, 120, 4000])
                self.assertEqual((codes[0], codes[-1]), (7, 0), codes)

    def test_parsing(self):
        codes = self.ends(self.parse("--force"), [20, 40, 60, 80, 120, 4000])
        self.assertEqual((codes[0], codes[-1]), (7, 0), codes)

    def test_memory_limit(self):
        capture = self.capture()
        arguments = self.recipe("--memory_limit", "1M", capture=capture)
        ended = run(arguments)
        self.assertIn("may take up to", ended.err)
        self.assertEqual(run(self.recipe("--memory_limit", "2G", capture=capture)).code, 0)


def main():
    global TOOL, CAPTURES, RAW  # pylint: disable=global-statement
    arguments = parse_arguments(__doc__, Outputs)
    TOOL, CAPTURES, RAW = arguments.tool, arguments.captures, arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
