#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the programs of the build look for libraries: never in the current directory, which may be a stranger's.

    run_search_paths.py --tool BINARY --testdata DIR searchpaths [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import os
import re
import subprocess
import sys

from cli import Cli, main


def search_paths(program):
    """The entries of RPATH and RUNPATH."""
    headers = subprocess.run(["readelf", "--dynamic", program], check=True, capture_output=True, encoding="utf-8").stdout
    lists = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", headers)
    return [entry for paths in lists for entry in paths.split(":")]


class SearchPaths(Cli):
    def test_each_entry_is_absolute_or_beside_the_program(self):
        folder = os.path.dirname(os.path.realpath(self.TOOL))
        programs = [path for path in (os.path.join(folder, name) for name in os.listdir(folder)) if os.access(path, os.X_OK)]
        self.assertIn(os.path.realpath(self.TOOL), programs)
        for program in programs:
            for entry in search_paths(program):
                self.assertRegex(entry, r"^(/|\$ORIGIN/)", f"{program}: the loader takes '{entry}' for a place of the user")

    def test_a_library_in_the_current_directory_is_not_loaded(self):
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(
                ["readelf", "--dynamic", self.TOOL], check=True, capture_output=True, encoding="utf-8").stdout):
            self.write(library, "not a library\n")
        done = subprocess.run([self.TOOL, "--version"], cwd=self.scratch, check=False, capture_output=True, encoding="utf-8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    sys.exit(main(__doc__, SearchPaths))
