#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The charts of recipes against the rows of their sheets.

    run_charts.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below. charts: what a chart is made of is read from --export_type columns, its numbers from the
page, and the same numbers are computed here from the rows of --export_type json. drawings: what recipes draw themselves,
from what was planted. bars: the charts that --print draws with letters, against those of the page.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import shutil
import sys

from cli import BASE, NEW, Cli, main
from page_charts import DECLARED, charts_in, keys_in
from recipe_runs import job_for, required_options
from same_tables import recipes_of

# How many of the unit in which the rows have their numbers are one of the unit of the axis.
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
OF_AXIS = {("bytes", "MB"): 1e6, ("bytes", "GB"): 1e9, ("percent", "%"): 1, ("share", "%"): 0.01}
# Behind the title where not all rows are drawn.
SHORTENED = re.compile(r": the (first|largest) [\d,]+ of [\d,]+$")
# Words of axes and keys that Chinese has, too.
SAME_WORDS = {"rank", "step", "kernel", "NPU", "GPU", "GE", "Dynamo"}
# No capture of testdata has what it shows.
WITHOUT_SHEETS = {"communication_matrix_sum"}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Charted(Cli):
    def exported(self, name, form, *more):
        job = job_for(name, self.CAPTURES, self.scratch)
        out = self.scratch / "_".join([name, form, *more])
        done = self.run_tool("-m", name, "-d", job, "-o", out, *required_options(name, self.CAPTURES, job), "--export_type", form, *more)
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

    def drawn(self, name, *more):
        (page,) = self.exported(name, "html", *more).rglob("*.html")
        return charts_in(page)


class Charts(Charted):
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
                found = declared.get(SHORTENED.sub("", chart["title"]))
                if found is None:
                    continue  # drawn by the recipe itself
                self.assertEqual(chart["kind"], found[1])
                seen.add(found[2])
                if found[1] in ("bars", "stacked"):
                    self.check_numbers(chart, found, sheets[found[0]])
                    if found[7] == "largest":
                        self.assertTrue(all(map(any, zip(*[series["values"] for series in chart["series"]]))), f"{chart['title']}: a row of nothing")
        self.assertGreaterEqual(len(seen), 15, seen)
        self.assertGreaterEqual(self.checked, 100)

    @staticmethod
    def words(chart):
        """What the program calls the labels and series of a chart; the series of a heat map are values of a column."""
        return re.split("[,，] ?", chart.get("label", "")) + [series["name"] for series in chart["series"] if chart["kind"] != "heat"]

    def test_labels_are_words(self):
        """Never names of columns: those are the same in both languages."""
        seen = 0
        for name in recipes_of(self.TOOL):
            titles = self.declared(name)
            if not titles:
                continue
            for english, chinese in zip(self.drawn(name), self.drawn(name, "--language", "cn"), strict=True):
                if SHORTENED.sub("", english["title"]) not in titles:
                    continue
                for word, meaning in zip(self.words(english), self.words(chinese), strict=True):
                    self.assertNotIn("_", word, f"{name}: {english['title']}")
                    if word not in SAME_WORDS:
                        self.assertNotEqual(word, meaning, f"{name}: {english['title']}: no words for a column")
                    seen += 1
        self.assertGreaterEqual(seen, 100)


    def times_of(self, job):
        out = self.scratch / f"of_{job.name}"
        self.assertEqual(self.run_tool("-m", "compute_op_sum", "-d", job, "-o", out, "--export_type", "html").code, 0)
        (page,) = out.rglob("*.html")
        (chart, *_) = charts_in(page)
        return dict(zip(chart["labels"], chart["series"][0]["values"]))

    def test_groups_of_captures_are_not_added(self):
        for group, name in (("a", BASE), ("b", NEW)):
            shutil.copytree(self.CAPTURES / name, self.scratch / "both" / group / "0_ascend_pt")
        shown, wanted = self.times_of(self.scratch / "both"), {}
        for group in ("a", "b"):
            wanted |= {f"{label}, {group}": value for label, value in self.times_of(self.scratch / "both" / group).items()}
        self.assertEqual(shown, wanted)

    def test_what_is_0_is_not_drawn(self):
        """The same run twice: nothing changed on any rank."""
        self.assertEqual(self.drawn("cluster_time_compare_summary"), [])


