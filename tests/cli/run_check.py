#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `check` says of every capture and every analysis what the analysis does with it.

    run_check.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: verdicts (of testdata and raw captures), sharedverdicts (of the
captures of ../shared beside the sources; skipped without it).
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from captures import build_database  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from recipe_runs import required_options  # noqa: E402

OPTIONS = None  # set by main()
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TIMEOUT_SECONDS = 300
SHARED = ("npu/text/*", "npu/db/*", "npu/db_mstx", "gpu/*.json.gz", "raw/*/*_ascend_pt", "traces/param/*",
          "traces/dlrm_8ranks/worker[03]*", "traces/resnet50_2021/*",
          "traces/npu_pp2dp2_without_traces")


def run(*words):
    return subprocess.run([OPTIONS.tool, *map(str, words)], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)


def checked(directory):
    done = run("check", "--json", "-d", directory)
    return json.loads(done.stdout)["ranks"]


@functools.cache
def switches():
    """The options of compare that choose analyses, in the order in which `check` lists those."""
    return list(dict.fromkeys(re.findall(r"--enable_\w+_compare", run("compare", "--help", "all").stdout)))


def compares(name, switch, capture):
    """A capture with itself: whether the sheets of the analysis have rows."""
    done = run("compare", "-d", capture, "-bp", capture, "--json", switch)
    if done.returncode not in (0, 5):
        return False
    report = json.loads(done.stdout)
    if name == "memory" and any("no record of operators' memory" in note for note in report["notes"]):
        return False  # operators without allocations are listed all the same
    return any(sheet["rows"] for sheet in report["sheets"])


def clusters(name, directory, out):
    """Whether the recipe gives results, and whether they have rows. "No rank was late" and the like are answers as well;
    of recipes without such an answer the program fails where there are no rows."""
    done = run("cluster", "-m", name, "-d", directory, "-o", out, "--export_type", "json",
               *required_options(name, OPTIONS.captures, directory))
    files = [file for file in Path(out).rglob("*") if file.is_file()]
    rows = any(has_rows(json.loads(file.read_text(encoding="utf-8")))
               for file in files if file.suffix == ".json")
    return done.returncode in (0, 5) and bool(files), rows


def has_rows(document):
    if isinstance(document, dict):
        return bool(document.get("rows")) or any(map(has_rows, document.values()))
    return isinstance(document, list) and any(map(has_rows, document))


def settings_made(rank):
    """Texts that ask for what the capture was made with."""
    settings = rank["settings"] or {}
    if rank["kind"] == "gpu" or settings.get("level") in ("Level1", "Level2"):
        yield "profiler_level=Level1"
    for switch in ("with_modules", "profile_memory"):
        if settings.get(switch):
            yield f"{switch}=True"


class Judged(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def directory_of(self, capture):
        """Recipes take directories only."""
        if capture.is_dir():
            return capture
        directory = self.scratch / f"of_{capture.name}"
        directory.mkdir()
        shutil.copy(capture, directory)
        return directory

    def objections(self, directory, capture):
        ranks = checked(directory)
        for rank in ranks:
            for analyzer in rank["analyzers"]:
                for lack in analyzer["lacks"]:
                    for text in settings_made(rank):
                        if text in (lack["setting"] or ""):
                            yield f"{analyzer['name']} asks for {text}, which the capture has"
        compared = [analyzer for analyzer in ranks[0]["analyzers"] if analyzer["name"].startswith("compare: ")]
        if len(compared) != len(switches()):
            yield f"{len(compared)} analyses of compare have {switches()}"
        for at, analyzer in enumerate(ranks[0]["analyzers"]):
            command, name = analyzer["name"].split(": ")
            runs = any(rank["analyzers"][at]["ability"] != "cannot_run" for rank in ranks)
            rows = True
            if command == "compare":
                works = compares(name, switches()[at], capture) if len(ranks) == 1 else runs
            else:
                with tempfile.TemporaryDirectory(dir=self.scratch) as out:
                    works, rows = clusters(name, directory, out)
            # Only head_overhead is judged by whether there is anything to answer about.
            says_nothing = works and not rows and name != "head_overhead"
            if runs != works and not says_nothing:
                yield (f"{analyzer['name']}: check says {analyzer['ability']}, but it "
                       f"{'works' if works else 'gives nothing'}: {analyzer['lacks']}")

    def assert_agree(self, captures):
        self.assertTrue(captures, "no captures")
        jobs = [(self.directory_of(capture), capture) for capture in captures]
        with ThreadPoolExecutor() as pool:
            found = pool.map(lambda job: [*self.objections(*job)], jobs)
            for capture, objections in zip(captures, found):
                with self.subTest(capture=capture.name):
                    self.assertEqual(objections, [])


class Verdicts(Judged):
    def captures(self):
        root = OPTIONS.captures
        for entry in sorted(root.iterdir()):
            if entry.suffix == ".sql":
                yield build_database(root, entry.stem, self.scratch)
            elif entry.name == "graph_replay":
                yield entry / "decode.json"
            elif entry.name not in ("broken", "graph_foreign"):
                yield entry

    def test_of_testdata(self):
        self.assert_agree([*self.captures()])

    def test_of_raw_captures(self):
        if OPTIONS.raw is None:
            self.skipTest("no --raw")
        captures = sorted(OPTIONS.raw.rglob("*_ascend_pt"))
        self.assert_agree(captures)

    def test_of_a_job(self):
        """Analyses that need several ranks are tried on all of them."""
        job = self.scratch / "job"
        job.mkdir()
        for name in ("pipeline_first_ascend_pt", "pipeline_last_ascend_pt"):
            build_database(OPTIONS.captures, name, job)
        self.assertEqual([*self.objections(job, job)], [])


class SharedVerdicts(Judged):
    def setUp(self):
        super().setUp()
        if not SHARED_DATA.is_dir():
            self.skipTest(f"there is no {SHARED_DATA}")

    def test_of_shared_captures(self):
        captures = [path for pattern in SHARED
                    for path in sorted(SHARED_DATA.glob(pattern))
                    if path.suffix != ".md"]
        self.assert_agree(captures)


def main():
    global OPTIONS
    OPTIONS = parse_arguments(__doc__, (Verdicts, SharedVerdicts))
    return run_group(OPTIONS)


if __name__ == "__main__":
    sys.exit(main())
