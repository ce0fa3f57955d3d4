#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of HTML as a browser shows them.

    run_pages.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: pages. Headless Chromium opens the pages; without it the tests are skipped.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import collections
import json
import math
import re
import shutil
import sys
from pathlib import Path

from browser import PageTests
from cli import main
from captures import build_database
from page_charts import charts_in
from memory_runs import BEFORE_KB, WEIGHT_KB, Run


def chart_of(page, title):
    return next(chart for chart in charts_in(page) if chart["title"].startswith(title))


def page_in(directory):
    (page,) = Path(directory).rglob("*.html")
    return page


class Pages(PageTests):
    def opening_ms(self, page):
        """From the request of the page until its charts are drawn."""
        return self.opened(page).value("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")

    def compared(self):
        self.compare("--enable_profiling_compare", "--enable_kernel_compare", "--export_type", "html", base="twin_text_base_ascend_pt",
                     comparison="twin_text_new_ascend_pt")
        return page_in(self.out)

    def test_compare(self):
        page = self.compared()
        for width in (400, 1280, 3840):
            seen = self.looked_at(page, width)
        waterfall = next(figure for figure in seen["figures"] if figure["title"].startswith("What changed"))
        # The totals of both sides, and changes between them.
        self.assertGreater(waterfall["marks"], 2)
        self.assertEqual(waterfall["marks"], waterfall["table"])

    def test_advisor(self):
        capture = build_database(self.CAPTURES, "pipeline_first_ascend_pt", self.scratch / "databases")
        for language in ([], ["--language", "cn"]):
            out = self.scratch / f"advisor{len(language)}"
            self.run_tool("advisor", "all", "-d", capture, "-o", out, *language)
            seen = self.looked_at(page_in(out))
            self.assertGreaterEqual(len(seen["figures"]), 1)

    def test_advisor_shows_places(self):
        """The card of a finding unfolds what happened around its place, and says how to look closer."""
        self.run_tool("advisor", "all", "-d", "twin_text_base_ascend_pt", "-o", self.out)
        self.looked_at(page_in(self.out))
        places = self.browser.value("""[...document.querySelectorAll("article figure")].map((figure) =>
          [figure.querySelectorAll(".span").length, figure.closest("article").textContent])""")
        self.assertTrue(places)
        for spans, text in places:
            self.assertGreater(spans, 0)
            self.assertRegex(text, r"msprof-analyze export timeline --around \S+ -d twin_text_base_ascend_pt")

    def test_recipes(self):
        for name, capture in (("rl_roles", "rl_colocated"), ("graph_replays", "graph_replay")):
            out = self.scratch / name
            self.run_tool("-m", name, "-d", self.CAPTURES / capture, "-o", out, "--export_type", "html")
            self.assertGreaterEqual(len(self.looked_at(page_in(out))["tables"]), 1)

    def test_gate(self):
        self.compare("--fail_on", "computing>+3%", "--min_steps", "1", "--export_type", "html",
                     base="text_base_ascend_pt", comparison="text_new_ascend_pt")
        titles = [figure["title"] for figure in self.looked_at(page_in(self.out))["figures"]]
        self.assertTrue(any(title.startswith("The runs of each metric") for title in titles), titles)

    def test_timeline(self):
        page = self.scratch / "call.html"
        self.run_tool("-m", "head_overhead", "-d", self.CAPTURES / "head_hard_ascend_pt", "-o", self.out, "--picture", page, "--call", "1")
        (timeline,) = self.looked_at(page)["figures"]
        self.assertGreater(timeline["marks"], 5)

    def run_html(self, recipe, captures, *options):
        self.run_tool("-m", recipe, "-d", captures, "-o", self.out, "--export_type", "html", *options)
        return page_in(self.out)

    def memory_job(self, ranks, leak_kb):
        """Runs of which rank i leaves leak_kb(i) behind in each step."""
        job = self.scratch / f"memory{ranks}"
        runs = [Run(steps=5, leak_kb=leak_kb(rank)) for rank in range(ranks)]
        for rank, run in enumerate(runs):
            run.write_text(job / f"{rank}_ascend_pt", rank)
        return job, runs

    def test_memory(self):
        """Amounts are those that the runs plant, at every time; the peak is marked where they are highest."""
        job, runs = self.memory_job(2, lambda rank: 64 * (1 + rank))
        page = self.run_html("memory_timeline", job)
        marked = "[...document.querySelectorAll('figure .marked')].map((text) => text.textContent)"
        seen = self.looked_at(page, asked=marked)
        self.looked_at(page, 400)
        for rank, run in enumerate(runs):
            totals = dict(run.totals())
            highest = max(totals.values())
            chart = chart_of(page, f"rank {rank}:")
            areas = [series["values"] for series in chart["series"] if not series.get("line")]
            for at, held in zip(chart["at"], zip(*areas)):
                total = [total for time, total in totals.items() if time <= round(at * 1000)]
                self.assertAlmostEqual(sum(held), (total[-1] if total else BEFORE_KB << 10) / 1e6, delta=0.001, msg=f"at {at} ms")
            self.assertAlmostEqual(max(map(sum, zip(*areas))), highest / 1e6, delta=0.001)
            (mark,) = chart["marks"]
            self.assertEqual(round(mark["at"] * 1000), min(time for time, held in run.totals() if held == highest))
            self.assertEqual(seen["asked"][rank], f"peak: {highest / 1e6:.2f} MB in step 9")
            (reserved,) = [series["values"] for series in chart["series"] if series.get("line")]
            self.assertEqual({value for value in reserved if value is not None}, {round(Run.RESERVED / 1e6, 4)})
        peaks = chart_of(page, "The peak of each rank")
        held = {series["name"]: series["values"] for series in peaks["series"]}
        self.assertEqual(held["before the capture"], [round((BEFORE_KB - WEIGHT_KB) * 1024 / 1e6, 4)] * 2)
        self.assertEqual(held["parameter (estimate)"], [round(WEIGHT_KB * 1024 / 1e6, 4)] * 2)
        for leak_kb, unknown in zip((64, 128), held["unknown"]):
            self.assertAlmostEqual(unknown, (5 * leak_kb + 1) * 1024 / 1e6, delta=0.0001, msg="the leak, and a loss whose release is not recorded")
        bars = next(figure for figure in seen["figures"] if figure["title"] == peaks["title"])
        self.assertEqual(bars["marks"], sum(any(values) for values in held.values()) * 2)

    def test_memory_of_many_ranks(self):
        """The page stays small and opens fast. Of many ranks three have a picture of their own: 7, 0 and the median."""
        job, runs = self.memory_job(300, lambda rank: 1024 if rank == 7 else 8 + rank % 3 if rank else 4)
        page = self.run_html("memory_timeline", job)
        self.assertLess(page.stat().st_size, 3_000_000)
        self.assertLess(self.opening_ms(page), 10_000, "on a busy machine; it takes a second")
        seen = self.looked_at(page)
        titles = [figure["title"].split(":")[0] for figure in seen["figures"]]
        self.assertEqual((titles[2], *titles[4:6]), ("rank 7, the highest peak", "rank 0, the lowest peak", "rank 7"))  # and its call sites
        self.assertRegex(titles[3], r"^rank \d+, the median of the peaks")
        heat = chart_of(page, "What each rank has allocated over time")
        most = [max(series["values"][rank] for series in heat["series"]) for rank in range(300)]
        for rank, run in enumerate(runs):
            self.assertAlmostEqual(most[rank], max(held for _, held in run.totals()) / 1e6, delta=0.001)

    def test_flame(self):
        """Every frame has the time of the paths in the file that go through it; small ones are one in their caller."""
        for metric in ("device", "host", "free"):
            self.out = self.scratch / metric
            page = self.run_html("export_stacks", self.CAPTURES / "twin_text_base_ascend_pt", "--metric", metric)
            within = collections.Counter()
            for line in next(self.out.rglob(f"stacks_{metric}.txt")).read_text(encoding="utf-8").splitlines():
                path, time = line.rsplit(" ", 1)
                for end in [*(match.start() for match in re.finditer(";", path)), len(path)]:
                    within[path[:end]] += int(time)
                within[""] += int(time)
            (chart,) = charts_in(page)
            times, paths = chart["series"][0]["values"], []
            for parent, label, *_ in chart["frames"]:
                paths.append((paths[parent] + ";" if parent >= 0 else "") + chart["labels"][label])
            whole = list(times)
            for i in range(len(times) - 1, -1, -1):
                if chart["frames"][i][0] >= 0:
                    whole[chart["frames"][i][0]] += whole[i]
            self.assertAlmostEqual(sum(times), within[""] / 1e6, places=6)
            wanted = {path: time for path, time in within.items() if path and time >= within[""] / 1000}
            got = {path: time for path, time in zip(paths, whole) if not path.endswith("[frames of less than 0.1 %]")}
            self.assertEqual(set(got), set(wanted))
            for path, time in got.items():
                self.assertAlmostEqual(time, wanted[path] / 1e6, places=6, msg=path)
            # Enter on a frame that is not the widest makes it so.
            widen = """(() => {
              const frames = () => [...figureOf("").querySelectorAll(".frame")], wide = (frame) => +frame.querySelector("rect").getAttribute("width");
              const whole = wide(frames()[0]), one = frames().find((frame) => wide(frame) < 0.9 * whole && frame.hasAttribute("tabindex"));
              if (!one) return [1, 1];
              const name = one.querySelector("title").textContent;
              one.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
              const after = frames().find((frame) => frame.querySelector("title") && frame.querySelector("title").textContent === name);
              return [wide(after), whole];
            })()"""
            width, whole_width = self.looked_at(page, asked=widen)["asked"]
            self.assertEqual(width, whole_width)

    def test_roofline(self):
        """Operations and speed are those of the table; bytes are those of the shapes in FLOAT; the advisor draws the same."""
        capture = self.CAPTURES / "twin_text_base_ascend_pt"
        rows = next(sheet["rows"] for sheet in json.loads(
            self.run_tool("-m", "operator_mfu", "-d", capture, "--json", "--peak_tflops", "100").out)["sheets"] if sheet["name"] == "OperatorMFU")
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for row in rows:
            if row["flops"]:
                self.assertEqual(row["compute_type"], "FP32")
                tensors = f"{row['input_shapes']};{row['output_shapes']}".split(";")
                held = sum(math.prod(map(int, tensor.split(","))) * 4 for tensor in tensors)
                for i, value in enumerate((row["flops"], row["kernel_duration_ns"], held)):
                    sums[f"{row['flops_op_name']} {row['input_shapes']}"][i] += value
        self.assertGreater(len(sums), 1)
        page = self.run_html("operator_mfu", capture, "--peak_tflops", "100")
        chart = chart_of(page, "Speed of kernels")
        self.assertEqual(set(chart["labels"]), set(sums))
        (speeds,) = chart["series"]
        self.assertEqual(speeds["name"], "FP32")
        for label, at, tflops, mfu in zip(chart["labels"], chart["at"], speeds["values"], chart["beside"][1]["values"]):
            flops, time, held = sums[label]
            self.assertAlmostEqual(at / (flops / held), 1, delta=1e-3)
            self.assertAlmostEqual(tflops / (flops / time / 1e3), 1, delta=1e-3)
            self.assertAlmostEqual(mfu / (100 * flops / time / 1e3 / 25), 1, delta=1e-3)
        self.assertEqual([roof["most"] for roof in chart["roofs"]], [25], "a quarter of the peak with FP16")
        self.assertIn("Left out: ", next(text for text in re.findall('<p class="dim">(.*?)</p>', page.read_text(encoding="utf-8"))
                                         if "in the picture" in text))
        figure = next(one for one in self.looked_at(page, 400)["figures"] if one["title"].startswith("Speed of kernels"))
        self.assertEqual((figure["marks"], figure["table"]), (len(sums), len(sums)))
        out = self.scratch / "advisor"
        self.run_tool("advisor", "all", "-d", capture, "-o", out)
        same = chart_of(page_in(out), "Speed of kernels")
        self.assertEqual((same["labels"], same["at"], same["series"]), (chart["labels"], chart["at"], chart["series"]))

    def test_zoom(self):
        """The keys zoom, move and show the whole window again."""
        page = self.scratch / "call.html"
        self.run_tool("-m", "head_overhead", "-d", self.CAPTURES / "head_hard_ascend_pt", "-o", self.out, "--picture", page, "--call", "1")
        keys = """["", "+", "ArrowLeft", "ArrowRight", "-", "+", "Home"].map((key) => {
          const svg = document.querySelector("figure svg"), seen = () => svg.querySelectorAll(".span").length;
          if (key) svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const ticks = texts(svg.querySelectorAll(".tick"));
          return [seen(), ticks[0], ticks[ticks.length - 1]];
        })"""
        seen = self.looked_at(page, asked=keys)["asked"]
        whole, zoomed, left, right, out, _, home = seen
        self.assertNotEqual(zoomed[1:], whole[1:])
        self.assertNotEqual(left[1:], zoomed[1:])
        self.assertEqual(home, whole)

    def test_hostile_names(self):
        """Names of a capture stay text: no tags, no end of the script, no turned direction, any length."""
        capture = self.scratch / "hostile"
        shutil.copytree(self.CAPTURES / "text_base_ascend_pt", capture)
        table = next(capture.rglob("kernel_details.csv"))
        name = "</script><script>window.wrong.push('ran')</script>\u202egnp.exe" + "x" * 32768
        text = table.read_text(encoding="utf-8")
        kernel = text.splitlines()[1].split(",")[1]
        table.write_text(text.replace(kernel, f'"{name}"'), encoding="utf-8")
        self.run_tool("-m", "operator_mfu", "-d", capture, "-o", self.out, "--export_type", "html", "--peak_tflops", "100")
        self.looked_at(page_in(self.out))


if __name__ == "__main__":
    sys.exit(main(__doc__, Pages))
