#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one-line mutations in one room and tells which of them the tests notice.

    scripts/mutate.py ROOM [--count N] [--seed N] [--build DIR] [--list]

ROOM is a folder below src (gate, raw, io) or one file there (io/numbers.cc). A mutation
changes one place: an operator (< to <=, && to ||, + to -), a constant, a boundary (first to last,
least to largest), the order of two arguments, or it removes a statement. The same seed makes the
same mutations of the same sources.

Each is made by itself: the program of unit tests that knows the room is built and run, the tests of
the mutated file first, and if it notices nothing, so are the tests of commands whose names fit the
room (see TESTS); the first failure ends all. Then the file is put back, also when the run is
interrupted. A run that was killed cannot do that, so a room with changes that are not committed is
refused: "git checkout" brings it back. Mutations that do not compile (warnings are errors) are
counted apart, and others are made in their place.

Needs a configured build directory. Best is one that compiles a single file per mutation, without
optimising, and that notices reads past the end:
    cmake -B build/mutants -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-O0 -D_GLIBCXX_ASSERTIONS"
--list shows the mutations and builds nothing.

A survivor is a behaviour without a test, or a mutation that changes nothing that anyone can see.
Exit status: 0 all were noticed, 1 some survived, 2 usage, or the tests fail without a mutation.
"""

import argparse
import contextlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
# A mutation may make an endless loop, or one that takes memory.
SECONDS_OF_TESTS = 300
BYTES_OF_TESTS = 8 << 30

# Folder below src -> the program of its unit tests, and which other tests see it (for ctest).
TESTS = {
    "raw": ("mpa_raw_tests", r"^(cli\.(raw|input|partial)|parity\.captures)$"),
    "profiler_output": ("mpa_raw_tests", r"^(cli\.raw|outputs\.|parity\.captures)"),
    "compare": ("mpa_unit_tests",
                         r"^(golden\.|parity\.|agreement\.|cli\.(alike|promises))"),
    "gate": ("mpa_unit_tests", r"^cli\.gate$"),
    "recipes/head_overhead": ("mpa_unit_tests", r"^cli\.headoverhead$"),
    "mfu": ("mpa_unit_tests", r"^(cli\.utilisation|agreement\.recipes)$"),
    "measure": ("mpa_unit_tests",
                         r"^(cli\.(recipes|utilisation|headoverhead)|agreement\.recipes|"
                         r"parity\.recipes)$"),
    "capture": ("mpa_unit_tests", r"^cli\.(input|partial|alike|raw)$"),
    "readers": ("mpa_unit_tests", r"^(golden\.|agreement\.|parity\.|cli\.(input|partial|raw))"),
    "writers": ("mpa_unit_tests", r"^(golden\.|cli\.(export|gate|terminal|recipes)|outputs\.)"),
    "": ("mpa_unit_tests", r"^(golden\.|cli\.|agreement\.|outputs\.|parity\.)"),
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

    def __init__(self, build, program, pattern):
        self.build, self.program, self.pattern = build, program, pattern

    def compiles(self, *targets):
        command = ["cmake", "--build", self.build, "-j", "1", "--target", *targets]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def first_failure(self, path=None):
        """What fails first; empty when nothing does, None when the sources do not compile. The unit
        tests that know the file `path` run before the others."""
        if not self.compiles(self.program):
            return None
        first = ":".join(f"{suite}.*" for suite in suites_that_know(path)) if path else ""
        for tests in (first, f"-{first}") if first else ("*",):
            failed = self.run([self.build / "bin" / self.program, "--gtest_fail_fast",
                               "--gtest_brief=1", f"--gtest_filter={tests}"],
                              self.build / "tests", r"\[  FAILED  \] (\S+?)[ ,\n]")
            if failed:
                return failed
        if not self.compiles("msprof-analyze"):
            return None
        return self.run(["ctest", "--test-dir", self.build, "--stop-on-failure", "-R",
                         self.pattern], self.build, r"\d+ - (\S+) \(")

    @staticmethod
    def run(command, directory, failure):
        def limit_memory():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_TESTS, BYTES_OF_TESTS))
        try:
            ended = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, errors="replace", check=False,
                                   timeout=SECONDS_OF_TESTS, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            return f"no end within {SECONDS_OF_TESTS} s"
        if ended.returncode == 0:
            return ""
        found = re.search(failure, ended.stdout)
        return found[1] if found else f"exit code {ended.returncode}"


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
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
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
    build = arguments.build.resolve()
    tests = Tests(build, *tests_of(place))
    os.environ["GTEST_COLOR"] = "no"
    Tests.run(["ctest", "--test-dir", build, "-R", "raw.make_captures"], build, "")
    failure = tests.first_failure()
    if failure != "":
        parser.error(f"without a mutation: {failure or 'the sources do not compile'}")
    try:
        return 0 if judge(mutations, arguments.count, tests) else 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
