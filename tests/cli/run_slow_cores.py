#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that run all the time and are slow: what is said of caches that miss and of NUMA nodes, and where nothing is.

    run_slow_cores.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: caches (logs of function_monitor), nodes (traces of the scheduler with NUMA nodes). The
captures are those of the cases in tests/support/cases, with what refutes the cause, or hides it.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import sys

from cli import Cli, main
from cases import caches, threads
from cases.case import small_job

CACHES, NODES = "host.cache_misses", "host.numa_moves"


class SlowCores(Cli):
    def found(self, job, code=0):
        done = self.run_tool("advisor", "all", "-d", job, "--json", "-o", self.out)
        self.assertEqual((done.code, done.errors), (code, []), done.err)
        self.warned = " ".join(" ".join(done.err).split())
        return {found["id"]: found for found in json.loads(done.out)["findings"]}

    def job(self, name, write, plants):
        folder = self.scratch / name
        folder.mkdir()
        self.made = small_job(plants, ranks=4)
        write(folder, self.made)
        return folder

    def captures(self, job):
        return sorted(job.glob("*_ascend_pt"))


class Caches(SlowCores):
    """The functions of rank 3 take longer."""

    def missing(self, name, counts=caches.counts_of, plants=None):
        return self.job(name, caches.with_logs(counts), plants or caches.Missing())

    def test_what_refutes_it(self):
        usual = caches.counts_of

        def slept(rank, start, end):
            """The core did not run: its cycles are those of the others."""
            ends = end - caches.LAYER_OPERATORS * caches.Missing.TIME if rank == caches.RANK else end
            return usual(rank, start, ends)

        def worked(rank, start, end):
            """It executes more, and its misses are those of the work."""
            counts = usual(rank, start, end)
            if rank == caches.RANK:
                counts["instructions"] *= caches.MANY_MISSES // caches.USUAL_MISSES
            return counts

        def uncounted(rank, start, end):
            return {"cycles": 5, "instructions": 5}
        for name, counts in (("slept", slept), ("worked", worked), ("uncounted", uncounted),
                             ("few", caches.few_misses)):
            with self.subTest(name):
                self.assertNotIn(CACHES, self.found(self.missing(name, counts)))

    def test_misses_that_cost_nothing(self):
        """The caches of a rank miss, and it is as fast as the others."""
        self.assertNotIn(CACHES, self.found(self.missing("fast", plants=caches.Hitting())))

    def test_without_cycles_it_is_less_certain(self):
        def counts(rank, start, end):
            return {"LLC-load-misses": caches.counts_of(rank, start, end)["LLC-load-misses"]}
        with_cycles = self.found(self.missing("cycles"))[CACHES]
        without = self.found(self.missing("none", counts))[CACHES]
        self.assertEqual((with_cycles["confidence"], without["confidence"]), ("high", "medium"))
        self.assertEqual(without["ranks"], [caches.RANK])

    def test_the_timeline_shows_functions(self):
        job = self.missing("shown")
        trace = self.scratch / "shown.json"
        done = self.run_tool("export", "timeline", "-d", job / f"rank{caches.RANK}_ascend_pt", "-o", trace)
        self.assertEqual((done.code, done.errors), (0, []), done.err)
        names = [event["name"] for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
                 if event.get("cat") == "function"]
        misses = caches.LAYER_OPERATORS * caches.MANY_MISSES
        self.assertEqual(names, [f"layer_forward: {misses} cache misses"] * 8)

    def test_a_log_that_does_not_fit(self):
        job = self.missing("other")
        logs = [next(capture.glob("*.log")) for capture in self.captures(job)]
        text = {log: log.read_text(encoding="utf-8") for log in logs}

        def altered(change):
            for log in logs:
                log.write_text(change(text[log]), encoding="utf-8")
            return self.found(job, 5)
        self.assertNotIn(CACHES, altered(lambda log: log.replace(f"tid:{threads.MAIN} ", "tid:77 ")))
        self.assertIn("none is of a thread of the capture", self.warned)
        self.assertNotIn(CACHES, altered(lambda log: log.replace(" start:7", " start:9")))
        self.assertIn("they are of another time than the capture", self.warned)
        # What is broken costs no more than itself.
        self.assertIn(CACHES, altered(lambda log: log + "name:f start:x duration:3\n"))
        self.assertIn("its name, thread or time is invalid", self.warned)

    def test_the_clock_has_to_be_known(self):
        job = self.missing("clock")
        for capture in self.captures(job):
            next(capture.glob("PROF_*/host/start_info")).unlink()
        self.assertNotIn(CACHES, self.found(job))
        self.assertIn("the clock of the capture is unknown", self.warned)

    def test_functions_within_each_other(self):
        """The outer function lost its counts when it entered the inner one."""
        job = self.missing("nested")
        for capture in self.captures(job):
            log = next(capture.glob("*.log"))
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            outer = [line.replace("layer_forward", "model").replace("duration:", "duration:9") for line in lines]
            log.write_text("".join(line for pair in zip(lines, outer) for line in pair), encoding="utf-8")
        places = {place["name"] for place in self.found(job).get(CACHES, {"evidence": []})["evidence"]}
        self.assertNotIn("model", places)

    def test_the_thread_that_is_preempted_is_not_slow_by_its_caches(self):
        """What the scheduler explains is left to it: together they explain no more than there is."""
        job = self.missing("both")
        def time_of_caches():
            (time,) = [metric["value"] for metric in self.found(job)[CACHES]["metrics"]
                       if metric["name"] == "time_per_step"]
            return time
        alone = time_of_caches()
        for capture in self.captures(job):
            lines = threads.Lines()
            lines.switch(-threads.RUN_BEFORE, threads.IDLE, threads.LAUNCHING, "S")
            if capture.name.startswith(f"rank{caches.RANK}"):
                log = next(capture.glob("*.log")).read_text(encoding="utf-8")
                for line in log.splitlines()[1::2]:  # the first call of a step begins before it
                    words = dict(word.split(":", 1) for word in line.split() if ":" in word)
                    start = int(float(words["start"]) * 1000) - threads.MONOTONIC
                    threads.taken_by("CSD", 777, 1)(lines, start + 5_000, start + 245_000)  # before its first operator
            lines.switch(10 ** 10, threads.LAUNCHING, threads.IDLE, "S")
            (capture / "trace.txt").write_text(lines.text(), encoding="utf-8")
        less = alone - time_of_caches()
        self.assertGreaterEqual(less, 235_000)
        self.assertLess(less, 280_000)


