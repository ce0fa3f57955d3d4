#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what becomes of outputs when runs are killed, told to end, at once, or short of memory.

    run_ends.py --tool BINARY --testdata DIR --raw DIR GROUP [-v]

GROUP is one of the classes below: killed, ended, together, memory.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import fcntl
import json
import os
import resource
import signal
import sqlite3
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402
from outputs import Outputs  # noqa: E402
from running import SIGNALS, end_after, finish, run, start, table_sizes, wait_for  # noqa: E402
from steps import write_capture  # noqa: E402

DONE_MARK = "analyse.done"
MFU_TABLES = {"OperatorMFU", "ModuleMFU", "MFUSummary", "MFUWaste"}


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
            process = start(self.compare("--json", "-vv"), stdout=write)
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
        process = start(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *self.compare("-vv")])
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
            wait_for(process, "another run is writing there; waiting until it ends")
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

    def least_to_start(self):
        """The address space in MB in which the program starts; with less its loader ends it."""
        version = [self.tool, "--version"]
        return next(limit for limit in range(4, 200)
                    if run(version, {resource.RLIMIT_AS: limit << 20}).code == 0)

    def test_at_any_moment(self):
        capture = self.capture()
        commands = (self.compare("--export_type", "xlsx,json,csv", capture=capture),
                    self.recipe(capture=capture),
                    self.baseline(capture=capture))
        least = self.least_to_start()
        for arguments in commands:
            with self.subTest(arguments=arguments[1:]):
                codes = self.ends(arguments, [least, least + 10, 50, 80, 90, 100, 110, 120, 4000])
                self.assertEqual((codes[0], codes[-1]), (7, 0), codes)

    def test_parsing(self):
        least = self.least_to_start()
        limits = [least, least + 20, least + 40, least + 100, 4000]
        codes = self.ends(self.parse("--force"), limits)
        self.assertEqual((codes[0], codes[-1]), (7, 0), codes)

    def test_memory_limit(self):
        capture = self.capture()
        arguments = self.recipe("--memory_limit", "1M", capture=capture)
        ended = run(arguments)
        self.assertIn("may need up to", ended.err)
        self.assertEqual(run(self.recipe("--memory_limit", "2G", capture=capture)).code, 0)


def main():
    arguments = parse_arguments(__doc__, Outputs.__subclasses__())
    Outputs.use(arguments)
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
