#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells whether each public header and each source of the program stands by itself.

    scripts/alone.py            compiles all headers in include/mpa, without making code
    scripts/alone.py sources    all sources of src and apps, too
    scripts/alone.py PATTERN    headers and sources whose path the regular expression matches
    scripts/alone.py names      only reads all of them, in a second

Builds compile sources together, so that a file can live on what another one includes. Fails when a
file does not compile alone, or has a warning; when it is only read: when it uses a capitalised name
that a header of the project declares, and reaches no header with that name.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "alone"
DROPPED = re.compile(r"-O\d|-g\d?|-DNDEBUG|-c|-MD")


def commands() -> dict[str, list[str]]:
    """How each source of the program is compiled, by its path in the repository."""
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", BUILD, "-DMPA_BUILD_TESTS=OFF",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                    "-DCMAKE_CXX_COMPILER_LAUNCHER="], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "mpa_commit"], check=True, stdout=subprocess.DEVNULL)
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        flags = words[: words.index("-o")] + ["-I" + entry["directory"]]
        path = Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
            found[str(path.relative_to(ROOT))] = [word for word in flags if not DROPPED.fullmatch(word)]
    return found


# Comments, includes and literals; then the tokens of code, and the names of types, functions and constants.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*include[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
                     re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
LISTS = re.compile(r"(?:\benum\b[^;{]*\{|\bX\()([^})]*)[})]")  # of enumerators, and X(Name) of macros
TOKEN = re.compile(r"\w+|::|->|&&|\.\.\.|[^\s\w]")
FOREIGN = re.compile(r"\bCLI::\w+")  # has names that are ours, too
NAME = re.compile(r"k?[A-Z]\w*")
WORD = re.compile(r"[A-Za-z_]\w*")
BEFORE_A_USE = {"return", "new", "case", "throw", "else", "const", "public", "private", "operator", "using", "namespace"}
# Found by the types that a template is used with.
OF_ARGUMENTS = {"LastOf", "kInColumns"}


def is_declared(before: str, name: str, behind: str) -> bool:
    """Whether the tokens around a name declare it; a type before it is a word or ends in one of `>&*]`."""
    if before in ("struct", "class", "concept", "typename", "auto", "...", "define"):
        return True
    if before == "using":
        return behind == "="
    if before in (",", "}") and behind in ("=", "{", "["):
        return name.startswith("k")
    a_type = before in (">", "&", "*", "]") or (WORD.fullmatch(before) and before not in BEFORE_A_USE)
    return bool(a_type) and behind in ("(", "=", ";", "{", ",", ")", "[", ":", ">")


class Names:
    """What a file includes, which names it uses, and which of them it declares."""

    def __init__(self, text: str) -> None:
        self.includes = INCLUDE.findall(text)
        code = FOREIGN.sub(" ", NO_CODE.sub(" ", text))
        self.declared = {word for body in LISTS.findall(code) for word in WORD.findall(body)}
        self.used = set()
        tokens = ["", *TOKEN.findall(code), ""]
        for before, name, behind in zip(tokens, tokens[1:], tokens[2:]):
            if not NAME.fullmatch(name):
                continue
            if before not in (".", "->"):
                self.used.add(name)
            if is_declared(before, name, behind):
                self.declared.add(name)


def unreached_names() -> list[str]:
    """A line for each name that a file uses and no header that it includes has."""
    files = {path: Names(path.read_text(encoding="utf-8")) for folder in ("include", "src", "apps")
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cc")}
    headers = {}
    for path, names in files.items():
        for name in names.declared if path.suffix == ".h" else ():
            headers.setdefault(name, []).append(str(path.relative_to(ROOT)))
    reached: dict[Path, set[str]] = {}

    def reach(path: Path) -> set[str]:
        if path not in reached:
            reached[path] = set()
            for include in files[path].includes:
                for header in (path.parent / include, ROOT / "include" / include):
                    if header in files:
                        reached[path] |= files[header].used | files[header].declared | reach(header)
        return reached[path]

    return [f"{path.relative_to(ROOT)} uses {name} and includes no header of it, such as {headers[name][0]}"
            for path, names in files.items()
            for name in sorted(names.used - names.declared - reach(path) - OF_ARGUMENTS) if name in headers]


def problems(command: list[str]) -> str:
    done = subprocess.run([*command, "-fsyntax-only"], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stderr if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", nargs="?", default="headers", help="headers, sources, names, or a pattern of paths")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once")
    arguments = parser.parse_args()
    what = arguments.what
    if what == "names":
        lines = unreached_names()
        print("\n".join(lines), file=sys.stderr)
        return 1 if lines else 0
    sources = commands()
    # A header is used by sources of any room: it gets the flags of one that may include everything.
    flags = sources["apps/msprof-analyze/main.cc"]
    jobs = {str(header.relative_to(ROOT)): [*flags, "-include", str(header), "-x", "c++", os.devnull]
            for header in sorted((ROOT / "include").rglob("*.h"))}
    if what != "headers":
        jobs |= {path: [*command, str(ROOT / path)] for path, command in sources.items()}
    if what not in ("headers", "sources"):
        jobs = {path: command for path, command in jobs.items() if re.search(what, path)}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = dict(zip(jobs, pool.map(problems, jobs.values())))
    bad = {path: text for path, text in results.items() if text}
    for path, text in bad.items():
        print(f"{path} does not compile alone:\n{text}", file=sys.stderr)
    print(f"{len(jobs)} files, {len(bad)} of which do not compile alone, in {time.monotonic() - begin:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
