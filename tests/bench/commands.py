#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whole commands and prints a Markdown table; scripts/bench.sh builds what it needs.

Messages go to stderr, the table to stdout. docs/performance.md says what the rows mean.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
from inputs import Inputs, NoRoom, databases, rank, size_of, traces  # noqa: E402
from sqlite_pass import NEEDS, seconds  # noqa: E402
from timing import interleaved, medians, run  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "from msprof_analyze.cli.entrance import msprof_analyze_cli as main; main()"
CLUSTER = ["compute_op_sum", "hccl_sum", "cann_api_sum", "communication_time_sum", "slow_rank"]
PROFILING = ["--enable_profiling_compare"]


class Bench:
    def __init__(self, options):
        self.options, self.inputs = options, Inputs(options.data)

    def row(self, work, ours="", against="", ratio=None, target=None, at_least=False, unit="x"):
        """Prints a row; without a ratio something was missing, which was said."""
        shown = verdict = limit = ""
        if ratio is not None:
            shown = f"{ratio:.2f}{unit}"
        if target is not None:
            limit = f"{'>=' if at_least else '<='} {target}{unit}"
            if ratio is not None:
                verdict = "yes" if (ratio >= target if at_least else ratio <= target) else "no"
        print(f"| {work} | {ours} | {against} | {shown} | {limit} | {verdict} |", flush=True)

    # What is measured.

    def tool(self, *arguments):
        """One run with an output directory of its own, which is thrown away."""
        with tempfile.TemporaryDirectory(dir=self.options.data) as out:
            return run([self.options.binary, *arguments, "-o", out])

    def compare(self, capture, *arguments):
        return partial(self.tool, "compare", "-d", rank(capture, 0), "-bp", rank(capture, 1),
                       *arguments)

    def recipe(self, name, capture):
        return partial(self.tool, "-m", name, "-d", capture)

    def bare_pass(self, capture):
        """Seconds with the bytes in memory, and with reading the files."""
        if not self.options.bare_pass.exists():
            print(f"{self.options.bare_pass} is missing, so is the pass", file=sys.stderr)
            return None
        output = subprocess.run([self.options.bare_pass, *traces(capture)], check=True,
                                stdout=subprocess.PIPE).stdout
        passes = [json.loads(line) for line in output.splitlines()]
        return sum(one["warm"] for one in passes), sum(one["cold"] for one in passes)

    def reference(self, *arguments, needs_result=True):
        """The usage of the reference; None where there is none, or it wrote no result."""
        checkout = os.environ.get("REFERENCE_DIR")
        if not checkout or not self.options.reference_runs:
            return None
        environment = {**os.environ, "PYTHONPATH": checkout, "PYTHONDONTWRITEBYTECODE": "1"}
        usages = []
        for _ in range(self.options.reference_runs):
            with tempfile.TemporaryDirectory(dir=self.options.data) as out:
                print(f"reference: {' '.join(map(str, arguments[:2]))}", file=sys.stderr)
                usage = run([self.options.python, "-c", REFERENCE, *arguments, "-o", out],
                            environment)
                # It exits with 0 after most errors.
                if needs_result and not [path for path in Path(out).rglob("*.*")
                                         if path.suffix in (".xlsx", ".db")]:
                    print("the reference wrote no result", file=sys.stderr)
                    usage = None
            usages.append(usage)
        return medians(usages)

    def reference_row(self, work, ours, target, *arguments):
        reference = self.reference(*arguments)
        faster = reference and ours and reference.wall / ours.wall
        self.row(work, used(ours), f"reference {used(reference)}" if reference else "", faster,
                 target, at_least=True)

    # The rows.

    def text(self):
        capture = self.inputs.make("text", self.options.text, 2)
        sides = "-d", rank(capture, 0), "-bp", rank(capture, 1)
        everything, overall, passes = interleaved(
            self.options.runs, self.compare(capture), self.compare(capture, *PROFILING),
            partial(self.bare_pass, capture))
        everything, overall = medians(everything), medians(overall)
        work = f"`compare`, text, {megabytes(capture)}"
        self.reference_row(work, everything, 60, "compare", *sides)
        if None in passes:
            passes = []
        warm, cold = (statistics.median(times) for times in zip(*passes)) if passes else (None,) * 2
        shown = f"bare pass {warm:.3f} s" if warm else ""
        self.row(work, used(everything), shown, warm and everything and everything.wall / warm, 3)
        self.row("the same, profiling only", used(overall), shown,
                 warm and overall and overall.wall / warm, 2)
        if cold:
            self.row("the same", used(overall), f"bare pass with reading {cold:.3f} s",
                     overall and overall.wall / cold)
        if everything:
            self.row("memory of `compare`, text", f"{everything.memory / 1e6:.0f} MB",
                     f"traces {megabytes(capture)}", everything.memory / size_of(capture), 0.6)

    def db(self):
        capture = self.inputs.make("db", self.options.db, 2)
        ours, = interleaved(self.options.runs, self.compare(capture))
        self.reference_row(f"`compare`, databases, {megabytes(capture)}", medians(ours), 40,
                           "compare", "-d", rank(capture, 0), "-bp", rank(capture, 1))

    def module_statistic(self):
        capture = self.inputs.make("db", self.options.mstx, 2, ["mstx"])
        ours, = interleaved(self.options.runs, self.recipe("module_statistic", capture))
        self.reference_row(f"`module_statistic`, {megabytes(capture)}", medians(ours), 40,
                           "-m", "module_statistic", "-d", capture, "--export_type", "db")

    def cluster(self):
        """The recipes of eight ranks, each alone."""
        capture = self.inputs.make("db", self.options.cluster, 8, ["links"])
        for recipe in CLUSTER:
            ours, = interleaved(self.options.runs, self.recipe(recipe, capture))
            self.reference_row(f"`{recipe}`, 8 ranks, {megabytes(capture)}", medians(ours), 40,
                               "-m", recipe, "-d", capture)

    def recipes(self):
        """Each recipe against SQLite's own pass over what it needs, and against the reference
        without its start: what it takes for captures of a few steps."""
        capture, tiny = (self.inputs.make("db", size, 8, ["links", "mstx"])
                         for size in (self.options.cluster, 1))
        for recipe in NEEDS:
            ours, passes = interleaved(self.options.runs, self.recipe(recipe, capture),
                                       partial(seconds, recipe, databases(capture)))
            ours, sqlite = medians(ours), statistics.median(passes)
            work = f"`{recipe}`, 8 ranks, {megabytes(capture)}"
            self.row(work, used(ours), f"SQLite's own pass {sqlite:.2f} s CPU",
                     ours and ours.cpu / sqlite, 1.5)
            # Without a slow rank the reference has no result of slow_rank.
            large, small = (self.reference("-m", recipe, "-d", captures,
                                           needs_result=recipe != "slow_rank")
                            for captures in (capture, tiny))
            if large and small and ours:
                own = max(large.cpu - small.cpu, 0)
                self.row("the same", used(ours), f"reference without its start {own:.2f} s CPU",
                         own / ours.cpu, 20, at_least=True)

    def ranks(self):
        """Memory follows the ranks in flight, not how many there are."""
        few, many = (self.inputs.make("db", 1, ranks, ["links"])
                     for ranks in (self.options.ranks // 10, self.options.ranks))
        recipes = partial(self.recipe, ",".join(CLUSTER))
        small, large = map(medians, interleaved(self.options.runs, recipes(few), recipes(many)))
        self.row(f"memory of these recipes, {self.options.ranks} ranks, {megabytes(many)}",
                 used(large), f"{self.options.ranks // 10} ranks: {used(small)}",
                 small and large and large.memory / small.memory)

    def growth(self):
        text = [self.inputs.make("text", size, 2) for size in quarter(self.options.text)]
        db = [self.inputs.make("db", size, 2) for size in quarter(self.options.db)]
        mstx = [self.inputs.make("db", size, 2, ["mstx"]) for size in quarter(self.options.mstx)]
        raw = [self.inputs.make("raw", size) for size in quarter(self.options.raw)]
        for work, captures, measure in (
                ("`compare`, text", text, self.compare), ("`compare`, databases", db, self.compare),
                ("`module_statistic`", mstx, partial(self.recipe, "module_statistic")),
                ("`operator_mfu`", mstx, partial(self.recipe, "operator_mfu")),
                ("`head_overhead`, text", text, partial(self.recipe, "head_overhead")),
                ("`head_overhead`, databases", mstx, partial(self.recipe, "head_overhead")),
                ("`parse`", raw, lambda capture: partial(self.tool, "parse", "-d", capture))):
            small, large = map(medians, interleaved(self.options.runs, *map(measure, captures)))
            times = size_of(captures[1]) / size_of(captures[0])
            self.row(f"growth of {work}, {megabytes(captures[1])}", used(large),
                     f"{times:.2f} times {megabytes(captures[0])}: {used(small)}",
                     large and small and 4 * large.wall / small.wall / times, 4.4)

    def jobs(self):
        capture = self.inputs.make("text", self.options.text, 2)
        one, two = map(medians, interleaved(self.options.runs,
                                            *(self.compare(capture, "--jobs", jobs)
                                              for jobs in ("1", "2"))))
        self.row("2 jobs, `compare`, text", used(two), f"1 job {used(one)}",
                 one and two and one.wall / two.wall, 1.6, at_least=True)

    def start(self):
        capture = self.inputs.make("text", self.options.text, 2)
        for arguments in (["--help"], ["check", "-d", str(capture)]):
            command = [self.options.binary, *arguments]
            usages, = interleaved(self.options.runs * 4, partial(run, command))
            usage = medians(usages)
            self.row(f"`{arguments[0]}`", used(usage), "", usage and usage.wall * 1000, 20,
                     unit=" ms")

    def huge(self):
        capture = self.inputs.make("text", self.options.huge)
        small = self.inputs.make("text", self.options.text, 2)
        usage = self.tool("compare", "-d", rank(capture, 0), "-bp", rank(small, 0))
        self.row(f"memory of `compare`, a trace of {megabytes(capture)}", used(usage),
                 f"trace {megabytes(capture)}", usage and usage.memory / size_of(capture), 0.5)


def used(usage):
    if not usage:
        return ""
    return f"{usage.wall:.3f} s, {usage.cpu:.2f} s CPU, {usage.memory / 1e6:.0f} MB"


def megabytes(capture):
    return f"{size_of(capture) / 1e6:.0f} MB"


def quarter(size):
    return size // 4, size


ROWS = ["text", "db", "module_statistic", "cluster", "recipes", "ranks", "growth", "jobs", "start"]


def parse_options():
    parser = argparse.ArgumentParser(
        prog="scripts/bench.sh", description=__doc__.splitlines()[0],
        epilog="REFERENCE_DIR names a checkout of the Python tool; without it its times are empty.")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/msprof-analyze",
                        help="what is measured [default: the release build]")
    parser.add_argument("--bare_pass", type=Path, default=ROOT / "build/release/bin/mpa_bare_pass")
    parser.add_argument("--data", type=Path, default=ROOT / "build/bench_data",
                        help="where the inputs are made; those that are there are used again")
    parser.add_argument("--rows", default=",".join(ROWS), help="some of them: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="the median of which is shown")
    parser.add_argument("--reference_runs", type=int, default=1, help="0: none")
    parser.add_argument("--python", default="python3", help="of the reference")
    for name, size, what in (("text", 230, "trace of each of two ranks"),
                             ("db", 180, "database of each of two ranks"),
                             ("mstx", 150, "the same, with ranges around modules"),
                             ("cluster", 60, "database of each of eight ranks"),
                             ("raw", 400, "raw capture")):
        parser.add_argument(f"--{name}", type=int, default=size, metavar="MB",
                            help=f"{what} [{size}]")
    parser.add_argument("--ranks", type=int, default=1000,
                        help="how many, of 1 MB each, the row `ranks` has [%(default)s]")
    parser.add_argument("--huge", type=int, nargs="?", const=6000, metavar="MB",
                        help="a row for one trace of this size [6000]")
    options = parser.parse_args()
    unknown = set(options.rows.split(",")) - set(ROWS)
    if unknown or options.runs < 1:
        parser.error(f"no such row: {', '.join(sorted(unknown))}" if unknown else "--runs is 0")
    if not shutil.which(options.binary):
        parser.error(f"{options.binary} is no program")
    return options


def main():
    options = parse_options()
    options.data.mkdir(parents=True, exist_ok=True)
    if not os.environ.get("REFERENCE_DIR"):
        print("no REFERENCE_DIR: the reference is not measured", file=sys.stderr)
    bench = Bench(options)
    print("| Work | Ours | Against | Ratio | Target | Met |\n|---|---|---|---|---|---|")
    for row in options.rows.split(",") + (["huge"] if options.huge else []):
        try:
            getattr(bench, row)()
        except NoRoom as reason:
            print(f"{row} is left out: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
