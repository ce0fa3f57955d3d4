#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What -d takes: a trace, a database, a table, a link, several of them; and results that cannot be written.

    run_inputs.py --tool BINARY --testdata DIR inputs [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import shutil
import sys

from cli import BASE, Cli, main
from captures import build_job, gzip_copy

OUTPUT = "ASCEND_PROFILER_OUTPUT"
RECIPES = ("top_operators", "slow_rank", "cluster_time_summary", "free_analysis")


class Inputs(Cli):
    def commands(self, *recipes):
        """By name, what stands in front of -d."""
        own = {"advisor": ["advisor", "all"], "check": ["check"], "export": ["export", "timeline"],
               **{recipe: ["-m", recipe] for recipe in RECIPES}}
        return {name: own[name] for name in recipes or own}

    def ask(self, command, *captures, cwd=None):
        output = [] if command[0] == "check" else ["-o", self.out]
        return self.run_tool(*command, *captures, *output, cwd=cwd)

    def plain(self, text):
        """Without what names the captures."""
        lines = [line for line in text.splitlines() if not line.startswith(("Next: ", "    /", "/"))]
        return re.sub(r"  from .*\n|rank0_ascend_pt|gpu_base\S*|size .*", "", "\n".join(lines))

    def assert_same(self, command, named, *other, code=None):
        expected, done = self.ask(command, "-d", named), self.ask(command, *other)
        self.assertEqual(done.code, expected.code if code is None else code, done.err)
        self.assertEqual(self.plain(done.out), self.plain(expected.out))
        self.assertNotEqual(done.out + "".join(done.errors), "")

    def test_traces_of_gpus(self):
        directory = self.scratch / "traces"
        directory.mkdir()
        shutil.copy(self.CAPTURES / "gpu_base.json", directory)
        packed = gzip_copy(self.CAPTURES, "gpu_base.json", self.scratch)
        for name, command in self.commands("advisor", "export", "top_operators", "free_analysis").items():
            for file in (directory / "gpu_base.json", packed):
                with self.subTest(command=name, file=file.name):
                    self.assert_same(command, directory, "-d", file)

    def test_traces_and_databases_of_npus(self):
        job = build_job(self.CAPTURES, "1:db_base_ascend_pt", self.scratch)
        (database,) = job.rglob("*.db")
        for name, command in self.commands().items():
            with self.subTest(command=name):
                self.assert_same(command, job, "-d", database)
        trace = shutil.copy(self.CAPTURES / BASE / OUTPUT / "trace_view.json", self.scratch)
        for name, command in self.commands("advisor", "export", "top_operators", "free_analysis").items():
            done = self.ask(command, "-d", trace)
            with self.subTest(command=name):
                self.assertIn(done.code, (0, 5), done.err)
                self.assertNotEqual(done.out, "")

    def test_a_table(self):
        """Its kernels are those of the whole capture; other recipes say which file they need."""
        table = self.CAPTURES / BASE / OUTPUT / "kernel_details.csv"

        def kernels(path):
            done = self.run_tool("-m", "top_operators", "-d", path, "--top", "100", "--json")
            (sheet,) = [sheet for sheet in json.loads(done.out)["sheets"] if sheet["name"] == "TopKernels"]
            rows = [row for row in sheet["rows"] if row["kind"] == "kernel"]
            return done.code, {(row["type"], row["calls"], row["total_ns"]) for row in rows}

        alone, whole = kernels(table), kernels(self.CAPTURES / BASE)
        self.assertEqual((alone[0], whole[0]), (5, 0))
        self.assertEqual(alone[1], whole[1])
        self.assertGreater(len(alone[1]), 3)
        for name, command in self.commands("advisor", "slow_rank").items():
            self.assert_fails(3, self.ask(command, "-d", table), "kernel_details.csv: no trace_view.json and no profiler "
                              "database there, which this needs")
        other = self.CAPTURES / BASE / OUTPUT / "communication.json"
        self.assert_fails(3, self.ask(["-m", "top_operators"], "-d", other),
                          "no kernel_details.csv, no trace_view.json and no profiler database there, one of which")

    def test_links_to_captures(self):
        job = build_job(self.CAPTURES, "2:db_base_ascend_pt:late=1", self.scratch)
        link, links = self.scratch / "link", self.scratch / "links"
        link.symlink_to(job)
        links.mkdir()
        for capture in job.iterdir():
            (links / capture.name).symlink_to(capture)
        for name, command in self.commands().items():
            with self.subTest(command=name):
                self.assert_same(command, job, "-d", link)
                self.assert_same(command, job, "-d", *sorted(links.iterdir()))

    def test_several_captures(self):
        """As several -d, and as shells put the names that fit a pattern."""
        job = build_job(self.CAPTURES, "4:db_base_ascend_pt:late=1", self.scratch)
        ranks = sorted(job.iterdir())
        for name, command in self.commands().items():
            with self.subTest(command=name):
                self.assert_same(command, job, "-d", *ranks)
                self.assert_same(command, job, *(word for rank in ranks for word in ("-d", rank)))
                self.assert_same(command, job, "-d", ranks[0], "-d", job)
        # Others beside them are not read.
        two = self.run_tool("-m", "slow_rank", "-d", *ranks[:2], "-o", self.out, "--export_type", "json")
        self.assertEqual(two.code, 0, two.err)
        (document,) = self.out.rglob("*.json")
        self.assertTrue(document.is_relative_to(self.out / "cluster_analysis_output"))
        done = self.run_tool("advisor", "all", "-d", *ranks[:2], "--json")
        self.assertEqual(json.loads(done.out)["capture"]["ranks"], [0, 1])
        self.assertIn(f"advisor why 1 -d {ranks[0]} {ranks[1]}", self.ask(["advisor"], "-d", *ranks[:2]).out)
        self.assert_fails(2, self.ask(["-m", "slow_rank"], "-d", *ranks, self.scratch / "none"),
                          f"unexpected argument '{self.scratch / 'none'}': no such path")

    def test_results_that_cannot_be_written(self):
        """The answer is on the screen, and an error says where to write."""
        job = build_job(self.CAPTURES, "2:db_base_ascend_pt", self.scratch)
        (job / "cluster_analysis_output").write_text("a file")
        no_room = "/proc"  # no user can make a file there
        for name, command, cwd in (("slow_rank", ["-m", "slow_rank", "-d", job], None),
                                   ("advisor", ["advisor", "all", "-d", job], no_room),
                                   ("compare", ["compare", "-d", job, "-bp", job], no_room)):
            with self.subTest(command=name):
                expected = self.run_tool(*command, "-o", self.out)
                done = self.run_tool(*command, cwd=cwd)
                self.assertEqual((done.code, done.out), (6, expected.out), done.err)
                self.assertEqual(len(done.errors), 1)
                self.assertTrue(done.errors[0].endswith("; give -o DIR"), done.errors)
                refused = self.run_tool(*command, "-o", no_room)
                self.assertEqual((refused.code, refused.out), (6, ""), "what was asked for is refused at once")


if __name__ == "__main__":
    sys.exit(main(__doc__, Inputs))
