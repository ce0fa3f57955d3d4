#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and charts of pages with made-up data, as a browser shows them.

    run_made_up_pages.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: tablepages, chartpages. Without headless Chromium the tests are skipped.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import io
import statistics
import sys

from browser import PageTests
from cli import main

WIDTHS = (400, 1280, 3840)
# The rows of the table whose tops, and those whose ends are seen.
ROWS_SEEN = """(() => {
  const view = document.querySelector(".rows").getBoundingClientRect();
  return ["top", "bottom"].map((edge) => [...document.querySelectorAll(".rows tbody tr:not([aria-hidden])")].filter((row) => {
    const at = row.getBoundingClientRect()[edge];
    return at >= view.top - 1 && at <= view.bottom + 1;
  }).map((row) => +row.getAttribute("aria-rowindex") - 2));
})()"""


def table_of(columns, numbers=(), **more):
    return {"title": "", "headers": [f"column {i}" for i in range(len(columns))], "numbers": list(numbers), "columns": columns, **more}


class TablePages(PageTests):
    def test_every_row_is_reached(self):
        """By the wheel and by keys; rows have one to nine lines."""
        lines = [1, 3, 1, 9, 1, 1, 4] * 15
        page = self.made_up(tables=[table_of([[f"row {i}" for i in range(105)], ["\n".join(["line"] * count) for count in lines]])])
        for width in WIDTHS:
            browser = self.opened(page, width)
            for turn in (lambda: browser.wheel_over(".rows", 240), lambda: browser.press("PageDown", 34)):
                browser.value("(() => { const rows = document.querySelector('.rows'); rows.scrollTop = 0; rows.focus(); })()")
                browser.settle()
                tops, ends, at = set(), set(), -1
                while at != (now := browser.value("document.querySelector('.rows').scrollTop")):
                    for seen, rows in zip((tops, ends), browser.value(ROWS_SEEN)):
                        seen.update(rows)
                    at = now
                    turn()
                self.assertEqual(sorted(tops & ends), list(range(105)), f"window of {width}")
            browser.press("Home", 36)
            self.assertEqual(browser.value(ROWS_SEEN)[0][0], 0)
            browser.press("End", 35)
            self.assertEqual(browser.value(ROWS_SEEN)[1][-1], 104)

    def clicked(self, column):
        """The first column after a click on a header."""
        self.browser.value(f"document.querySelectorAll('th button')[{column}].click()")
        return self.browser.value("texts(document.querySelectorAll('tbody tr:not([aria-hidden]) td:first-child'))")

    def test_sorting(self):
        """By amounts, ranks and the numbers in names; what is unknown is last; the third click gives the order as written."""
        columns = [  # as written, upwards, and whether its numbers stand to the right
            (["3 s", "1.2 ms", "N/A", "INF", "20 us", "800 ns"], ["800 ns", "20 us", "1.2 ms", "3 s", "INF", "N/A"], True),
            (["1.5 GB", "", "900 MB", "2 KiB", "12 B", "1 KiB"], ["12 B", "1 KiB", "2 KiB", "900 MB", "1.5 GB", ""], True),
            (["12 %", "-3.5 %", "9.1 %", "100 %", "/", "-20 %"], ["-20 %", "-3.5 %", "9.1 %", "12 %", "100 %", "/"], True),
            (["1,234", "-INF", "999", "-5", "1e3", "NaN"], ["-INF", "-5", "999", "1e3", "1,234", "NaN"], True),
            (["12", "0-7", "8", "16-23", "100", "9"], ["0-7", "8", "9", "12", "16-23", "100"], False),
            (["step 10", "step 9", "rank 2", "step 1", "rank 10", "node"], ["node", "rank 2", "rank 10", "step 1", "step 9", "step 10"], False),
        ]
        for written, upwards, is_number in columns:
            self.opened(self.made_up(tables=[table_of([written], [0] if is_number else [])]))
            known = [text for text in upwards if text not in ("N/A", "", "/", "NaN")]
            downwards = known[::-1] + upwards[len(known):]
            clicks = [downwards, upwards] if is_number else [upwards, downwards]
            for wanted in [*clicks, written] * 2:
                self.assertEqual(self.clicked(0), wanted)

    def test_values_sort_and_are_copied(self):
        """Texts are the same to two decimals, values are not; hostile names are texts of the file."""
        names = ['=HYPERLINK("http://x.example")', "+1", "-", "@SUM(A1,2)", "\t=1", "a\u202eb\x1b[31m", 'say "a", b', "two\nlines"]
        shown = ['\'=HYPERLINK("http://x.example")', "'+1", "-", "'@SUM(A1,2)", "'\t=1", "a\\u202eb\\x1b[31m", 'say "a", b', "two\nlines"]
        values = [0.1249, 0.1251, 0.125, -0.125, None, "", 0.12499, "1736410576409657780"]
        texts = ["0.12", "0.13", "0.12", "-0.12", "see above", "INF", "0.12", "1.74e18"]
        whole = ["1,736,410,576,409,657,780", "-5", "+7", "0", "1", "2", "3", "=1+1"]
        # More than a dozen rows have tools above them.
        pad = ["z"] * 8
        page = self.made_up(tables=[table_of([names + pad, texts + pad, whole + pad], [1, 2], values={"1": values + [None] * 8})])
        self.opened(page)
        self.browser.value("[...document.querySelectorAll('.tools button')].pop().click()")
        copied = self.browser.value("window.copied")
        rows = list(csv.reader(io.StringIO(copied, newline="")))
        self.assertEqual(rows[0], ["column 0", "column 1", "column 2"])
        self.assertEqual([row[0] for row in rows[1:9]], shown)
        self.assertEqual([row[1] for row in rows[1:9]], ["0.1249", "0.1251", "0.125", "-0.125", "see above", "", "0.12499", "1736410576409657780"])
        self.assertEqual([row[2] for row in rows[1:9]], ["1736410576409657780", "-5", "+7", "0", "1", "2", "3", "'=1+1"])
        self.assertEqual(self.clicked(1)[:7], [names[i] for i in (5, 7, 1, 2, 6, 0, 3)])

    def test_trees(self):
        """Parts stay below what they are a part of, sorted among each other; a search keeps what they are a part of."""
        names = ["a", "a1", "a1x", "a2", "b", "b1", "b2", "c"]
        levels = [0, 1, 2, 1, 0, 1, 1, 0]
        times = [5, 1, 1, 4, 9, 2, 7, 6]
        pad = [f"d{i}" for i in range(6)]
        page = self.made_up(tables=[table_of([names + pad, [str(time) for time in times + [0] * 6]], [1], levels=levels + [0] * 6)])
        self.opened(page)
        self.assertEqual(self.clicked(1)[:8], ["b", "b2", "b1", "c", "a", "a2", "a1", "a1x"])
        self.assertEqual(self.clicked(1)[-8:], ["a", "a1", "a1x", "a2", "c", "b", "b1", "b2"])
        self.assertEqual(self.clicked(1), names + pad)
        found = self.browser.value("""(() => {
          const search = document.querySelector("input");
          search.value = "a1x";
          search.dispatchEvent(new Event("input"));
          return texts(document.querySelectorAll("tbody td:first-child"));
        })()""")
        self.assertEqual(found, ["a", "a1", "a1x"])
        self.browser.value("[...document.querySelectorAll('.tools button')].pop().click()")
        self.assertEqual(self.browser.value("window.copied"), "column 0,column 1,level\r\na,5,0\r\na1,1,1\r\na1x,1,2\r\n")

    def test_copy_is_the_csv_file(self):
        """Of a table of the program every cell that is copied is the value of --export_type csv."""
        capture = self.CAPTURES / "twin_text_base_ascend_pt"
        for kind in ("html", "csv"):
            self.run_tool("-m", "compute_op_sum", "-d", capture, "-o", self.scratch / kind, "--export_type", kind)
        (page,) = (self.scratch / "html").rglob("*.html")
        self.opened(page)
        copied = self.browser.value("""(() => {
          const box = [...document.querySelectorAll("details")].find((one) => one.textContent.startsWith("ComputeOpPerRankStatsByOpName ("));
          [...box.querySelectorAll(".tools button")].pop().click();
          return window.copied;
        })()""")
        rows = list(csv.reader(io.StringIO(copied, newline="")))
        with next((self.scratch / "csv").rglob("ComputeOpPerRankStatsByOpName.csv")).open(encoding="utf-8", newline="") as file:
            wanted = list(csv.reader(file))
        # Columns without any value are not on the page.
        kept = [i for i in range(len(wanted[0])) if any(row[i] for row in wanted[1:])]
        self.assertGreater(len(rows), 13)
        self.assertEqual(len(rows), len(wanted))
        reals = 0
        for got, row in zip(rows[1:], wanted[1:]):
            for one, other in zip(got, [row[i] for i in kept], strict=True):
                try:
                    self.assertEqual(float(one), float(other))
                    reals += not float(one).is_integer()
                except ValueError:
                    self.assertEqual(one, other)
        self.assertGreater(reals, 2)


