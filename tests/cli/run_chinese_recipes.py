#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every recipe in Chinese: its screen, its messages and its page have no English left, and fit.

    run_chinese_recipes.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: chineserecipes.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

from cli import Cli, main
from recipe_runs import job_for, required_options
from page_charts import charts_in
from run_chinese import TERMS, PageTexts, english_in
from same_tables import recipes_of

COLUMNS = 80
CHINESE = re.compile("[\u4e00-\u9fff]")
# Bars have the names of columns and of what the capture names; places are as the sheets have them.
BAR = re.compile(r"  # .*|  .*  [#=~+o-]* *[0-9.]+")
PLACE = re.compile(r"\S+ at \S+:\d+")
# Of engineers, too.
KEPT = TERMS | set("mstx range prompt decode prefill ms us python torchair core clock".split())


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)


def names_in(capture):
    """Everything that the capture says: names of its operators, modules and marks are in no language."""
    files = [capture] if capture.is_file() else [path for path in sorted(capture.rglob("*")) if path.is_file()]
    return b"\n".join(path.read_bytes() for path in files).decode("utf-8", "replace")


class ChineseRecipes(Cli):
    def runs(self):
        """(recipe, capture, options) of every recipe, in what it finds something."""
        for recipe in {*recipes_of(self.TOOL)} - {"communication_matrix_sum"}:  # no capture of testdata has what it shows
            job = job_for(recipe, self.CAPTURES, self.scratch)
            yield recipe, job, required_options(recipe, self.CAPTURES, job)
        # Calls that wait for nothing have other advice than those of the usual job.
        yield "head_overhead", self.CAPTURES / "head_steady_ascend_pt", []

    def objections(self, number, recipe, capture, options):
        out = self.scratch / f"out{number}"
        result = self.run_tool("-m", recipe, "-d", capture, "-o", out, *options, "--print", "--export_type", "html", "--language", "cn",
                               env={"COLUMNS": str(COLUMNS)})
        what = f"{recipe}, {capture.name}"
        if result.code not in (0, 1, 4, 5):
            return [f"{what}: exit {result.code}: {result.all_err}"]
        lines = result.out.splitlines()
        found = [f"{what}: {columns_of(line)} columns: {line}" for line in lines if columns_of(line) > COLUMNS and "/" not in line]
        if lines and not CHINESE.search(result.out):
            found.append(f"{what}: no Chinese on the screen")
        pages = sorted(out.rglob("*.html"))
        if not pages:
            found.append(f"{what}: no page")
        texts = [line for line in lines if not BAR.fullmatch(line)] + result.err
        names = names_in(capture) + recipe.replace("_", " ")
        for page in pages:
            charts = charts_in(page)
            labels = {chart.get("label") for chart in charts}  # names of columns
            names += "\n".join(series["name"] for chart in charts for series in chart["series"])
            texts += [text for text in PageTexts(page.read_text(encoding="utf-8")).texts if text not in labels]
        return found + [f"{what}: {run!r} in {text.strip()!r}" for text in texts for run in english_in(PLACE.sub("", text))
                        if run not in names and not KEPT.issuperset(re.findall("[a-z]+", run.lower()))]

    def test_no_english(self):
        jobs = list(enumerate(self.runs()))
        with ThreadPoolExecutor(4) as pool:
            found = [text for texts in pool.map(lambda job: self.objections(job[0], *job[1]), jobs) for text in texts]
        self.assertEqual(found, [], "\n" + "\n".join(sorted(set(found))))


if __name__ == "__main__":
    sys.exit(main(__doc__, ChineseRecipes))
