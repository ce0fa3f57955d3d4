#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the words of documentation and sources.

    scripts/words.py names      pages for developers name only what the sources have
    scripts/words.py pages      each page begins with what its reader can do with it
    scripts/words.py literals   a string literal that goes on in the next line ends with a word
    scripts/words.py fix        moves the spaces of such literals to the next line

Exit status: 0 right, 1 wrong, 2 usage.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("src", "include", "apps", "tests", "scripts", "cmake")
DEVELOPERS = ("CONTRIBUTING.md", "docs/how-it-works.md", "docs/adding-an-analysis.md", "tests/fuzz/README.md")
# Of libraries, of shells and of examples.
FOREIGN = {"io::CSVReader", "double_quote_escape", "[Unreleased]", "vVERSION", "lib/msprof-analyze"}
COMMENT = re.compile(r"//[^\n]*|(?m:^\s*#[^\n]*)")
# A literal, or what may hold its quotes.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# How the first paragraph of a page tells its reader what to do with the page.
PURPOSE = re.compile(r"^(This page (shows|lists|explains|says|has)|Read this page|Use |With )")


def files(*suffixes):
    for top in SOURCES:
        yield from (path for path in sorted((ROOT / top).rglob("*")) if path.suffix in suffixes)


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))


def constant(name):
    """The value of a constant of the sources."""
    for path in files(".h", ".cc"):
        found = re.search(rf"\b{name} = (\d+);", path.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
    return None


def dead_names():
    words, paths = set(), {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if "build" not in path.parts}
    for path in files(".h", ".cc", ".py", ".sh", ".cmake", ".txt"):
        text = path.read_text(encoding="utf-8")
        words.update(re.findall(r"\w+", text if path.suffix == ".txt" else COMMENT.sub("", text)))
        words.add(path.stem)
    words.update(part for path in paths for part in path.split("/"))
    words.update(re.findall(r"\w+", "".join((ROOT / name).read_text(encoding="utf-8") for name in ("CMakeLists.txt", "CMakePresets.json"))))
    known = {path.rsplit(".", 1)[0] for path in paths} | paths
    for name in DEVELOPERS:
        page = ROOT / name
        # Pages may name what their own examples declare.
        examples = set(re.findall(r"\w+", "".join(re.findall(r"(?ms)^```.*?^```", page.read_text(encoding="utf-8")))))
        for quoted in re.findall(r"`([^`\n]+)`", prose(page)):
            if quoted in FOREIGN or re.search(r"[\s<>*{}$=\"\\']|\.\.|^-", quoted):
                continue
            if "/" in quoted:
                path = quoted.removeprefix("./").rstrip("/")
                if path.split("/")[-1] not in examples and not any(one == path or one.endswith("/" + path) for one in known):
                    yield f"{name}: there is no {quoted}"
            elif not all(word.removeprefix("fuzz_") in words | examples for word in re.findall(r"[A-Za-z_]\w+", quoted)):
                yield f"{name}: nothing is called {quoted}"
    for lines in re.findall(r"at most\s+(\d+)\s+lines\s+of\s+80", prose(ROOT / "docs/recipes.md")):
        if int(lines) != constant("kScreenLines"):
            yield f"docs/recipes.md: screens have {constant('kScreenLines')} lines, not {lines}"


def pages():
    for page in sorted((ROOT / "docs").glob("*.md")):
        blocks = page.read_text(encoding="utf-8").split("\n\n")
        first = " ".join(blocks[1].split())
        if not PURPOSE.match(first):
            yield f"docs/{page.name}: does not begin with what its reader can do with it: {first[:60]}"


def ends(text):
    """Where a literal ends with spaces and goes on in the next line."""
    literals = [found for found in TOKEN.finditer(text) if found[0].startswith('"')]
    for one, other in zip(literals, literals[1:]):
        between = text[one.end():other.start()]
        spaces = len(one[0]) - 1 - len(one[0][:-1].rstrip(" "))
        if spaces and one[0][1:-1].strip() and "\n" in between and not between.strip():
            yield one.end(), other.start(), spaces


def literals():
    for path in files(".h", ".cc"):
        text = path.read_text(encoding="utf-8")
        for end, _, _ in ends(text):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, end) + 1}: begin the next line with the space"


def fix():
    for path in files(".h", ".cc"):
        text = path.read_text(encoding="utf-8")
        for end, begin, spaces in reversed(list(ends(text))):
            text = text[:end - 1 - spaces] + text[end - 1:begin + 1] + " " * spaces + text[begin + 1:]
        path.write_text(text, encoding="utf-8")
    return ()


def main():
    checks = {"names": dead_names, "pages": pages, "literals": literals, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        print(__doc__)
        return 2
    found = list(checks[sys.argv[1]]())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