class Drawings(Charted):
    def test_the_clock_over_time(self):
        """1800 MHz for 100 ms, but for 1000 MHz from 50 to 60."""
        capture = self.capture_copy()
        (file,) = capture.rglob("trace_view.json")
        events = json.loads(file.read_text(encoding="utf-8"))
        first = min(float(event["ts"]) for event in events if "ts" in event)
        events = [event for event in events if event.get("name") != "AI Core Freq"]
        events += [{"ph": "C", "name": "AI Core Freq", "pid": 2400, "tid": 0, "ts": str(first + 1000 * ms), "args": {"MHz": mhz}}
                   for ms, mhz in ((0, 1800), (50, 1000), (60, 1800), (100, 1800))]
        file.write_text(json.dumps(events), encoding="utf-8")
        done = self.run_tool("-m", "freq_analysis", "-d", capture, "-o", self.out, "--export_type", "html")
        self.assertEqual(done.code, 0, done.all_err)
        self.assertIn("AI cores of 1 of 1 ranks ran at a reduced clock", done.out)
        (page,) = self.out.rglob("*.html")
        (chart,) = [chart for chart in charts_in(page) if chart["kind"] == "lines"]
        self.assertEqual((chart["unit"], chart["unit_x"]), ("MHz", "ms"))
        (series,) = chart["series"]
        low = [at for at, value in zip(chart["at"], series["values"], strict=True) if value == 1000]
        self.assertEqual({*series["values"]}, {1000, 1800})
        self.assertAlmostEqual(min(low), 50, delta=0.6)
        self.assertAlmostEqual(max(low), 60, delta=0.6)
        self.assertAlmostEqual(max(chart["at"]), 100, delta=0.6)


class Bars(Charted):
    ROW = re.compile(r"  (.*?)  ([#=~+o-]*) *(\d+(?:\.\d+)?)$")

    def printed(self, name):
        """Title -> [(label, bar, number)] of the charts on the screen."""
        job = job_for(name, self.CAPTURES, self.scratch)
        out = self.run_tool("-m", name, "-d", job, "-o", self.scratch / f"{name}_print", *required_options(name, self.CAPTURES, job), "--print").out
        charts = {}
        for block in out.split("\n\n")[1:]:
            lines = block.splitlines()
            rows = [self.ROW.fullmatch(line) for line in lines[1:]]
            if any(rows):
                self.assertLessEqual(max(map(len, lines)), 80, block)
                charts[lines[0]] = [row.groups() for row in rows if row]
        return charts

    def check_bars(self, title, rows, values):
        """The longest bar is of the largest number, and the others are as long as their numbers say."""
        largest = max(values[:len(rows)])
        whole = max(len(bar) for _, bar, _ in rows)
        for (label, bar, number), value in zip(rows, values):
            self.assertAlmostEqual(float(number), value, delta=0.51 * 10 ** -len(number.partition(".")[2]), msg=f"{title}: {label}")
            self.assertAlmostEqual(len(bar), value / largest * whole, delta=0.51, msg=f"{title}: {label}")

    def test_bars_are_those_of_the_page(self):
        seen = 0
        for name in {*recipes_of(self.TOOL)} - WITHOUT_SHEETS:
            printed = self.printed(name)
            for chart in self.drawn(name):
                rows = printed.get(f"{chart['title']} ({chart['unit']})")
                if chart["kind"] not in ("bars", "stacked") or rows is None:
                    continue
                of_series = [[max(value or 0, 0) for value in series["values"]] for series in chart["series"]]
                self.check_bars(chart["title"], rows, [sum(values) for values in zip(*of_series)])
                seen += 1
        self.assertGreaterEqual(seen, 12)


if __name__ == "__main__":
    sys.exit(main(__doc__, Charts, Drawings, Bars))
