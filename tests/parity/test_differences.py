#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/differences.md: its contents by command name each section, its table names each entry once, the
choices say what --compat gives, the others do not, and every reference to an entry leads to one.

Exit status: 0 right, 1 wrong.
"""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "differences.md"
COMPAT = "**With `--compat`:**"
SOURCES = ("README.md", "docs/*.md", "testdata/*.md", "tests/**/*.md", "tests/**/*.py", "src/**/*.cc")


def problems():
    text = PAGE.read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (\S+)\n(.*?)(?=^###? |\Z)", text, re.M | re.S))
    rows = {kind: re.findall(r"\[([\w-]+)\]\(#\1\)", links)
            for kind, links in re.findall(r"^\| (\w+).*? \| (\[.*) \|$", text, re.M)}
    listed = Counter(name for names in rows.values() for name in names)
    contents = text.split("## Contents by command\n")[1].split("\n## ")[0]
    for heading in re.findall(r"^## (.*)$", text, re.M)[1:]:
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        if contents.count(f"(#{anchor})") != 1:
            yield f"{heading}: not once in the contents by command"
    yield from (f"{name}: not in the table" for name in entries if name not in listed)
    yield from (f"{name}: in the table {count} times" for name, count in listed.items() if count > 1)
    yield from (f"{name}: in the table, but no entry" for name in listed if name not in entries)
    for name, entry in entries.items():
        if (COMPAT in " ".join(entry.split())) != (name in rows.get("Choice", ())):
            yield f"{name}: a choice says what --compat gives, a defect does not"
        yield from (f"{name}: lacks {part}" for part in ("**Differs:**",) if part not in entry)
    for file in (file for pattern in SOURCES for file in ROOT.glob(pattern)):
        for name in re.findall(r"differences\.md#([\w-]+)", file.read_text(encoding="utf-8")):
            if not any(entry.startswith(name.rstrip("-")) for entry in entries):
                yield f"{file.relative_to(ROOT)}: there is no entry {name}"


def main():
    found = list(problems())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
