#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the documents for programs say what the screen says.

    run_screens.py --tool BINARY --testdata DIR [--raw DIR] [--shared DIR] GROUP [-v]

GROUP: documents (captures of testdata), documentsshared (captures of ../shared; skipped where there are none),
reading (a number that is left out is missed).
Each command is run twice, for its screen and with --json. Every number of the screen has to be a number of the
document, rounded as on the screen, or part of a name that the document has. The texts of the story do not count: they
are the screen. Lines that count what a list leaves out are passed over.
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from captures import build_database, build_job  # noqa: E402
from groups import run_group  # noqa: E402
from recipe_runs import job_for, required_options  # noqa: E402
from same_tables import recipes_of  # noqa: E402

TOOL = CAPTURES = RAW = SHARED = None  # set by main()
TIMEOUT_SECONDS = 120
# Not behind letters, digits and points, nor within a name or a shape.
NUMBER = re.compile(r"(?<![\w.,\[/:])([-+]?)(\d+(?:\.\d+)?)(?![\w\]]|\.\d|,\d|\.\.\.)")
LEFT_OUT = re.compile(r"\bmore\b")
# What a unit of the screen is in units of documents: ns, bytes, parts of 1.
FACTORS = (1, 1e-3, 1e-6, 1e-9, 1e2)


def numbers_on(screen):
    """[(text, line)] of the numbers that the lines state."""
    found = []
    for line in screen.splitlines():
        if LEFT_OUT.search(line):
            continue
        found += [(number, line) for _, number in NUMBER.findall(line)]
    return found


class Document:
    """The numbers and names of a document, but for the texts of its story."""

    def __init__(self, document):
        self.numbers, texts = set(), []
        self.story = document.get("story", [])
        self.take(document, texts)
        self.texts = "\n".join(texts)

    def take(self, value, texts, key=None):
        if isinstance(value, dict):
            if value.get("of_ns"):  # the share of a place
                self.numbers.add(100 * value["time_per_step_ns"] / value["of_ns"])
            for name, member in value.items():
                if name == "skipped":  # "16 causes without ... (profiler_level=Level1)"
                    hints = Counter(hint for _, hint in {(cause["id"], cause["hint"]) for cause in member})
                    self.numbers.update(map(float, hints.values()))
                if not (name == "text" and "numbers" in value):
                    texts.append(name)
                    self.take(member, texts, name)
        elif isinstance(value, list):
            self.numbers.add(float(len(value)))  # "3 captures"
            for member in value:
                self.take(member, texts, key)
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self.numbers.add(float(abs(value)))

    def states(self, text):
        """True if a number is that of the screen, in its unit or another."""
        wanted, digits = float(text), len(text.partition(".")[2])
        slack = 0.5 * 10.0 ** -digits * 1.0001
        if any(abs(number * factor - wanted) <= slack + 1e-9 * wanted for number in self.numbers
               for factor in FACTORS):
            return True
        return re.search(rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)", self.texts) is not None

    def states_exactly(self, text):
        return float(text) in self.numbers or re.search(rf"(?<!\d){re.escape(text)}(?!\d)", self.texts) is not None


def missed(screen, document, exact):
    """Lines of the screen with a number that the document lacks."""
    known = Document(document)
    states = known.states_exactly if exact else known.states
    return [f"{number} of {line!r}" for number, line in numbers_on(screen) if not states(number)]


def run(*arguments):
    with tempfile.TemporaryDirectory() as out:
        where = [] if arguments[0] in ("check",) else ["-o", out]
        return subprocess.run([TOOL, *map(str, arguments), *where], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT_SECONDS,
                              env={**os.environ, "COLUMNS": "80", "LANG": "C.UTF-8"})


def objections(arguments):
    """What the document of a command lacks. Recipes state every number as the screen does: the story has them."""
    exact = arguments[0] == "-m"
    screen, printed = run(*arguments), run(*arguments, "--json")
    what = " ".join(map(str, arguments))
    if screen.returncode not in (0, 1, 4, 5) or not printed.stdout.startswith("{"):
        return [] if screen.returncode == printed.returncode == 3 else [f"{what}: exit {screen.returncode}, {printed.returncode}"]
    document = json.loads(printed.stdout)
    found = [f"{what}: no {text}" for text in missed(screen.stdout, document, exact)]
    if exact:
        if len(document["story"]) > len(screen.stdout.splitlines()):
            found.append(f"{what}: the story is longer than the screen")
        keys = {"text", "value", "unit", "rank", "numbers"}
        found += [f"{what}: story has {sorted(entry)}" for entry in document["story"] if {*entry} != keys]
    return found


