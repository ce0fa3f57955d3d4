#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that --jobs changes the time and nothing else, on captures large enough to be divided.

    run_jobs.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: text, databases, raw. Built with ThreadSanitizer (preset tsan),
these are also the tests that look for races.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402

TOOL = TESTDATA = RAW = None  # set by main()
TIMEOUT_SECONDS = 300
WRITTEN_AT = "docProps/core.xml"  # the part of a workbook that holds the time


def contents(directory):
    """File -> bytes of everything below the directory; of workbooks, part -> bytes."""
    found = {}
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        name = re.sub(r"_\d{14}(?=\.)", "_<time>", str(path.relative_to(directory)))
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as workbook:
                found.update({f"{name}:{part}": workbook.read(part)
                              for part in workbook.namelist() if part != WRITTEN_AT})
        else:
            found[name] = path.read_bytes()
    return found


class Jobs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def generate(self, kind, size, *options):
        """Two ranks of the kind and about the size."""
        subprocess.run([sys.executable, TESTDATA / "scale_capture.py", "ranks", "--kind", kind,
                        "--size", size, "--ranks", "2", *options],
                       check=True, cwd=self.scratch, stdout=subprocess.DEVNULL)

    def assert_jobs_change_nothing(self, *command, output="out"):
        """One job and four print and write the same."""
        results = []
        for jobs in ("1", "4"):
            done = subprocess.run([TOOL, *command, "-o", output, "--jobs", jobs], check=False,
                                  cwd=self.scratch, stdin=subprocess.DEVNULL, capture_output=True,
                                  encoding="utf-8", timeout=TIMEOUT_SECONDS)
            self.assertIn(done.returncode, (0, 5), done.stderr)  # steps of the generator may lie apart
            results.append({"stdout": done.stdout, **contents(self.scratch / output)})
            shutil.rmtree(self.scratch / output)
        one, four = results
        self.assertGreater(len(one), 1, "nothing was written")
        self.assertEqual(sorted(one), sorted(four))
        for name, expected in one.items():
            # Not assertEqual, which would print both.
            self.assertTrue(expected == four[name], f"{name} differs")


class Text(Jobs):
    def test_compare(self):
        self.generate("text", "9M")
        self.assert_jobs_change_nothing("compare", "-d", "ranks/rank1_ascend_pt",
                                        "-bp", "ranks/rank0_ascend_pt")

    def test_head_overhead(self):
        self.generate("text", "9M")
        self.assert_jobs_change_nothing("-m", "head_overhead", "-d", "ranks")


class Databases(Jobs):
    def test_compare(self):
        self.generate("db", "5M")
        self.assert_jobs_change_nothing("compare", "-d", "ranks/rank1_ascend_pt",
                                        "-bp", "ranks/rank0_ascend_pt")

    def test_modules(self):
        self.generate("db", "5M", "--mstx")
        for recipe in ("module_statistic", "operator_mfu"):
            self.assert_jobs_change_nothing("-m", recipe, "-d", "ranks", "--export_type", "db")


class Raw(Jobs):
    def setUp(self):
        super().setUp()
        (self.capture,) = (RAW / "stars").glob("*_ascend_pt")

    def test_parse(self):
        self.assert_jobs_change_nothing("parse", "-d", self.capture)

    def test_compare(self):
        self.assert_jobs_change_nothing("compare", "-d", self.capture, "-bp", self.capture)


def main():
    global TOOL, TESTDATA, RAW
    arguments = parse_arguments(__doc__, Jobs.__subclasses__())
    TOOL, TESTDATA, RAW = arguments.tool, arguments.testdata.resolve(), arguments.raw
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
