#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What terminals get and pipes do not.

    run_terminal.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: terminal.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading

from cli import BASE, ESCAPE, TIMEOUT_SECONDS, Cli, main
from steps import write_capture


class Terminal(Cli):
    """Colour is for terminals that want it."""

    def on_terminal(self, *arguments, columns=80, **env):
        """What a run writes to a terminal."""
        try:
            leader, follower = pty.openpty()
        except OSError as error:
            print(f"SKIPPED: this machine has no pseudo-terminals ({error})", file=sys.stderr)
            self.skipTest("no pseudo-terminals")
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        received = []
        termios.tcsetwinsize(follower, (50, columns))

        def receive():
            try:
                while chunk := os.read(leader, 4096):
                    received.append(chunk)
            except OSError:  # the other end is closed
                pass
        reader = threading.Thread(target=receive)
        reader.start()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        try:
            subprocess.run([self.TOOL, *map(str, arguments)], cwd=self.CAPTURES, stdin=follower,
                           stdout=follower, stderr=follower, check=False, timeout=TIMEOUT_SECONDS,
                           env={**environment, "TERM": "xterm", **env})
        finally:
            os.close(follower)
            reader.join(TIMEOUT_SECONDS)
            os.close(leader)
        return b"".join(received).decode()

    def test_help_is_as_wide_as_the_terminal(self):
        for columns, width in ((70, 70), (100, 100), (20, 60), (300, 120)):
            lines = self.on_terminal("compare", "--help", "all", columns=columns).splitlines()
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertGreater(max(map(len, lines)), width - 10)

    def test_pipes_get_no_escape_bytes(self):
        for result in (self.compare(), self.compare(comparison="missing"), self.run_tool("--help")):
            self.assertNotIn(ESCAPE, result.out + result.all_err)

    def test_terminals(self):
        arguments = ["compare", "-d", "missing", "-bp", BASE, "-o", self.out]
        self.assertIn(ESCAPE, self.on_terminal(*arguments))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            text = self.on_terminal(*arguments, **env)
            self.assertNotIn(ESCAPE, text)
            self.assertIn("msprof-analyze: error: -d: missing", text)
        self.assertIn(ESCAPE, self.on_terminal(*arguments, NO_COLOR=""))  # empty means not set

    def test_the_verdict_of_a_gate(self):
        capture = write_capture(self.scratch / "x_ascend_pt", (100_000,) * 3)
        arguments = ["compare", "-d", capture, "-bp", capture, "--fail_on", "step_time>+3%"]
        self.assertIn(f"{ESCAPE}[32mOK step_time", self.on_terminal(*arguments))
        self.assertNotIn(ESCAPE, self.on_terminal(*arguments, NO_COLOR="1"))

    def test_lines_are_as_long_as_the_terminal_allows(self):
        arguments = ["compare", "-d", "gpu_new.json", "-bp", "gpu_base.json", "-o", self.out]
        name = "implicit_convolve_sgemm<float, float, 128, 5, 5>"
        for columns, longest in ((40, 80), (100, 100), (300, 120)):
            text = self.on_terminal(*arguments, columns=columns, NO_COLOR="1")
            lines = [line for line in text.splitlines() if not line.startswith("msprof-analyze: ")]
            self.assertLessEqual(max(map(len, lines)), longest)
            self.assertEqual(name in text, columns > 80, text)
        self.assertNotIn(name, self.run_tool(*arguments).out)
        document = self.on_terminal(*arguments, "--json", columns=120, NO_COLOR="1")
        self.assertNotIn(name, next(line for line in document.splitlines() if '"story"' in line))

    def test_names_cannot_command_the_terminal(self):
        missing = self.scratch / f"{ESCAPE}[31mred"
        for text in (self.compare(comparison=missing).all_err,
                     self.on_terminal("compare", "-d", missing, "-bp", BASE, NO_COLOR="1")):
            self.assertNotIn(ESCAPE, text)
            self.assertIn("\\x1b[31mred", text)


if __name__ == "__main__":
    sys.exit(main(__doc__, Terminal))
