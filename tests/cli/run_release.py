#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/release.sh: tag, changelog and --version have to agree.

    run_release.py --tool BINARY --testdata DIR release [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import shutil
import subprocess
import sys

from cli import DOCS, Cli, main

ROOT = DOCS.parent


class Release(Cli):
    """In a repository of its own, with a program that says what it is told to."""

    def setUp(self):
        super().setUp()
        self.write("CMakeLists.txt", "project(msprof-analyze VERSION 1.2.0 LANGUAGES CXX\n)\n")
        self.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-31\n\n### Added\n\n* x\n")
        (self.scratch / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/release.sh", self.scratch / "scripts")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "x")
        self.git("tag", "v1.2.0")
        self.program("1.2.0", self.git("rev-parse", "--short=12", "HEAD"))

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.scratch, check=True, capture_output=True,
                              encoding="utf-8").stdout.strip()

    def program(self, version, commit):
        self.write("program", f"#!/bin/sh\necho 'msprof-analyze {version}'\necho 'commit        {commit}'\n").chmod(0o755)

    def replace(self, name, old, new):
        text = (self.scratch / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def check(self, *arguments):
        done = subprocess.run(["bash", "scripts/release.sh", *arguments], cwd=self.scratch, check=False,
                              capture_output=True, encoding="utf-8")
        return done.returncode, done.stdout + done.stderr

    def assert_refused(self, *words, tag="v1.2.0"):
        code, text = self.check(tag, "./program")
        self.assertEqual(code, 1, text)
        for word in words:
            self.assertIn(word, text)

    def test_agreement(self):
        self.assertEqual(self.check("v1.2.0", "./program"), (0, "release: 1.2.0 is ready\n"))
        self.assertEqual(self.check("", "./program"), (0, "release: 1.2.0\n"))

    def test_other_versions(self):
        self.assert_refused("the tag is v1.3.0", "at no commit", tag="v1.3.0")
        self.replace("CHANGELOG.md", "[1.2.0]", "[1.1.0]")
        self.assert_refused("CHANGELOG.md", "[1.1.0]")
        self.program("1.2.1", "abc")
        self.assert_refused("says 'msprof-analyze 1.2.1'", "commit abc")

    def test_no_semantic_version(self):
        self.replace("CMakeLists.txt", "1.2.0", "1.02.0")
        self.assert_refused("semantic")

    def test_a_commit_after_the_tag(self):
        self.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "y")
        self.assert_refused("the tag v1.2.0 is at", "is built of commit")

    def test_forms_of_the_changelog(self):
        for old, new, words in (("- 2026-12-31", "(soon)", "neither"), ("### Added", "### New things", "kind of change"),
                                ("## [Unreleased]\n", "", "first section")):
            with self.subTest(new=new):
                self.replace("CHANGELOG.md", old, new)
                self.assert_refused(words)
                self.git("checkout", "-q", "CHANGELOG.md")

    def test_of_this_version(self):
        done = subprocess.run(["bash", ROOT / "scripts/release.sh", "", self.TOOL], check=False, capture_output=True,
                              encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    sys.exit(main(__doc__, Release))
