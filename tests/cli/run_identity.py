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

    def run_recipe(self, job, code):
        result = self.run_tool("-m", "cluster_time_summary", "-d", job, "--json", "-o", self.out)
        self.assertEqual(result.code, code, result.err)
        return json.loads(result.out)["sheets"][0]["rows"], "\n".join(result.warnings)

    def products(self, job, code):
        """By rank, its time of products in us of a step, and the warnings."""
        rows, said = self.run_recipe(job, code)
        return {row["rank"]: row["computation"] for row in rows}, said

    def products_of_groups(self, job):
        """The same by group and rank."""
        rows, said = self.run_recipe(job, 0)
        self.assertIn("engines or roles; each is analysed by itself", said)
        return {(row["group"], row["rank"]): row["computation"] for row in rows}

    def test_one_job(self):
        job = self.make({f"worker{rank}.json": (rank, 1) for rank in range(4)})
        rows, said = self.run_recipe(job, 0)
        self.assertEqual({row["rank"]: row["computation"] for row in rows}, {0: 150, 1: 150, 2: 150, 3: 150})
        self.assertNotIn("group", rows[0])
        self.assertNotIn("share ranks", said)

    def test_engines_in_directories(self):
        job = self.make({f"{engine}/worker{rank}.json": (rank, factor) for rank in range(2)
                         for engine, factor in (("decode", 1), ("prefill", 2))})
        self.assertEqual(self.products_of_groups(job), {("decode", 0): 150, ("decode", 1): 150,
                                                        ("prefill", 0): 300, ("prefill", 1): 300})
        self.assertEqual(self.products(job / "prefill", 0)[0], {0: 300, 1: 300})

    def test_roles_of_other_sizes(self):
        job = self.make({**{f"rollout/a/worker{rank}.json": (rank, 1) for rank in range(2)},
                         **{f"update/b/worker{rank}.json": (rank, 2) for rank in range(3)}})
        self.assertEqual(self.products_of_groups(job), {**{("rollout", rank): 150 for rank in range(2)},
                                                        **{("update", rank): 300 for rank in range(3)}})

    def test_engines_of_one_rank(self):
        job = self.make({"a/trace.json": (0, 1), "b/trace.json": (0, 2)})
        self.assertEqual(self.products_of_groups(job), {("a", 0): 150, ("b", 0): 300})

    def test_an_engine_in_the_directory_itself(self):
        job = self.make({"trace.json": (0, 1), "capture/trace.json": (0, 2)})
        self.assertEqual(self.products_of_groups(job), {(".", 0): 150, ("capture", 0): 300})
        said = self.run_recipe(job, 0)[1]
        self.assertIn("., capture share ranks, so they are several jobs", said)

    def test_engines_by_name(self):
        for names in (("decode", "prefill"), ("dp0", "dp1")):
            with self.subTest(names=names):
                job = self.make({f"{name}_rank{rank}.pt.trace.json": (rank, 1 + place) for rank in range(2)
                                 for place, name in enumerate(names)})
                rows = self.products_of_groups(job)
                self.assertEqual(sorted((group[:3], rank, time) for (group, rank), time in rows.items()),
                                 [(name[:3], rank, 150 * (1 + place)) for place, name in enumerate(names)
                                  for rank in range(2)])
                for path in job.iterdir():
                    path.unlink()

    def test_nothing_is_computed_across_engines(self):
        """Collectives of one engine are no collectives of the other: ranks 1 and 3 of each came 30 us late to their own."""
        job = self.make({f"{engine}/worker{rank}.json": (rank, 1) for rank in range(4) for engine in ("a", "b")})
        document = json.loads(self.run_tool("-m", "slow_rank", "-d", job, "-o", self.out, "--json").out)
        (late,) = [sheet["rows"] for sheet in document["sheets"] if sheet["name"] == "LateRanks"]
        self.assertEqual([(row["ranks"], row["collectives"], row["most_ns"]) for row in late], [("1", 3, 30_000), ("3", 3, 30_000)] * 2)
        result = self.run_tool("-m", "slow_rank", "-d", job, "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        for engine in ("a:", "b:"):
            self.assertIn(engine, result.out.split("\n"))

    def test_files_of_groups(self):
        job = self.make({f"{engine}/worker{rank}.json": (rank, 1) for rank in range(2) for engine in ("a", "b")})
        result = self.run_tool("-m", "hccl_sum", "-d", job, "-o", self.out, "--export_type", "text")
        self.assertEqual(result.code, 0, result.err)
        table = next(self.out.rglob("*rank_stats*.csv")).read_text().splitlines()
        self.assertTrue(table[0].endswith("group"), table[0])
        self.assertEqual({line.rsplit(",", 1)[1] for line in table[1:]}, {"a", "b"})

    def engines(self):
        return self.make({f"{engine}/worker{rank}.json": (rank, factor) for rank in range(2)
                          for engine, factor in (("decode", 1), ("prefill", 2))})

    def test_advisor_takes_one(self):
        """Of equally large ones the first by name; the other is named with what to do."""
        job = self.engines()
        advised = self.run_tool("advisor", "all", "-d", job, "--json", "-o", self.out)
        self.assertEqual(advised.code, 5, advised.err)
        said = "\n".join(advised.warnings)
        self.assertIn(f"{job}/prefill with ranks 0, 1 is left out", said)
        self.assertIn(f"-d {job}/prefill", said)
        products = {round(row["leaves"]["comp.matmul"] / 1000) for row in json.loads(advised.out)["accounting"]}
        self.assertEqual(products, {150})

    def test_shards_have_all(self):
        job, parts = self.engines(), self.scratch / "parts"
        direct = self.run_tool("-m", "cluster_time_summary", "-d", job, "-o", self.out)
        for shard in ("0/3", "1/3", "2/3"):
            self.assertEqual(self.run_tool("-m", "cluster_time_summary", "-d", job, "--shard", shard, "-o", parts).code, 0)
        merged = self.run_tool("merge", parts, "-o", self.scratch / "merged")
        self.assertEqual((merged.code, merged.out), (direct.code, direct.out))
        self.assertIn("prefill", merged.out)

    def test_sessions(self):
        """The last one; a session that not all ranks wrote gives way to one that is whole."""
        first, second = 1694128201545, 1694128901545  # ms
        whole = {f"worker{rank}.{first + rank}.pt.trace.json": (rank, 1) for rank in range(3)}
        again = {f"worker{rank}.{second + rank}.pt.trace.json": (rank, 2) for rank in range(3)}
        products, said = self.products(self.make({**whole, **again}), 5)
        self.assertEqual(products, {0: 300, 1: 300, 2: 300})
        self.assertIn("(ranks 0, 1, 2) is left out: that of", said)
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
        page = " ".join(self.run_tool("check", job).out.split())
        self.assertIn("2 captures claim rank 0", page)
        self.assertIn("2 groups, which only rl_roles analyses together: - a: ranks 0, 1; 2 captures - b: ranks", page)
        self.assertEqual(self.groups(job), {name: ([0, 1], [str(job / name / f"worker{rank}.json") for rank in range(2)])
                                            for name in "ab"})
        self.assertEqual(self.groups(job / "a"), {})

    def groups(self, job):
        groups = json.loads(self.run_tool("check", job, "--json").out)["groups"]
        return {group["name"]: (group["ranks"], group["captures"]) for group in groups}

    def test_check_names_sessions_and_earlier_jobs(self):
        times = (1694128201545, 1694128901545)  # ms
        job = self.make({f"worker{rank}.{time + rank}.pt.trace.json": (rank, 1) for time in times for rank in range(3)})
        self.assertEqual({name: ranks for name, (ranks, _) in self.groups(job).items()},
                         {"session 1": [0, 1, 2], "session 2": [0, 1, 2]})
        days = self.make({f"../days/worker{rank}.{times[0] + rank * 5 * 86_400_000}.pt.trace.json": (rank, 1)
                          for rank in range(2)}).parent / "days"
        self.assertEqual({name: ranks for name, (ranks, _) in self.groups(days).items()},
                         {"earlier job": [0], "job": [1]})

    def test_how_many_are_analysed(self):
        """Also of traces that cannot be read; not where ranks were chosen."""
        job = self.make({f"worker{rank}.pt.trace.json": (rank, 1) for rank in range(6)})
        self.assertNotIn("analysed", self.run_recipe(job, 0)[1])
        for rank in range(1, 6):
            (job / f"worker{rank}.pt.trace.json").write_text("{")
        self.assertIn("1 of 6 traces analysed", self.run_recipe(job, 5)[1])
        chosen = self.run_tool("-m", "cluster_time_summary", "-d", job, "--rank_list", "0", "-o", self.out)
        self.assertNotIn("analysed", chosen.all_err)
        engines = self.make({f"../two/{engine}/worker{rank}.json": (rank, 1) for engine in "ab" for rank in range(2)})
        advised = self.run_tool("advisor", "all", "-d", engines.parent / "two", "-o", self.out)
        self.assertIn("2 of 4 traces analysed", advised.all_err)


if __name__ == "__main__":
    sys.exit(main(__doc__, Identity))
