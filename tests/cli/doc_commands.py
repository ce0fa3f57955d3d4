# SPDX-License-Identifier: Apache-2.0
"""The command lines that a page of the documentation has."""

import re

TOOL = "msprof-analyze"
COMMANDS = ("compare", "advisor", "check", "parse", "export", "query", "schema", "history", "mcp", "skill", "cluster", "merge", "auto-completion",
            "man")
SHELL = ("sh", "bash", "console")


def logical_lines(block):
    """The commands of a block: with their continuations and what they read (<<); a script as a whole."""
    if block.startswith("set -"):
        return [block]
    found, end = [], None
    for line in block.splitlines():
        if end:
            found[-1] += f"\n{line}"
            end = None if line == end else end
        elif found and found[-1].endswith(("\\", "|")):
            found[-1] += f"\n{line.strip()}"
        elif line.strip() and not line.startswith("#"):
            found.append(line.strip())
            here = re.search(r"<<'(\w+)'$", line)
            end = here and here[1]
    return found


def without_comment(line):
    return re.sub(r"\s+# .*", "", line)


class Page:
    """commands: of blocks; inline: whole commands in running text; fragments: what begins there with the name of a
    command or with -m; strangers: lines that look like commands, in blocks that are not for any; prose: what is not in blocks."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.commands, self.strangers, prose, block, language = [], [], [], [], None
        for line in text.splitlines():
            fence = re.match(r"\s*```(\w*)$", line)
            if not fence:
                (prose if language is None else block).append(line)
            elif language is None:
                language, block = fence[1], []
            else:
                self.add(language, "\n".join(block))
                language = None
        self.prose = "\n".join(prose)
        codes = re.findall(r"`([^`]+)`", " ".join(prose).replace("\\|", "|"))
        self.inline = [code for code in codes if code.startswith(f"{TOOL} ")]
        self.fragments = [code for code in codes if re.match(rf"(?:{'|'.join(COMMANDS)}|-m) \S", code)]

    def add(self, language, block):
        if language in SHELL:
            self.commands += logical_lines(block)
        elif language == "yaml":
            self.commands += [line for line in logical_lines(block) if line.startswith(TOOL)]
        elif not language:
            self.commands += [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
            self.strangers += re.findall(rf"(?m)^ *(?:{TOOL} |\./scripts/|pip |cmake ).*", block)
