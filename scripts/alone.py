#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header and each source of the program by itself, without making code.

    scripts/alone.py            all headers in include/mpa
    scripts/alone.py sources    all sources of src and apps, too
    scripts/alone.py PATTERN    headers and sources whose path the regular expression matches

Builds compile sources together, so that a file can live on what another one includes. Fails when a
file does not compile alone, or has a warning.
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


def problems(command: list[str]) -> str:
    done = subprocess.run([*command, "-fsyntax-only"], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stderr if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", nargs="?", default="headers", help="headers, sources, or a pattern of paths")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once")
    arguments = parser.parse_args()
    what = arguments.what
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
