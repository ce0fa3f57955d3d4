#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What all commands say of a rank that is captured, left out, damaged, without its part, or not captured.

    run_states.py --tool BINARY --testdata DIR states|sharedstates [-v]

states: a job of eight ranks, in which the others wait for rank 6. It is in each of the five states in turn.
sharedstates: the same of a simulated job, in which that costs time; skipped where it is not at hand.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

from cli import Cli, main
from captures import build_job

RANKS, LATE = 8, 6
WORDS = {"left out": "analyse that rank, too (--rank_list)",
         "damaged": "copy or parse the capture of that rank again",
         "part missing": "run the shard of that rank, then merge again",
         "not captured": "capture that rank and its node"}
COVERAGE = {state: f"7 of 8 ranks read (1 {state})" for state in WORDS}
COVERAGE["not captured"] = "7 of 8 ranks captured"
LATENESS = ("slow_rank", "communication_bottleneck", "slow_link", "free_analysis", "cluster_time_summary")
SIMULATED = Path(__file__).resolve().parents[3] / "shared" / "data" / "sim" / "slow_rank" / "db"


def let_wait(database, rank):
    """The others see rank LATE come to each collective when three quarters of it are over. Its own are a quarter as
    long."""
    (metadata,) = database.execute("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'").fetchone()
    groups = json.loads(metadata)
    for group in groups.values():
        group.update(global_ranks=[*range(RANKS)], group_rank=rank)
    database.execute("UPDATE META_DATA SET value = ? WHERE name = 'parallel_group_info'", (json.dumps(groups),))
    for op, start, length in ((1, 1700000000700000000, 40_000_000), (2, 1700000000720000000, 40_000_000),
                              (3, 1700000001500000000, 30_000_000)):
        of_op = f"(SELECT globalTaskId FROM COMMUNICATION_TASK_INFO WHERE opId = {op})"
        wait = 0 if rank == LATE else 3 * length // 4
        database.execute(f"UPDATE TASK SET startNs = {start + wait} + (startNs - {start}) / 4, "
                         f"endNs = {start + wait} + (endNs - {start}) / 4 WHERE globalTaskId IN {of_op}")
        if rank == LATE:
            continue
        first = f"(SELECT min(globalTaskId) FROM COMMUNICATION_TASK_INFO WHERE opId = {op})"
        database.execute(f"UPDATE TASK SET startNs = {start}, endNs = {start + wait} WHERE globalTaskId = {first}")
        database.execute(f"UPDATE COMMUNICATION_TASK_INFO SET srcRank = {rank}, dstRank = {LATE} WHERE globalTaskId = {first}")


class OfStates(Cli):
    late = LATE

    def of_state(self, state):
        """The options that ask about the job in which the rank is in this state."""
        job = shutil.copytree(self.job, self.scratch / state.replace(" ", "_"))
        (file,) = job.rglob(f"ascend_pytorch_profiler_{self.late}.db")
        if state == "left out":
            return ["-d", job, "--rank_list", ",".join(str(rank) for rank in range(RANKS) if rank != self.late)]
        if state == "damaged":
            file.write_bytes(b"SQLite format 3\0" + bytes(5000))
        if state == "not captured":
            shutil.rmtree(file.parents[1])
        return ["-d", job]

    def check_words(self, state, text, *words):
        """Says the words of the state, and of no other."""
        for word in words:
            self.assertIn(word, text)
        for other, advice in WORDS.items():
            if other == state:
                continue
            for wrong in (f"({other})", f"1 {other}", advice, f"was {other}"):
                self.assertNotIn(wrong, text)

    def merged(self, *command):
        """What makes the report of the parts, of which those of the rank are gone."""
        parts = self.scratch / "parts"
        for shard in range(2):
            done = self.run_tool(*command, "-d", self.job, "--shard", f"{shard}/2", "-o", parts)
            self.assertEqual(done.code, 0, done.err)
        for part in parts.glob(f"*.rank{self.late}-*"):
            part.unlink()
        return lambda *more: self.run_tool("merge", parts, "-o", self.out, *more)


