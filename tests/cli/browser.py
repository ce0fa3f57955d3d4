# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium with a window, keys and a wheel, by its DevTools protocol over a pipe."""

import fcntl
import json
import os
import shutil
import subprocess

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
             "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", "about:blank"],
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
            more = os.read(self.up, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
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
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression):
        """Of an expression of JavaScript, or what it promises."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wheel(self, x, y, down, ctrl=False):
        self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down, modifiers=CTRL if ctrl else 0)
        self.settle()

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