class Told(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def path(self, name):
        path = CAPTURES / name
        return path if path.exists() else build_database(CAPTURES, name, self.scratch)

    def assert_told(self, runs):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [text for texts in pool.map(objections, runs) for text in texts]
        if found:
            self.fail(f"{len(found)} objections:\n" + "\n".join(found))

    def sheets(self, recipe, job):
        document = json.loads(run("-m", recipe, "-d", job, "--json").stdout)
        return {sheet["name"]: sheet["rows"] for sheet in document["sheets"]}, document["story"]


class Documents(Told):
    """Captures of the project."""

    def test_recipes(self):
        runs = []
        for recipe in recipes_of(TOOL):
            job = job_for(recipe, CAPTURES, self.scratch)
            runs.append(["-m", recipe, "-d", job, *required_options(recipe, CAPTURES, job)])
        self.assertGreater(len(runs), 20)
        self.assert_told(runs)

    def test_late_ranks(self):
        job = build_job(CAPTURES, "8:db_base_ascend_pt:late=5", self.scratch)
        recipes = ("slow_rank", "communication_bottleneck", "cluster_time_summary", "free_analysis", "slow_link")
        self.assert_told([["-m", recipe, "-d", path] for recipe in recipes
                          for path in (job, self.path("text_base_ascend_pt"))])

    def test_other_commands(self):
        names = ("text_base_ascend_pt", "twin_db_new_ascend_pt", "gpu_base.json", "serving_base.json")
        base, new = self.path("twin_text_base_ascend_pt"), self.path("twin_text_new_ascend_pt")
        text = self.path("text_base_ascend_pt")
        self.assert_told([
            *(["check", "-d", self.path(name)] for name in names), ["check", "-d", CAPTURES],
            *(["advisor", "all", "-d", self.path(name)] for name in names[:3]),
            ["compare", "-d", new, "-bp", base], ["compare", "-d", text, "-bp", self.path("gpu_base.json")],
            ["compare", "-d", self.path("serving_new.json"), "-bp", self.path("serving_base.json")],
            ["compare", "-d", new, "-bp", base, "--fail_on", "step_time>+3%", "--min_steps", "1"],
            ["compare", "-d", self.path("text_new_ascend_pt"), "-bp", text, "--fail_on", "computing>+3%", "--min_steps", "1"]])

    def test_a_late_rank_without_a_capture(self):
        """tests/golden/recipes/slow_rank/missing_rank says how late rank 1 comes: by 10, 6 and 14 ms."""
        job = self.path("text_base_ascend_pt")
        sheets, story = self.sheets("slow_rank", job)
        self.assertEqual(sheets["SlowRank"], [])
        (row,) = sheets["LateRanks"]
        self.assertEqual((row["ranks"], row["state"], row["collectives"], row["times_last"]), ("1", "not captured", 3, 3))
        self.assertEqual((row["late_ns"], row["late_as_last_ns"], row["most_ns"]), (30_000_000, 30_000_000, 14_000_000))
        told = [entry for entry in story if "arrived" in entry["text"]]
        self.assertEqual([(entry["value"], entry["unit"], entry["rank"]) for entry in told], [(14, "ms", 1)])
        sheets, _ = self.sheets("communication_bottleneck", job)
        late = {row["communication_op"]: row for row in sheets["CommunicationBottleneckLast"]}
        self.assertEqual(sorted(row["late_ns"] for row in late.values() if row["last_ranks"] == "1"),
                         [6_000_000, 10_000_000, 14_000_000])
        self.assertEqual({row["state"] for row in late.values() if row["last_ranks"]}, {"not captured"})
        (row,) = sheets["CommunicationBottleneckLateRanks"]
        self.assertEqual((row["ranks"], row["times_last"], row["late_ns"]), ("1", 3, 30_000_000))


class DocumentsShared(Told):
    """Captures that are kept apart from the sources."""

    def setUp(self):
        super().setUp()
        if not (SHARED / "data").is_dir():
            self.skipTest(f"{SHARED} has no data: name the folder that has it with --shared")

    def test_recipes(self):
        data = SHARED / "data"
        alone = {"calibrate_npu_gpu"}
        recipes = [recipe for recipe in recipes_of(TOOL) if recipe not in alone]
        jobs = [data / "npu/db/level1", data / "raw/two_ranks", data / "sim/slow_rank/db"]
        runs = [["-m", recipe, "-d", job, *(["--bp", job] if recipe == "cluster_time_compare_summary" else [])]
                for recipe in recipes for job in jobs]
        others = [data / "npu/text/level1", data / "sim/moe_ep8/db", data / "sim/tp2pp2dp2/db"]
        runs += [["-m", recipe, "-d", job] for recipe in ("slow_rank", "communication_bottleneck", "top_operators")
                 for job in others]
        self.assert_told(runs)

    def test_commands(self):
        data = SHARED / "data"
        ranks = sorted((data / "npu/db/level1").glob("*_ascend_pt"))
        texts = sorted((data / "npu/text/level1").glob("*_ascend_pt"))
        jobs = [data / "npu/db/level1", data / "npu/text/level0", data / "raw/two_ranks", data / "sim/slow_link/db"]
        self.assert_told([
            *([command, *more, "-d", job] for job in jobs for command, *more in (["check"], ["advisor", "all"])),
            ["compare", "-d", ranks[1], "-bp", ranks[0]], ["compare", "-d", texts[1], "-bp", texts[0]],
            ["compare", "-d", ranks[1], "-bp", ranks[0], "--fail_on", "step_time>+3%", "--min_steps", "1"]])

    def test_a_late_rank_without_a_capture(self):
        """Of level1, ranks 0 and 1 of 8 were captured; all eight waited 84 ms in three all-reduces for rank 6."""
        sheets, _ = self.sheets("slow_rank", SHARED / "data/npu/db/level1")
        first = sheets["LateRanks"][0]
        self.assertEqual((first["ranks"], first["state"], first["collectives"]), ("6", "not captured", 3))
        self.assertAlmostEqual(first["late_ns"] / 1e6, 84.31, 2)
        self.assertAlmostEqual(first["most_ns"] / 1e6, 75.13, 2)


class Reading(unittest.TestCase):
    """The judge sees what is not there."""

    DOCUMENT = {"schema_version": 2, "sheets": [{"rows": [{"late_ns": 75_130_000, "name": "rank 6 of 8"}]}],
                "story": [{"text": "99.70 ms in 41", "value": 4, "numbers": []}]}

    def test_numbers(self):
        self.assertEqual([number for number, _ in numbers_on("p50 75.13 ms, -3 of MatMulV2 [7, 8] x_9\n ... 5 more ranks")],
                         ["75.13", "3"])

    def test_a_number_that_is_missing(self):
        self.assertEqual(missed("late 75.13 ms, 4 of 8", self.DOCUMENT, False), [])
        self.assertEqual(len(missed("late 75.14 ms", self.DOCUMENT, False)), 1)
        self.assertEqual(len(missed("99.70 ms in 41", self.DOCUMENT, False)), 2, "the text of the story is no proof")
        self.assertEqual(len(missed("late 75.13 ms", self.DOCUMENT, True)), 1, "not as the screen has it")


def main():
    global TOOL, CAPTURES, RAW, SHARED
    groups = {group.__name__.lower(): group for group in (Documents, DocumentsShared, Reading)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    parser.add_argument("--raw", type=Path, help="what testdata/make_raw_captures.py wrote")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    parser.add_argument("-v", action="store_true", help="name each test")
    parser.add_argument("group", choices=groups)
    arguments = parser.parse_args()
    TOOL, RAW, SHARED = str(arguments.tool.resolve()), arguments.raw, arguments.shared.resolve()
    CAPTURES = arguments.testdata.resolve() / "captures"
    arguments.group = groups[arguments.group]
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
