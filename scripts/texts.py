#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the table of texts, src/base/chinese.po.

    scripts/texts.py check [PATH]...     each text that the sources say is in the table, and nothing else is
    scripts/texts.py missing [PATH]...   prints the texts that are not, ready to be translated
    scripts/texts.py sort [FILE]...      sorts the table, and takes the texts of other such files into it

PATH: only the texts of these files and folders have to be in the table.

Exit status: 0 right, 1 wrong, 2 usage.
"""

import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "src" / "base" / "chinese.po"
# The first ten questions of this page are texts of the program.
QUESTIONS = ROOT / "docs" / "query.md"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# Texts of the program in Chinese, sorted by the English text: scripts/texts.py sort
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"
"""
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# What says a text, and how many arguments stand before it.
SAYS = {"Say": 0, "Translated": 0, "ToTranslate": 0, "Fail": 1, "Log": 1, "LogWarning": 0, "LogNotice": 0, "LogInfo": 0}
# The same in scripts of pages.
SAID_BY_SCRIPT = re.compile(r'\bsay\("([^"]*)"')
# What makes a text of a noun: how many arguments stand before it, and the text.
COUNTS = {"Counted": (1, "{{}} {}"), "MoreText": (1, "{{}} more {}"), "AddMoreLine": (2, "{{}} more {}")}
# Functions with such a parameter declare a text that is translated where it is shown.
PARAMETER = re.compile(r"(\w+)(?: = \[[^\]]*\])?\(([^()]*?(?:char\*|string_view|std::string)) "
                       r"(?:meaning|title|help|summary|header)(?: = [^,()]*)?[,)]")
# Methods that take a text, after how many arguments: of options, and of issues, whose place is a text, too.
METHODS = {"add_flag": {2}, "add_option": {2}, "add_subcommand": {1}, "Flag": {2}, "AddTo": {1}, "Count": {0, 1, 2}}
# The object that adds an option, which is called itself.
ADDS = {"add": {2}}
# The default of an option is a text of its own.
DEFAULT = re.compile(r"(.*) \[default: (.*)\]", re.DOTALL)
# Words that are the same in every language.
KEPT = {"rank", "step", "ms", "us", "ns", "GB/s", "MFU", "TFLOPS", "kernel", "NPU ms", "GPU ms", "+ms", "tokens/s", "MB", "1ms",
        "opType", "taskType", "Size Distribution", "host_start.log, profiler_info.json", "Model Profiling Time Distribution"}
# What declares a text that is translated where it is shown.
DECLARED = re.compile(r"\.(?:meaning|help|summary|usual_text|title|counted|only_with) =\s*$")
LITERAL = r'"(?:\\.|[^"\\\n])*"'
FIELD = re.compile(r"\{(\d*)(:[^{}]*)?\}")
WORD = re.compile(r"[A-Za-z]{2}")


def entries(path):
    found = re.findall(r'^msgid "(.+)"\nmsgstr "(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    return [(english, chinese) for english, chinese in found]


def sources():
    yield QUESTIONS
    for top in ("include", "src", "apps"):
        yield from (path for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".h", ".cc", ".js"))


def pieces(text):
    """The literals, adjacent ones joined, and the code between them: (is a literal, text)."""
    parts, at = [], 0
    for match in TOKEN.finditer(text):
        if match[0].startswith("/"):
            parts.append((False, text[at:match.start()]))
        elif match[0].startswith('"'):
            parts += [(False, text[at:match.start()]), (True, match[0][1:-1])]
        else:
            parts.append((False, text[at:match.start()] + "''"))
        at = match.end()
    joined = []
    for is_literal, part in parts + [(False, text[at:])]:
        if not is_literal and not part.strip() and joined:
            continue
        if joined and joined[-1][0] == is_literal:
            joined[-1] = (is_literal, joined[-1][1] + part)
        else:
            joined.append((is_literal, part))
    return joined


@cache
def declaring(path):
    """The functions of a source that take a text, and how many arguments stand before it."""
    code = "".join(part if not is_literal else '""' for is_literal, part in pieces(path.read_text(encoding="utf-8")))
    return {match[1]: (match[2].count(","), "{}") for match in PARAMETER.finditer(code)}


@cache
def takers():
    """Of all sources: those of headers."""
    found = {name: (before, "{}") for name, before in SAYS.items()} | COUNTS
    for path in sources():
        if path.suffix == ".h":
            found |= declaring(path)
    return found


def of_options(text):
    """The help and the usual value in words of options that do not name their members."""
    found = set()
    for option in re.findall(rf"\bOption<[^;=()]*> (k\w+\{{.*?\}});", text, re.DOTALL):
        for body in re.findall(rf'k\w+\{{((?:{LITERAL}|[^"{{}}])*)\}}', option):
            members = re.split(rf",(?=(?:[^\"]|{LITERAL})*$)", body)
            words = ["".join(piece[1:-1] for piece in re.findall(LITERAL, member)) for member in members]
            if not body.lstrip().startswith("."):
                found |= {word for word in words[2:3] + words[4:5] if WORD.search(word)}
    return found


