#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The colours that docs/report.md promises, in pages, flame graphs, workbooks and exported traces.

    run_palette.py --tool BINARY --testdata DIR palette|palettedrawn [-v]

GROUP is one of the classes below: palette (files as they are written), palettedrawn (what a browser draws).

Exit status: 0 passed, 1 failed, 2 usage.
"""

import gzip
import json
import re
import sys
import xml.etree.ElementTree as ET
import zipfile

from browser import PageTests
from captures import build_database
from cli import BASE, DOCS, NEW, Cli, main

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DEVICE = "twin_db_base_ascend_pt"


def promised():
    """({name: (light, dark, name in traces)} of meanings, {letter: (lights, darks)} of palettes), from the tables."""
    text = (DOCS / "report.md").read_text(encoding="utf-8").split("\n## Colours\n")[1].split("\n## ")[0]
    meanings, palettes = {}, {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `"):
            continue
        name = cells[0].strip("`")
        if len(cells) == 6:
            meanings[name] = tuple(cell.strip("`") for cell in cells[3:])
        else:
            palettes[name] = tuple(re.findall("#[0-9a-f]{6}", cell) for cell in cells[1:])
    return meanings, palettes


def variables(page):
    """{name: (light, dark)} of the colours of the page's style sheet."""
    style = page.split("<style>")[1].split("</style>")[0]
    light, dark = re.match(r":root \{(.*?)\}\n@media \(prefers-color-scheme: dark\) \{\n  :root \{(.*?)\}", style).groups()
    colours = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", text)) for text in (light, dark)]
    return {name: (colours[0][name], colours[1][name]) for name in colours[0]}


class Palettes(Cli):
    def setUp(self):
        super().setUp()
        self.meanings, self.palettes = promised()
        self.capture = build_database(self.CAPTURES, DEVICE, self.scratch)

    def page_of(self, *command):
        result = self.run_tool(*command, "-o", self.out, "--export_type", "html")
        self.assertEqual(result.code, 0, result.err)
        (page,) = self.out.rglob("*.html")
        return page

    def flame_graph(self, *options):
        return self.page_of("-m", "export_stacks", "-d", self.capture, *options)

    def charts_of(self, page):
        data = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1]
        return json.loads(data)["charts"]


