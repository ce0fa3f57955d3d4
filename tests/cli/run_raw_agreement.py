#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run says the same as a raw capture and as a parsed one.

    run_raw_agreement.py --tool BINARY --testdata DIR --raw DIR

--raw is where testdata/make_raw_captures.py wrote its captures. Exit status: 0 passed, 1 failed.
"""
import argparse
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ARGUMENTS = None  # set by main()


class HeadOverhead(unittest.TestCase):
    maxDiff = None

    def head_of(self, capture):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run(
                [ARGUMENTS.tool, "cluster", "-m", "head_overhead", "-d", capture, "-o", out,
                 "--force"], check=False, capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            # The parsed captures do not tell their rank and level.
            return done.stdout.replace("rank unknown", "rank 0").replace(
                "raw capture, Level1", "text capture")

    def test_compiled_graphs(self):
        for run in ("head_steady", "head_hard"):
            with self.subTest(run):
                (raw,) = (ARGUMENTS.raw / run).glob("*_ascend_pt")
                parsed = ARGUMENTS.testdata / "captures" / f"{run}_ascend_pt"
                self.assertEqual(self.head_of(raw), self.head_of(parsed))


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--tool", "--testdata", "--raw"):
        parser.add_argument(option, type=Path, required=True)
    ARGUMENTS = parser.parse_args()
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
