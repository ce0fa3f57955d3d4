# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium with a window, keys and a wheel, by its DevTools protocol over a pipe; and tests that look at pages with it."""

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import unittest

from cli import TIMEOUT_SECONDS, Cli

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CTRL = 2  # a bit of "modifiers"
# What went wrong while the page was drawn, and what it put onto the clipboard.
BEFORE = """window.wrong = []; window.addEventListener('error', (event) => window.wrong.push(String(event.message)));
navigator.clipboard.writeText = async (text) => { window.copied = text; };"""


class Browser:
    """One page at a time."""

    def __init__(self, scratch):
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()

        def pipes():  # the browser reads from 3 and writes to 4
            high = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (down_read, up_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/browser",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-smooth-scrolling",
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes)
        os.close(down_read)
        os.close(up_write)
        self.number, self.session, self.rest = 0, None, b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=BEFORE)

    def close(self):
        os.close(self.down)
        os.close(self.up)
        self.process.kill()
        self.process.wait()

    def message(self):
        while b"\0" not in self.rest:
            more = select.select([self.up], [], [], TIMEOUT_SECONDS)[0] and os.read(self.up, 1 << 16)
            if not more:
                raise RuntimeError("the browser does not answer")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.down, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, page, width=1280, height=900, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Page.navigate", url=page.resolve().as_uri())
        self.value("new Promise((done) => (document.readyState === 'complete' ? done() : window.addEventListener('load', done)))")

    def value(self, expression):
        """Of an expression of JavaScript, or what it promises."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wheel_over(self, selector, down, ctrl=False):
        """Turns the wheel by so many pixels over the middle of what of an element is seen."""
        x, y = self.value(f"""(() => {{
          const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
          return [(box.left + box.right) / 2, (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2];
        }})()""")
        self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down, modifiers=CTRL if ctrl else 0)
        self.settle()

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


# What is asked of every page. `marks`: whatever a number of a chart is drawn as.
LOOK = """
window.texts = (nodes) => [...nodes].map((node) => node.textContent);
window.marks = (figure) => figure.querySelectorAll(".bar, .cell, .dot, .area, .line, .bin, .frame, .span").length;
window.figureOf = (start) => [...document.querySelectorAll("figure")].find((one) => one.textContent.startsWith(start));
window.letterSizes = () => [...document.querySelectorAll("svg text")].filter((text) => text.textContent)
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * Math.abs(text.ownerSVGElement.getScreenCTM().a));
document.querySelectorAll("details").forEach((details) => { details.open = true; });
"""
SEEN = """new Promise((done) => setTimeout(() => {
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
  done({ asked: ASKED, drawn: document.documentElement.dataset.drawn, wrong: window.wrong,
    wide: document.documentElement.scrollWidth - window.innerWidth,
    sideways: [...document.querySelectorAll(".rows, .scroll")].filter((one) => one.scrollWidth > one.clientWidth).length,
    smallest: Math.min(Infinity, ...letterSizes()) > 11.9 ? 12 : Math.min(...letterSizes()),
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    figures: [...document.querySelectorAll("figure")].map((figure) => ({
      title: figure.querySelector("figcaption").textContent, marks: marks(figure), table: figure.querySelectorAll("tbody tr").length,
      label: figure.querySelector("svg").getAttribute("aria-label") })),
    tables });
}, 200))"""


@unittest.skipUnless(BROWSER, "there is no Chromium (package chromium)")
class PageTests(Cli):
    """Tests that share one browser."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # the browser ends after its parts
        cls.addClassCleanup(directory.cleanup)
        cls.browser = Browser(directory.name)
        cls.addClassCleanup(cls.browser.close)

    def opened(self, page, width=1280, **options):
        self.browser.open(page, width, **options)
        self.browser.value(LOOK)
        self.browser.settle()
        return self.browser

    def looked_at(self, page, width=1280, asked="null"):
        """`asked`: an expression whose value is wanted, too."""
        text = page.read_text(encoding="utf-8")
        self.assertNotRegex(text.split("<script", maxsplit=1)[0], r"(?:src|href)=\"(?!data:)")
        seen = self.opened(page, width).value(SEEN.replace("ASKED", asked))
        self.assertEqual((seen["drawn"], seen["wrong"], seen["requests"]), ("yes", [], []), page)
        self.assertLessEqual(seen["wide"], 0, f"{page} is wider than the window of {width}")
        self.assertEqual(seen["smallest"], 12, f"{page} has small letters in a window of {width}")
        if width == 400:
            self.assertEqual(seen["sideways"], 0, f"{page} has parts that scroll sideways")
        for figure in seen["figures"]:
            self.assertGreater(figure["marks"], 0, figure)
            self.assertGreater(figure["table"], 0, figure)
            self.assertEqual(figure["label"], figure["title"])
        for table in seen["tables"]:
            if table["rows"] <= len(table["before"]):
                self.assertEqual(sorted(table["before"]), sorted(table["sorted"]), "sorting keeps the rows")
            if table["found"] is not None:
                self.assertIn(table["sorted"][0], table["found"])
        return seen

    def made_up(self, charts=(), tables=()):
        """A page of the tool with other charts and tables."""
        out = self.scratch / "template"
        self.run_tool("-m", "rl_roles", "-d", self.CAPTURES / "rl_colocated", "-o", out, "--export_type", "html")
        (page,) = out.rglob("*.html")
        text = page.read_text(encoding="utf-8")
        figures = "".join(f"<figure data-chart=\"{i}\"><figcaption>{chart['title']}</figcaption></figure>\n" for i, chart in enumerate(charts))
        boxes = "".join(f"<div data-table=\"{i}\"></div>\n" for i in range(len(tables)))
        data = json.dumps({"tables": tables, "charts": charts}).replace("<", "\\u003c")
        head, rest = text.split("<main>", 1)
        rest = re.sub(r"(id=\"data\">).*?(</script>)", lambda match: match[1] + data + match[2], rest.split("</main>", 1)[1], count=1, flags=re.S)
        made = self.scratch / "made_up.html"
        made.write_text(f"{head}<main>\n{figures}{boxes}</main>{rest}", encoding="utf-8")
        return made
