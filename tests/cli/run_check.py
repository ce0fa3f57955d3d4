#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `check --try` says of every capture and every analysis what the analysis does with it, and that `check`
claims nothing else without reading the captures.

    run_check.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: glance (without --try), verdicts (of testdata and raw captures), sharedverdicts (of
the captures of ../shared beside the sources; skipped without it).
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import functools
import json
import re
import shutil
import sqlite3
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
READ = Path("/proc/self/io")
TIMEOUT_SECONDS = 300
SHARED = ("npu/text/*", "npu/db/*", "npu/db_mstx", "gpu/*.json.gz", "raw/*/*_ascend_pt", "traces/param/*",
          "traces/dlrm_8ranks/worker[03]*", "traces/resnet50_2021/*",
          "traces/npu_pp2dp2_without_traces")


def bytes_read():
    """By this process and the programs that it ran."""
    return int(re.search(r"rchar: (\d+)", READ.read_text())[1])


def run(*words):
    return subprocess.run([OPTIONS.tool, *map(str, words)], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)


def checked(directory):
    return document_of(directory, "--try")["ranks"]


def document_of(directory, *options):
    return json.loads(run("check", *options, "--json", "-d", directory).stdout)


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


class Captures(Judged):
    def captures(self):
        root = OPTIONS.captures
        for entry in sorted(root.iterdir()):
            if entry.suffix == ".sql":
                yield build_database(root, entry.stem, self.scratch)
            elif entry.name == "graph_replay":
                yield entry / "decode.json"
            elif entry.name not in ("broken", "graph_foreign"):
                yield entry


class Glance(Captures):
    NOTHING = "nothing that it could show was recorded"

    def contradictions(self, capture):
        looked, tried = document_of(capture), document_of(capture, "--try")
        if looked["tried"] or not tried["tried"]:
            yield "`tried` does not say what was done"
        for rank, true in zip(looked["ranks"], tried["ranks"], strict=True):
            for content, state in rank["recorded"].items():
                if state not in (None, true["recorded"][content]):
                    yield f"{content} is {state}, but {true['recorded'][content]}"
            if rank["steps"] not in (None, true["steps"]):
                yield f"steps {rank['steps']} are {true['steps']}"
            if rank["promises"]:
                yield "promises need the events"
            for analyzer, judged in zip(rank["analyzers"], true["analyzers"], strict=True):
                says, does = analyzer["ability"], judged["ability"]
                if does == "may_run":
                    yield f"{judged['name']}: --try does not know"
                if says == "may_run" or (says == "cannot_run") == (does == "cannot_run"):
                    continue
                doubted = says == "runs_with_less" or self.NOTHING in [lack["reason"] for lack in judged["lacks"]]
                if says == "cannot_run" or not doubted:
                    yield f"{analyzer['name']}: {says}, but {does}: {judged['lacks']}"

    def test_claims_nothing_else_than_a_trial(self):
        for capture in self.captures():
            with self.subTest(capture=capture.name):
                self.assertEqual([*self.contradictions(capture)], [])

    def test_says_how_to_know(self):
        capture = OPTIONS.captures / "text_base_ascend_pt"
        self.assertIn("events not read (--try tries all analyses)", " ".join(run("check", capture).stdout.split()))
        self.assertNotIn("--try", run("check", capture, "--try").stdout)

    def test_a_trace_of_any_size(self):
        """Its middle is a hole of 1 TiB, which no program could read to the end."""
        capture = self.scratch / "large_ascend_pt"
        shutil.copytree(OPTIONS.captures / "text_base_ascend_pt", capture)
        before = document_of(capture)["ranks"][0]
        with (capture / "ASCEND_PROFILER_OUTPUT/trace_view.json").open("r+b") as trace:
            end = trace.read()[-4096:]
            trace.seek(2**40)
            trace.write(end)
        after = document_of(capture)["ranks"][0]
        self.assertGreater(after["bytes"], 2**40)
        for facts in (before, after):
            del facts["bytes"]
        self.assertEqual(after, before)

    @unittest.skipUnless(READ.exists(), "the system does not count what is read")
    def test_a_database_of_any_size(self):
        capture = build_database(OPTIONS.captures, "db_base_ascend_pt", self.scratch)
        (database,) = capture.rglob("ascend_pytorch_profiler*.db")
        taken = []
        for doublings in (0, 12):
            with sqlite3.connect(database) as connection:
                for table in ("TASK", "PYTORCH_API", "TASK_PMU_INFO", "COMMUNICATION_TASK_INFO"):
                    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                        continue
                    for _ in range(doublings):
                        connection.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 100000")
            connection.close()
            before = bytes_read()
            document_of(capture)
            taken.append(bytes_read() - before)
        self.assertGreater(database.stat().st_size, 10e6)
        self.assertLess(taken[1], taken[0] + 2e6)


class Verdicts(Captures):
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
    OPTIONS = parse_arguments(__doc__, (Glance, Verdicts, SharedVerdicts))
    return run_group(OPTIONS)


if __name__ == "__main__":
    sys.exit(main())
