#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program says in Chinese has no English left.

    run_chinese.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: chinese.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import sys
from html.parser import HTMLParser

from cli import Cli, main
from captures import build_database, build_job

# Commands by name, with {capture} and {out} in the arguments. Screens, messages and the pages and Markdown that they
# write are read.
COMMANDS = [
    ("advisor", ("advisor", "all", "-d", "{capture}", "-o", "{out}")),
    ("advisor why", ("advisor", "why", "1", "-d", "{capture}")),
    ("advisor schedule", ("advisor", "schedule", "-d", "{capture}", "-o", "{out}")),
]
# What stays as it is in every language.
ALLOWED = [re.compile(pattern) for pattern in (
    r"msprof-analyze( [a-z_]+)*( -{1,2}[\w-]+( [^\s，；。）]+)?)*",  # command lines
    r"'[^']*'|“[^”]*”|\"[^\"]*\"",  # quoted names and words to type
    r"-{1,2}[a-z][\w-]*( [A-Z]+)?",  # options
    r"[\w.]+=[^\s，；）]+",  # settings
    r"[\w.+-]*[/\\][^\s，；）]*",  # paths and keys
    r"\w*[._:@#()<>*]+\w[\w.:@#()<>*,&-]*",  # names in code, files and lines of programs
    r"\w*[A-Z]\w*[A-Z]\w*|\w*_\w*|\w*\d\w*",  # abbreviations, names of kernels and variables
)]
# Terms of engineers that have no other name in Chinese.
TERMS = set("""rank ranks step steps prefill decode kernel kernels stream host device batch shape block tiling profiler checkpoint bucket stage
launch token head core cores graph micro logits embedding padding page pass torch python conv matmul add concat softmax dropout
activation bias rsqrt cast transpose reshape copy slice core vector cube scalar top""".split())
WORDS = re.compile(r"[A-Za-z][a-z]+(?:[ ,:;]+[A-Za-z][a-z]+)+")
# What joins halves of a sentence: "88.4 of 96.8 ms".
JOINTS = re.compile(r"(?<![\w/.-])(?:of|the|and|are)(?![\w/.-])")


def english_in(text):
    """The runs of English words that nothing allows."""
    for pattern in ALLOWED:
        text = pattern.sub("\u241f", text)
    for run in WORDS.findall(text):
        if any(word.lower() not in TERMS for word in re.findall("[A-Za-z]+", run)):
            yield run
    yield from JOINTS.findall(text)


class PageTexts(HTMLParser):
    """What stands on a page, and what its scripts draw: titles, axes and legends. Headers and cells of tables are
    columns and data."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.language, self.inside, self.said = [], None, [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "html":
            self.language = attributes.get("lang")
        self.inside.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tag, name = self.inside[-1] if self.inside else ("", None)
        if name == "data":
            drawn = json.loads(data)
            for chart in drawn["charts"]:
                self.texts += [chart["title"], chart.get("label", "")]
                self.texts += [kind["meaning"] for kind in chart.get("kinds", ())]
                self.texts += [lane["title"] for lane in chart.get("lanes", ())]
            self.texts += [table["title"] for table in drawn["tables"]]
        elif name == "texts":
            self.said = json.loads(data)
        elif tag not in ("script", "style", "code"):
            self.texts.append(data)


def texts_of_markdown(text):
    """Without the cells of tables."""
    return [line for line in text.splitlines() if not line.startswith("|")]


class Chinese(Cli):
    def captures(self):
        yield "text", "text_base_ascend_pt"
        yield "database", build_database(self.CAPTURES, "pipeline_first_ascend_pt", self.scratch)
        yield "job", build_job(self.CAPTURES, "4:twin_db_new_ascend_pt:late=2", self.scratch)
        yield "trace", "gpu_new.json"
        yield "server", "serving_new.json"

    def test_no_english(self):
        found = []
        for kind, capture in self.captures():
            for name, arguments in COMMANDS:
                out = self.scratch / f"{kind} {name}".replace(" ", "_")
                words = [word.format(capture=capture, out=out) for word in arguments]
                result = self.run_tool(*words, "--language", "cn", env={"COLUMNS": "120"})
                self.assertIn(result.code, (0, 1, 4), result.all_err)
                texts = result.out.splitlines()
                self.assertRegex(result.out, "[\u4e00-\u9fff]")
                for file in sorted(out.rglob("*.html")):
                    page = PageTexts(file.read_text(encoding="utf-8"))
                    self.assertEqual(page.language, "zh-CN")
                    texts += page.texts
                    # Those of the scripts have to be there, and in Chinese.
                    self.assertGreater(len(page.said), 15)
                    texts += [text for text, said in page.said.items() if not re.search("[\u4e00-\u9fff]", said)]
                for file in sorted(out.rglob("*.md")):
                    texts += texts_of_markdown(file.read_text(encoding="utf-8"))
                found += [f"{kind}, {name}: {run!r} in {text.strip()!r}" for text in texts for run in english_in(text)]
        self.assertEqual(found, [], "\n" + "\n".join(sorted(set(found))))

    def test_english_is_seen(self):
        """The test above would find these, and not those."""
        for text in ("每个 step 88.4 of 96.8 ms", "Rank 3 is shown because no finding blames it", "waits for rank 3"):
            self.assertNotEqual(list(english_in(text)), [], text)
        for text in ("下一步：msprof-analyze advisor why 1 -d /data/of the/job", "rank 0-3，step 10-11", "检查 HCCL_RDMA_TIMEOUT",
                     "aten::item（train.py:90）", "使用 torch.compile", "Conv + BN + 激活"):
            self.assertEqual(list(english_in(text)), [], text)


if __name__ == "__main__":
    sys.exit(main(__doc__, Chinese))
