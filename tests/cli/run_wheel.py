#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package for pip, beside that of the Python tool.

    run_wheel.py --tool BINARY --testdata DIR wheel [-v]

Exit status: 0 passed, 1 failed, 2 usage, 77 skipped: Python cannot make environments (package python3-venv).
"""

import importlib.util
import os
import subprocess
import sys
import venv
import zipfile

from cli import DOCS, TIMEOUT_SECONDS, Cli, main

ROOT = DOCS.parent
SKIPPED = 77
OTHER = "the Python tool, version 1.2.3"  # what the stand-in says


class Wheel(Cli):
    """msprof-analyze is of the package that was installed last; msprof-analyze-native is always the program."""

    def setUp(self):
        super().setUp()
        document = self.scratch / "tree/share/doc/msprof-analyze"
        self.write("tree/bin/msprof-analyze", f"#!/bin/sh\nexec '{self.TOOL}' \"$@\"\n").chmod(0o755)
        (document / "licences").mkdir(parents=True)
        for name in ("sbom.cdx.json", "LICENSE", "licences/fmt.txt"):
            (document / name).write_text("x", encoding="utf-8")
        subprocess.run([sys.executable, "-B", ROOT / "packaging/make_wheel.py", "0.1.0", "x86_64", self.scratch / "tree", self.scratch],
                       check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        (self.native,) = self.scratch.glob("msprof_analyze_native-*.whl")
        self.other = self.scratch / "msprof_analyze-1.2.3-py3-none-any.whl"
        info = "msprof_analyze-1.2.3.dist-info"
        with zipfile.ZipFile(self.other, "w") as wheel:
            wheel.writestr("msprof_analyze.py", f"def run():\n    print('{OTHER}')\n")
            wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: msprof-analyze\nVersion: 1.2.3\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\nmsprof-analyze=msprof_analyze:run\n")
            wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (
                "msprof_analyze.py", *(f"{info}/{file}" for file in ("METADATA", "WHEEL", "entry_points.txt", "RECORD")))))
        venv.create(self.scratch / "venv", with_pip=True)

    def pip(self, *arguments):
        subprocess.run([self.scratch / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
                       check=True, timeout=TIMEOUT_SECONDS)

    def install(self, wheel, *more):
        self.pip("install", "--no-index", "--no-deps", *more, wheel)

    def first_line(self, *command):
        """What --version says; none where there is no such program."""
        program, *more = command
        path = self.scratch / "venv/bin" / program
        if not path.exists():
            return None
        done = subprocess.run([path, *more, "--version"], check=True, capture_output=True, encoding="utf-8")
        return done.stdout.splitlines()[0]

    def assert_says(self, plain, native):
        self.assertEqual(self.first_line("msprof-analyze"), plain)
        self.assertEqual(self.first_line("msprof-analyze-native"), native)
        if native:
            self.assertEqual(self.first_line("python", "-m", "msprof_analyze_native"), native)

    def test_beside_the_python_tool(self):
        ours = self.run_tool("--version").out.splitlines()[0]
        self.assertRegex(ours, r"^msprof-analyze \d")
        self.install(self.other)
        self.assert_says(OTHER, None)
        self.install(self.native)
        self.assert_says(ours, ours)
        link = self.scratch / "linked"
        link.symlink_to(self.scratch / "venv/bin/msprof-analyze")
        self.assertIn(ours, subprocess.run([link, "--version"], check=True, capture_output=True, encoding="utf-8").stdout)
        code = subprocess.run([link, "compare", "--nonsense"], check=False, capture_output=True).returncode
        self.assertEqual(code, 2)
        self.install(self.other, "--force-reinstall")  # or an update of it
        self.assert_says(OTHER, ours)
        self.install(self.native, "--force-reinstall")  # switches back
        self.assert_says(ours, ours)
        self.pip("uninstall", "--yes", "msprof-analyze")
        self.assert_says(None, ours)
        self.install(self.native, "--force-reinstall")
        self.assert_says(ours, ours)
        self.install(self.other)
        self.pip("uninstall", "--yes", "msprof-analyze-native")
        self.assert_says(None, None)
        self.install(self.other, "--force-reinstall")
        self.assert_says(OTHER, None)


if __name__ == "__main__":
    if importlib.util.find_spec("ensurepip") is None:
        print("skipped: Python cannot make environments", file=sys.stderr)
        sys.exit(SKIPPED)
    sys.exit(main(__doc__, Wheel))
