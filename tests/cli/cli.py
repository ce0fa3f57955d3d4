# SPDX-License-Identifier: Apache-2.0
"""What tests of the command line have in common.

A script run_<subject>.py has groups of tests, each a subclass of Cli and a test of ctest, cli.<group>.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402
from workbook import Workbook  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs"
TIMEOUT_SECONDS = 60
# Said about files of other owners or with the mode bits that a checkout happens to have.
ABOUT_THE_CHECKOUT = "use --force to read it without this warning"
ESCAPE = "\x1b"
BASE, NEW = "text_base_ascend_pt", "text_new_ascend_pt"


class Result:
    def __init__(self, done):
        self.code, self.out = done.returncode, done.stdout
        self.all_err = done.stderr
        self.err = [line for line in done.stderr.splitlines() if ABOUT_THE_CHECKOUT not in line]
        self.errors = [line for line in self.err if line.startswith("msprof-analyze: error: ")]
        self.warnings = [line for line in self.err if line.startswith("msprof-analyze: warning: ")]


class Cli(unittest.TestCase):
    """Every test has a directory of its own, self.scratch, and self.out in it for results."""

    TOOL = CAPTURES = None  # set by main()

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.out = self.scratch / "out"

    def run_tool(self, *arguments, env=None, cwd=None):
        return Result(subprocess.run(
            [self.TOOL, *map(str, arguments)], cwd=cwd or self.CAPTURES, env={**os.environ, **(env or {})},
            check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=TIMEOUT_SECONDS))

    def compare(self, *more, comparison=NEW, base=BASE, **settings):
        return self.run_tool("compare", "-d", comparison, "-bp", base, "-o", self.out, *more,
                             **settings)

    def capture_copy(self, name=BASE):
        copy = self.scratch / name
        shutil.copytree(self.CAPTURES / name, copy)
        return copy

    def write(self, name, content):
        file = self.scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def workbooks(self):
        return sorted(self.out.glob("performance_comparison_result_*.xlsx"))

    def overall(self):
        """Index label, without tabs -> row of the only workbook."""
        (workbook,) = self.workbooks()
        (sheet,) = [sheet for sheet in Workbook(workbook).sheets if sheet.name == "OverallMetrics"]
        return {row[0].strip(): row for row in sheet.rows()[2:]}

    def assert_fails(self, code, result, *texts):
        """One error line, with all texts; nothing on stdout, no workbook."""
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(len(result.errors), 1, result.err)
        for line in result.err:
            self.assertTrue(line.startswith("msprof-analyze: "), line)
        for text in texts:
            self.assertIn(str(text), result.errors[0])
        self.assertEqual(self.workbooks(), [])

    def assert_compared(self, result, code=0):
        """What is not alike if anything, both captures, the table, the story, a workbook and no
        error."""
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.errors, [])
        lines = result.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        top = next(i for i, line in enumerate(lines) if line.startswith("Base: "))
        self.assertLessEqual(top, 5)
        self.assertTrue(lines[top + 1].startswith("Comparison: "), lines)
        end = lines.index("", top + 3)
        table, story = lines[top + 3:end], lines[end + 1:]
        self.assertEqual(table[0].split()[-5:], ["Base", "Comparison", "Diff", "Diff", "%"])
        self.assertLessEqual(len(table), 26)
        self.assertEqual(len({len(line) for line in table if not line.startswith("(")}), 1,
                         "the table is a rectangle")
        self.assertTrue(story[0].startswith("end to end: "), story)
        self.assertNotEqual(self.workbooks(), [])


def main(description, *groups):
    arguments = parse_arguments(description, groups)
    Cli.TOOL, Cli.CAPTURES = arguments.tool, arguments.captures
    return run_group(arguments)
