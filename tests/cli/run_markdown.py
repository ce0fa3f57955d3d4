#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markdown to paste, as a renderer of CommonMark with GitHub's tables shows it.

    run_markdown.py --tool BINARY --testdata DIR GROUP [-v]

GROUP: markdown. Exit status: 0 passed, 1 failed, 2 usage, 77 without cmark-gfm.
"""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from cli import Cli, main
from recipe_runs import job_for, required_options
from same_tables import recipes_of
from steps import write_capture

RENDERER = shutil.which("cmark-gfm")
SPACE = "{http://commonmark.org/xml/1.0}"
# No capture of testdata has what it shows.
WITHOUT_SHEETS = {"communication_matrix_sum"}
HOSTILE = "a|b `c` <img src=x onerror=alert(1)> [d](http://e) *f* ```"


def text_of(node):
    """What a reader sees of a part of a document."""
    if node.tag in (SPACE + "softbreak", SPACE + "linebreak"):
        return " "
    return (node.text or "" if len(node) == 0 else "") + "".join(map(text_of, node))


class Markdown(Cli):
    def rendered(self, text):
        done = subprocess.run([RENDERER, "-e", "table", "-t", "xml"], input=text, capture_output=True, encoding="utf-8",
                              check=True)
        return ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", done.stdout))

    def check(self, text, verdict):
        """The document begins with the verdict, and nothing becomes what it is not meant to be."""
        document = self.rendered(text)
        names = [node.tag.removeprefix(SPACE) for node in document.iter()]
        for strange in ("html_block", "html_inline", "link", "image", "block_quote"):
            self.assertNotIn(strange, names)
        for block in document.iter(SPACE + "code_block"):
            self.assertEqual(block.get("info"), "text", "indented lines became code")
        self.assertRegex(text_of(document[0]), verdict)
        self.assertNotRegex("".join(map(text_of, document)), r"\b1[5-9]\d{17}\b", "nobody reads nanoseconds since 1970")
        return document

    def tables(self, document):
        return [[[text_of(cell) for cell in row] for row in table] for table in document.iter(SPACE + "table")]

    def written(self, *arguments, codes=(0,)):
        result = self.run_tool(*arguments, "-o", self.out, "--export_type", "md")
        self.assertIn(result.code, codes, result.err)
        (file,) = self.out.rglob("*.md")
        text = file.read_text(encoding="utf-8")
        file.unlink()
        return text

    def test_of_recipes(self):
        seen = 0
        for name in sorted({*recipes_of(self.TOOL)} - WITHOUT_SHEETS):
            with self.subTest(recipe=name):
                job = job_for(name, self.CAPTURES, self.scratch)
                options = required_options(name, self.CAPTURES, job)
                arguments = ["-m", name, "-d", job, *options]
                document = self.check(self.written(*arguments, codes=(0, 5)), r"\w")
                sheets = json.loads(self.run_tool(*arguments, "--json").out)["sheets"]
                headings = [text_of(node) for node in document.iter(SPACE + "heading")]
                for sheet in sheets:
                    self.assertIn(sheet["name"], headings)
                rows = [len(table) - 1 for table in self.tables(document)]
                for sheet in sheets:
                    self.assertIn(min(len(sheet["rows"]), 20), rows)
                seen += len(sheets)
        self.assertGreater(seen, 30)

    def test_of_compare(self):
        document = self.check(self.written("compare", "-d", "text_new_ascend_pt", "-bp", "text_base_ascend_pt"), "end to end: ")
        names = [row[0].strip() for table in self.tables(document) for row in table]
        self.assertIn("Computing Time", " ".join(names))

    def test_of_gates(self):
        """The file, and the summary of GitHub's jobs."""
        summary = self.write("summary.md", "")
        for form in ("md", "github"):
            result = self.compare("--fail_on", "computing>+3%", "--min_steps", "1", "--export_type", form,
                                  env={"GITHUB_STEP_SUMMARY": str(summary)})
            self.assertEqual(result.code, 1, result.err)
        for file in (summary, self.out / "gate.md"):
            document = self.check(file.read_text(encoding="utf-8"), "REGRESSION")
            self.assertTrue(self.tables(document))

    def test_of_hostile_names(self):
        capture = write_capture(self.scratch / "odd_ascend_pt", [100_000] * 3, kernels=((HOSTILE, 40_000), ("Relu", 2_000)))
        text = self.written("-m", "compute_op_sum", "-d", capture)
        cells = [cell for table in self.tables(self.check(text, r"\w")) for row in table for cell in row]
        self.assertIn(HOSTILE, cells)


if __name__ == "__main__":
    if RENDERER is None:
        print("skipped: cmark-gfm is not installed")
        sys.exit(77)
    sys.exit(main(__doc__, Markdown))
