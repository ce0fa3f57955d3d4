#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases for which performance engineers are called: each is planted, named first, and not seen in a healthy twin.

    run_cases.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: cases, casesonpages. The cases are in tests/support/cases, a file for each family.
docs/cases.md has a section for each, with the lines that the program says of it.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from cli import DOCS, Cli, main
from cases import caches, device, host, memory, requests, server, threads, waits
from cases.judge import false_alarms, objections, run

CASES = [case for family in (host, memory, threads, caches, waits, device, server, requests)
         for case in family.CASES]


class Making(Cli):
    def folder(self, *names):
        folder = self.scratch.joinpath(*names)
        folder.mkdir(parents=True)
        return folder


class Cases(Making):
    def judged(self, case):
        """Objections to what is said of the case, and of its twin."""
        planted, healthy = self.folder(case.name, "planted"), self.folder(case.name, "healthy")
        truth = case.plant(planted)
        case.healthy(healthy)
        found = [*objections(self.TOOL, planted, case, truth)], [*false_alarms(self.TOOL, healthy, case, truth)]
        shutil.rmtree(self.scratch / case.name)
        return case, *found

    def test_each_is_named_first_and_its_twin_is_not(self):
        with ThreadPoolExecutor(2) as pool:
            for case, wrong, alarms in pool.map(self.judged, CASES):
                with self.subTest(case.name):
                    self.assertEqual(wrong, [])
                    self.assertEqual(alarms, [], "of the healthy twin")

    def test_a_version_that_leaks(self):
        """Is told from the one before, although its steps take as long."""
        case = next(case for case in CASES if case.name == "memory-leak")
        case.plant(self.folder("new"))
        case.healthy(self.folder("old"))
        said = run(self.TOOL, self.scratch, "compare -d ./new/result -bp ./old/result")
        self.assertIn(f"memory grows by {memory.Leaking.KEPT / 1e6:.2f} MB a step (base 0.00)", said.splitlines())

    def test_the_judge_objects(self):
        """To another finding, rank, place, gain or text, and to a twin that is not healthy."""
        case = next(case for case in CASES if case.name == "uneven-experts")
        folder = self.folder("altered")
        truth = case.plant(folder)

        def number(**altered):
            return len([*objections(self.TOOL, folder, case, replace(truth, **altered))])
        self.assertEqual(number(), 0)
        for altered in ({"ranks": [1]}, {"place": "MatMulV3"}, {"cost_ns": 2 * truth.cost_ns}):
            self.assertEqual(number(**altered), 1, altered)
        self.assertEqual(len([*objections(self.TOOL, folder, replace(case, finding="op.format"), truth)]), 1)
        self.assertEqual([*false_alarms(self.TOOL, folder, case, truth)], ["ep.imbalance/r2"])
        as_text = replace(case, finding="")
        for text, wrong in (("4 ranks, steps 0-3", 0), ("5 ranks", 1)):
            of_text = replace(truth, says=[text])
            self.assertEqual(len([*objections(self.TOOL, folder, as_text, of_text)]), wrong)
            self.assertEqual(len([*false_alarms(self.TOOL, folder, as_text, of_text)]), 1 - wrong)


def excerpt(case, said):
    """What a page shows: the first finding of advisor, else the first lines."""
    lines = said.splitlines()
    if not case.finding:
        return [*lines[:case.lines], "..."]
    first = next(number for number, line in enumerate(lines) if line.startswith("1 "))
    ends = (number for number in range(first + 1, len(lines)) if not lines[number].startswith(" "))
    return ["...", *lines[first:next(ends, len(lines))], "..."]


class CasesOnPages(Making):
    """docs/cases.md has a section for each, with its command and what that says."""

    PAGE = DOCS / "cases.md"
    SECTION = re.compile(r"<!-- case: (\S+) -->\n(.*?)(?=<!-- case: |\Z)", re.S)

    def test_each_case_has_a_section(self):
        sections = self.SECTION.findall(self.PAGE.read_text(encoding="utf-8"))
        self.assertEqual(sorted(name for name, _ in sections), sorted(case.name for case in CASES))

    def block(self, case):
        folder = self.folder(case.name)
        case.plant(folder)
        shown = [f"$ msprof-analyze {case.command}", *excerpt(case, run(self.TOOL, folder, case.command))]
        return case.name, "```\n" + "\n".join(shown) + "\n```"

    def test_they_show_what_the_program_says(self):
        with ThreadPoolExecutor(2) as pool:
            blocks = dict(pool.map(self.block, CASES))
        page = self.PAGE.read_text(encoding="utf-8")

        def with_block(section):
            text = re.sub(r"```\n\$ msprof-analyze .*?\n```", lambda _: blocks[section[1]], section[2], 1, re.S)
            self.assertIn("```\n$ msprof-analyze ", section[2], section[1])
            return f"<!-- case: {section[1]} -->\n{text}"
        wanted = self.SECTION.sub(with_block, page)
        if os.environ.get("MPA_UPDATE_DOCS"):
            self.PAGE.write_text(wanted, encoding="utf-8")
            return
        self.assertEqual(page, wanted, f"MPA_UPDATE_DOCS=1 writes {self.PAGE} anew")


if __name__ == "__main__":
    sys.exit(main(__doc__, Cases, CasesOnPages))