class Palette(Palettes):
    def test_the_tables_are_whole(self):
        self.assertEqual(len(self.meanings), 9)
        self.assertEqual({name: len(light) for name, (light, dark) in self.palettes.items()}, {"t": 9, "m": 12, "d": 7})

    def test_pages_have_the_promised_colours(self):
        page = self.page_of("-m", "cluster_time_summary", "-d", BASE)
        colours = variables(page.read_text(encoding="utf-8"))
        for name, (light, dark, _) in self.meanings.items():
            self.assertEqual(colours.pop(name), (light, dark), name)
        for letter, (lights, darks) in self.palettes.items():
            for i, pair in enumerate(zip(lights, darks, strict=True)):
                self.assertEqual(colours.pop(f"{letter}{i}"), pair, f"{letter}{i}")
        self.assertEqual(set(colours), {"page", "card"}, "colours that docs/report.md does not have")

    def test_charts_use_no_other_colours(self):
        """Whatever a script or a recipe names as a colour is a variable of the palette, of texts or of lines."""
        page = self.page_of("-m", "cluster_time_summary", "-d", BASE).read_text(encoding="utf-8")
        style = page.split("<style>")[1].split("</style>")[0]
        known = set(re.findall(r"--(\w[\w-]*):", style)) | {"edge", "row-line"}
        ours = page.split("<script>")[2:]  # the first one is D3
        for script in [style, *ours]:
            self.assertLessEqual(set(re.findall(r"var\(--([a-z]\w*)\)", script)) - known, set())
            self.assertEqual(re.findall(r"[\"'](?:#[0-9a-fA-F]{3,8}|rgba?\(.*?\))[\"']", script), [])

    def test_parts_of_a_step_have_their_tints(self):
        tints = {series["name"]: series.get("tint") for chart in self.charts_of(
            self.page_of("-m", "rl_roles", "-d", "rl_colocated")) for series in chart.get("series", ())}
        self.assertEqual({name: tints[name] for name in ("computing", "communication", "copies", "free")},
                         {"computing": "compute", "communication": "unsplit", "copies": "copy", "free": "free"})

    def test_memory_and_data_types_have_their_own(self):
        charts = self.charts_of(self.page_of("-m", "memory_timeline", "-d", BASE))
        tints = [series.get("tint") for chart in charts for series in chart["series"]]
        self.assertTrue(any(re.fullmatch(r"m\d+", tint or "") for tint in tints), tints)
        self.assertLessEqual({tint for tint in tints if tint} - {f"m{i}" for i in range(12)}, {"base"})

    def test_frames_of_flame_graphs_say_what_the_device_did(self):
        (chart,) = self.charts_of(self.flame_graph())
        tints = {}
        for _, label, *tint in chart["frames"]:
            tints.setdefault(chart["labels"][label], set()).update(tint)
        for name, wanted in (("[copy.h2d]", "copy"), ("[copy.d2h]", "copy"), ("[comm.wait_peer]", "wait"),
                             ("[comm.transfer]", "transfer"), ("[comm.unsplit]", "unsplit")):
            self.assertIn(tints.get(name, {wanted}), ({wanted},), name)
        computing = {name for name, tint in tints.items() if tint == {"compute"}}
        self.assertTrue(computing, tints)
        self.assertTrue(any(tint == set() for tint in tints.values()), "frames of the host mean nothing")
        self.assertFalse(any(name.startswith("aten::") for name in computing), computing)

    def test_frames_of_free_time_are_free(self):
        (chart,) = self.charts_of(self.flame_graph("--metric", "free"))
        tinted = {chart["labels"][label]: tint for _, label, *tint in chart["frames"] if tint}
        self.assertTrue(tinted)
        self.assertEqual({tint for (tint,) in tinted.values()}, {"free"})

    def test_charts_of_workbooks_have_the_promised_colours(self):
        self.assertEqual(self.compare().code, 0)
        (path,) = self.workbooks()
        light = {name: colours[0] for name, colours in self.meanings.items()}
        with zipfile.ZipFile(path) as archive:
            charts = [ET.fromstring(archive.read(name)) for name in sorted(archive.namelist())
                      if name.startswith("xl/charts/chart")]
            sheets = [archive.read(name).decode() for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
        changes, parts = charts
        points = {colour.get("val").lower() for point in changes.iter(CHART + "dPt") for colour in point.iter(DRAWING + "srgbClr")}
        self.assertIn(light["worse"][1:], points)
        self.assertLessEqual(points, {light["worse"][1:], light["better"][1:]})
        series = [next(one.iter(DRAWING + "srgbClr")).get("val").lower() for one in parts.iter(CHART + "ser")]
        self.assertEqual(series, [light["base"][1:], self.palettes["t"][0][0][1:]])
        bars = set(re.findall(r'<x14:(?:fill|negativeFill)Color rgb="FF([0-9A-F]{6})"', "".join(sheets)))
        bars |= set(re.findall(r'<dataBar>.*?<color rgb="FF([0-9A-F]{6})"', "".join(sheets)))
        self.assertEqual({bar.lower() for bar in bars}, {light["worse"][1:], light["better"][1:]})

    def test_parts_in_the_workbook_of_the_advisor_have_their_colours(self):
        result = self.run_tool("advisor", "all", "-d", BASE, "-o", self.out, "-l", "en")
        self.assertEqual(result.code, 0, result.err)
        (path,) = (self.out / "log").glob("*.xlsx")
        with zipfile.ZipFile(path) as archive:
            charts = [ET.fromstring(archive.read(name)) for name in sorted(archive.namelist())
                      if name.startswith("xl/charts/chart")]
        points = [colour.get("val").lower() for point in charts[-1].iter(CHART + "dPt") for colour in point.iter(DRAWING + "srgbClr")]
        light = {colours[0][1:]: name for name, colours in self.meanings.items()}
        self.assertEqual(points[0], self.meanings["compute"][0][1:])
        self.assertEqual(points[-1], self.meanings["free"][0][1:])
        self.assertLessEqual(set(points), set(light))

    def test_slices_of_traces_have_the_promised_names(self):
        for where in (BASE, self.capture):
            trace = self.scratch / "trace.json.gz"
            trace.unlink(missing_ok=True)
            result = self.run_tool("export", "timeline", "-d", where, "-o", trace)
            self.assertEqual(result.code, 0, result.err)
            events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
            known = {colours[2]: name for name, colours in self.meanings.items()}
            seen = {}
            for event in events:
                if event["ph"] in "Xi":
                    seen.setdefault(event["cat"], set()).add(known[event["cname"]] if "cname" in event else None)
            self.assertEqual(seen.get("communication"), {"unsplit"})
            self.assertEqual(seen["host"], {None})
            self.assertIn("compute", seen["device"])
            self.assertLessEqual(seen["device"], {"compute", "copy", "unsplit", None})
            kernels = [event for event in events if event.get("cat") == "device" and event["name"].startswith("MatMul")]
            self.assertTrue(all(known[event["cname"]] == "compute" for event in kernels))


class PaletteDrawn(PageTests, Palettes):
    def test_frames_are_drawn_in_the_promised_colours(self):
        page = self.flame_graph()
        (chart,) = self.charts_of(page)
        tints = {chart["labels"][label]: (tint or [None])[0] for _, label, *tint in chart["frames"]}
        for dark in (False, True):
            self.opened(page, dark=dark)
            drawn = self.browser.value("""[...document.querySelectorAll(".frame")].map((frame) => {
              const style = getComputedStyle(frame.querySelector("rect"));
              return [frame.querySelector("title").textContent.split("\\n")[0], style.fill, style.stroke]; })""")
            seen = set()
            for name, fill, stroke in drawn:
                colour = "#%02x%02x%02x" % tuple(int(number) for number in re.findall(r"\d+", fill)[:3])
                tint = tints.get(name)
                if tint is None:
                    self.assertNotIn(colour, {colours[dark] for colours in self.meanings.values()}, name)
                    continue
                seen.add(tint)
                self.assertEqual(colour, self.meanings[tint][dark], name)
                self.assertEqual(stroke, fill, name)
            self.assertIn("compute", seen)


if __name__ == "__main__":
    sys.exit(main(__doc__, Palette, PaletteDrawn))
