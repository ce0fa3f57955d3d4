#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one golden folder and compares what the tool says and writes with FOLDER/expected.txt.

    run_golden.py --tool BINARY --testdata DIR [--raw DIR] [--shared DIR] FOLDER

FOLDER/cmd holds the arguments, one line, run in DIR/captures. In them stands
    {out}        for a directory for the results
    {db:NAME}    for the capture NAME, made from NAME.sql
    {gz:NAME}    for a gzipped copy of the file NAME
    {tar:NAME}   for an archive of the capture NAME
    {job:NAMES}  for a directory with copies of the captures, which commas separate
    {raw:NAME}   for a capture that make_raw_captures.py wrote into the directory of --raw
    {shared:PATH}  for a real capture in data/ of --shared, a folder apart from the sources
    {ranks:16:NAME,NAME...}         for a job of 16 ranks that take turns with the captures NAME.sql
    {ranks:16:NAME,NAME...:slow=7}  for one whose rank 7 has device tasks of twice the length
    {ranks:16:NAME,NAME...:late=7}  for one whose rank 7 is late for collectives
The output is stdout, each sheet or table of each file written (tab-separated, leading tabs of a label
shown as "> "), stderr and the exit code. Paths, sizes on the disk and the time in a workbook's name are
masked.
FOLDER/columns, if it is there, says which columns of some sheets are shown, "SHEET: HEADER, HEADER" in
each line, or "SHEET:" for none, "stdout:" too: those whose cells FOLDER/why.md derives. tests/parity
recomputes the others. Where there is FOLDER/screen.txt, stdout stands in it: how a screen looks changes more often
than what it says.
A difference is printed, and the whole output left in golden_actual/ of the current directory.
With MPA_UPDATE_GOLDEN=1 it is printed and the files are written.
Above a table of `compare` only the last part of a path is shown.
Numbers that only say how many analyses, options and findings there are (COUNTS) are left out, so that a new one changes
no output but those that name it.
Exit status: 0 equal or written, 1 different, 2 usage, 77 skipped: there are no real captures.
"""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "support"))
from captures import archive, build_database, build_job, gzip_copy, job_of  # noqa: E402
from written import written_files  # noqa: E402

TIMEOUT_SECONDS = 60
SKIPPED = 77
SCREEN = {"COLUMNS": "80", "NO_COLOR": "1"}
# Said about files of other owners or with the mode bits that a checkout happens to have.
ABOUT_THE_CHECKOUT = "use --force to read it without this warning"
# Command -> what follows the number. Other tests hold these numbers: check.verdicts says of each analysis whether it
# runs, cli.help counts options, the unit tests of DiagnosisScreen count checks.
COUNTS = {"check": "more(;|$)", "--help": "more options?,", "advisor": "checks passed(;|$)"}


class Places:
    """The directories of one run and the names they have in the expected output."""

    def __init__(self, captures, raw, shared, scratch):
        self.captures = captures.resolve()
        self.raw = raw.resolve() if raw else None
        self.shared = shared.resolve() / "data"
        self.inputs = Path(scratch).resolve() / "in"
        self.out = Path(scratch).resolve() / "out"
        self.inputs.mkdir()

    def fill_in(self, argument):
        def replace(match):
            kind, name = match.group(1), match.group(2)
            if kind == "out":
                return str(self.out)
            if kind == "raw":
                return str(self.raw / name)
            if kind == "shared":
                return str(self.shared / name)
            make = {"db": build_database, "gz": gzip_copy, "tar": archive, "job": job_of,
                    "ranks": build_job}[kind]
            return str(make(self.captures, name, self.inputs))
        return re.sub(r"\{(out|db|gz|tar|job|ranks|raw|shared)(?::([^}]*))?\}", replace, argument)

    def mask(self, text):
        text = re.sub(r"^(Base|Comparison):( +)\S*/(\S+ \([NG]PU\))$", r"\1:\2{path}/\3", text,
                      flags=re.MULTILINE)
        for path, name in ((self.out, "{out}"), (self.inputs, "{in}"), (self.captures, "{captures}"),
                           (self.raw or "{raw}", "{raw}")):
            text = text.replace(str(path), name)
        text = re.sub(r"^(  size +)[0-9.]+ .B$", r"\1SIZE", text, flags=re.MULTILINE)
        return re.sub(r"(performance_comparison_result_|mstt_advisor_|operator_tuning_file_)\d{14,16}", r"\1TIME", text)


def shown_columns(folder):
    """The headers of the columns that are shown by sheet, see above."""
    file = folder / "columns"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {sheet: [header for header in headers.strip().split(", ") if header]
            for sheet, headers in (line.split(":", 1) for line in lines)}


def run(tool, folder, captures, raw, shared):
    """Name of a file of the folder -> what this run would have in it."""
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(captures, raw, shared, scratch)
        words = shlex.split((folder / "cmd").read_text(encoding="utf-8"))
        done = subprocess.run([tool, *map(places.fill_in, words)], cwd=captures, check=False,
                              env={**os.environ, **SCREEN}, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)
        screen = done.stdout.splitlines()
        counts = COUNTS.get("--help" if "--help" in words else words[0])
        if counts:
            screen = [re.sub(rf"\b\d+ (?={counts})", "N ", line) for line in screen]
        errors = [line for line in done.stderr.splitlines() if ABOUT_THE_CHECKOUT not in line]
        shown = shown_columns(folder)
        sections = [*written_files(places.out, shown), ("--- stderr", errors)]
        texts = {}
        if (folder / "screen.txt").exists():
            texts["screen.txt"] = screen
        elif "stdout" not in shown:
            sections.insert(0, ("--- stdout", screen))
        texts["expected.txt"] = [line for title, content in sections for line in (title, *content)]
        texts["expected.txt"].append(f"[exit {done.returncode}]")
        return {name: places.mask("".join(f"{line}\n" for line in lines))
                for name, lines in texts.items()}


def compare(folder, name, actual):
    """Whether a stored file is as this run would have it; else prints how it differs."""
    stored = folder / name
    expected = stored.read_text(encoding="utf-8") if stored.exists() else ""
    if actual == expected:
        return True
    left = Path("golden_actual", *folder.parts[len(HERE.parts):], name)
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text(actual, encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True),
        str(stored), str(left.resolve())))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--testdata", required=True, type=Path)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1].parent / "shared")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    folder, captures = args.folder.resolve(), args.testdata.resolve() / "captures"
    if not (folder / "cmd").is_file() or HERE not in folder.parents:
        parser.error(f"{folder} is no golden folder: no file 'cmd' in it")
    if not captures.is_dir():
        parser.error(f"no directory {captures}")
    needs_shared = "{shared:" in (folder / "cmd").read_text(encoding="utf-8")
    if needs_shared and not (args.shared / "data").is_dir():
        print(f"SKIPPED: {args.shared} has no data/; real captures are kept apart from the sources: "
              "name the folder that has data/ with --shared")
        return SKIPPED
    actual = run(str(args.tool.resolve()), folder, captures, args.raw, args.shared)
    different = [name for name, text in actual.items() if not compare(folder, name, text)]
    if not different:
        return 0
    if os.environ.get("MPA_UPDATE_GOLDEN"):
        for name in different:
            (folder / name).write_text(actual[name], encoding="utf-8")
        return 0
    print("If the change is meant, and its numbers are known from elsewhere: rerun with "
          "MPA_UPDATE_GOLDEN=1.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
