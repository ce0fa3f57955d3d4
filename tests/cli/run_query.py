#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `msprof-analyze query` and `schema`.

    run_query.py --tool BINARY --testdata DIR [--raw DIR] GROUP [-v]

GROUP is one of the classes below: questions (those of docs/query.md on one job as text and database, and its export),
queryparsed (the same on raw captures and what `parse` makes of them), queryforms (forms of the answer, errors, what
statements must not do), queryprompt (on a terminal), queryshared (captures outside of the repository, computed from
their files without the program).
Exit status: 0 passed, 1 failed, 2 usage, 77 skipped.
"""

import csv
import fcntl
import gzip
import json
import os
import pty
import re
import select
import shlex
import shutil
import sqlite3
import subprocess
import sys
import termios
import time
import unittest
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

from cli import Cli, main

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "testdata"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
from captures import build_database, build_job  # noqa: E402

PAGE = ROOT / "docs" / "query.md"
SCHEMA = ROOT / "docs" / "schema.md"
SHARED = ROOT.parent / "shared" / "data"
TWIN_TEXT, TWIN_DB = "twin_text_base_ascend_pt", "twin_db_base_ascend_pt"


def questions():
    return re.findall(r"```sql\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.S)


class Query(Cli):
    def ask(self, captures, sql, *more):
        """The document of an answer."""
        captures = captures if isinstance(captures, (list, tuple)) else [captures]
        result = self.run_tool("query", *captures, sql, "--json", *more)
        self.assertIn(result.code, (0, 5), f"{sql}: {result.err}")
        return json.loads(result.out)

    def rows(self, captures, sql, *more):
        return self.ask(captures, sql, *more)["rows"]


class Questions(Query):
    def setUp(self):
        super().setUp()
        self.database = build_database(self.CAPTURES, TWIN_DB, self.scratch)

    def test_the_page_asks_twenty(self):
        self.assertGreaterEqual(len(questions()), 20)

    def test_formats_answer_alike(self):
        for sql in questions():
            with self.subTest(sql=sql):
                rows = self.rows(TWIN_TEXT, sql)
                self.assertEqual(rows, self.rows(self.database, sql))
                self.assertTrue(rows)

    def test_by_hand(self):
        """Steps as the trace has them."""
        (trace,) = (self.CAPTURES / TWIN_TEXT).rglob("trace_view.json")
        events = json.loads(trace.read_text(encoding="utf-8"), parse_float=Decimal)
        steps = sorted([int(event["name"].split("#")[1]), int(Decimal(event["dur"]) * 1000)]
                       for event in events if event["name"].startswith("ProfilerStep#"))
        self.assertGreater(len(steps), 1)
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT step, finish - start FROM step ORDER BY 1"), steps)
        (account,) = self.rows(TWIN_TEXT, "SELECT sum(ns) = max(step_dur) FROM account WHERE step = 1")
        self.assertEqual(account, [1])

    def test_export_is_the_same_database(self):
        """Statements on the export, by sqlite3 alone, give the rows of the program."""
        file = self.scratch / "all.db"
        self.assertEqual(self.run_tool("query", TWIN_TEXT, "--export", file).code, 0)
        database = sqlite3.connect(file)
        self.addCleanup(database.close)
        own = re.compile(r"median|percentile|busy_ns|overlap_ns")
        asked = [sql for sql in questions() if not own.search(sql)]
        self.assertGreater(len(asked), 12)
        for sql in asked:
            with self.subTest(sql=sql):
                self.assertEqual([list(row) for row in database.execute(sql)], self.rows(TWIN_TEXT, sql))
        indices = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        self.assertLessEqual({"kernel_by_start", "kernel_by_op", "launch_by_op"}, indices)

    def test_two_sides(self):
        new = "twin_text_new_ascend_pt"
        both = self.ask([TWIN_TEXT, "-bp", new], "SELECT side, count(*) FROM kernel GROUP BY side")["rows"]
        self.assertEqual(both, [["base", self.rows(new, "SELECT count(*) FROM kernel")[0][0]],
                                ["comparison", self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel")[0][0]]])
        change = self.rows([TWIN_TEXT, "-bp", new], "SELECT id, parent, change_ns FROM change ORDER BY id")
        root = change[0]
        self.assertIsNone(root[1])
        self.assertEqual(sum(row[2] for row in change if row[1] == root[0]), root[2])

    def test_own_functions(self):
        values = "WITH v(x) AS (VALUES (4), (1), (3), (2)) "
        self.assertEqual(self.rows(TWIN_TEXT, values + "SELECT median(x), percentile(x, 100), percentile(x, 50.0) FROM v"),
                         [[3, 4, 3]])  # 2.5 is rounded up, as everywhere
        self.assertEqual(self.rows(TWIN_TEXT, values + "SELECT median(x + 0.0), percentile(x, 12.5) FROM v"), [[2.5, 1.375]])
        spans = "WITH v(s, d) AS (VALUES (0, 10), (5, 10), (30, 1), (NULL, 9)) "
        self.assertEqual(self.rows(TWIN_TEXT, spans + "SELECT busy_ns(s, d), sum(d) FROM v"), [[16, 30]])
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT overlap_ns(0, 10, 8, 5), overlap_ns(0, 1, 5, 1), overlap_ns(0, 1, NULL, 1)"),
                         [[2, 0, None]])
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT short('void at::f<a::B>(int)'), short(NULL)"), [["at::f<B>", None]])
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT printf('%.2f %s', 1.5, 'a'), format('%5d', 7), printf(NULL)"),
                         [["1.50 a", "    7", None]])
        self.assertEqual(self.rows(TWIN_TEXT, "SELECT DISTINCT in_step(start + 1, rank) = step FROM step"), [[1]])

    def test_what_is_looked_up_is_what_is_there(self):
        """Ranges, ids and values give the rows that a whole scan gives."""
        for column in ("start", "id", "dur", "stream", "name", "launch"):
            table = self.rows(TWIN_TEXT, f"SELECT id, {column} FROM kernel")
            values = sorted({row[1] for row in table if row[1] is not None})
            some = values[len(values) // 2]
            for operator, fits in (("=", lambda a, b: a == b), ("<", lambda a, b: a < b), (">=", lambda a, b: a >= b)):
                value = f"'{some}'" if isinstance(some, str) else some
                with self.subTest(column=column, operator=operator):
                    expected = [row[0] for row in table if row[1] is not None and fits(row[1], some)]
                    found = self.rows(TWIN_TEXT, f"SELECT id FROM kernel WHERE {column} {operator} {value} ORDER BY id")
                    self.assertEqual([row[0] for row in found], sorted(expected))
                    self.assertTrue(expected or operator == "<")
        joined = self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel k JOIN launch l ON l.link = k.link")
        listed = self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel WHERE launch IS NOT NULL")
        self.assertEqual(joined, listed)
        ordered = self.rows(TWIN_TEXT, "SELECT start FROM op ORDER BY start")
        self.assertEqual(ordered, sorted(ordered))

    def test_only_files_of_tables_that_are_named_are_read(self):
        copy = self.capture_copy(TWIN_TEXT)
        (trace,) = copy.rglob("trace_view.json")
        trace.write_text("[broken", encoding="utf-8")
        for table in ("kernel", "memory", "allocation"):
            sql = f"SELECT count(*), max(id) > 0 FROM {table}"
            self.assertEqual(self.rows(copy, sql), self.rows(TWIN_TEXT, sql))
        self.assert_fails(3, self.run_tool("query", copy, "SELECT count(*) FROM op"), "trace_view.json")

    def test_only_ranks_that_are_named_are_read(self):
        job = build_job(self.CAPTURES, f"3:{TWIN_DB}", self.scratch)
        alternatives = "SELECT rank, id FROM kernel WHERE rank = 0 AND id = 5 OR rank = 2 AND id IN (5, 6) ORDER BY 1, 2"
        self.assertEqual(self.rows(job, alternatives), [[0, 5], [2, 5], [2, 6]])
        (file,) = (job / "rank1_ascend_pt").rglob("ascend_pytorch_profiler_1.db")
        file.write_bytes(file.read_bytes()[:5000] + b"broken" * 1000)
        rows = "SELECT count(*) > 0 FROM kernel"
        for sql, ranks, complete in (
                (rows, 2, False), (f"{rows} WHERE rank = 2", 1, True), ("SELECT count(*) = 0 FROM kernel WHERE rank = 9", 0, True),
                (f"{rows} k JOIN op o ON o.id = k.op AND o.rank = k.rank WHERE k.rank = 0 AND NOT EXISTS"
                 " (SELECT 1 FROM launch l WHERE l.rank = k.rank AND l.id < 0)", 1, True),
                (f"{rows} a, kernel b WHERE a.rank = 0 AND b.rank = a.rank + 2 AND a.id = b.id", 2, True),
                (f"{rows} WHERE rank = (SELECT max(rank) FROM step WHERE rank = 2)", 1, True),
                (f"{rows} a, kernel b WHERE a.rank = 0 AND b.rank = 2 AND a.id = b.id", 2, True),
                (f"{rows} WHERE rank = 0 OR rank + 0 = 2", 2, False),
                (f"{rows} k LEFT JOIN op o ON o.rank = 0 AND o.id = k.op", 2, False),
                ("SELECT in_step(0, 2) IS NULL FROM op WHERE rank = 0 LIMIT 1", 2, False)):
            with self.subTest(sql=sql):
                document = self.ask(job, sql)
                self.assertEqual((document["rows"], document["ranks"], document["complete"]), ([[1]], ranks, complete))

    def test_null_is_never_minus_one(self):
        schema = json.loads(self.run_tool("schema", "--json").out)
        for table in schema["tables"]:
            if table["computed"]:
                continue
            for column in table["columns"]:
                if column["name"] in ("side", "id", "rank") or column["type"] == "text":
                    continue
                (count,) = self.rows(TWIN_TEXT, f"SELECT count(*) FROM {table['name']} WHERE \"{column['name']}\" = -1")
                self.assertEqual(count, [0], f"{table['name']}.{column['name']}")


class QueryParsed(Query):
    def test_formats_answer_alike(self):
        """A raw capture, and both results of `parse`."""
        jobs = {}
        for form in ("raw", "text", "db"):
            jobs[form] = self.scratch / form
            subprocess.run(["cp", "-r", RAW / "stars", jobs[form]], check=True)
            if form != "raw":
                done = self.run_tool("parse", "-d", jobs[form], "--export_type", form, "-q")
                self.assertEqual(done.code, 0, done.err)
        answered = 0
        for sql in questions():
            rows = self.rows(jobs["raw"], sql)
            answered += bool(rows)
            for form in ("text", "db"):
                if form == "db" and "FROM allocation" in sql:
                    continue  # which names allocations of the runtime after the kernel alone
                with self.subTest(sql=sql, form=form):
                    self.assertEqual(rows, self.rows(jobs[form], sql))
        self.assertGreater(answered, 12)


class QueryForms(Query):
    def test_tables(self):
        result = self.run_tool("query", TWIN_TEXT)
        self.assertEqual(result.code, 0)
        self.assertRegex(result.out, r"(?m)^kernel +\d+  ")
        self.assertIn("SELECT", result.out)
        self.assertLessEqual(max(map(len, result.out.splitlines())), 90)

    def test_screen_fits(self):
        result = self.run_tool("query", TWIN_TEXT, "SELECT name, shapes, name n2, start, dur FROM kernel", env={"COLUMNS": "80"})
        self.assertEqual(result.code, 0)
        self.assertLessEqual(max(map(len, result.out.splitlines())), 80)

    def test_csv_and_json_hold_the_same(self):
        sql = "SELECT name, dur, start * 1.5, NULL AS none FROM kernel ORDER BY start"
        table = list(csv.reader(self.run_tool("query", TWIN_TEXT, sql, "--csv").out.splitlines()))
        document = self.ask(TWIN_TEXT, sql)
        self.assertEqual(table[0], [column["name"] for column in document["columns"]])
        self.assertEqual([[row[0], int(row[1]), float(row[2]), row[3]] for row in table[1:]],
                         [[*row[:3], ""] for row in document["rows"]])
        self.assertEqual(document["columns"][1]["unit"], "ns")
        self.assertTrue(document["complete"])

    def test_bounds(self):
        document = self.ask(TWIN_TEXT, "SELECT * FROM op", "--max_rows", "3")
        self.assertEqual((len(document["rows"]), document["truncated"], document["complete"]), (3, True, False))
        result = self.run_tool("query", TWIN_TEXT, "SELECT id, name, start FROM op", "--json", "--max_chars", "900")
        self.assertLessEqual(len(result.out), 1000)
        self.assertTrue(json.loads(result.out)["truncated"])
        begin = time.monotonic()
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        result = self.run_tool("query", TWIN_TEXT, endless, "--max_seconds", "1")
        self.assertEqual(result.code, 7)
        self.assertIn("--max_seconds", result.errors[0])
        self.assertLess(time.monotonic() - begin, 20)

    def test_statements_from_files(self):
        file = self.write("q.sql", "SELECT count(*) FROM kernel -- all of them\n;\n")
        expected = self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel")
        self.assertEqual(json.loads(self.run_tool("query", TWIN_TEXT, "-f", file, "--json").out)["rows"], expected)
        with open(file, encoding="utf-8") as stream:
            out = subprocess.run([self.TOOL, "query", self.CAPTURES / TWIN_TEXT, "-f", "-", "--json"], stdin=stream,
                                 capture_output=True, check=True, encoding="utf-8").stdout
        self.assertEqual(json.loads(out)["rows"], expected)

    def test_names_are_found(self):
        for sql, hint in (("SELECT * FROM kernels", "'kernel'"), ("SELECT duration FROM kernel", "'kernel.dur' (ns)"),
                          ("SELECT k.nam FROM kernel k", "'kernel.name'"), ("SELECT * FROM gaps", "'gap'"),
                          ("SELECT medain(dur) FROM kernel", "'median'"), ("SELECT qqqqq FROM step", "finish")):
            with self.subTest(sql=sql):
                self.assert_fails(2, self.run_tool("query", TWIN_TEXT, sql), hint)

    def test_the_corrected_statement_works(self):
        """--agent: a command that can be run as it is."""
        for sql in ("SELECT * FROM kernels", "SELECT k.nam, 'nam' FROM kernel k WHERE k.nam LIKE 'M%'", "SELECT medain(duration) FROM kernls",
                    ".tabels", ".schema kernl", "SELECT duration FROM kernel WHERE 'duration' <> \"name\""):
            with self.subTest(sql=sql):
                failed = json.loads(self.run_tool("query", TWIN_TEXT, sql, "--agent").out)
                self.assertEqual((failed["status"], failed["code"]), ("error", 2))
                program, *words = shlex.split(failed["suggestion"])
                self.assertEqual(program, "msprof-analyze")
                again = self.run_tool(*words)
                self.assertEqual(again.code, 0, again.err)
                self.assertEqual(json.loads(again.out)["status"], "success")
        literal = json.loads(self.run_tool("query", TWIN_TEXT, "SELECT k.nam, 'k.nam' FROM kernel k", "--agent").out)
        self.assertEqual(shlex.split(literal["suggestion"])[3], "SELECT k.name, 'k.nam' FROM kernel k")
        failed = json.loads(self.run_tool("query", TWIN_TEXT, "SELECT qqqqq FROM step", "--agent").out)
        self.assertNotIn("SELECT", failed["suggestion"])  # nothing is near
        file = self.write("q.sql", "SELECT * FROM kernels")
        failed = json.loads(self.run_tool("query", TWIN_TEXT, "-f", file, "--agent").out)
        self.assertNotIn("-f", failed["suggestion"])

    def test_commands_beside_sql(self):
        """Statements that begin with a point; those that are about no capture need none."""
        tables = self.run_tool("query", TWIN_TEXT, ".tables", "--json")
        listed = {row[0]: row[1] for row in json.loads(tables.out)["rows"]}
        self.assertEqual(listed["kernel"], self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel")[0][0])
        (declared,) = [table for table in json.loads(self.run_tool("schema", "--json").out)["tables"] if table["name"] == "kernel"]
        rows = json.loads(self.run_tool("query", ".schema kernel", "--json").out)["rows"]
        self.assertEqual([[row[0], row[3]] for row in rows], [[column["name"], column["meaning"]] for column in declared["columns"]])
        self.assertIn("CREATE VIEW TASK", self.run_tool("query", TWIN_TEXT, ".schema TASK").out)
        self.assert_fails(2, self.run_tool("query", TWIN_TEXT, ".schema kernl"), "'kernel'")
        self.assert_fails(2, self.run_tool("query", TWIN_TEXT, ".example"), "'.examples'")
        self.assert_fails(2, self.run_tool("query", ".tables"), "CAPTURE")

    def test_examples_are_those_of_the_page(self):
        text = self.run_tool("query", ".examples").out
        self.assertEqual(re.findall(r"(?ms)^-- .*?\n(.*?);$", text), questions()[:10])
        for question, sql in json.loads(self.run_tool("query", ".examples", "--json").out)["rows"]:
            self.assertIn(f"{question}\n\n```sql\n{sql}\n```", PAGE.read_text(encoding="utf-8"))
            self.assertIn(f"  {question}\n", self.run_tool("query", TWIN_TEXT).out)
        pasted = subprocess.run([self.TOOL, "query", self.CAPTURES / TWIN_TEXT, "-f", "-", "--json"], input=text.split(";\n")[0],
                                capture_output=True, check=True, encoding="utf-8").stdout
        self.assertEqual(json.loads(pasted)["rows"], self.rows(TWIN_TEXT, questions()[0]))

    def test_jobs_that_do_not_fit(self):
        """Refused with what would fit; a statement about less does."""
        few, all_of_them = "SELECT count(*) FROM step_trace_time", "SELECT count(*) FROM kernel, op"
        self.assertEqual(self.run_tool("query", TWIN_TEXT, few, "--memory_limit", "20K").code, 0)
        self.assert_fails(7, self.run_tool("query", TWIN_TEXT, all_of_them, "--memory_limit", "2K"), "1 rank", "--rank_list")
        self.assertEqual(self.run_tool("query", TWIN_TEXT, all_of_them, "--memory_limit", "2M").code, 0)

    def test_nothing_but_reading(self):
        victim = self.scratch / "victim.db"
        for sql in (f"ATTACH '{victim}' AS v", f"VACUUM INTO '{victim}'", "CREATE TABLE t(a)", "DELETE FROM kernel",
                    "INSERT INTO kernel(start) VALUES (1)", "UPDATE kernel SET dur = 0", "DROP TABLE kernel",
                    "PRAGMA writable_schema = 1", "PRAGMA temp_store_directory = '/'", "PRAGMA journal_mode",
                    "SELECT load_extension('/lib/x.so')", "SELECT fts3_tokenizer('simple')", "CREATE TEMP TABLE t AS SELECT 1",
                    "CREATE VIEW v AS SELECT 1", "SELECT writefile('x', 'y')", "SELECT readfile('/etc/passwd')",
                    "SELECT edit('x')", "BEGIN", "COMMIT", "DETACH main", "REINDEX", "ANALYZE", "", ";", "-- nothing ( )",
                    "SELECT 1; SELECT 2", "SELECT * FROM sqlite_master; DROP VIEW TASK", "EXPLAIN ATTACH 'x' AS y"):
            with self.subTest(sql=sql):
                file = self.write("q.sql", sql)
                result = self.run_tool("query", TWIN_TEXT, "-f", file, "--json")
                if sql:
                    self.assertEqual(result.code, 2, f"{sql}: {result.out} {result.err}")
                self.assertFalse(victim.exists())
        self.assertEqual({path.name for path in self.scratch.iterdir()}, {"q.sql"})

    def test_large_results_are_refused(self):
        for sql in ("SELECT zeroblob(1000000000)", "SELECT printf('%1000000000d', 1)", "SELECT printf('%.*c', 2000000000, 'x')",
                    "SELECT replace(hex(zeroblob(30000000)), '0', 'xxxxxxxxxx')",
                    "SELECT " + "(" * 500 + "1" + ")" * 500,
                    " UNION ALL ".join(["SELECT 1"] * 500)):
            with self.subTest(sql=sql[:60]):
                result = self.run_tool("query", TWIN_TEXT, sql, "--json")
                self.assertLess(len(result.out), 1000)  # an error, or NULL where SQLite gives that instead
                self.assertTrue(result.code in (2, 7) or json.loads(result.out)["rows"] == [[None]], result.out[:200])

    def test_schema_page(self):
        page = self.run_tool("schema").out
        if os.environ.get("MPA_UPDATE_DOCS"):
            SCHEMA.write_text(page, encoding="utf-8")
        self.assertEqual(SCHEMA.read_text(encoding="utf-8"), page, "MPA_UPDATE_DOCS=1 writes it")

    def test_schema_follows_the_declarations(self):
        """Every field of every declaration of the model is a column, and has a unit if it is a time."""
        schema = json.loads(self.run_tool("schema", "--json").out)
        known = Counter(column["name"] for table in schema["tables"] for column in table["columns"])
        units = {(column["name"], column.get("unit")) for table in schema["tables"] for column in table["columns"]}
        fields = defaultdict(set)
        for header in (ROOT / "include/mpa/model").glob("*.h"):
            for line in re.sub(r"//.*", "", header.read_text(encoding="utf-8")).split(";"):
                match = re.search(r"^\s*Of<(.*?)>\s+(\w+(?:\s*(?:=\s*Initially)?\{[^}]*\})?(?:,\s*\w+.*)?)\s*$", line.strip(), re.S)
                if match and "vector" not in match[1]:
                    for name in re.findall(r"(\w+)\s*(?:=\s*Initially)?\{", match[2]):
                        fields[match[1].rstrip(">")].add(name)
        renamed = {"id", "end", "by", "limit", "group"}
        self.assertGreater(sum(map(len, fields.values())), 100)
        for declared, names in fields.items():
            for name in names - renamed:
                self.assertIn(name, known, declared)
                if declared in ("TimeNs", "Rare<TimeNs"):
                    self.assertIn((name, "ns"), units)


class QueryPrompt(Query):
    """On a terminal: what is typed, and what is then on the screen."""

    def setUp(self):
        super().setUp()
        self.process = None
        self.addCleanup(lambda: self.process and self.process.poll() is None and self.process.kill())

    def begin(self, *captures, **env):
        try:
            self.leader, follower = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals: {error}")
        self.addCleanup(os.close, self.leader)
        termios.tcsetwinsize(follower, (50, 100))
        self.before = termios.tcgetattr(follower)
        self.follower = follower
        self.addCleanup(os.close, follower)
        self.process = subprocess.Popen([self.TOOL, "query", *captures], cwd=self.CAPTURES, stdin=follower, stdout=follower,
                                        stderr=follower, env={**os.environ, "TERM": "xterm", **env},
                                        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        return self.until("query> ")

    def until(self, text, seconds=30):
        """What the terminal shows up to `text`, which ends it."""
        shown, end = "", time.monotonic() + seconds
        while not shown.endswith(text):
            self.assertGreater(end, time.monotonic(), f"no {text!r} in {shown!r}")
            if select.select([self.leader], [], [], 0.1)[0]:
                shown += os.read(self.leader, 4096).decode(errors="replace")
                shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
        return shown

    def typed(self, text, until="query> "):
        os.write(self.leader, text.encode())
        return self.until(until)

    def leave(self, text):
        os.write(self.leader, text.encode())
        self.assertEqual(self.process.wait(30), 0)
        self.assertEqual(termios.tcgetattr(self.follower), self.before)

    def test_statements(self):
        first = self.begin(TWIN_TEXT)
        self.assertRegex(first, r"(?m)^kernel +\d")
        kernels = self.rows(TWIN_TEXT, "SELECT count(*) FROM kernel")[0][0]
        self.assertRegex(self.typed("SELECT count(*) AS n\n", "...> "), "SELECT")
        self.assertRegex(self.typed("FROM kernel;\n"), rf"n\s+{kernels}\s")
        self.assertIn("did you mean 'kernel'", self.typed("SELECT * FROM kernels;\n"))
        self.assertRegex(self.typed("SELECT ';', count(*) FROM kernel;\n"), rf";\s+{kernels}\s")
        self.assertRegex(self.typed("\x10\x10\n"), "did you mean")  # Ctrl-P: what was typed before
        self.assertIn("'é你'", self.typed("SELECT 'é你' AS text;\n"))
        self.assertIn("dur ", self.typed(".schema kernel\n"))
        self.assertIn("-- Which kernels", self.typed(".examples\n"))
        self.assertIn(".quit", self.typed(".help\n"))
        self.assertIn("'.tables'", self.typed(".tabels\n"))
        self.leave(".quit\n")

    def test_what_was_loaded_is_kept(self):
        capture = self.capture_copy(TWIN_TEXT)
        self.begin(capture)
        shutil.rmtree(capture)
        self.assertRegex(self.typed("SELECT count(*) > 1 AS n FROM kernel;\n"), r"n\s+1\s")
        self.leave("\x04")

    def test_completion(self):
        # Where the cursor cannot move, the whole line is shown again.
        self.begin(TWIN_TEXT, TERM="no-such-terminal")
        for typed, completed in (("sel\t", "SELECT"), ("SELECT * FROM kernel_l\t", "SELECT * FROM kernel_load"), (".sch\t", ".schema"),
                                 ("SELECT k.op_t\t FROM kernel k", "SELECT k.op_type FROM kernel k"),
                                 ("SELECT finis\t FROM step", "SELECT finish FROM step"), ("SELECT perc\t", "SELECT percentile"),
                                 (".schema kernel_s\t", ".schema kernel_statistic")):
            with self.subTest(typed=typed):
                # A column is known once the statement names its table; that may stand behind it.
                before, after = typed.split("\t")
                back = "\x02" * len(after)  # Ctrl-B
                self.assertIn(f"query> {completed}", self.typed(before + after + back + "\t\x05\x03"))
        self.assertRegex(self.typed("SELECT * FROM kernel_\t\x03"), r"\nkernel_load +kernel_statistic")
        self.leave("\x04")

    def test_interrupts(self):
        self.begin(TWIN_TEXT)
        self.typed("SELECT count(*)\n", "...> ")
        self.assertIn("^C", self.typed("FROM nowh\x03"))
        self.assertRegex(self.typed("SELECT 6 * 7 AS n;\n"), r"n\s+42\s")
        os.write(self.leader, b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;\n")
        time.sleep(1)
        begin = time.monotonic()
        self.assertIn("stopped", self.typed("\x03"))
        self.assertLess(time.monotonic() - begin, 5)
        self.assertRegex(self.typed("SELECT 6 * 7 AS n;\n"), r"n\s+42\s")
        self.typed("SELECT 1\n", "...> ")
        self.leave("\x04")

    def test_signals_leave_the_terminal_as_it_was(self):
        self.begin(TWIN_TEXT)
        self.process.terminate()
        self.assertEqual(self.process.wait(30), 143)
        self.assertEqual(termios.tcgetattr(self.follower), self.before)

    def test_terminals_that_nothing_is_known_of(self):
        self.begin(TWIN_TEXT, TERM="no-such-terminal")
        self.assertRegex(self.typed("SELECT 6 * 7 AS n;\n"), r"n\s+42\s")
        self.leave("\x04")

    def test_only_where_somebody_types(self):
        """Neither with a pipe on one side nor for programs."""
        result = self.run_tool("query", TWIN_TEXT)
        self.assertNotIn("query>", result.out)


@unittest.skipUnless(SHARED.is_dir(), "no captures in ../shared/data")
class QueryShared(Query):
    """Answers that Python computes from the files, by other ways."""

    def test_kernels_of_text(self):
        job = SHARED / "npu/text/level1"
        times, count, short = Counter(), 0, 0
        by_rank = {}
        for rank in (0, 1):
            durations = []
            with open(job / f"rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    if row["Name"].startswith("hcom_"):
                        continue
                    ns = int(Decimal(row["Duration(us)"]) * 1000)
                    times[row["Name"]] += ns
                    count += 1
                    short += ns < 10_000
                    durations.append(ns)
            by_rank[rank] = (len(durations), max(durations))
        rows = self.rows(job, "SELECT name, sum(dur) FROM kernel GROUP BY 1", "--max_rows", "100000")
        self.assertEqual(dict(map(tuple, rows)), dict(times))
        self.assertEqual(self.rows(job, "SELECT count(*), sum(dur < 10000) FROM kernel"), [[count, short]])
        self.assertEqual(self.rows(job, "SELECT rank, count(*), max(dur) FROM kernel GROUP BY 1"),
                         [[rank, *values] for rank, values in by_rank.items()])

    def test_names_of_the_profiler(self):
        """Statements on its database, by sqlite3, and on the views, of database and text."""
        job = SHARED / "npu/db/level1/rank0_ascend_pt"
        (file,) = job.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db")
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        self.addCleanup(database.close)
        statements = (
            "SELECT s.value, count(*), sum(t.endNs - t.startNs) FROM TASK t JOIN COMPUTE_TASK_INFO c ON"
            " t.globalTaskId = c.globalTaskId JOIN STRING_IDS s ON s.id = c.name GROUP BY 1 ORDER BY 1",
            "SELECT ts.value, count(*) FROM COMPUTE_TASK_INFO c JOIN STRING_IDS ts ON ts.id = c.opType GROUP BY 1 ORDER BY 1",
            "SELECT s.value, c.endNs - c.startNs FROM COMMUNICATION_OP c JOIN STRING_IDS s ON s.id = c.opName ORDER BY c.startNs",
            "SELECT e.name, count(*) FROM CANN_API c JOIN ENUM_API_TYPE e ON e.id = c.type GROUP BY 1 ORDER BY 1",
            "SELECT count(*) FROM PYTORCH_API p JOIN CONNECTION_IDS i ON i.id = p.connectionId JOIN CANN_API a"
            " ON a.connectionId = i.connectionId",
            "SELECT count(*) FROM COMMUNICATION_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId")
        for sql in statements:
            with self.subTest(sql=sql):
                self.assertEqual(self.rows(job, sql), [list(row) for row in database.execute(sql)])
                text = self.rows(SHARED / "npu/text/level1/rank0_ascend_pt", sql)
                self.assertTrue(text)

    def test_kernels_of_a_gpu(self):
        file = SHARED / "gpu/ddp_nccl.json.gz"
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            events = json.load(stream, parse_float=Decimal)["traceEvents"]
        kernels = [event for event in events if event.get("cat") == "kernel" and not event["name"].startswith("nccl")]
        times = Counter()
        for event in kernels:
            times[event["name"]] += int(event["dur"] * 1000)
        rows = self.rows(file, "SELECT name, sum(dur) FROM kernel GROUP BY 1", "--max_rows", "100000")
        self.assertEqual(dict(map(tuple, rows)), dict(times))

    def test_kinds_of_captures(self):
        """The lines of the page's begin work on each."""
        for capture in ("npu/text/level0", "npu/db/level0", "npu/db_mstx", "gpu/alexnet.json.gz", "raw/level1", "raw/two_ranks"):
            with self.subTest(capture=capture):
                (row,) = self.rows(SHARED / capture, "SELECT count(*), count(op), sum(dur) > 0 FROM kernel")
                self.assertGreater(row[0], 0)
                self.assertTrue(self.rows(SHARED / capture, "SELECT leaf, sum(ns) FROM account GROUP BY 1"))


if __name__ == "__main__":
    RAW = Path(sys.argv[sys.argv.index("--raw") + 1]) if "--raw" in sys.argv else None
    sys.exit(main(__doc__, Questions, QueryParsed, QueryForms, QueryPrompt, QueryShared))
