#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The charts of recipes against the rows of their sheets.

    run_charts.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is the class below: charts. What a chart is made of is read from --export_type columns, its numbers from the page,
and the same numbers are computed here from the rows of --export_type json.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import sys

from cli import Cli, main
from page_charts import DECLARED, charts_in, keys_in
from recipe_runs import job_for, required_options
from same_tables import recipes_of

# How many of the unit in which the rows have their numbers are one of the unit of the axis.
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
OF_AXIS = {("bytes", "MB"): 1e6, ("bytes", "GB"): 1e9, ("percent", "%"): 1, ("share", "%"): 0.01}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Charts(Cli):
    def exported(self, name, form):
        job = job_for(name, self.CAPTURES, self.scratch)
        out = self.scratch / f"{name}_{form}"
        done = self.run_tool("-m", name, "-d", job, "-o", out, *required_options(name, self.CAPTURES, job), "--export_type", form)
        self.assertLess(done.code, 64, done.all_err)  # some captures lack what a recipe asks for
        return out

    def declared(self, name):
        """Title -> sheet and what the chart is made of."""
        charts = {}
        for path in self.exported(name, "columns").rglob("*_columns.md"):
            for section in re.split(r"(?m)^(?=### )", path.read_text(encoding="utf-8"))[1:]:
                sheet = section.split("\n", 1)[0].removeprefix("### ")
                for line in section.split("\n"):
                    if found := DECLARED.fullmatch(line):
                        charts[found[2]] = (sheet, *found.groups())
        return charts

    def sheets(self, name):
        documents = [json.loads(path.read_text(encoding="utf-8")) for path in self.exported(name, "json").rglob("*.json")]
        return {sheet["name"]: sheet["rows"] for document in documents if isinstance(document, dict)
                for sheet in document.get("sheets", [])}

    def drawn(self, name):
        (page,) = self.exported(name, "html").rglob("*.html")
        return charts_in(page)

    def check_numbers(self, chart, declared, rows):
        """Of stacked charts and bars, whose rows are all drawn: the numbers of each label."""
        _, kind, title, labels, values, measured, same, _ = declared
        size = OF_AXIS.get((measured, chart["unit"])) or (NS[chart["unit"]] / NS[measured] if measured in NS else 1)
        labels, values = keys_in(labels), keys_in(values)
        groups = {}
        for row in rows:
            groups.setdefault(", ".join(str(row[label]) for label in labels if row[label] not in (None, "")), []).append(row)
        plain = re.compile(r"[,\d]")  # texts of the page have commas between thousands
        for position, label in enumerate(chart["labels"]):
            name = label.removesuffix(", culprit")
            if name not in groups or (same == "never" and len(groups[name]) > 1):
                self.assertTrue(plain.search(label), f"{title}: no rows for {label}")
                continue
            for series, value in zip(chart["series"], values):
                numbers = [row[value] for row in groups[name] if is_number(row[value])]
                if not numbers:
                    continue
                wanted = sum(numbers) / (len(numbers) if same == "mean" else 1) / size
                shown = series["values"][position]
                self.assertAlmostEqual(shown, wanted, delta=max(1e-9, 1e-6 * abs(wanted)), msg=f"{title}: {label}, {value}")
                self.checked += 1

    def test_charts_draw_the_rows_of_their_sheets(self):
        self.checked, seen = 0, set()
        for name in recipes_of(self.TOOL):
            declared = self.declared(name)
            if not declared:
                continue
            sheets = self.sheets(name)
            for chart in self.drawn(name):
                self.assertTrue(chart["unit"], chart["title"])
                labels = chart.get("labels", [])
                self.assertEqual(len(labels), len(set(labels)), chart["title"])
                found = declared.get(re.sub(r": the (first|largest) [\d,]+ of [\d,]+$", "", chart["title"]))
                if found is None:
                    continue  # drawn by the recipe itself
                self.assertEqual(chart["kind"], found[1])
                seen.add(found[2])
                if found[1] in ("bars", "stacked"):
                    self.check_numbers(chart, found, sheets[found[0]])
        self.assertGreaterEqual(len(seen), 15, seen)
        self.assertGreaterEqual(self.checked, 100)


if __name__ == "__main__":
    sys.exit(main(__doc__, Charts))
