#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages raw captures in many ways and wants every loss reported.

    run_raw_mutations.py --tool BINARY --raw DIR [--count N] [--seed N] [--verbose]

--raw is where testdata/make_raw_captures.py wrote its captures. Each damaged capture is parsed. When
its results have fewer rows than those of the intact capture, or times far from them, the run must
end with exit code 5 (3: nothing could be used) and name a damaged file on stderr, and `check` must
not call the capture complete. Exit status: 0 passed, 1 failed.
"""
import argparse
import csv
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import damage  # noqa: E402

TIMEOUT_SECONDS = 60
FAR_NS = 100_000_000  # nearer times are what the clocks of real captures may differ by
OK, PARTIAL, UNUSABLE = 0, 5, 3
TIMES = {"startNs", "endNs", "timestampNs"}


class Results:
    """What a parse wrote: rows by table, and first and last time by column."""

    def __init__(self, directory):
        self.rows, self.spans = {}, {}
        for path in directory.rglob("ASCEND_PROFILER_OUTPUT/*"):
            if path.suffix == ".db":
                self.read_database(path)
            elif path.suffix == ".csv":
                self.rows[path.name] = path.read_bytes().count(b"\n")
            elif path.suffix == ".json":
                self.rows[path.name] = path.read_bytes().count(b'": ')

    def read_database(self, path):
        with closing(sqlite3.connect(path)) as database:
            for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
                name = f"{path.name}:{table}"
                self.rows[name], = database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
                for _, column, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
                    if column in TIMES:
                        self.spans[f"{name}.{column}"] = database.execute(
                            f"SELECT MIN({column}), MAX({column}) FROM {table} WHERE {column} > 0"
                        ).fetchone()

    def losses(self, intact):
        """What the intact results have and these have not, as texts."""
        found = [f"{name}: {self.rows.get(name, 0)} of {rows} rows"
                 for name, rows in intact.rows.items() if self.rows.get(name, 0) < rows]
        for name, ends in intact.spans.items():
            for mine, expected in zip(self.spans.get(name, ends), ends):
                if isinstance(mine, int) and abs(mine - expected) > FAR_NS:
                    found.append(f"{name}: {(mine - expected) / 1e6:.0f} ms away")
        return found


class Judge:
    def __init__(self, tool, captures, scratch):
        self.tool, self.captures, self.scratch = tool, captures, scratch
        self.intact = {capture: self.parse(capture, scratch / f"intact_{number}")
                       for number, capture in enumerate(captures)}
        for capture, (done, _) in self.intact.items():
            if done.returncode != OK or "warning" in done.stderr:
                raise SystemExit(f"{capture}: the intact capture is not read in silence: {done.stderr}")

    def run(self, *arguments):
        return subprocess.run([self.tool, *arguments], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", errors="replace",
                              timeout=TIMEOUT_SECONDS)

    def parse(self, capture, out):
        done = self.run("parse", "-d", capture, "-o", out, "--jobs", "1")
        return done, Results(out)

    def judge(self, number, seed):
        """(what was done, what is lost, what is wrong with the run; empty: nothing)."""
        chance = random.Random(f"{seed}:{number}")
        source = chance.choice(self.captures)
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            capture = Path(scratch, source.name)
            damage.link_tree(source, capture)
            done_to = damage.random_damage(capture, chance)
            done, results = self.parse(capture, Path(scratch, "out"))
            losses = results.losses(self.intact[source][1])
            wrong = self.faults(done, losses, done_to)
            if not wrong and losses and not done_to.undetectable:
                told = self.run("check", "--try", "-d", capture)
                if ", complete" in told.stdout:
                    wrong = "check says that it is complete"
        return f"{source.parent.name}: {done_to.text}", losses, wrong, done.stderr

    @staticmethod
    def faults(done, losses, done_to):
        if done.returncode not in (OK, PARTIAL, UNUSABLE):
            return f"exit code {done.returncode}"
        if not losses or done_to.undetectable:
            return ""
        if done.returncode == OK:
            return "silent loss"
        if not any(name in done.stderr for name in done_to.names):
            return "no message names the file"
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--raw", required=True, type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one damage, shown in full")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    captures = sorted(path for path in arguments.raw.glob("*/*_ascend_pt"))
    failed, lossy, silent = 0, 0, 0
    with tempfile.TemporaryDirectory(dir=arguments.raw.parent) as scratch:
        judge = Judge(arguments.tool, captures, Path(scratch))
        numbers = range(arguments.count) if arguments.only is None else [arguments.only]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            outcomes = pool.map(lambda number: judge.judge(number, arguments.seed), numbers)
            for number, (text, losses, wrong, stderr) in zip(numbers, outcomes):
                lossy += bool(losses)
                failed += bool(wrong)
                silent += wrong == "silent loss"
                if wrong or arguments.verbose or arguments.only is not None:
                    print(f"{number}: {text}: {wrong or 'fine'}", *losses[:6], sep="\n    ")
                if wrong and wrong != "silent loss" or arguments.only is not None:
                    print(stderr)
    print(f"{arguments.count} damaged captures, {lossy} with losses, {silent} of them silent; "
          f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
