#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that gates keep: compare --history, what is judged by them, and the command history.

    run_history.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: history, trends.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import random
import sqlite3
import statistics
import subprocess
import sys
from contextlib import closing

from cli import main
from gate_runs import GateRuns
from page_charts import charts_in


class HistoryRuns(GateRuns):
    def setUp(self):
        super().setUp()
        self.db = self.scratch / "runs.db"

    def rows(self, sql):
        with closing(sqlite3.connect(self.db)) as database:
            return database.execute(sql).fetchall()

    def keep(self, capture, *more, base=True, **settings):
        return self.run_tool("compare", "-d", capture, *(("-bp", self.db) if base else ()), "--history", self.db, *more,
                             **settings)

    def show(self, *more, **settings):
        return self.run_tool("history", self.db, "-o", self.out, *more, **settings)


class History(HistoryRuns):
    def test_a_run_is_kept_with_all_that_was_measured(self):
        ci = {"GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567"}
        first = self.keep(self.base, env=ci)  # the file is the base, too, but not there yet
        self.assertEqual((first.code, first.out), (0, ""), first.err)
        slow = self.keep(self.capture("slow", **self.SLOW), "--label", "slow one", env=ci)
        self.assertEqual(slow.code, 1, slow.err)
        self.assertTrue(slow.out.startswith("REGRESSION step_time 100.0 -> 105.0 ms"), slow.out)
        self.assertEqual(self.rows("SELECT id, label, verdict, exit_code FROM run"),
                         [(1, ci["GITHUB_SHA"], "", 0), (2, "slow one", "regression", 1)])
        self.assertEqual(self.rows("SELECT run, unit, median, verdict, allowed FROM run_metric WHERE metric = 'step_time'"),
                         [(1, "ns", 100_000_000, "", ""), (2, "ns", 105_000_000, "regression", "3 %")])
        self.assertEqual(self.rows("SELECT run, sample, value FROM run_sample WHERE metric = 'step_time' ORDER BY 1, 2"),
                         [(run + 1, step, 1000 * length) for run, lengths in enumerate((self.STEPS, self.SLOW["lengths_us"]))
                          for step, length in enumerate(lengths)])
        self.assertEqual(self.rows("SELECT median FROM run_metric WHERE metric = 'computing'"), [(42_000_000,), (45_000_000,)])
        # What did not pass is no base.
        self.assertEqual(self.rows("SELECT id FROM run WHERE captures IS NOT NULL"), [(1,)])

    def test_runs_are_a_table_for_sql(self):
        self.keep(self.base)
        self.keep(self.capture("slow", **self.SLOW), "--label", "slow one")
        asked = self.run_tool("query", self.db, "SELECT run, metric, unit, value, noise, verdict, allowed FROM run ORDER BY 1, 2", "--json")
        self.assertEqual(asked.code, 0, asked.err)
        rows = [(*row[:5], row[5] or "", row[6] or "") for row in json.loads(asked.out)["rows"]]
        self.assertEqual(rows, self.rows("SELECT run, metric, unit, median, noise, verdict, allowed FROM run_metric ORDER BY 1, 2"))
        (label,) = json.loads(self.run_tool("query", self.db, "SELECT DISTINCT label, exit_code FROM run WHERE run = 2", "--json").out)["rows"]
        self.assertEqual(label, ["slow one", 1])
        other = self.run_tool("query", self.db, "SELECT * FROM kernel")
        self.assertEqual(other.code, 3)
        self.assertIn("table is run", other.errors[0])

    def test_the_base_is_the_rolling_median(self):
        for length in (100_000, 101_000, 102_000, 103_000):
            kept = self.keep(self.capture(f"of{length}", (length,) * 3))
            self.assertEqual(kept.code, 0, kept.err)
        new = self.capture("new", (105_500,) * 3)
        # The median of all four is 101.5 ms, of the newest two 102.5, of the newest 103.
        for runs, base, code in ((10, "101.5", 1), (2, "102.5", 0), (1, "103.0", 0)):
            result = self.gate(new, "--history_runs", runs, base=self.db)
            self.assertIn(f"step_time {base} -> 105.5 ms", result.out.splitlines()[0])
            self.assertEqual(result.code, code, result.out)
        self.assertIn("since the oldest baseline, 100.0 ms: +5.5 %", self.gate(new, base=self.db).out)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(4,)])  # judging alone adds nothing
        self.keep(self.scratch / "of103000_ascend_pt")  # the same capture again is no other run
        self.assertEqual(self.document(self.gate(new, "--json", base=self.db))["metrics"][0]["base_runs"],
                         [1_000_000 * length for length in (103, 102, 101, 100)])

    def test_what_was_accepted_becomes_the_base(self):
        self.keep(self.base)
        slow = self.capture("slow", **self.SLOW)
        self.assertEqual(self.keep(slow).code, 1)
        self.assertEqual(self.keep(slow).code, 1)
        self.assertEqual(self.keep(slow, "--warn_only").code, 0)
        self.assertIn("step_time 105.0 -> 105.0 ms", self.gate(slow, "--history_runs", "1", base=self.db).out)

    def test_other_settings_begin_anew(self):
        self.keep(self.base)
        other = self.capture("other", level="Level2")
        self.assertEqual(self.keep(other).code, 4)
        self.assertEqual(self.keep(other, "--allow_mismatch", "profiler_level").code, 0)
        again = self.keep(self.capture("again", (100_300,) * 3, level="Level2"))
        self.assertEqual(again.code, 0, again.out)  # judged by the one run that was collected alike

    def test_several_writers_lose_nothing(self):
        captures = [self.capture(f"w{number}", (100_000 + number,) * 3) for number in range(6)]
        running = [subprocess.Popen([self.TOOL, "compare", "-d", capture, "--history", self.db, "--label", f"{number}-{time}"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                   for time in range(4) for number, capture in enumerate(captures)]
        for process in running:
            self.assertEqual((process.communicate(timeout=120)[1].count(b"error"), process.returncode), (0, 0))
        self.assertEqual(sorted(label for (label,) in self.rows("SELECT label FROM run")),
                         sorted(f"{number}-{time}" for time in range(4) for number in range(6)))
        self.assertEqual(self.rows("SELECT count(*) FROM run_sample WHERE metric = 'step_time'"), [(24 * 3,)])

    def test_other_files_stay_as_they_are(self):
        with closing(sqlite3.connect(self.db)) as database:
            database.execute("CREATE TABLE theirs (text)")
            database.commit()
        foreign = self.db.read_bytes()
        self.keep(self.base)
        for content, text in ((foreign, "no history of gates"), (b"no database, but long enough to look like one" * 9, "not a database"),
                              ("{}\n".encode(), "not a database")):
            self.db.write_bytes(content)
            self.assert_fails(3, self.keep(self.base, base=False), self.db, text, "give another file")
            self.assert_fails(3, self.show(), self.db, text)
            self.assertEqual(self.db.read_bytes(), content)

    def test_damaged_histories_are_named(self):
        self.keep(self.base)
        whole = self.db.read_bytes()
        for damaged in (whole[:len(whole) // 2], whole[:4096] + b"\x00" * (len(whole) - 4096)):
            self.db.write_bytes(damaged)
            self.assert_fails(3, self.keep(self.base, base=False), self.db, "damaged")
            self.assertEqual(self.db.read_bytes(), damaged)
        self.db.write_bytes(whole)
        with closing(sqlite3.connect(self.db)) as database:
            database.execute("UPDATE run_metric SET median = 9223372036854775807")
            database.commit()
        for result in (self.show(), self.gate(self.base, base=self.db)):
            self.assert_fails(3, result, self.db, "in run_metric is no time, size or count")

    def test_nothing_is_kept_of_partial_data(self):
        broken = self.capture("broken")
        kernels = broken / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        kernels.write_text(kernels.read_text(encoding="utf-8") + "1,1,9", encoding="utf-8")
        result = self.keep(broken)
        self.assertEqual(result.code, 5, result.err)
        self.assertTrue(any("was not written" in line for line in result.warnings), result.err)
        self.assertFalse(self.db.exists())

    def test_mistakes_are_named(self):
        self.assert_fails(2, self.run_tool("history"), "history FILE")
        self.assert_fails(3, self.run_tool("history", self.scratch / "none.db"), "none.db", "compare --history")
        self.keep(self.base)
        self.assert_fails(2, self.show("--metric", "step"), "available:", "step_time")
        self.assert_fails(2, self.gate(self.base, "--update_baseline", base=self.db), "--update_baseline")


class Trends(HistoryRuns):
    """Histories of 60 runs, written as docs/history.md says that they are."""

    def write_history(self, values, metrics=("step_time",)):
        self.keep(self.base)  # makes the tables
        with closing(sqlite3.connect(self.db)) as database:
            for table in ("run", "run_metric", "run_sample"):
                database.execute(f"DELETE FROM {table}")
            for run, value in enumerate(values, 1):
                database.execute("INSERT INTO run VALUES (?, ?, ?, 'ok', 0, '1', NULL)",
                                 (run, 1_790_000_000_000_000_000 + run * 3_600_000_000_000, f"commit{run}"))
                for metric in metrics:
                    database.execute("INSERT INTO run_metric VALUES (?, ?, 'ns', ?, 0, 'ok', '3 %')", (run, metric, value))
            database.commit()

    @staticmethod
    def runs(seed, step=0.0, at=0, count=60):
        made = random.Random(seed)
        return [round(100_000_000 * (1 + 0.01 * made.gauss(0, 1)) * (1 + step * (run >= at))) for run in range(count)]

    @staticmethod
    def place_of(values):
        """Of the least sum of distances from the medians of both sides."""
        def distances(side):
            return sum(abs(value - statistics.median(side)) for value in side)
        return min(range(4, len(values) - 3), key=lambda k: distances(values[:k]) + distances(values[k:]))

    @staticmethod
    def chance_of(values, made):
        """How often blocks in another order have a place that the statistic of Mann and Whitney finds as clear."""
        def largest(order):
            found = 0
            for k in range(4, len(order) - 3):
                wins = sum((after > before) - (after < before) for before in order[:k] for after in order[k:])
                found = max(found, wins * wins / (k * (len(order) - k)))
            return found
        size = max(2, round(len(values) ** (1 / 3))) - 1
        clear, tries = largest(values), 60
        return sum(largest(Trends.permuted(values, size, made)) >= clear for _ in range(tries)) / tries

    @staticmethod
    def permuted(values, size, made):
        first = made.randrange(len(values))
        turned = values[first:] + values[:first]
        blocks = [turned[i:i + size] for i in range(0, len(turned), size)]
        made.shuffle(blocks)
        return [value for block in blocks for value in block]

    def steps(self):
        document = json.loads(self.show("--json").out)
        (sheet,) = [sheet for sheet in document["sheets"] if sheet["name"] == "StepChanges"]
        return sheet["rows"]

    def test_a_step_is_the_one_that_python_finds(self):
        found = alone = 0
        for seed in range(20):
            planted = 15 + 2 * seed % 30
            values = self.runs(seed, 0.05, planted)
            self.write_history(values)
            steps = self.steps()
            found += any(abs(step["run"] - 1 - planted) <= 1 for step in steps)
            if len(steps) != 1:
                continue
            alone += 1
            place = self.place_of(values)
            self.assertEqual(steps[0]["run"], place + 1)
            self.assertEqual(steps[0]["label"], f"commit{place + 1}")
            self.assertEqual([steps[0][side] for side in ("before", "after")],
                             [int(statistics.median(side) + 0.5) for side in (values[:place], values[place:])])
            if seed < 2:
                self.assertLess(self.chance_of(values, random.Random(seed)), 0.05)
        self.assertGreaterEqual(found, 19)
        self.assertGreaterEqual(alone, 19)

    def test_flat_histories_have_no_step(self):
        for seed in range(20):
            self.write_history(self.runs(seed))
            self.assertEqual(self.steps(), [], seed)

    def test_the_screen_names_the_run(self):
        self.write_history([100_000_000 + 300_000 * (run % 3) + 5_000_000 * (run >= 30) for run in range(60)])
        result = self.show()
        self.assertEqual((result.code, result.err), (0, []))
        lines = result.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(lines[2], "step_time: 105.6 ms in run 60; the median since run 31 is 105.3 ms, noise 0.4 %")
        self.assertEqual(" ".join(" ".join(lines[:2]).split()), "step_time: step change at run 31 (commit31, 2026-09-22 21:13 UTC): "
                         "100.3 -> 105.3 ms (+5.0 %, chance 0.001)")
        rows = [line for line in lines if " commit" in line and "*" in line]
        self.assertEqual(len(rows), 20)
        self.assertTrue(rows[-1].startswith("    60  commit60 "), rows[-1])
        agent = json.loads(self.show("--agent").out)["message"]
        self.assertEqual(" ".join(agent["answer"]), " ".join(" ".join(lines[:2]).split()))
        (steps,) = [table for table in agent["data"] if table["name"] == "StepChanges"]
        self.assertEqual(dict(zip(steps["columns"], steps["rows"][0]))["label"], "commit31")

    def test_the_files(self):
        self.write_history(self.runs(1, 0.05, 30), ("step_time", "computing"))
        result = self.show("--export_type", "html,csv,json,openmetrics")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["history.html", "history.json", "history.openmetrics.txt", "history_csv"])
        with open(self.out / "history_csv" / "History.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["value"]) for row in rows if row["metric"] == "step_time"], self.runs(1, 0.05, 30))
        metrics = (self.out / "history.openmetrics.txt").read_text(encoding="utf-8")
        newest = self.runs(1, 0.05, 30)[-1]
        self.assertIn(f'msprof_gate_comparison_seconds{{metric="step_time"}} 0.{newest:09}\n', metrics)
        self.assertTrue(metrics.endswith("# EOF\n"))
        page = (self.out / "history.html").read_text(encoding="utf-8")
        self.assertIn("step_time of each run, and the band of its noise", page)
        charts = charts_in(self.out / "history.html")
        self.assertEqual([chart["kind"] for chart in charts], ["lines"] * 2)
        self.assertIn('<p class="answer">step_time: step change at run 31', page)
        for chart in charts:
            self.assertEqual([(mark["at"], mark["label"][:8]) for mark in chart["marks"]], [(31, "run 31: ")])
            levels = [statistics.median(side) / 1e6 for side in (self.runs(1, 0.05, 30)[:30], self.runs(1, 0.05, 30)[30:])]
            for run, (low, high) in enumerate(chart["bands"]):
                self.assertAlmostEqual((low + high) / 2, levels[run >= 30], places=5)
                self.assertLess(low, high)

    def test_what_failed_stands_out_and_what_changed_comes_first(self):
        self.write_history(self.runs(3), ("step_time", "computing", "free"))
        with closing(sqlite3.connect(self.db)) as database:
            database.execute("UPDATE run SET exit_code = 1 WHERE id IN (7, 9)")
            database.execute("UPDATE run_metric SET median = median * 1.05 WHERE metric = 'free' AND run > 30")
            database.commit()
        result = self.show("--export_type", "html")
        self.assertTrue(result.out.startswith("step_time: no step change in 60 runs; "), result.out)
        charts = charts_in(self.out / "history.html")
        self.assertEqual([chart["title"].split()[0] for chart in charts], ["step_time", "free", "computing"])
        failed = [run for run, value in zip(charts[0]["at"], charts[0]["series"][1]["values"], strict=True) if value is not None]
        self.assertEqual((charts[0]["series"][1]["name"], failed), ("failed its gate", [7, 9]))

    def test_few_runs_say_nothing_of_steps(self):
        self.write_history([100_000_000] * 3)
        out = " ".join(self.show("--export_type", "html").out.split())
        self.assertTrue(out.startswith("step_time: 100.0 ms in run 3, median 100.0 ms; 3 of the 8 runs that tell a step change"), out)
        self.assertNotIn("no step change", out)
        self.write_history([100_000_000])
        self.show("--export_type", "html")
        self.assertEqual(charts_in(self.out / "history.html"), [])

    def test_only_the_newest_runs_are_looked_at(self):
        self.write_history(self.runs(1, 0.05, 30))
        lines = self.show("--last", "25").out.splitlines()
        self.assertIn("since run 36", lines[0])
        self.assertEqual([line for line in lines if "step change at" in line], [])

    def test_chinese(self):
        self.write_history(self.runs(1, 0.05, 30))
        self.assertIn("阶跃", self.show("--language", "cn").out)


if __name__ == "__main__":
    sys.exit(main(__doc__, History, Trends))
