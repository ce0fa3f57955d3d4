#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one-line mutations in one room and tells which of them the tests notice.

    scripts/mutate.py ROOM [--count N] [--seed N] [--build DIR] [--quick] [--list]

ROOM is a folder below src (gate, raw, io) or one file there (io/numbers.cc). A mutation
changes one place: an operator (< to <=, && to ||, + to -), a constant, a boundary (first to last,
least to largest), the order of two arguments, or it removes a statement. The same seed makes the
same mutations of the same sources.

Each is made by itself: the programs of unit tests that know the room are built and run, those of
the mutated file first, and if they notice nothing, so are the tests of commands whose names fit the
room (see TESTS); the first failure ends all. Then the file is put back, also when the run is
interrupted. A run that was killed cannot do that, so a room with changes that are not committed is
refused: "git checkout" brings it back. Mutations that do not compile are counted apart, and others
are made in their place. Tests that take twice the time of a processor have noticed it.

Without --build the folder build/mutants is configured as it is cheapest: without optimising, by
clang where it is installed. Reads past the end are noticed there. --list shows the mutations and
builds nothing. --quick runs the unit tests alone, and the slow ones of them only when they know the
mutated file: its survivors may be noticed by other tests.

A survivor is a behaviour without a test, or a mutation that changes nothing that anyone can see. The
tests are run without a mutation first. Those that are skipped then, for lack of a shell or of
captures beside the project, are named: they notice nothing.
Exit status: 0 all were noticed, 1 some survived, 2 usage, or the tests fail without a mutation.
"""

import argparse
import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
# A mutation may make an endless loop, or one that takes memory.
TIMES_AS_LONG = 2  # by the time of the processor, on which other programs have little influence
TIMES_AS_LATE = 20  # by the clock, for tests that wait for ever
SHORTEST_LIMIT = 30  # seconds
BYTES_OF_TESTS = 4 << 30

UNIT, RAW = "mpa_unit_tests", "mpa_raw_tests"
# Unit tests that take most of the time, and come last.
SLOW = "GateSimulation.*:*HostileRecords.*:TraceView.TheSameBytesForAnyNumberOfJobs"
# Folder below src -> the programs of its unit tests, and which other tests see it (for ctest).
TESTS = {
    "raw": ((RAW,), r"^(cli\.(raw|input|partial)|parity\.captures)$"),
    "profiler_output": ((RAW,), r"^(cli\.raw|outputs\.|parity\.captures)"),
    "compare": ((UNIT,), r"^(golden\.|parity\.|agreement\.|cli\.(alike|promises))"),
    "diagnosis": ((UNIT,), r"^(agreement\.|parity\.(diagnosis|advisor|perturbed)|"
                           r"cli\.(advisor|kineto|ranks|oddranks|oddrows|twojobs|headoverhead))"),
    "gate": ((UNIT,), r"^cli\.gate$"),
    "recipes": ((UNIT,), r"^(golden\.recipes|parity\.|agreement\.|"
                         r"cli\.(recipes|earlier|summaries|notebook|several|ranks|export|columns))"),
    "recipes/head_overhead": ((UNIT,), r"^(golden\.recipes\.head_overhead|cli\.headoverhead)"),
    "mfu": ((UNIT,), r"^(cli\.utilisation|agreement\.recipes)$"),
    "measure": ((UNIT,), r"^(golden\.(compare|recipes)|agreement\.|parity\.(recipes|compare)|"
                         r"cli\.(recipes|utilisation|headoverhead|advisor|gate)$)"),
    "capture": ((UNIT, RAW), r"^cli\.(input|partial|alike|raw)$"),
    "readers": ((UNIT, RAW), r"^(golden\.|agreement\.|parity\.|cli\.(input|partial|raw))"),
    "writers": ((UNIT,), r"^(golden\.|cli\.(export|gate|terminal|recipes)|outputs\.)"),
    "": ((UNIT, RAW), r"^(golden\.|cli\.|agreement\.|outputs\.|parity\.)"),
}

# What is no code: raw strings, strings, characters (not the marks within numbers), comments.
NO_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])\'(?:[^\'\\\n]|\\.)+\''
                     r'|//[^\n]*|/\*.*?\*/', re.DOTALL)
NO_MUTATION = re.compile(r"^\s*#|^\s*(template|using|namespace|static_assert|friend|case)\b"
                         r"|\boperator\b|\breserve\(")

# (pattern, what takes its place). Formatted code has blanks around binary operators.
REPLACEMENTS = [
    (re.compile(pattern), change) for pattern, change in (
        (r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"),
        (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
        (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="),
        (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
        (r"(?<=[\w)\]] )\+(?= )", "-"), (r"(?<=[\w)\]] )-(?= )", "+"),
        (r"(?<=[\w)\]] )\*(?= )", "/"), (r"(?<=[\w)\]] )/(?= )", "*"),
        (r"\+=", "-="), (r"-=", "+="), (r" [+-] 1\b(?!\.)", ""),
        (r"(?<![\w!=])!(?=[\w(*])", ""),
        (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"),
        (r"\bfront\(\)", "back()"), (r"\bback\(\)", "front()"),
        (r"\blower_bound\b", "upper_bound"), (r"\bupper_bound\b", "lower_bound"),
        (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
        (r"(?<![\w.'<])\d+(?![\w.'>])", lambda found: str(int(found[0]) + 1)),
        (r"(?<=\w)(?<!\bmin)(?<!\bmax)\(([\w.>\[\]-]+), ([\w.>\[\]-]+)\)", r"(\2, \1)"),
    )
]
# A call, an assignment or a jump that is a line of its own, with its condition if it has one.
STATEMENT = re.compile(r"^\s*(if \(.*\) (return\b.*|continue|break)?|continue|break"
                       r"|(if \(.*\) )?(\+\+|--)?[\w.:>*\[\]-]+(\(.*| [+*/-]?= .*|))?;$")


class Mutation:
    def __init__(self, path, line, before, after):
        self.path, self.line, self.before, self.after = path, line, before, after

    def __str__(self):
        lines = (f"  - {self.before.strip()}", f"  + {self.after.strip()}".rstrip())
        return "\n".join((f"{self.path.relative_to(ROOT)}:{self.line}", *lines))

    @contextlib.contextmanager
    def made(self):
        original = self.path.read_bytes()
        lines = original.decode().split("\n")
        lines[self.line - 1] = self.after
        try:
            self.path.write_text("\n".join(lines), encoding="utf-8")
            yield
        finally:
            self.path.write_bytes(original)


def mutated_lines(before, code, line):
    """The line with each of the mutations that it allows. `code` is the line without texts, and
    `before` the one before it: a statement that begins there is not removed."""
    for pattern, change in REPLACEMENTS:
        for found in pattern.finditer(code):
            changed = change(found) if callable(change) else found.expand(change)
            if changed != found[0]:
                yield line[:found.start()] + changed + line[found.end():]
    if STATEMENT.match(code) and re.search(r"(^|[;{}:])$", before):
        yield ""


def mutations_of(path):
    text = path.read_text(encoding="utf-8")
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    mutations, before = [], ""
    for number, (bare, line) in enumerate(zip(code.split("\n"), text.split("\n")), 1):
        bare = bare.rstrip("\0 ")
        if not NO_MUTATION.search(bare):
            mutations += [Mutation(path, number, line, after)
                          for after in mutated_lines(before, bare, line)]
        before = bare
    return mutations


def in_random_order(place, seed):
    """One mutation of each line at most, so that no file of constants is all there is."""
    files = [place] if place.is_file() else sorted(
        path for path in place.rglob("*") if path.suffix in (".cc", ".h"))
    chance = random.Random(seed)
    mutations = [mutation for path in files for mutation in mutations_of(path)]
    chance.shuffle(mutations)
    return list({(mutation.path, mutation.line): mutation for mutation in mutations}.values())


def tests_of(place):
    folder = place.relative_to(SOURCES).as_posix()
    while folder not in TESTS:
        folder = folder.rpartition("/")[0]
    return TESTS[folder]


def suites_that_know(path):
    """Suites of the test files that include the header of a source file, or share its name."""
    stem, suites = path.stem, set()
    for file in (ROOT / "tests").rglob("*_test.cc"):
        text = file.read_text(encoding="utf-8")
        if f'/{stem}.h"' in text or file.stem == f"{stem}_test":
            suites.update(re.findall(r"^TEST(?:_F|_P)?\((\w+),", text, re.MULTILINE))
    return sorted(suites)


class Tests:
    """Builds and runs what can see a room."""

    def __init__(self, build, programs, pattern):
        self.build, self.programs, self.pattern = build, programs, pattern
        self.limits = {}  # seconds of the processor and by the clock, by the name of what runs
        self.skipped = []

    def compiles(self, *targets):
        command = ["cmake", "--build", self.build, "-j", "1", "--target", *targets]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def first_failure(self, path=None):
        """What fails first; empty when nothing does, None when the sources do not compile. The unit
        tests that know the file `path` run before the others."""
        first = ":".join(f"{suite}.*" for suite in suites_that_know(path)) if path else ""
        for program in self.programs:
            if not self.compiles(program):
                return None
            stages = [(program, first)] if first else []
            stages.append((program, f"-{first}:{SLOW}"))
            if self.pattern:
                stages.append((f"the slow tests of {program}", f"{SLOW}-{first}"))
            for name, tests in stages:
                failed = self.run(name, [
                    self.build / "bin" / program, "--gtest_fail_fast", "--gtest_brief=1",
                    f"--gtest_filter={tests}"], self.build / "tests",
                    r"\[  FAILED  \] (\S+?)[ ,\n]")
                if failed:
                    return failed
        if not self.pattern:
            return ""
        if not self.compiles("msprof-analyze"):
            return None
        return self.run("ctest", ["ctest", "--test-dir", self.build, "--stop-on-failure", "-R",
                                  self.pattern], self.build, r"\d+ - (\S+) \(")

    def run(self, what, command, directory, failure):
        """The first failure of a command. Its first run, without a mutation, says how long later
        ones may take, and which tests are skipped."""
        busy, late = self.limits.get(what, (resource.RLIM_INFINITY, None))

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_TESTS, BYTES_OF_TESTS))
            resource.setrlimit(resource.RLIMIT_CPU, (busy, busy))
        begin, begin_busy = time.monotonic(), seconds_of_processor()
        try:
            ended = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, errors="replace", check=False,
                                   timeout=late, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return f"no end of {what} within {late:.0f} s"
        if late is None:
            self.limits[what] = (
                int(max(SHORTEST_LIMIT, TIMES_AS_LONG * (seconds_of_processor() - begin_busy))),
                max(SHORTEST_LIMIT, TIMES_AS_LATE * (time.monotonic() - begin)))
            self.skipped += re.findall(r"- ([\w.]+) \(Skipped\)|\[  SKIPPED \] ([\w/]+\.[\w/]+)",
                                       ended.stdout)
        if ended.returncode == 0:
            return ""
        found = re.search(failure, ended.stdout)
        if found or ended.returncode > 0:
            return found[1] if found else f"exit code {ended.returncode}"
        return signal.Signals(-ended.returncode).name


def seconds_of_processor():
    """That all programs took which ended by now."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def configured():
    """The build directory in which a mutation costs least."""
    build = ROOT / "build" / "mutants"
    if not (build / "CMakeCache.txt").exists():
        clang = ["-DCMAKE_CXX_COMPILER=clang++"] if shutil.which("clang++") else []
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -D_GLIBCXX_ASSERTIONS", "-DMPA_UNITY=ON",
                        "-DMPA_WERROR=OFF", *clang, *linker],
                       check=True, stdout=subprocess.DEVNULL)
    return build


