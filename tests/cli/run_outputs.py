#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what becomes of outputs when they cannot be written.

    run_outputs.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: places, room, streams.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402
from outputs import MODULES, NEW, RESULTS, Outputs  # noqa: E402
from running import run, table_sizes  # noqa: E402

TYPES = ("xlsx", "json", "csv", "md", "html")


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

    def test_links_below_the_output_directory(self):
        elsewhere = self.scratch / "elsewhere"
        elsewhere.mkdir()
        results = self.out / "cluster_analysis_output"
        places = {
            results: self.recipe(),
            results / "OperatorMfu": self.recipe("--export_type", "json"),
            results / "ExportSummary": self.recipe(name="export_summary"),
            self.out / "log": [self.tool, "advisor", "-d", self.captures / NEW, "-o", self.out],
            self.parsed().parent: self.parse(),
        }
        for place, arguments in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(elsewhere)
            self.assert_refused(arguments, place, "a link, and nothing is written through links")
            self.assertEqual(list(elsewhere.iterdir()), [])
            place.unlink()

    def test_results_of_a_capture_are_no_link(self):
        capture = shutil.copytree(self.captures / MODULES, self.scratch / MODULES)
        (capture / "cluster_analysis_output").symlink_to(self.scratch)
        self.assert_refused([self.tool, "-m", "operator_mfu", "-d", capture],
                            "cluster_analysis_output: a link")

    def test_the_output_directory_may_be_a_link(self):
        (self.scratch / "elsewhere").mkdir()
        self.out.symlink_to(self.scratch / "elsewhere")
        self.assertEqual(run(self.recipe()).code, 0)
        self.assertTrue(self.database.is_file())

    def test_the_summary_of_a_job(self):
        for place, reason in ((self.scratch, "a directory has this name"),
                              (self.scratch / "missing" / "sum.md", "No such file or directory")):
            with self.subTest(place=place):
                arguments = self.gate("--export_type", "github", capture=self.broken_capture())
                ended = run(arguments, env={**os.environ, "GITHUB_STEP_SUMMARY": str(place)})
                self.assert_ends(ended, 6, "GITHUB_STEP_SUMMARY", place, reason)

    def test_names_that_are_too_long(self):
        name = self.scratch / ("x" * 300)
        self.out = name
        places = (self.compare(), self.recipe(), self.parse(), self.baseline(),
                  [self.tool, "-m", "head_overhead", "-d", self.broken_capture(),
                   "-o", self.scratch, "--picture", name])
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
        self.assert_refused([self.tool, "compare", "-d", self.broken_capture(), "--save_baseline",
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
        arguments = self.recipe("--picture", picture, name="head_overhead",
                                capture=self.captures / "head_steady_ascend_pt")
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
        with open(self.scratch / "screen", "w+", encoding="utf-8") as screen:
            self.assert_ends(run(self.compare(), stdout=screen), 6,
                             f"No space left on device: {self.out}: ")
            screen.seek(0)
            self.assertIn("end to end", screen.read())
        for kind in ("db", "text"):
            for name in ("module_statistic", "export_summary"):
                arguments = self.recipe("--export_type", kind, name=name)
                self.assert_survives(arguments, self.files, (1 << 30,))


class Streams(Outputs):
    """What was printed and does not arrive is an error."""

    def commands(self):
        check = [self.tool, "check", "-d", self.captures / NEW]
        return ([self.tool, "--help"], [self.tool, "--version"], check, [*check, "--json"],
                self.compare("--json"),
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
        """As after `| head`: no error, and the exit code is that of the answer."""
        slower = self.compare("--min_steps", "1", "--fail_on", "computing>+3%")
        for arguments, code in (*((arguments, 0) for arguments in self.commands()), (slower, 1)):
            with self.subTest(arguments=arguments[1:]):
                read, write = os.pipe()
                os.close(read)
                ended = run(arguments, stdout=write)
                os.close(write)
                self.assertEqual((ended.code, ended.errors), (code, []))
        self.assertIn("MFUSummary", table_sizes(self.database))

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


def main():
    arguments = parse_arguments(__doc__, Outputs.__subclasses__())
    Outputs.use(arguments)
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