class States(OfStates):
    def setUp(self):
        super().setUp()
        self.job = build_job(self.CAPTURES, f"{RANKS}:db_base_ascend_pt:late={LATE}", self.scratch)
        for rank in range(RANKS):
            (file,) = (self.job / f"rank{rank}_ascend_pt").rglob("*.db")
            database = sqlite3.connect(file)
            let_wait(database, rank)
            database.commit()
            database.close()

    def test_recipes(self):
        for state in ("left out", "damaged", "not captured"):
            options = self.of_state(state)
            done = self.run_tool("-m", ",".join(LATENESS), *options, "-o", self.out, "--export_type", "json")
            self.assertEqual(done.code, 5 if state == "damaged" else 0, done.err)
            answers = dict(zip(LATENESS, done.out.split("== ")[1:]))
            for recipe, answer in answers.items():
                with self.subTest(state=state, recipe=recipe):
                    self.check_words(state, answer, f"rank {LATE} ({state})", COVERAGE[state])
            for file in self.out.rglob("*.json"):
                document = json.loads(file.read_text(encoding="utf-8"))
                if "absent_ranks" in document or "sheets" in document:
                    self.assertEqual(document["absent_ranks"], {state: [LATE]}, file.name)
            shutil.rmtree(self.out)
            page = self.run_tool("-m", "slow_rank", *options, "-o", self.out, "--export_type", "html")
            (file,) = self.out.rglob("*.html")
            self.check_words(state, file.read_text(encoding="utf-8"), state, f"rank {LATE} ({state})")
            shutil.rmtree(self.out)

    def test_advisor(self):
        for state in ("left out", "damaged", "not captured"):
            options = self.of_state(state)
            with self.subTest(state=state):
                done = self.run_tool("advisor", "all", *options, "-o", self.out)
                self.assertEqual(done.code, 5 if state == "damaged" else 0, done.err)
                self.check_words(state, done.out, COVERAGE[state])
                document = json.loads(self.run_tool("advisor", "all", *options, "--json").out)
                self.assertEqual(document["capture"]["absent"], {state: [LATE]})

    def test_a_part_is_missing(self):
        state = "part missing"
        done = self.merged("-m", "slow_rank,cluster_time_summary")()
        self.assertEqual(done.code, 5)
        for answer in done.out.split("== ")[1:]:
            self.check_words(state, answer, f"rank {LATE} ({state}) arrived", COVERAGE[state])

    def test_a_part_of_one_recipe_is_missing(self):
        """What is missing of one recipe is there of another."""
        parts = self.scratch / "parts"
        done = self.run_tool("-m", "slow_rank,free_analysis", "-d", self.job, "--shard", "0/1", "-o", parts)
        self.assertEqual(done.code, 0, done.err)
        next(parts.glob(f"free_analysis.rank{LATE}-*")).unlink()
        done = self.run_tool("merge", parts, "-o", self.out)
        slow, free = done.out.split("== ")[1:]
        self.assertNotIn("part missing", slow)
        self.assertIn(f"rank {LATE} (part missing) arrived", free)

    def test_check(self):
        done = self.run_tool("check", *self.of_state("damaged"))
        self.check_words("damaged", done.out, f"8 captures, usable; {COVERAGE['damaged']}")
        document = json.loads(self.run_tool("check", "-d", self.scratch / "damaged", "--json").out)
        self.assertEqual({rank["rank"]: rank["state"] for rank in document["ranks"]},
                         {rank: "damaged" if rank == LATE else "captured" for rank in range(RANKS)})

    def test_captured(self):
        for command in (["-m", ",".join(LATENESS)], ["advisor"], ["-m", "all"]):
            done = self.run_tool(*command, "-d", self.job, "-o", self.out)
            self.check_words("captured", done.out)
            self.assertNotIn("of 8 ranks", done.out)

    def test_comparisons(self):
        compare = lambda *more: self.run_tool("compare", "-bp", self.job, *more, "-o", self.out)
        for state in ("damaged", "not captured"):
            options = self.of_state(state)
            with self.subTest(state=state):
                done = compare(*options, "--all_ranks")
                self.assertEqual(done.code, 5 if state == "damaged" else 0)
                self.check_words(state, done.out, f"{state}", f": rank {LATE}\n")
        gate = compare("-d", self.scratch / "damaged", "--fail_on", "step_time>+5%", "--min_steps", "1")
        self.assertEqual(gate.code, 5, gate.out)
        self.assertNotIn("NOT COMPARABLE", gate.out)


class SharedStates(OfStates):
    late = 2

    def setUp(self):
        super().setUp()
        if not SIMULATED.is_dir():
            self.skipTest(f"{SIMULATED} is not there")
        self.job = shutil.copytree(SIMULATED, self.scratch / "job")

    def check(self, state, run):
        """`run` makes the answer for more options."""
        said = (f"rank {self.late} ({state})", WORDS[state])
        self.check_words(state, run().out, COVERAGE[state], f"collectives wait for {said[0]}", WORDS[state])
        (page,) = self.out.glob("*.html")
        self.check_words(state, page.read_text(encoding="utf-8"), *said)
        shutil.rmtree(self.out)
        text = run("--json").out
        document = json.loads(text)
        self.check_words(state, text, *said)
        self.assertEqual(document["capture"]["absent"], {state: [self.late]})
        (late,) = [found for found in document["findings"] if found["id"] == "rank.late"]
        self.assertEqual((late["ranks"], late["states"]), ([self.late], [state]))
        self.assertEqual({(late["captured"], *late["states"]) for late in document["late_ranks"]}, {(False, state)})

    def test_advisor(self):
        for state in ("left out", "damaged", "not captured"):
            options = self.of_state(state)
            with self.subTest(state=state):
                self.check(state, lambda *more: self.run_tool("advisor", "all", *options, *more, "-o", self.out))
                self.check_words(state, self.run_tool("advisor", "why", "1", *options).out,
                                 f"ranks      rank {self.late} ({state})", WORDS[state])

    def test_merged(self):
        self.check("part missing", self.merged("advisor", "all"))

    def test_captured(self):
        self.check_words("captured", self.run_tool("advisor", "all", "-d", self.job, "-o", self.out).out)


if __name__ == "__main__":
    sys.exit(main(__doc__, States, SharedStates))
