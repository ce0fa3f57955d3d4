# SPDX-License-Identifier: Apache-2.0
"""The command line of test scripts: --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]."""

import argparse
import unittest
from pathlib import Path

SKIPPED = 77


def parse_arguments(description, groups):
    """Arguments tool, captures, raw, group and v; the groups are classes of tests, found by their names."""
    groups = {group.__name__.lower(): group for group in groups}
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    parser.add_argument("--raw", type=Path, help="what testdata/make_raw_captures.py wrote")
    parser.add_argument("-v", action="store_true", help="name each test")
    parser.add_argument("group", choices=groups)
    arguments = parser.parse_args()
    arguments.tool = str(arguments.tool.resolve())
    arguments.captures = arguments.testdata.resolve() / "captures"
    arguments.group = groups[arguments.group]
    return arguments


def run_group(arguments):
    """Runs the tests of the group that was asked for; returns the exit status, 77 if all of them were skipped."""
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(arguments.group)
    runner = unittest.TextTestRunner(verbosity=2 if arguments.v else 1)
    result = runner.run(tests)
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    if result.testsRun == len(result.skipped) > 0:
        return SKIPPED
    return 0 if result.wasSuccessful() else 1
