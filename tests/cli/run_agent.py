#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--agent: every command prints one bounded JSON object, whatever happens.

    run_agent.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: agent.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import shlex
import sys
from pathlib import Path

from cli import main
from run_cluster import OfJob


class Agent(OfJob):
    MEMBERS = {"question", "answer", "scope", "complete", "data", "caveats", "rest"}
    COMPARED = ["compare", "-d", "text_new_ascend_pt", "-bp", "text_base_ascend_pt"]

    def agent(self, *arguments, most=2000):
        """The object that is printed: its message is short, and nothing is left behind."""
        temporary = self.scratch / "temporary"
        temporary.mkdir(exist_ok=True)
        result = self.run_tool(*arguments, "--agent", env={"TMPDIR": str(temporary)})
        self.assertEqual(result.err, [])
        self.assertEqual(len(result.out.splitlines()), 1, result.out)
        self.assertLessEqual(len(result.out.encode()), most)
        answer = json.loads(result.out)
        self.assertEqual([*answer], ["status", "code", "message", "suggestion", "log_path"])
        self.assertEqual((answer["code"], answer["log_path"]), (result.code, ""))
        self.assertEqual([*temporary.iterdir()], [])
        message = answer["message"]
        if answer["status"] != "error":
            self.assertLessEqual(self.MEMBERS, {*message})
            self.assertEqual(message["complete"], answer["code"] != 5)
        return answer

    def of_job(self, name, *options, **bounds):
        return self.agent("-m", name, "-d", self.job, "-o", self.out, *options, **bounds)

    def judge_rows(self, message, whole):
        """Rows are the first of the whole document, and what is left adds up."""
        sheets = {sheet["name"]: sheet for sheet in whole["sheets"]}
        self.assertTrue(message["data"])
        for table in message["data"]:
            sheet = sheets[table["name"]]
            rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
            self.assertEqual(rows, sheet["rows"][:len(rows)])
            self.assertEqual(len(rows) + table["left"], len(sheet["rows"]))
            for name, total in table.get("totals", {}).items():
                self.assertAlmostEqual(total, sum(row[name] for row in sheet["rows"]))

    def test_rows_and_totals(self):
        for name in ("slow_rank", "compute_op_sum", "cluster_time_summary"):
            with self.subTest(recipe=name):
                whole = json.loads(self.run_tool("-m", name, "-d", self.job, "-o", self.out, "--json").out)
                small = self.of_job(name)["message"]
                self.judge_rows(small, whole)
                large = self.of_job(name, "--max_chars", "100000", most=100000)["message"]
                self.judge_rows(large, whole)
                self.assertEqual([table["left"] for table in large["data"]],
                                 [max(0, len(sheet["rows"]) - 200) for sheet in whole["sheets"]])
                self.assertGreater(sum(table["left"] for table in small["data"]) + 1,
                                   sum(table["left"] for table in large["data"]))

    def test_the_smallest_answer(self):
        for name in ("compute_op_sum", "free_analysis", "cluster_time_summary"):
            answer = self.of_job(name, "--max_chars", "600", most=600)
            self.assertEqual(answer["status"], "success")
            self.assertTrue(answer["message"]["answer"])
        self.assertEqual(self.of_job("slow_rank", "--max_chars", "599")["code"], 2)

    def test_the_rest_and_the_next_run(self):
        answer = self.of_job("slow_rank")
        rest = self.run_tool(*shlex.split(answer["message"]["rest"])[1:])
        self.assertEqual((rest.code, [*json.loads(rest.out)][0]), (0, "schema_version"))
        self.assertEqual(self.run_tool(*shlex.split(answer["suggestion"])[1:], "-o", self.out).code, 0)

    def test_tables_that_were_written(self):
        answer = self.of_job("slow_rank", "--max_chars", "3000", most=3000)
        self.assertEqual(answer["status"], "success")
        message = answer["message"]
        self.assertEqual(Path(message["db_path"]), (self.results / "cluster_analysis.db").resolve())
        self.assertEqual(message["tables"], ["SlowRank", "SlowOpStats", "LateRanks"])
        self.assertEqual(message["rows"], {"SlowRank": 1, "SlowOpStats": 4, "LateRanks": 1})
        self.assertEqual(message["rows"], {name: len(self.rows(name)) for name in message["tables"]})
        self.assertIn("rank 5 holds up the others", message["answer"][0])
        self.assertEqual({**message["scope"], "times": ""}, {"ranks": "0-7", "ranks_found": 8, "times": ""})
        self.assertIn("Unix epoch", message["scope"]["times"])

    def test_files_that_were_written(self):
        message = self.of_job("slow_rank", "--export_type", "text,xlsx", "--max_chars", "9000", most=9000)["message"]
        self.assertNotIn("db_path", message)
        files = [Path(name) for name in message["csv_path"] + message["files"]]
        self.assertEqual({file.name for file in files}, {"rank_stats.csv", "slow_op_stats.csv", "late_ranks.csv", "slow_rank.xlsx"})
        self.assertEqual([file for file in files if not file.is_file()], [])
        for name in message["csv_path"]:
            with open(name, newline="", encoding="utf-8") as file:
                self.assertEqual(message["rows"][name], len([*csv.reader(file)]) - 1)

    def test_failures(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        for code, arguments in ((3, ["-m", "slow_rank", "-d", empty]), (2, ["-m", "nothing", "-d", self.job]),
                                (2, ["-m", "slow_rank", "-d", self.job, "--export_type", "nothing"]),
                                (3, ["advisor", "all", "-d", self.scratch / "nowhere"]),
                                (3, ["check", self.scratch / "nowhere"])):
            with self.subTest(arguments=arguments[:2]):
                answer = self.agent(*arguments)
                self.assertEqual((answer["status"], answer["code"]), ("error", code))
                self.assertTrue(answer["message"]["err"])
        self.assertFalse(self.out.exists())

    def test_the_corrected_command(self):
        """Runs as it is printed."""
        for wrong in (["-m", "slow_rnk", "-d", self.job, "-o", self.out], ["slow_rankk", "-d", self.job, "-o", self.out],
                      ["-m", "slow_rank", "-d", self.job, "-o", self.out, "--exporttype", "csv"],
                      ["-m", "slow_rank", "-d", self.job, "-o", self.out, "--json"],
                      ["chek", self.job]):
            with self.subTest(wrong=wrong[:2]):
                answer = self.agent(*wrong)
                self.assertEqual((answer["status"], answer["code"]), ("error", 2))
                program, *words = shlex.split(answer["suggestion"])
                self.assertEqual(program, "msprof-analyze")
                again = self.run_tool(*words)
                self.assertEqual(json.loads(again.out)["status"], "success", again.out)

    def test_partial_results(self):
        (database,) = (self.job / "rank3_ascend_pt").rglob("*.db")
        database.write_bytes(b"SQLite format 3\0" + bytes(5000))
        answer = self.of_job("slow_rank")
        self.assertEqual((answer["status"], answer["code"]), ("warning", 5))
        self.assertIn("rank3", answer["message"]["lost"])
        self.assertTrue(any("rank3" in text for text in answer["message"]["caveats"]))

    def test_compare(self):
        answer = self.agent(*self.COMPARED, "-o", self.out)
        self.assertEqual((answer["status"], answer["code"]), ("success", 0))
        message = answer["message"]
        self.assertFalse(self.out.exists(), "files are written for those who ask for them")
        (file,) = self.agent(*self.COMPARED, "-o", self.out, "--export_type", "xlsx")["message"]["files"]
        self.assertTrue(Path(file).is_file())
        self.judge_rows(message, json.loads(self.run_tool(*self.COMPARED, "--json").out))
        gate = self.agent(*self.COMPARED, "-o", self.out, "--fail_on", "computing>+3%", "--min_steps", "1")
        self.assertEqual((gate["status"], gate["code"]), ("warning", 1))
        self.assertTrue(gate["message"]["answer"][0].startswith("REGRESSION"), gate)
        baseline = self.scratch / "baseline.json"
        saved = self.agent("compare", "-d", "text_base_ascend_pt", "--save_baseline", baseline)
        self.assertEqual(saved["message"]["files"], [str(baseline)])

    def test_compare_all_ranks(self):
        answer = self.agent("compare", "-d", self.job, "-bp", self.job, "--all_ranks", "-o", self.out, "--export_type", "xlsx",
                            "--max_chars", "9000", most=9000)
        self.assertEqual(len(answer["message"]["files"]), 8)
        self.assertTrue(answer["message"]["answer"])

    def test_check(self):
        answer = self.agent("check", "-d", self.job, "--max_chars", "100000", most=100000)
        self.assertEqual((answer["status"], answer["code"]), ("success", 0))
        self.assertTrue(answer["message"]["answer"][0].startswith("8 captures, usable"))
        whole = json.loads(self.run_tool("check", self.job, "--json").out)
        analyses, captures = answer["message"]["data"]
        self.assertEqual(captures["left"], 0)
        self.assertEqual([row[-1] for row in captures["rows"]], [rank["path"] for rank in whole["ranks"]])
        said = {(name, row[0]) for row in analyses["rows"] for name in row[-1].split(", ")}
        expected = {(one["name"], one["ability"]) for rank in whole["ranks"] for one in rank["analyzers"]}
        self.assertEqual(said - expected, set())
        self.assertEqual({one for one in expected if one[1] != "cannot_run"} - said, set())
        self.agent("check", "-d", self.job)  # fits

    def test_files_of_other_commands(self):
        trace = self.scratch / "trace.json.gz"
        answer = self.agent("export", "timeline", "-d", self.job, "-o", trace)
        self.assertEqual((answer["code"], answer["message"]["files"]), (0, [str(trace)]))
        self.assertTrue(trace.is_file())
        answer = self.agent("parse", self.job)
        self.assertEqual((answer["status"], answer["code"]), ("error", 3))

    def test_every_recipe_speaks(self):
        for name in self.recipes():
            with self.subTest(recipe=name):
                answer = self.of_job(name)
                self.assertIn(answer["status"], ("success", "warning", "error"))
                self.assertEqual(answer["status"] == "error", answer["code"] not in (0, 5))


if __name__ == "__main__":
    sys.exit(main(__doc__, Agent))