def has_changes(place):
    return subprocess.run(["git", "-C", ROOT, "diff", "--quiet", "HEAD", "--", place],
                          check=False).returncode != 0


def outcome_of(failure):
    if failure is None:
        return "did not compile"
    return f"noticed by {failure}" if failure else "SURVIVED"


def judge(mutations, count, tests):
    """Makes mutations until `count` of them were judged; whether the tests noticed all."""
    noticed, survivors, broken = 0, [], 0
    try:
        for mutation in mutations:
            if noticed + len(survivors) == count:
                break
            with mutation.made():
                failure = tests.first_failure(mutation.path)
            broken += failure is None
            noticed += bool(failure)
            survivors += [mutation] if failure == "" else []
            print(f"{mutation}\n  {outcome_of(failure)}", flush=True)
    finally:
        if survivors:
            print("\nsurvivors:", *survivors, sep="\n")
        judged = noticed + len(survivors)
        share = f" ({100 * noticed / judged:.0f} %)" if judged else ""
        print(f"\nnoticed {noticed} of {judged}{share}; {broken} more did not compile")
    return not survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room")
    parser.add_argument("--count", type=int, default=10, help="how many are judged")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, help="a configured one; without it, build/mutants")
    parser.add_argument("--quick", action="store_true", help="unit tests alone")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    place = (SOURCES / arguments.room).resolve()
    if not place.exists() or SOURCES not in (place, *place.parents):
        parser.error(f"{arguments.room}: there is no such room in src")
    mutations = in_random_order(place, arguments.seed)
    if arguments.list:
        print(*mutations[:arguments.count], sep="\n")
        return 0
    if has_changes(place):
        parser.error(f"{arguments.room}: commit its changes first")

    def stop(number, _frame):
        sys.exit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    build = (arguments.build or configured()).resolve()
    programs, pattern = tests_of(place)
    tests = Tests(build, programs, None if arguments.quick else pattern)
    os.environ["GTEST_COLOR"] = "no"
    subprocess.run(["ctest", "--test-dir", build, "-R", "raw.make_captures"],
                   stdout=subprocess.DEVNULL, check=False)
    failure = tests.first_failure()
    if failure != "":
        parser.error(f"without a mutation: {failure or 'the sources do not compile'}")
    if tests.skipped:
        names = sorted({"".join(names) for names in tests.skipped})
        print(f"{len(names)} tests are skipped, and notice nothing: {', '.join(names)}\n", flush=True)
    try:
        return 0 if judge(mutations, arguments.count, tests) else 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
