#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--agent: every command prints one bounded JSON object, whatever happens.

    run_agent.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: agent.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import os
import shlex
import shutil
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
            self.assertEqual(message["complete"], answer["code"] != 5 and "more rows" not in message.get("lost", ""))
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
                      ["-m=slow_rnk", "-d", self.job, "-o", self.out], ["-m", "slow_rank,slow_lnk", "-d", self.job, "-o", self.out],
                      ["-m", "slow_rank", "-d", self.job, "-o", self.out, "--exporttype=text,xlsx", "--max-chars=1999"],
                      ["query", self.job, "SELECT count(*) / 2 FROM kernl"], ["query", self.job, "SELECT nme, nme / 1 FROM kernel AS k"], ["chek", self.job]):
            with self.subTest(wrong=wrong[:2]):
                answer = self.agent(*wrong)
                self.assertEqual((answer["status"], answer["code"]), ("error", 2))
                program, *words = shlex.split(answer["suggestion"])
                self.assertEqual(program, "msprof-analyze")
                again = self.run_tool(*words)
                self.assertEqual(json.loads(again.out)["status"], "success", again.out)
        self.assertEqual(self.agent("query", self.job, "SELECT nme FROM kernel AS nme_2")["suggestion"],
                         f"msprof-analyze query {self.job} 'SELECT name FROM kernel AS nme_2' --agent")
        for name in ("skill", "schema", "mcp"):  # have one form
            answer = self.agent(name)
            self.assertEqual((answer["status"], answer["suggestion"]), ("error", f"msprof-analyze {name}"))
        odd = self.scratch / "it's one"
        odd.mkdir()
        for path in (self.scratch / "nowhere", odd):
            answer = self.agent("check", path)
            self.assertEqual((answer["status"], answer["code"], answer["suggestion"]), ("error", 3, ""))
        empty = self.scratch / "empty"
        empty.mkdir()
        answer = self.agent("advisor", "all", "-d", empty)
        self.assertIn(answer["suggestion"], ("", f"msprof-analyze check {empty}"))
        self.assertEqual(answer["suggestion"] != "", "'msprof-analyze check " in answer["message"]["err"])

    def test_forms_of_the_option(self):
        """And what is said of the rest of an answer, which is a command that runs."""
        for words, rest in ((["check", self.job, "--agent=true", "--max-chars=900"], ["check", self.job, "--json"]),
                            (["check", "--max_chars", "900", self.job, "--agent"], ["check", self.job, "--json"]),
                            (["check", "--agent", "--", self.job], ["check", "--json", "--", self.job]),
                            (["query", self.job, "--agent", "SELECT 1 AS one"], ["query", self.job, "SELECT 1 AS one", "--json"]),
                            (["-m", "slow_rank,compute_op_sum", "-d", self.job, "-o", self.out, "--agent"],
                             ["-m", "slow_rank,compute_op_sum", "-d", self.job, "-o", self.out, "--export_type", "json"]),
                            (["compare", "-d", self.job, "-bp", self.job, "--all_ranks", "-o", self.out, "--agent"],
                             ["compare", "-d", self.job, "--benchmark_profiling_path", self.job, "--all_ranks", "-o", self.out,
                              "--export_type", "json"])):
            with self.subTest(words=words):
                message = json.loads(self.run_tool(*words).out)["message"]
                program, *printed = shlex.split(message["rest"])
                self.assertEqual((program, printed), ("msprof-analyze", list(map(str, rest))))
                self.assertEqual(self.run_tool(*printed).code, 0)
        self.assertEqual(self.run_tool("check", self.job, "--agent=false").out, self.run_tool("check", self.job).out)
        (self.scratch / "--agent").symlink_to(self.job)
        self.assertEqual(self.run_tool("check", "--", "--agent", cwd=self.scratch).out.splitlines()[1],
                         self.run_tool("check", self.job).out.splitlines()[1])

    def test_whose_numbers(self):
        """Ranks read, captured, and in the job: of a rank that is missing, and one that cannot be read."""
        shutil.rmtree(self.job / "rank3_ascend_pt")
        (database,) = (self.job / "rank6_ascend_pt").rglob("*.db")
        database.write_bytes(b"SQLite format 3\0" + bytes(5000))
        for command in (["advisor", "all", "-d", self.job], ["-m", "slow_rank", "-d", self.job, "-o", self.out]):
            message = self.agent(*command, "--max_chars", "4000", most=4000)["message"]
            self.assertEqual((message["scope"]["ranks"], message["scope"]["ranks_found"]), ("0-2, 4, 5, 7", 7))
            self.assertFalse(message["complete"])
            self.assertIn("rank6", message["lost"])
        message = self.agent("query", self.job, "SELECT count(*) FROM kernel")["message"]
        self.assertEqual((message["scope"]["ranks"], message["complete"]), ("0-2, 4, 5, 7", False))
        self.assertIn("rank6", message["lost"])
        document = json.loads(self.run_tool("query", self.job, "SELECT count(*) FROM kernel", "--json").out)
        self.assertEqual((document["complete"], document["truncated"], document["ranks"]), (False, False, 6))
        message = self.agent("advisor", "all", "-d", self.job)["message"]
        self.assertEqual(message["scope"]["ranks_of_job"], 8)

    def test_more_rows_than_wanted(self):
        message = self.agent("query", self.job, "SELECT name FROM kernel", "--max_rows", "2")["message"]
        (table,) = message["data"]
        self.assertEqual((len(table["rows"]), table["left"], message["complete"]), (2, 1, False))
        self.assertIn("more rows follow", message["lost"])
        self.assertEqual(message["answer"], ["rows: more than 2"])
        message = self.agent("query", self.job, "SELECT name FROM kernel LIMIT 2", "--max_rows", "2")["message"]
        self.assertEqual((message["data"][0]["left"], message["complete"], message["answer"]), (0, True, ["rows: 2"]))
        message = self.agent("query", self.job, "SELECT dur, dur AS dur_ns, dur / 2 AS half, rank FROM kernel LIMIT 1")["message"]
        self.assertEqual(message["data"][0]["columns"], ["dur ns", "dur_ns", "half", "rank"])

    def test_documents_that_are_cut(self):
        whole = json.loads(self.run_tool("query", self.job, "SELECT name FROM kernel", "--json").out)
        cut = json.loads(self.run_tool("query", self.job, "SELECT name FROM kernel", "--json", "--max_chars", "900").out)
        self.assertEqual((whole["complete"], cut["complete"], cut["truncated"]), (True, False, True))
        self.assertEqual(cut["rows"], whole["rows"][:len(cut["rows"])])
        self.assertIn(f"{len(whole['rows']) - len(cut['rows'])} more rows", cut["notes"][0])

    def test_the_evidence_of_a_finding(self):
        capture, key = "twin_text_new_ascend_pt", "host.python"  # of its seven places five are in the document
        answer = self.agent("advisor", "why", key, "-d", capture, "--max_chars", "20000", most=20000)
        whole = json.loads(self.run_tool("advisor", "why", key, "-d", capture, "--json", "--evidence", "1000").out)["findings"][0]
        message = answer["message"]
        self.assertIn(key, message["question"])
        (title,) = message["answer"]
        self.assertIn(whole["text"]["title"], title)
        screen = self.run_tool("advisor", "why", key, "-d", capture).out
        self.assertEqual(title, screen.splitlines()[0])
        self.assertTrue(any(text.startswith("not if ") and text.split()[2] in screen for text in message["caveats"]))
        tables = {table["name"]: table for table in message["data"]}
        evidence = tables["evidence"]
        self.assertEqual((len(evidence["rows"]), evidence["left"], len(whole["evidence"])), (5, 2, 7))
        finding = dict(zip(tables["findings"]["columns"], tables["findings"]["rows"][0]))
        self.assertEqual((finding["gain_ns"], finding["confidence"], finding["share"]),
                         (whole["gain_ns"], whole["confidence"], whole["share"]))
        place = dict(zip(evidence["columns"], evidence["rows"][0]))
        self.assertEqual((place["start_ns"], place["dur_ns"]), (whole["evidence"][0]["start_ns"], whole["evidence"][0]["dur_ns"]))
        program, *words = shlex.split(answer["suggestion"])
        answer = self.agent(*words, "-o", self.out)
        (file,) = answer["message"]["files"]
        self.assertTrue(Path(file).is_file())
        self.assertEqual(answer["suggestion"], "")  # all is told

    def test_what_is_not_judged(self):
        message = self.agent("advisor", "all", "-d", self.job)["message"]
        whole = json.loads(self.run_tool("advisor", "all", "-d", self.job, "--json").out)
        first = whole["findings"][0]["key"]
        self.assertGreater(len(whole["findings"]), 1)
        self.assertEqual(self.agent("advisor", "all", "-d", self.job)["suggestion"], f"msprof-analyze advisor why {first} -d {self.job}")
        self.assertTrue(whole["skipped"])
        (caveat,) = [text for text in message["caveats"] if text.startswith("not judged")]
        self.assertEqual(caveat.split(": ")[1].split(", "), [one["id"] for one in whole["skipped"]])

    def test_what_check_says_next(self):
        """A command that these captures can answer."""
        self.assertEqual(self.agent("check", self.job)["suggestion"], f"msprof-analyze advisor all -d {self.job}")
        tables = shutil.copytree(self.CAPTURES / "text_base_ascend_pt", self.scratch / "tables_ascend_pt")
        for trace in tables.rglob("trace_view.json"):
            trace.unlink()
        program, *words = shlex.split(self.agent("check", tables)["suggestion"])
        self.assertEqual(words[0], "-m")
        self.assertIn(self.agent(*words, "-o", self.out)["code"], (0, 5))
        self.assertEqual(self.agent("advisor", "all", "-d", tables)["suggestion"], f"msprof-analyze check {tables}")
        self.assertEqual(self.agent("compare")["suggestion"], "msprof-analyze compare --help")
        odd = tables.rename(self.scratch / "it's_ascend_pt")  # texts do not quote paths
        self.assertEqual(self.agent("advisor", "all", "-d", odd)["suggestion"], "")

    def test_odd_names(self):
        """Whatever captures are called and hold, the object is one, and not longer than asked."""
        names = ['a"b\\c', "\u0001\u001f\t", "x" * 4000, "'; rm -rf $HOME '", "\u7b97" * 300, "{0} {} %s"]
        events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
                  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}]
        for i, name in enumerate(names * 3):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 + 20 * i, "dur": 9,
                           "args": {"stream": 7, "device": 0, "correlation": i}})
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 5 + 20 * i, "dur": 4, "args": {}})
        text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A\"100"}], "traceEvents": events})
        folder = self.scratch / os.fsdecode(b'od"d \'\xff\n' + b"d" * 150) / ("e" * 200)
        folder.mkdir(parents=True)
        trace = folder / "trace.json"
        trace.write_bytes(text.encode().replace(b"rm -rf", b"\xff\xfe"))
        kernels = "SELECT name, sum(dur) FROM kernel GROUP BY 1"
        wrong = (["query", trace, "SELECT \"" + "z" * 3000], ["check", folder / ("n" * 255)],
                 ["-m", "compute_op_sum", "-d", folder / "o", "-o", self.out])
        commands = (*wrong, ["check", trace], ["query", trace], ["query", trace, kernels], ["query", trace, kernels + " -- " + "y" * 4000],
                    ["advisor", "all", "-d", trace], ["compare", "-d", trace, "-bp", trace],
                    ["-m", "top_operators", "-d", trace, "-o", self.out], ["-m", "compute_op_sum", "-d", trace, "-o", self.scratch / ("o" * 200)])
        for command in commands:
            for most in (600, 601, 750, 1000, 1500, 1999, 2000, 3000, 5000, 8000):
                with self.subTest(command=command[:1], most=most):
                    answer = self.agent(*command, "--max_chars", str(most), most=most)
                    self.assertEqual(answer["status"] == "error", command in wrong, answer)
                    for text in (answer["suggestion"], answer["message"].get("rest", "")):
                        self.assertTrue(not text or shlex.split(text)[0] == "msprof-analyze", text)
        message = self.agent("query", trace, kernels, "--max_chars", "100000", most=100000)["message"]
        self.assertEqual({row[0] for row in message["data"][0]["rows"]} & {*names}, {*names} - {"'; rm -rf $HOME '"})

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
        self.assertEqual((message["scope"]["base"], message["scope"]["comparison"]), ("text_base_ascend_pt", "text_new_ascend_pt"))
        self.assertTrue(message["answer"][0].startswith("end to end: "), message["answer"])
        unlike = self.agent("compare", "-d", "text_level0_ascend_pt", "-bp", "text_base_ascend_pt")["message"]["caveats"]
        self.assertTrue(unlike[0].startswith("The captures are not alike"), unlike)
        sheets = json.loads(self.run_tool(*self.COMPARED, "--json").out)["sheets"]
        untold = set()
        for most in (600, 900, 1200, 2000):
            message = self.agent(*self.COMPARED, "--max_chars", str(most), most=most)["message"]
            untold.add(message.get("lists_left", 0))
            self.assertEqual(len(message["data"]) + message.get("lists_left", 0), len(sheets))
            self.assertEqual([table["left"] + len(table["rows"]) for table in message["data"]],
                             [len(sheet["rows"]) for sheet in sheets[:len(message["data"])]])
        self.assertGreater(len(untold), 1)
        gate = self.agent(*self.COMPARED, "-o", self.out, "--fail_on", "computing>+3%", "--min_steps", "1")
        self.assertEqual((gate["status"], gate["code"]), ("warning", 1))
        self.assertTrue(gate["message"]["answer"][0].startswith("REGRESSION"), gate)
        self.assertIn("slower", gate["message"]["question"])
        self.assertEqual(gate["message"]["scope"]["base"], "text_base_ascend_pt")
        baseline = self.scratch / "baseline.json"
        saved = self.agent("compare", "-d", "text_base_ascend_pt", "--save_baseline", baseline)
        self.assertEqual(saved["message"]["files"], [str(baseline)])

    def test_compare_all_ranks(self):
        answer = self.agent("compare", "-d", self.job, "-bp", self.job, "--all_ranks", "-o", self.out)
        (table,) = answer["message"]["data"]
        self.assertEqual((table["columns"], [row[0] for row in table["rows"]]), (["rank", "base_ns", "comparison_ns"], [*range(8)]))
        self.assertTrue(all(row[1] == row[2] > 0 for row in table["rows"]), table)
        answer = self.agent("compare", "-d", self.job, "-bp", self.job, "--all_ranks", "-o", self.out, "--export_type", "xlsx",
                            "--max_chars", "9000", most=9000)
        self.assertEqual(len(answer["message"]["files"]), 8)
        shown = set()
        for most in range(700, 3000, 200):  # of what has no room is said how much it is
            files = self.agent("compare", "-d", self.job, "-bp", self.job, "--all_ranks", "-o", self.out, "--export_type", "xlsx",
                               "--max_chars", str(most), most=most)["message"].get("files", [])
            if 0 < len(files) < 8:
                self.assertEqual(files[-1], f"{8 - (len(files) - 1)} more")
                shown.add(len(files))
        self.assertTrue(shown)
        self.assertTrue(answer["message"]["answer"])

    def test_check(self):
        answer = self.agent("check", "-d", self.job, "--max_chars", "100000", most=100000)
        self.assertEqual((answer["status"], answer["code"]), ("success", 0))
        self.assertTrue(answer["message"]["answer"][0].startswith("8 captures, usable"))
        whole = json.loads(self.run_tool("check", self.job, "--json").out)
        analyses, captures = answer["message"]["data"]
        self.assertEqual(captures["left"], 0)
        self.assertEqual({row[analyses["columns"].index("ranks")] for row in analyses["rows"]}, {"0-7"})
        self.assertEqual([row[:3] for row in captures["rows"]], [[rank, "npu_db", 2] for rank in range(8)])
        unknown = self.agent("check", "gpu_base.json")["message"]["data"][1]
        self.assertIsNone(unknown["rows"][0][unknown["columns"].index("steps")])
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