def arguments(text, starts):
    """(opened, number of the argument, literal) of each literal that stands right within a call. `starts`: positions of the
    brackets of calls in a piece of code, and what each opened."""
    calls = []  # [what was opened, argument, depth]
    for is_literal, part in text:
        if is_literal:
            if calls and calls[-1][2] == 0:
                yield calls[-1][0], calls[-1][1], part
            continue
        opened = starts(part)
        for at, sign in enumerate(part):
            if at in opened:
                calls.append([opened[at], 0, 0])
            elif not calls:
                continue
            elif sign in "([{":
                calls[-1][2] += 1
            elif sign in ")]}" and calls[-1][2] == 0:
                calls.pop()
            elif sign in ")]}":
                calls[-1][2] -= 1
            elif sign == "," and calls[-1][2] == 0:
                calls[-1][1] += 1


def said(path):
    """The texts that a source says or declares, and all its literals."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        texts = set(SAID_BY_SCRIPT.findall(source))
        return texts, texts
    if path == QUESTIONS:
        texts = set(re.findall(r"\n(.*)\n\n```sql\n", source)[:10])
        return texts, texts
    whole = pieces(source)
    literals = {part for is_literal, part in whole if is_literal}
    texts = of_options(source) | of_methods(path, whole)
    texts |= {f"{{}} more {noun}" for noun in re.findall(r'\.noun = "(\w+)"', source)}
    taking = takers() | declaring(path)
    call = re.compile(rf"(?<![\w.>])({'|'.join(taking)})(?:<(?:[^;<>()]|<[^;<>()]*>)*>)?\(")
    starts = lambda part: {match.end() - 1: taking[match[1]] for match in call.finditer(part)}
    for (skipped, form), argument, part in arguments(whole, starts):
        if argument == skipped and WORD.search(FIELD.sub("", part)) and not part.endswith("\\r\\n"):
            texts |= {part if form == "{}" else form.format(part)} - KEPT
    for (_, before), (is_literal, part) in zip(whole, whole[1:]):
        if is_literal and DECLARED.search(before) and WORD.search(part):
            texts |= {part} - KEPT
    for option in filter(None, map(DEFAULT.fullmatch, sorted(literals))):
        literals |= set(option.groups())
    return texts, literals | texts


def of_methods(path, whole):
    """The texts of options and issues."""
    found = set()
    adds = ADDS if path.is_relative_to(ROOT / "apps") else {}
    call = re.compile(rf"(?:(?<=[.>])(?P<method>{'|'.join(METHODS)})|(?<![\w.>])(?P<adds>{'|'.join(adds) or '-'}))\(")
    starts = lambda part: {match.end() - 1: METHODS.get(match["method"]) or adds.get(match["adds"]) for match in call.finditer(part)}
    for are_texts, argument, part in arguments(whole, starts):
        if argument in are_texts and " " in part and WORD.search(part):
            option = DEFAULT.fullmatch(part)
            found |= set(option.groups()) if option and " " in option[2] else {option[1] if option else part}
    return {text for text in found if not text.startswith("-")} - KEPT


def is_of(path, tops):
    return not tops or any(path.is_relative_to(Path(top).resolve()) for top in tops)


def fields(text):
    """Which values a form shows, and how."""
    found = FIELD.findall(text.replace("{{", "").replace("}}", ""))
    return Counter((number or str(i), form) for i, (number, form) in enumerate(found))


def wrong(tops):
    table, texts, literals = entries(TABLE), set(), set()
    for path in sources():
        of_file = said(path)
        texts |= of_file[0] if is_of(path, tops) else set()
        literals |= of_file[1]
    known = dict(table)
    for text in sorted(texts - set(known)):
        yield f'not in the table: "{text}"'
    for english, chinese in table:
        if english not in literals and "\\n" not in english:
            yield f'no source has it: "{english}"'
        if fields(english) != fields(chinese):
            yield f'other fields: "{english}" "{chinese}"'
        if len({bool(number) for number, _ in FIELD.findall(chinese.replace("{{", "").replace("}}", ""))}) > 1:
            yield f'some fields have numbers, others none: "{english}" "{chinese}"'
    if [english for english, _ in table] != sorted(known):
        yield "not sorted, or a text twice: scripts/texts.py sort"


def sort(paths):
    table = {}
    for path in [TABLE, *map(Path, paths)]:
        for english, chinese in entries(path):
            if table.setdefault(english, chinese) != chinese:
                print(f'two texts for "{english}": kept "{table[english]}", not "{chinese}"')
    TABLE.write_text(HEAD + "".join(f'\nmsgid "{english}"\nmsgstr "{table[english]}"\n' for english in sorted(table)),
                     encoding="utf-8")


def main():
    command, *paths = sys.argv[1:] or [""]
    if command == "sort":
        sort(paths)
        return 0
    if command == "missing":
        known = dict(entries(TABLE))
        for path in filter(lambda path: is_of(path, paths), sources()):
            texts = sorted(said(path)[0] - set(known))
            if texts:
                print(f"# {path.relative_to(ROOT)}")
            for text in texts:
                print(f'msgid "{text}"\nmsgstr ""\n')
        return 0
    if command != "check":
        print(__doc__)
        return 2
    lines = list(wrong(paths))
    print("\n".join(lines[:200]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