# The value of each mark, from where it is drawn and from the numbers on the axis beside it.
READ = """
window.reading = (svg, axis) => {
  const ticks = [...axis.querySelectorAll(".tick")].map((tick) => {
    const [x, y] = /translate\\(([-\\d.]+),([-\\d.]+)\\)/.exec(tick.getAttribute("transform")).slice(1).map((at) => at - 0.5);
    return { x, y, value: +tick.textContent.replace(/,/g, "").replace("\\u2212", "-") };
  });
  const along = ticks[0].x === ticks[1].x ? "y" : "x";
  return (at) => {
    let i = ticks.findIndex((tick, k) => k > 0 && (ticks[0][along] < ticks[1][along] ? tick[along] >= at : tick[along] <= at));
    if (i < 0) i = ticks.length - 1;
    const a = ticks[i - 1], b = ticks[i];
    return a.value + (at - a[along]) / (b[along] - a[along]) * (b.value - a.value);
  };
};
window.number = (mark, name) => +mark.getAttribute(name);
"""
BARS = """(() => {
  const svg = document.querySelector("svg"), value = reading(svg, [...svg.querySelectorAll("g")].find((one) => one.querySelector(":scope > .tick")));
  return [...svg.querySelectorAll(".bar")].map((bar) => value(number(bar, "x") + number(bar, "width")) - value(number(bar, "x")));
})()"""
DOTS = """[...document.querySelectorAll("svg g")].filter((one) => one.querySelector(":scope > .dot")).map((dots) => {
  const svg = dots.parentNode, value = reading(svg, [...svg.querySelectorAll("g")].find((one) => one.querySelector(":scope > .tick")));
  return [...dots.querySelectorAll(".dot")].map((dot) => value(number(dot, "cy")));
})"""
BINS = """(() => {
  const svg = document.querySelector("svg"), axes = [...svg.querySelectorAll("g")].filter((one) => one.querySelector(":scope > .tick"));
  const count = reading(svg, axes[0]), place = reading(svg, axes[1]);
  return [...svg.querySelectorAll(".bin")].map((bin) => [place(number(bin, "x") - 0.5), count(number(bin, "y"))])
    .concat([...svg.querySelectorAll("path.outlier")].map((mark) => [place(+/M([\\d.]+)/.exec(mark.getAttribute("d"))[1]), mark.textContent]));
})()"""


