#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of HTML as a browser shows them.

    run_pages.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: pages. Headless Chromium opens the pages; without it the tests are skipped.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from cli import Cli, main
from captures import build_database

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# What went wrong while the page was drawn, and what is asked of it afterwards. The answer is read from the document.
BEFORE = "<script>window.wrong = []; window.addEventListener('error', (event) => window.wrong.push(String(event.message)));</script>"
AFTER = """<pre id="answer"></pre><script>
const texts = (nodes) => [...nodes].map((node) => node.textContent);
const marks = (figure) => figure.querySelectorAll(".bar, .cell, .dot, .area, .frame, .span").length;
document.querySelectorAll("details").forEach((details) => { details.open = true; });
setTimeout(() => {
  const tables = [...document.querySelectorAll("[data-table]")].map((box) => {
    const first = () => texts(box.querySelectorAll("tbody tr:not([aria-hidden]) td:first-child"));
    const before = first(), heads = box.querySelectorAll("th button");
    heads[0].click();
    const sorted = first();
    const search = box.querySelector("input");
    let found = null;
    if (search) {
      search.value = sorted[0].trim();
      search.dispatchEvent(new Event("input"));
      found = first();
      search.value = "";
      search.dispatchEvent(new Event("input"));
    }
    return { heads: texts(heads), rows: +box.querySelector("table").getAttribute("aria-rowcount") - 1, before, sorted, found };
  });
  document.getElementById("answer").textContent = JSON.stringify({
    drawn: document.documentElement.dataset.drawn, wrong: window.wrong, wide: document.documentElement.scrollWidth - window.innerWidth,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    figures: [...document.querySelectorAll("figure")].map((figure) => ({
      title: figure.querySelector("figcaption").textContent, marks: marks(figure), table: figure.querySelectorAll("tbody tr").length,
      label: figure.querySelector("svg").getAttribute("aria-label") })),
    tables });
}, 300);
</script>"""


def page_in(directory):
    (page,) = Path(directory).rglob("*.html")
    return page


@unittest.skipUnless(BROWSER, "there is no Chromium (package chromium)")
class Pages(Cli):
    def looked_at(self, page, width=1280):
        text = page.read_text(encoding="utf-8")
        self.assertNotRegex(text.split("<script", maxsplit=1)[0], r"(?:src|href)=\"(?!data:)")
        asked = page.with_suffix(".asked.html")
        asked.write_text(text.replace("<style>", BEFORE + "<style>", 1).replace("</body>", AFTER + "</body>"), encoding="utf-8")
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.scratch}/browser",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},900", "--virtual-time-budget=20000", "--dump-dom",
             asked.resolve().as_uri()], check=True, capture_output=True, encoding="utf-8", timeout=120)
        asked.unlink()
        answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.S)
        self.assertIsNotNone(answer, done.stderr[-500:])
        seen = json.loads(answer[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        self.assertEqual((seen["drawn"], seen["wrong"], seen["requests"]), ("yes", [], []), page)
        self.assertLessEqual(seen["wide"], 0, f"{page} is wider than the window of {width}")
        for figure in seen["figures"]:
            self.assertGreater(figure["marks"], 0, figure)
            self.assertGreater(figure["table"], 0, figure)
            self.assertEqual(figure["label"], figure["title"])
        for table in seen["tables"]:
            self.assertEqual(sorted(table["before"]), sorted(table["sorted"]), "sorting keeps the rows that fit")
            if table["found"] is not None:
                self.assertIn(table["sorted"][0], table["found"])
        return seen

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
