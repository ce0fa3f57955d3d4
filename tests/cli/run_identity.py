#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures that share ranks: engines, roles, replicas and sessions are never mixed, and none is dropped silently.

    run_identity.py --tool BINARY --testdata DIR identity [-v]

Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import sys

from cli import Cli, main
from run_kineto import gpu_trace


def slower(rank, factor):
    """The trace of a rank whose product takes longer: 150 us in a step become 150 times the factor."""
    trace = gpu_trace(rank)
    for event in trace["traceEvents"]:
        if event["name"] == "sgemm":
            event["dur"] = round(event["dur"] * factor)
    return trace


class Identity(Cli):
    def make(self, captures):
        """Captures by name: the rank, and by how much it is slower."""
        job = self.scratch / "job"
        for name, (rank, factor) in captures.items():
            path = job / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(slower(rank, factor)))
        return job

    def products(self, job, code):
        """By rank, its time of products in us of a step, and the warnings."""
        result = self.run_tool("-m", "cluster_time_summary", "-d", job, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        rows = json.loads(result.out)["sheets"][0]["rows"]
        return {row["rank"]: row["computation"] for row in rows}, "\n".join(result.warnings)

    def test_one_job(self):
        job = self.make({f"worker{rank}.json": (rank, 1) for rank in range(4)})
        products, said = self.products(job, 0)
        self.assertEqual(products, {0: 150, 1: 150, 2: 150, 3: 150})
        self.assertNotIn("left out", said)

    def test_engines_in_directories(self):
        """Of equally large ones the first by name; the other is named with what to do."""
        job = self.make({f"{engine}/worker{rank}.json": (rank, factor) for rank in range(2)
                         for engine, factor in (("decode", 1), ("prefill", 2))})
        products, said = self.products(job, 5)
        self.assertEqual(products, {0: 150, 1: 150})
        self.assertIn(f"{job}/prefill with ranks 0, 1 is left out", said)
        self.assertIn(f"-d {job}/prefill", said)
        self.assertEqual(self.products(job / "prefill", 0)[0], {0: 300, 1: 300})

    def test_roles_of_other_sizes(self):
        """The role with most ranks, as a whole."""
        job = self.make({**{f"rollout/a/worker{rank}.json": (rank, 1) for rank in range(2)},
                         **{f"update/b/worker{rank}.json": (rank, 2) for rank in range(3)}})
        products, said = self.products(job, 5)
        self.assertEqual(products, {0: 300, 1: 300, 2: 300})
        self.assertIn(f"{job}/rollout with ranks 0, 1 is left out", said)

    def test_engines_of_one_rank(self):
        job = self.make({"a/trace.json": (0, 1), "b/trace.json": (0, 2)})
        products, said = self.products(job, 5)
        self.assertEqual(products, {0: 150})
        self.assertIn(f"{job}/b with rank 0 is left out", said)

    def test_engines_by_name(self):
        for names in (("decode", "prefill"), ("dp0", "dp1")):
            with self.subTest(names=names):
                job = self.make({f"{name}_rank{rank}.pt.trace.json": (rank, 1 + place) for rank in range(2)
                                 for place, name in enumerate(names)})
                products, said = self.products(job, 5)
                self.assertEqual(products, {0: 150, 1: 150})
                self.assertIn("with ranks 0, 1 is left out", said)
                for path in job.iterdir():
                    path.unlink()

    def test_sessions(self):
        """The last one; a session that not all ranks wrote gives way to one that is whole."""
        first, second = 1694128201545, 1694128901545  # ms
        whole = {f"worker{rank}.{first + rank}.pt.trace.json": (rank, 1) for rank in range(3)}
        again = {f"worker{rank}.{second + rank}.pt.trace.json": (rank, 2) for rank in range(3)}
        products, said = self.products(self.make({**whole, **again}), 5)
        self.assertEqual(products, {0: 300, 1: 300, 2: 300})
        self.assertIn("ranks 0, 1, 2 of the session of", said)
        (self.scratch / "job" / f"worker1.{second + 1}.pt.trace.json").unlink()
        self.assertEqual(self.products(self.scratch / "job", 5)[0], {0: 150, 1: 150, 2: 150})

    def test_captures_that_nothing_tells_apart(self):
        """Times in between each other: the latest of each rank, with what that may mean."""
        job = self.make({"worker0.1694128201545.pt.trace.json": (0, 1), "worker1.1694128201546.pt.trace.json": (1, 1),
                         "worker2.1694128201547.pt.trace.json": (0, 2), "worker3.1694128201548.pt.trace.json": (1, 2)})
        products, said = self.products(job, 5)
        self.assertEqual(products, {0: 300, 1: 300})
        self.assertIn("is left out, because", said)
        self.assertIn("give each a directory of its own", said)

    def test_check_names_them(self):
        job = self.make({f"{engine}/worker{rank}.json": (rank, 1) for rank in range(2) for engine in ("a", "b")})
        self.assertIn("2 captures claim rank 0", " ".join(self.run_tool("check", job).out.split()))

    def test_advisor_keeps_one(self):
        job = self.make({f"{engine}/worker{rank}.json": (rank, factor) for rank in range(2)
                         for engine, factor in (("a", 1), ("b", 2))})
        result = self.run_tool("advisor", "all", "-d", job, "--json", "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        products = {round(row["leaves"]["comp.matmul"] / 1000) for row in json.loads(result.out)["accounting"]}
        self.assertEqual(products, {150})


if __name__ == "__main__":
    sys.exit(main(__doc__, Identity))