class Nodes(SlowCores):
    """The operators of rank 3 take longer from a step on."""

    def test_slower_without_a_move(self):
        class Slow(threads.Far):
            def record(self, writer, number, done):
                self.moved = -threads.RUN_BEFORE + 1_000  # before the first operator
        self.assertNotIn(NODES, self.found(self.job("still", threads.with_nodes, Slow())))

    def test_nodes_have_to_be_known(self):
        def write(folder, job):
            threads.with_nodes(folder, job, nodes="")
        found = self.found(self.job("unknown", write, threads.Far()))
        self.assertNotIn(NODES, found)
        done = self.run_tool("advisor", "all", "-d", self.scratch / "unknown", "--json", "-o", self.out)
        self.assertNotIn(NODES, done.out)  # nor is it called fine

    def test_moves_within_a_node(self):
        def write(folder, job):
            threads.with_nodes(folder, job, nodes="# node0 cpu list : 0-95\n")
        self.assertNotIn(NODES, self.found(self.job("near", write, threads.Far())))

    def test_a_warm_up_is_no_node(self):
        """The first steps are slow, on the node that the thread leaves then."""
        class WarmUp(threads.Far):
            def on_host(self, rank):
                return self.FACTOR if rank == threads.RANK and self.step < self.FROM else 1
        self.assertNotIn(NODES, self.found(self.job("warm", threads.with_nodes, WarmUp())))

    def test_the_place_and_the_price(self):
        found = self.found(self.job("moved", threads.with_nodes, threads.Far()))
        self.assertEqual(next(iter(found)), NODES)
        place = found[NODES]["evidence"][0]
        self.assertEqual((place["table"], place["rank"]), ("thread_states", threads.RANK))
        slow = sum(done.host_end - done.host for done in self.made.done[threads.RANK]
                   if done.step >= threads.Far.FROM and (done.operator.kernel or done.operator.group))  # others wait
        more = slow * (1 - 1 / threads.Far.FACTOR) / self.made.steps
        (time,) = [metric["value"] for metric in found[NODES]["metrics"] if metric["name"] == "time_per_step"]
        self.assertLess(abs(time - more), 0.1 * more)


if __name__ == "__main__":
    sys.exit(main(__doc__, Caches, Nodes))
