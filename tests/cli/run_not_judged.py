#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `advisor` asks to record nothing that a capture holds, and tells findings by their gains.

    run_not_judged.py --tool BINARY --testdata DIR GROUP [-v]

GROUP: asked (captures of testdata), sharedasked (those of ../shared beside the sources; skipped
without it). Each line of "skipped" is held against the files of the capture.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import csv
import gzip
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from groups import parse_arguments, run_group  # noqa: E402

OPTIONS = None  # set by main()
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
GPU = ("gpu/*.json.gz", "traces/param/*.json.gz", "traces/dlrm_8ranks/worker[03]*",
       "traces/resnet50_2021/*.json.gz", "traces/serving/*/*.json.gz", "traces/tracelens/*.json.gz")
NPU = ("npu/text/*", "npu/db/*", "raw/level0", "raw/stack_mstx_gc")
NOT_RECORDED = "traces of GPUs do not hold it"


def advise(capture):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([OPTIONS.tool, "advisor", "all", "-d", str(capture), "--json", "-o", out],
                              check=False, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", timeout=300)
    return json.loads(done.stdout)


def text_of(path):
    return gzip.open(path, "rt", encoding="utf-8", errors="replace").read() \
        if path.suffix == ".gz" else path.read_text(encoding="utf-8", errors="replace")


def rows_of(path, table, where):
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as database:
        names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        if table not in names:
            return 0
        return database.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]


def gpu_holds(text):
    """What a trace of a GPU holds, by the option that records it."""
    held = set()
    if re.search(r'"Input [Dd]ims"\s*:\s*\[[^\]]*\d', text):
        held.add("record_shapes=True")
    if re.search(r'"cat"\s*:\s*"python_function"', text) or re.search(r'"Call stack"\s*:\s*"[^"]', text):
        held.add("with_stack=True")
    return held


def npu_holds(capture):
    """The same of the ranks of an NPU; what any of them holds."""
    held = set()
    for path in Path(capture).rglob("kernel_details.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            if any(row.get("Input Shapes", "") not in ("", "N/A") for row in csv.DictReader(file)):
                held.add("shapes of kernels")
    for path in Path(capture).rglob("trace_view.json"):
        if '"GC"' in text_of(path):
            held.add("records of garbage collections")
    for path in Path(capture).rglob("ascend_pytorch_profiler*.db"):
        if rows_of(path, "COMPUTE_TASK_INFO", "inputShapes IN (SELECT id FROM STRING_IDS WHERE "
                   "value NOT IN ('', 'N/A'))"):
            held.add("shapes of kernels")
        if rows_of(path, "GC_RECORD", "1"):
            held.add("records of garbage collections")
        if rows_of(path, "COMMUNICATION_TASK_INFO", "size > 0"):
            held.add("sizes and peers of transfers")
    return held


class Judged(unittest.TestCase):
    def assert_in_order(self, document, capture):
        """No smaller gain above a larger one; two that pay only together stand where the larger does."""
        findings = [f for f in document["findings"] if f["gain_ns"] > 0]
        gains, joins = [], False
        for finding in findings:
            if joins:
                gains[-1] = max(gains[-1], finding["gain_ns"])
            else:
                gains.append(finding["gain_ns"])
            joins = finding["with_next"]
        self.assertEqual(gains, sorted(gains, reverse=True), capture)

    def assert_asked(self, document, held, capture):
        found = {finding["id"] for finding in document["findings"]}
        for row in document["skipped"]:
            wanted = {row["hint"], row["needs"]} & held
            if "ranks" not in row:
                self.assertFalse(wanted, f"{capture}: {row}")
                self.assertNotIn(row["id"], found, f"{capture}: found, and not judged")


class Asked(Judged):
    def test_of_testdata(self):
        captures = OPTIONS.captures
        for capture in sorted(captures.glob("*_ascend_pt")):
            with self.subTest(capture.name):
                document = advise(capture)
                self.assert_in_order(document, capture)
                self.assert_asked(document, npu_holds(capture), capture)


class SharedAsked(Judged):
    def setUp(self):
        super().setUp()
        if not SHARED_DATA.is_dir():
            self.skipTest(f"there is no {SHARED_DATA}")

    def test_of_gpus(self):
        for path in sorted(p for pattern in GPU for p in SHARED_DATA.glob(pattern)):
            with self.subTest(path.name):
                document = advise(path)
                self.assert_in_order(document, path)
                self.assert_asked(document, gpu_holds(text_of(path)), path)
                for row in document["skipped"]:
                    self.assertFalse(row["hint"] == "record_shapes=True" and row["id"] == "op.slow",
                                     f"{path}: {NOT_RECORDED}")

    def test_of_npus(self):
        for path in sorted(p for pattern in NPU for p in SHARED_DATA.glob(pattern)):
            with self.subTest(path.name):
                document = advise(path)
                self.assert_in_order(document, path)
                self.assert_asked(document, npu_holds(path), path)


def main():
    global OPTIONS
    OPTIONS = parse_arguments(__doc__, (Asked, SharedAsked))
    return run_group(OPTIONS)


if __name__ == "__main__":
    sys.exit(main())
