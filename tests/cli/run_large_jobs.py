#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds up a job is named first, by every command that says it; testdata/large_job.py plants it.

    run_large_jobs.py --tool BINARY --testdata DIR GROUP [-v]

GROUP: planted.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import sys
from pathlib import Path

from cli import Cli, main

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testdata"))
from large_job import LargeJob, Plants  # noqa: E402

RANKS = 48
RECIPES = ("slow_rank", "cluster_time_summary", "communication_bottleneck", "all")


class Planted(Cli):
    def make(self, **plants):
        job, self.directory = LargeJob(RANKS, Plants(**plants)), self.scratch / "job"
        for rank in range(RANKS):
            job.write(self.directory, rank)
        return max(job.ends) // job.steps

    def judge(self, finding, ranks, line, *recipes):
        for recipe in recipes:
            done = self.run_tool("-m", recipe, "-d", self.directory, "-o", self.out)
            self.assertEqual((done.code, done.warnings), (0, []))
            self.assertTrue(done.out.startswith(line), (recipe, done.out[:300]))
        done = self.run_tool("advisor", "all", "-d", self.directory, "--json")
        self.assertEqual((done.code, done.warnings), (0, []))
        first = json.loads(done.out)["findings"][0]
        self.assertEqual((first["id"], first["ranks"]), (finding, ranks))
        return first["gain_ns"]

    def saved(self, **plants):
        """What a step takes longer than in the job without them."""
        return self.make(**plants) - max(LargeJob(RANKS).ends) // 3

    def test_a_late_rank(self):
        cost = self.saved(late=(13, 1.3))
        gain = self.judge("rank.late_compute", [13], "rank 13 holds up the others: it computes ", *RECIPES)
        self.assertAlmostEqual(gain / cost, 1, delta=0.1)

    def test_a_slow_link(self):
        cost = self.saved(link=(20, 4))
        gain = self.judge("link.slow", [20, 21], "slow link: rank 20 to 21 (HCCS) 3.5 GB/s, the others 14.0; ", *RECIPES)
        self.assertAlmostEqual(gain / cost, 1, delta=0.1)
        out = self.run_tool("-m", "slow_link", "-d", self.directory, "-o", self.out).out
        self.assertIn("rank 20 to 21 (HCCS) 3.5 GB/s", out.splitlines()[0])

    def test_a_slow_host(self):
        cost = self.saved(host=(2, 6))
        gain = self.judge("rank.late_host", list(range(16, 24)), "ranks 16-23 hold up the others: their devices are free ",
                          *RECIPES)
        self.assertAlmostEqual(gain / cost, 1, delta=0.1)

    def test_nothing(self):
        self.make()
        out = self.run_tool("-m", "slow_rank", "-d", self.directory, "-o", self.out).out
        self.assertTrue(out.startswith("no rank holds up the others"), out)
        found = json.loads(self.run_tool("advisor", "all", "-d", self.directory, "--json").out)["findings"]
        self.assertEqual([finding["id"] for finding in found if finding["gain_ns"] > 0], [])


if __name__ == "__main__":
    sys.exit(main(__doc__, Planted))