def series_of(**values):
    return [{"name": name, "values": list(of)} for name, of in values.items()]


def chart_of(kind, title="Made up", unit="ms", **more):
    return {"kind": kind, "title": title, "unit": unit, **more}


def timeline(lanes=3, spans=40):
    return chart_of("timeline", unit="us", begin=0, end=spans * 10, kinds=[{"colour": "var(--compute)", "meaning": "kernels"}], marks=[], arrows=[],
                    lanes=[{"title": f"stream {lane}", "spans": [[10 * i, 6, 0, f"kernel {i}", ""] for i in range(spans)]} for lane in range(lanes)])


# train calls forward, which calls mm and itself; another thread calls mm alone, and mm calls mm.
FLAME = chart_of("flame", labels=["train.py(90): step", "model.py(7): forward", "aten::mm", "aten::item", "thread 2"],
                 frames=[[-1, 0], [0, 1], [1, 2], [1, 3], [0, 3], [-1, 4], [5, 2], [6, 2]],
                 series=series_of(time=[1, 2, 8, 4, 5, 0, 10, 20]))


class ChartPages(PageTests):
    def charts(self, *charts, width=1280):
        browser = self.opened(self.made_up(charts=charts), width)
        browser.value(READ)
        return browser

    def test_every_kind(self):
        """All have marks and a table, letters of 12 px and no part that scrolls sideways, in windows of every size."""
        labels, values = [f"rank {i}" for i in range(20)], [1234567.5 * (i + 1) for i in range(20)]
        many = [f"rank {i}" for i in range(1000)]
        charts = [chart_of(kind, labels=labels, series=series_of(a=values, b=values)) for kind in ("bars", "stacked", "heat")]
        charts += [chart_of("boxes", labels=labels, series=series_of(**{name: [10 * i + k for i in range(20)] for k, name in enumerate("abcde")})),
                   chart_of("waterfall", labels=["base", "more", "comparison"], series=series_of(a=[5, 2, 7])),
                   chart_of("dots", labels=labels[:3], limits=[3, None, 4], bands=[[1, 2], None, None], limit="limit", band="band",
                            series=[{"name": "a", "values": [], "dots": [[1, 2], [3], [2]]}]),
                   chart_of("areas", at=list(range(20)), unit_x="s", marks=[{"at": 3, "label": "peak"}], series=series_of(a=values)),
                   chart_of("lines", at=list(range(20)), unit_x="s", marks=[], series=series_of(a=values)),
                   chart_of("histogram", at=[0, 1, 2, 4], unit_x="us", marks=[{"at": 9, "label": "aten::item"}], series=series_of(a=[3, 2, 1])),
                   chart_of("distribution", labels=many, series=series_of(a=range(1000), b=[5] * 1000)),
                   chart_of("heat", "Many", labels=many, series=series_of(**{f"part {i}": range(1000) for i in range(30)})), timeline(), FLAME]
        page = self.made_up(charts=charts)
        for width in WIDTHS:
            self.assertEqual(len(self.looked_at(page, width)["figures"]), len(charts))

    def assert_near(self, got, wanted, **message):
        self.assertEqual(len(got), len(wanted), message)
        span = max(map(abs, wanted)) or 1
        for one, other in zip(got, wanted):
            self.assertAlmostEqual(one / span, other / span, delta=0.002, msg=f"{message}: {one} for {other}")

    def test_bars_are_as_long_as_their_numbers(self):
        values = [3, 1.5, 0, 4.25]
        self.assert_near(self.charts(chart_of("bars", labels=list("abcd"), series=series_of(time=values))).value(BARS), values)
        parts = series_of(compute=[3, 1, 2], wait=[1, 0, 5])
        self.assert_near(self.charts(chart_of("stacked", labels=list("abc"), series=parts)).value(BARS), [3, 1, 2, 1, 0, 5])

    def test_lines(self):
        """Each value is a dot on the line of its series, none is added to another; a gap stays a gap."""
        clocks = {"rank 0": [1800, 1795, 1500, 1510], "rank 1": [1700, None, 1690, 1695]}
        browser = self.charts(chart_of("lines", unit="MHz", unit_x="ms", at=[0, 1, 5, 9], marks=[{"at": 5, "label": "power limit"}], series=series_of(**clocks)))
        for got, wanted in zip(browser.value(DOTS), clocks.values(), strict=True):
            self.assert_near(got, [value for value in wanted if value is not None])
        paths = browser.value("[...document.querySelectorAll('.line')].map((line) => line.getAttribute('d'))")
        self.assertEqual([path.count("M") for path in paths], [1, 2])
        self.assertEqual(browser.value("document.querySelector('.marked').textContent"), "power limit")

    def test_histogram(self):
        """Bins begin at their edges and are as high as their counts, also where they are of different widths."""
        for edges in ([0, 10, 20, 30, 40], [0, 1, 10, 100, 1000]):
            counts = [4, 9, 2, 1]
            browser = self.charts(chart_of("histogram", unit="launches", unit_x="us", at=edges, marks=[{"at": edges[-1] * 0.95, "label": "aten::copy_, rank 3"}],
                                           series=series_of(launches=counts)))
            *bins, outlier = browser.value(BINS)
            self.assert_near([count for _, count in bins], counts)
            self.assert_near([place for place, _ in bins], edges[:-1], edges=edges)
            self.assertAlmostEqual(outlier[0] / edges[-1], 0.95, delta=0.01)
            self.assertTrue(outlier[1].startswith("aten::copy_, rank 3: "))
            self.assertIn("aten::copy_, rank 3", browser.value("texts(document.querySelectorAll('text.outlier')).join()"))

    def test_distribution(self):
        """The values in their order; the band is the middle half; those far outside it are named."""
        values = [10 + (i * 37 % 200) / 100 for i in range(200)]
        values[61], values[7] = 1, 30
        browser = self.charts(chart_of("distribution", labels=[f"rank {i}" for i in range(200)], series=series_of(wait=values)))
        (dots,) = browser.value(DOTS)
        self.assert_near(dots, sorted(values))
        low, _, high = statistics.quantiles(values, method="inclusive")
        band = browser.value("""(() => {
          const band = document.querySelector(".band"), axis = [...document.querySelectorAll("svg g")].find((one) => one.querySelector(":scope > .tick"));
          const value = reading(null, axis);
          return [value(number(band, "y") + number(band, "height")), value(number(band, "y"))];
        })()""")
        self.assert_near(band, [low, high])
        self.assertEqual(browser.value("texts(document.querySelectorAll('text.outlier title')).sort()"), ["rank 61", "rank 7"])
        self.assertEqual(browser.value("document.querySelectorAll('.dot.outlier').length"), 2)

    def test_heat_of_many(self):
        """A row of several ranks shows the one that deviates most, up or down, and names it; empty is told from 0."""
        waits = [10 + i % 3 / 10 for i in range(1000)]
        waits[613], waits[100] = 0.5, 16
        browser = self.charts(chart_of("heat", own_scale=True, labels=[str(i) for i in range(1000)],
                                       series=series_of(wait=waits, empty=[None] * 1000, zero=[0] * 1000, large=[1e6] * 1000)))
        columns = browser.value("""[...document.querySelectorAll("svg g")].filter((one) => one.querySelector(":scope > .cell, :scope > .none")).map((column) =>
          [...column.querySelectorAll(":scope > rect")].map((cell) => [cell.getAttribute("class"), +getComputedStyle(cell).fillOpacity, cell.textContent]))""")
        wait, empty, zero, large = columns
        shown = {title.split(":")[0]: (opacity, title) for _, opacity, title in wait}
        for rank, text in (("613", "613: wait 0.5 ms"), ("100", "100: wait 16 ms")):
            self.assertTrue(rank in shown, f"rank {rank} is drawn for its neighbours")
            self.assertTrue(shown[rank][1].startswith(text), shown[rank])
        self.assertLess(shown["613"][0], 0.2)
        self.assertEqual(max(opacity for opacity, _ in shown.values()), 1, "of its own column")
        self.assertEqual({kind for kind, _, _ in empty}, {"none"})
        self.assertEqual({kind for kind, _, _ in zero}, {"cell"})
        self.assertGreater(min(opacity for _, opacity, _ in zero), 0)
        self.assertEqual({opacity for _, opacity, _ in large}, {1})
        one_scale = self.charts(chart_of("heat", labels=["a", "b"], series=series_of(small=[1, 2], large=[10, 20])))
        opacities = one_scale.value("[...document.querySelectorAll('.cell')].map((cell) => +getComputedStyle(cell).fillOpacity)")
        self.assert_near([opacity - 0.1 for opacity in opacities], [0.9 * value / 20 for value in (1, 2, 10, 20)])

    def test_axes_of_names_have_names(self):
        """What the labels are stands at their axis, across as well; cells that have room have their amounts."""
        for kind in ("bars", "stacked", "boxes"):
            chart = chart_of(kind, labels=["0", "1"], label="rank", series=series_of(a=[1, 2], b=[2, 3], c=[3, 4], d=[4, 5], e=[5, 6]))
            self.assertIn("rank", self.charts(chart).value("texts(document.querySelectorAll('.unit'))"))
        heat = chart_of("heat", labels=["0", "1"], label="from rank", across="to rank", series=series_of(**{"0": [None, 7.625], "1": [11.8, None]}))
        browser = self.charts(heat)
        self.assertEqual(browser.value("texts(document.querySelectorAll('.unit'))"), ["to rank", "from rank"])
        self.assertEqual([text for text in browser.value("texts(document.querySelectorAll('.amount'))") if text], ["7.625", "11.8"])
        many = chart_of("heat", labels=[str(i) for i in range(200)], series=series_of(**{str(i): range(200) for i in range(200)}))
        self.assertEqual(self.charts(many).value("document.querySelectorAll('.amount').length"), 0)

    def test_bands_lie_within_the_axes(self):
        """Of dots, whose key says what grey and dashes are, and of lines, which are drawn over them."""
        dots = chart_of("dots", unit="%", labels=["step"], limits=[103], bands=[[97, 103]], limit="the limit is", band="noise",
                        series=[{"name": "base", "values": [], "dots": [[100]]}, {"name": "comparison", "values": [], "dots": [[109]]}])
        lines = chart_of("lines", unit="ms", unit_x="run", at=[1, 2, 3], marks=[], bands=[[90, 110], [90, 110], [140, 160]], band="noise",
                         series=series_of(run=[100, 101, 150]))
        for chart in (dots, lines):
            browser = self.charts(chart)
            left, right, low, high = browser.value("""(() => {
              const box = (one) => one.getBoundingClientRect(), band = box(document.querySelector(".band")), svg = box(document.querySelector("figure svg"));
              return [band.left - svg.left, svg.right - band.right, band.top - svg.top, svg.bottom - band.bottom];
            })()""")
            self.assertGreater(min(left, right, low, high), 0)
            self.assertIn("noise", browser.value("texts(document.querySelectorAll('.key > span'))"))
        self.assertIn("limit", self.charts(dots).value("texts(document.querySelectorAll('.key > span'))"))

    def test_durations_of_very_different_length_are_all_seen(self):
        """Ten times as long is as far to the right, and the axis says so."""
        medians = [1, 10, 100, 1000]
        boxes = series_of(**{name: [factor * value for value in medians] for name, factor in (("a", 0.5), ("b", 0.8), ("c", 1), ("d", 1.2), ("e", 2))})
        browser = self.charts(chart_of("boxes", unit="us", labels=list("wxyz"), series=boxes))
        at = browser.value("[...document.querySelectorAll('.bar')].map((box) => +box.querySelectorAll('line')[1].getAttribute('x1'))")
        steps = [after - before for before, after in zip(at, at[1:])]
        self.assertLess(max(steps) - min(steps), 1)
        self.assertIn("us, logarithmic", browser.value("texts(document.querySelectorAll('.unit'))"))

    def test_names_stay_different(self):
        """Names that begin and end alike keep what tells them apart, also where little room is left."""
        names = [f"aclnnMatmul_{'the_same_prefix_' * 4}{middle}{'_the_same_end' * 6}" for middle in ("forward_a", "forward_b", "backward", "x" * 200 + "1", "x" * 200 + "2")]
        for width in WIDTHS:
            browser = self.charts(chart_of("bars", labels=names, series=series_of(time=[1] * 5)), width=width)
            shown = browser.value("[...document.querySelectorAll('text.label')].map((text) => text.firstChild.data)")
            self.assertEqual(len(set(shown)), 5, shown)
            self.assertTrue(all(len(text) < 150 for text in shown), shown)
            self.assertEqual(browser.value("texts(document.querySelectorAll('text.label title'))"), names)
        for text, part in zip(shown, ("forward_a", "forward_b", "backward")):
            self.assertIn(part, text)

    def test_wheel(self):
        """Scrolls the page over a timeline, and zooms with Ctrl."""
        page = self.made_up(charts=[timeline(), timeline(40)])
        browser = self.opened(page)
        state = "[window.scrollY, texts(document.querySelectorAll('figure .tick')).join(), document.querySelectorAll('figure .span').length]"
        top, ticks, spans = browser.value(state)
        self.assertEqual(top, 0)
        browser.wheel_over("figure svg", 100)
        self.assertEqual(browser.value(state), [100, ticks, spans])
        browser.wheel_over("figure svg", -200, ctrl=True)
        scrolled, zoomed, seen = browser.value(state)
        self.assertEqual(scrolled, 100)
        self.assertNotEqual(zoomed, ticks)
        self.assertLess(seen, spans)
        self.assertIn("Ctrl", browser.value("document.querySelector('figure .hint').textContent"))

    FRAMES = """[...document.querySelectorAll(".frame")].map((frame) => {
      const rect = frame.querySelector("rect");
      return [frame.querySelector("title").textContent.split("\\n")[0], +rect.getAttribute("y"), +rect.getAttribute("width"), frame.classList.contains("found")];
    })"""

    def test_flame_is_searched(self):
        """What is found is marked, and its share of the whole is said: a frame within one that is found is in it."""
        browser = self.charts(FLAME)
        browser.value("(() => { const search = document.querySelector('figure input'); search.value = 'MM'; search.dispatchEvent(new Event('input')); })()")
        frames = browser.value(self.FRAMES)
        self.assertEqual([name for name, _, _, found in frames if found], ["aten::mm"] * 3)
        # 8, and 10 + 20, of 50.
        self.assertEqual(browser.value("document.querySelector('figure .count').textContent"), "38 ms (76.00%)")

    def test_callers_and_callees(self):
        """Of all frames of a name: what calls it stands below, what it calls above, as wide as the time through it."""
        browser = self.charts(FLAME)
        browser.value("""(() => {
          [...document.querySelectorAll(".frame")].find((frame) => frame.textContent.startsWith("aten::mm")).dispatchEvent(new Event("click"));
          [...document.querySelectorAll("figure .tools button")].find((button) => button.textContent === "Callers and callees").click();
        })()""")
        frames = browser.value(self.FRAMES)
        (middle,) = [frame for frame in frames if frame[0] == "aten::mm" and frame[2] > 0.99 * max(width for _, _, width, _ in frames)]
        self.assertEqual(browser.value("document.querySelector('figure .count').textContent"), "aten::mm: 38 ms (76.00%)")
        part = {(name, "above" if y < middle[1] else "below"): width / middle[2] for name, y, width, _ in frames if y != middle[1]}
        # mm takes 8 + 30: 30 below thread 2, 8 below forward below step; 20 of the 30 in itself.
        wanted = {("aten::mm", "above"): 20 / 38, ("thread 2", "below"): 30 / 38, ("model.py(7): forward", "below"): 8 / 38, ("train.py(90): step", "below"): 8 / 38}
        self.assertEqual(set(part), set(wanted))
        for frame, width in wanted.items():
            self.assertAlmostEqual(part[frame], width, delta=0.01, msg=frame)

    def test_python_frames_are_one(self):
        browser = self.charts(FLAME)
        before = {name for name, _, _, _ in browser.value(self.FRAMES)}
        browser.value("document.querySelector('figure input[type=checkbox]').click()")
        frames = browser.value(self.FRAMES)
        self.assertEqual({name for name, _, _, _ in frames}, {name for name in before if ".py" not in name} | {"[Python]"})
        (python,) = [width for name, _, width, _ in frames if name == "[Python]"]
        whole = max(width for _, _, width, _ in frames)
        self.assertAlmostEqual(python / whole, 20 / 50, delta=0.01)
        # Both calls of item are one.
        (item,) = [width for name, _, width, _ in frames if name == "aten::item"]
        self.assertAlmostEqual(item / whole, 9 / 50, delta=0.01)


if __name__ == "__main__":
    sys.exit(main(__doc__, TablePages, ChartPages))
