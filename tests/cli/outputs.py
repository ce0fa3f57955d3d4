# SPDX-License-Identifier: Apache-2.0
"""What the tests of outputs share: command lines that write, and what is said of their ends."""

import shutil
import tempfile
import unittest
from pathlib import Path

from running import left_behind

BASE, NEW = "text_base_ascend_pt", "text_new_ascend_pt"
MODULES = "twin_text_new_ascend_pt"
RESULTS = "ASCEND_PROFILER_OUTPUT"


class Outputs(unittest.TestCase):
    """Every test has a directory of its own, self.scratch, and self.out in it for results."""

    maxDiff = None
    tool = captures = raw = None  # set by use()

    @classmethod
    def use(cls, arguments):
        cls.tool, cls.captures, cls.raw = arguments.tool, arguments.captures, arguments.raw

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.out = self.scratch / "out"

    # Command lines; without `capture` of a small one that is whole.
    def compare(self, *more, capture=None):
        return [self.tool, "compare", "-d", capture or self.captures / NEW,
                "-bp", self.captures / BASE, "-o", self.out, *more]

    def gate(self, *more, capture=None):
        return self.compare("--min_steps", "1", "--fail_on", "step_time>+300%", *more,
                            capture=capture)

    def baseline(self, capture=None):
        return [self.tool, "compare", "-d", capture or self.captures / NEW, "--save_baseline",
                self.out / "main.json"]

    def recipe(self, *more, name="operator_mfu", capture=None):
        peak = ["--peak_tflops", "300"] if name == "operator_mfu" else []
        return [self.tool, "-m", name, "-d", capture or self.captures / MODULES, "-o", self.out,
                *peak, *more]

    def parse(self, *more):
        (source,) = (self.raw / "stars").glob("*_ascend_pt")
        return [self.tool, "parse", "-d", source, "-o", self.out, *more]

    @property
    def database(self):
        return self.out / "cluster_analysis_output" / "cluster_analysis.db"

    def parsed(self):
        """The directory of results that parse writes."""
        (source,) = (self.raw / "stars").glob("*_ascend_pt")
        return self.out / source.name / RESULTS

    def broken_capture(self):
        """One that can be found, but not be read."""
        broken = self.scratch / "broken_ascend_pt"
        if not broken.exists():
            shutil.copytree(self.captures / NEW, broken)
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
