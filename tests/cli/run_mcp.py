#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What language models are served: `mcp` and `skill`.

    run_mcp.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: mcp, skill.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from cli import DOCS, TIMEOUT_SECONDS, Cli, main
from captures import build_job

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
CAPTURE, OTHER = "text_new_ascend_pt", "text_base_ascend_pt"


class Mcp(Cli):
    def talk(self, *messages, root=None):
        """The answers to lines, in order; what is no line of text yet becomes one."""
        lines = [line if isinstance(line, str) else json.dumps(line) for line in messages]
        done = subprocess.run([self.TOOL, "mcp", "--root", str(root or self.CAPTURES)], input="\n".join(lines) + "\n",
                              capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS, check=False, cwd=self.scratch)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def request(self, method, number=1, **params):
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}

    def call(self, tool, root=None, **arguments):
        """The text of the answer, and whether it is an error."""
        (answer,) = self.talk(self.request("tools/call", name=tool, arguments=arguments), root=root)
        result = answer["result"]
        self.assertEqual(result["resultType"], "complete")
        (content,) = result["content"]
        self.assertEqual(content["type"], "text")
        return content["text"], result["isError"]

    def answer(self, tool, **arguments):
        text, is_error = self.call(tool, **arguments)
        self.assertFalse(is_error, text)
        return json.loads(text)

    def test_a_conversation(self):
        """As clients of revision 2026-07-28 have it: nothing is remembered between requests."""
        discovered, listed, called = self.talk(
            self.request("server/discover", "a"), self.request("tools/list", 2),
            self.request("tools/call", 3, name="check", arguments={"path": CAPTURE}))
        self.assertEqual([one["id"] for one in (discovered, listed, called)], ["a", 2, 3])
        self.assertEqual({one["jsonrpc"] for one in (discovered, listed, called)}, {"2.0"})
        self.assertIn("2026-07-28", discovered["result"]["supportedVersions"])
        self.assertEqual(discovered["result"]["capabilities"], {"tools": {}})
        for one in (discovered, listed, called):
            self.assertEqual(one["result"]["resultType"], "complete")
            self.assertEqual(one["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "msprof-analyze")
        tools = listed["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["check", "diagnose", "why", "compare", "query", "timeline"])
        for tool in tools:
            self.assertTrue(tool["annotations"]["readOnlyHint"])
            self.assertLessEqual({*tool["inputSchema"]["required"]}, {*tool["inputSchema"]["properties"]})
        page = (DOCS / "agents.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(?m)^\| `(\w+)` \|", page), [tool["name"] for tool in tools])

    def test_a_session(self):
        """As clients of revisions before have it."""
        for version, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"),
                               ("2025-03-26", "2025-11-25")):  # of which arrays of requests are a part
            first, *rest = self.talk(
                {"jsonrpc": "2.0", "id": 0, "method": "initialize",
                 "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
                {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
                 "params": {"name": "check", "arguments": {"path": CAPTURE}}})
            self.assertEqual(first["result"]["protocolVersion"], given)
            self.assertEqual([one["id"] for one in rest], [1, 2, 3])
            self.assertEqual(rest[0]["result"], {})
            self.assertEqual(len(rest[1]["result"]["tools"]), 6)
            self.assertFalse(rest[2]["result"]["isError"])

    def test_requests_that_are_wrong(self):
        deep = "[" * 100_000
        two = json.dumps([self.request("tools/list"), self.request("tools/list", 2)])
        cases = [("{", -32700), (deep, -32700), ("x" * 10_000_000, -32700), ("[]", -32600), (two, -32600), ('"text"', -32600), ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
                 ("[" * 100_000 + "]" * 100_000, -32600),
                 ('{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": {"x": ' + "[" * 200_000 + "]" * 200_000 + "}}", -32600),
                 ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600), ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
                 ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}, -32602),
                 ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, -32602),
                 ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": 3}}, -32602),
                 (self.request("tools/nothing"), -32601), (self.request("tools/call", name="rm"), -32602),
                 (self.request("tools/call"), -32602), ('{"jsonrpc": "2.0", "id": 1, "method": "' + "x" * 2_000_000 + '"}', -32700)]
        answers = self.talk(*(line for line, _ in cases))
        self.assertEqual([one["error"]["code"] for one in answers], [code for _, code in cases])
        known = [line["id"] if isinstance(line, dict) and isinstance(line["id"], int) else None for line, _ in cases]
        self.assertEqual([one["id"] for one in answers], known)
        other = self.request("tools/list")
        other["params"]["_meta"] = {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
        (answer,) = self.talk(other)
        self.assertEqual(answer["error"]["code"], -32022)
        self.assertEqual(answer["error"]["data"]["requested"], "1900-01-01")
        self.assertIn("2026-07-28", answer["error"]["data"]["supported"])
        self.assertEqual(self.talk({"jsonrpc": "2.0", "method": "notifications/cancelled"}, ""), [])

    def test_tools_answer_as_commands_do(self):
        checked = self.answer("check", path=CAPTURE)
        command = json.loads(self.run_tool("check", self.CAPTURES / CAPTURE, "--agent", "--max_chars", "4000").out)
        self.assertEqual(checked["message"]["answer"], command["message"]["answer"])
        (findings,) = self.answer("diagnose", path=CAPTURE)["message"]["data"]
        key = findings["rows"][0][findings["columns"].index("key")]
        self.assertIn(key, json.dumps(self.answer("why", path=CAPTURE, key=key)))
        self.assertTrue(self.answer("compare", path=CAPTURE, base=OTHER)["message"]["data"])
        counted = self.answer("query", path=CAPTURE, sql="SELECT count(*) AS n FROM kernel")
        counted = counted["message"]["data"][0]
        self.assertEqual(counted["columns"], ["n"])
        lines = self.run_tool("query", CAPTURE, "SELECT count(*) AS n FROM kernel", "--csv").out.splitlines()
        self.assertEqual(counted["rows"], [[int(lines[1])]])
        self.assertEqual(sorted(os.listdir(self.scratch)), [], "nothing is written")

    def test_timeline(self):
        message = self.answer("timeline", path=CAPTURE, from_ms=0, to_ms=1e6, max_chars=100000)["message"]
        self.assertIn("after the first step", message["scope"]["times"])
        self.assertEqual(message["question"], "what ran on a rank from 0 to 1000000.0 ms")
        (table,) = message["data"]
        durations = [row[table["columns"].index("dur_ns")] for row in table["rows"]]
        self.assertTrue(durations)
        self.assertEqual(durations, sorted(durations, reverse=True))
        (table,) = self.answer("query", path=CAPTURE)["message"]["data"]
        self.assertIn("kernel", [row[0] for row in table["rows"]])

    def test_what_runs_within_the_time(self):
        """Of rank, begin and end: as SQL counts it, which has times of the clock."""
        (found,) = self.answer("query", path=CAPTURE, sql="SELECT min(start) FROM step")["message"]["data"]
        zero = found["rows"][0][0]
        (spans,) = self.answer("query", path=CAPTURE, max_chars=100000,
                               sql="SELECT name, start, dur FROM kernel UNION ALL SELECT name, start, dur FROM comm")["message"]["data"]
        self.assertEqual(spans["left"], 0)
        first = min(start - zero for _, start, _ in spans["rows"])
        begin, end = first + 1, first + 3_000_000  # the first one runs then
        expected = sorted([name, start - zero, dur] for name, start, dur in spans["rows"]
                          if start - zero < end and start - zero + dur > begin)
        (table,) = self.answer("timeline", path=CAPTURE, from_ms=begin / 1e6, to_ms=end / 1e6, max_chars=100000)["message"]["data"]
        self.assertEqual(table["columns"], ["rank", "kind", "name", "start_ns", "dur_ns"])
        self.assertEqual(sorted(row[2:] for row in table["rows"] if row[1] != "operator"), expected)
        (none,) = self.answer("timeline", path=CAPTURE, rank=77, from_ms=0, to_ms=1e6)["message"]["data"]
        self.assertEqual((none["rows"], none["left"]), ([], 0))

    def test_parts_that_are_lost(self):
        """Is said of a statement, too."""
        job = build_job(self.CAPTURES, "2:db_base_ascend_pt", self.scratch)
        (database,) = (job / "rank1_ascend_pt").rglob("*.db")
        database.write_bytes(b"SQLite format 3\0" + bytes(5000))
        text, is_error = self.call("query", root=job, path=".", sql="SELECT count(*) FROM op")
        answer = json.loads(text)
        self.assertEqual((is_error, answer["status"], answer["code"], answer["message"]["complete"]), (False, "warning", 5, False))
        self.assertIn("rank1", answer["message"]["lost"])
        self.assertEqual(answer["message"]["scope"]["ranks"], "0")

    def test_commands_that_fail(self):
        """Say so: an object of the command, and that it is an error."""
        (self.scratch / "empty").mkdir()
        for tool, more in (("check", {}), ("diagnose", {}), ("why", {"key": "rank.late"}), ("diagnose", {"rank_list": "x-"})):
            text, is_error = self.call(tool, root=self.scratch, path="empty", **more)
            self.assertTrue(is_error, text)
            self.assertEqual(json.loads(text)["status"], "error")

    def test_ranks_to_diagnose(self):
        build_job(self.CAPTURES, "2:db_base_ascend_pt", self.scratch)
        for ranks, read in (({}, "0, 1"), ({"rank_list": "1"}, "1")):
            text, is_error = self.call("diagnose", root=self.scratch, path="job", **ranks)
            self.assertFalse(is_error, text)
            self.assertEqual(json.loads(text)["message"]["scope"]["ranks"], read)

    def test_one_job_is_kept(self):
        """The next question about it reads no file."""
        capture = self.scratch / "copy_ascend_pt"
        shutil.copytree(self.CAPTURES / CAPTURE, capture)
        count = {"path": capture.name, "sql": "SELECT count(*) FROM kernel"}
        with subprocess.Popen([self.TOOL, "mcp", "--root", self.scratch], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              encoding="utf-8") as server:
            def ask(**arguments):
                server.stdin.write(json.dumps(self.request("tools/call", name="query", arguments=arguments)) + "\n")
                server.stdin.flush()
                return json.loads(server.stdout.readline())["result"]
            first = ask(**count)
            shutil.rmtree(capture / "ASCEND_PROFILER_OUTPUT")
            self.assertEqual(ask(**count), first)
            other = ask(**{**count, "base": capture.name})  # is another job
            self.assertNotEqual(other, first)
            server.stdin.close()

    def test_a_client_that_goes(self):
        """Neither the server nor a command that it runs is left, nor files."""
        temporary = self.scratch / "temporary"
        temporary.mkdir()
        line = json.dumps(self.request("tools/call", name="diagnose", arguments={"path": CAPTURE}))
        for how in (signal.SIGKILL, signal.SIGTERM, None):
            with self.subTest(how=how), subprocess.Popen(
                    [self.TOOL, "mcp", "--root", self.CAPTURES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    env={**os.environ, "TMPDIR": str(temporary)}) as server:
                server.stdin.write(line.encode() + b"\n")
                server.stdin.flush()
                child = self.child(server.pid)
                os.kill(child, signal.SIGSTOP)  # so that it does not end by itself
                server.stdin.close()
                server.stdout.close()
                if how is None:
                    os.kill(child, signal.SIGCONT)
                else:
                    server.send_signal(how)
                server.wait(timeout=TIMEOUT_SECONDS)
                ends = self.ends(child)
                if not ends:
                    os.kill(child, signal.SIGKILL)
                self.assertTrue(ends, "the command goes on")
                self.assertEqual(os.listdir(temporary), [])

    @staticmethod
    def child(process):
        """The command that the server runs, once it is that and no copy of the server."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end:
            with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
                children = file.read().split()
            if children:
                with open(f"/proc/{children[0]}/cmdline", "rb") as file:
                    if b"--agent" in file.read():
                        return int(children[0])
        raise AssertionError("no command was started")

    @staticmethod
    def ends(process):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if not os.path.exists(f"/proc/{process}/stat"):
                return True
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                if file.read().split(") ")[1].startswith("Z"):  # of whoever adopts it
                    return True
            time.sleep(0.05)
        return False

    def test_only_below_the_root(self):
        below = self.scratch / "root"
        below.mkdir()
        (below / "link").symlink_to(self.CAPTURES / CAPTURE)
        for path in ("..", "/etc/passwd", "link", str(self.CAPTURES / CAPTURE), "../root/../.."):
            with self.subTest(path=path):
                text, is_error = self.call("check", root=below, path=path)
                self.assertTrue(is_error)
                self.assertIn("outside of", text)
        text, is_error = self.call("query", path=CAPTURE, base="../..", sql="SELECT 1")
        self.assertTrue(is_error)
        job = below / "job"
        job.mkdir()
        shutil.copytree(self.CAPTURES / CAPTURE, job / "rank0_ascend_pt")
        self.assertFalse(self.call("check", root=below, path="job")[1])
        (job / "inside").symlink_to(job / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT")
        self.assertFalse(self.call("check", root=below, path="job")[1])
        (job / "rank1_ascend_pt").symlink_to(self.CAPTURES / OTHER)
        for tool, more in (("check", {}), ("query", {"sql": "SELECT 1"}), ("compare", {"base": "job/rank0_ascend_pt"})):
            text, is_error = self.call(tool, root=below, path="job", **more)
            self.assertTrue(is_error, text)
            self.assertIn("outside of", text)

    def test_arguments_that_are_wrong(self):
        for tool, arguments, words in (
                ("check", {}, "'path' is required"), ("check", {"path": 3}, "type string"), ("check", {"path": CAPTURE, "x": 1}, "unknown argument 'x'"),
                ("check", {"path": "nowhere"}, "no such file"), ("check", {"path": CAPTURE, "max_chars": 5}, "max_chars"),
                ("timeline", {"path": CAPTURE, "from_ms": 5, "to_ms": 1}, "before"), ("why", {"path": CAPTURE, "key": "-o"}, "not a key"),
                ("query", {"path": CAPTURE, "sql": "DROP TABLE kernel"}, ""), ("query", {"path": CAPTURE, "sql": "SELECT * FROM kernl"}, "kernel"),
                ("query", {"path": CAPTURE, "sql": "ATTACH '/etc/passwd' AS x"}, "")):
            with self.subTest(tool=tool, arguments=arguments):
                text, is_error = self.call(tool, **arguments)
                self.assertTrue(is_error, text)
                self.assertIn(words, text)

    def test_answers_are_bounded(self):
        for most in (600, 2000, 20000):
            text, _ = self.call("query", path=CAPTURE, sql="SELECT * FROM kernel", max_chars=most)
            self.assertLessEqual(len(text.encode()), most)
            json.loads(text)
            text, _ = self.call("diagnose", path=CAPTURE, max_chars=most)
            self.assertLessEqual(len(text.encode()), most)
            json.loads(text)


class Skill(Cli):
    def tokens(self, text):
        """At most: words and marks, longer words in pieces, and each Chinese character."""
        return sum(1 if ord(piece[0]) > 0x2000 else -(-len(piece) // 5)
                   for piece in re.findall(r"[\u4e00-\u9fff]|[A-Za-z_0-9]+|[^\sA-Za-z_0-9]", text))

    def test_it_is_short_and_complete(self):
        program = self.run_tool("--help").out
        recipes = re.findall(r"(?m)^  ([a-z][a-z_0-9]+)", program.split("Recipes:")[1].split("Options:")[0])
        for language in ("en", "cn"):
            text = self.run_tool("skill", "--language", language).out
            self.assertTrue(text.startswith("---\nname: msprof-analyze\ndescription: "))
            self.assertLessEqual(self.tokens(text), 2500, language)
            self.assertNotIn("{{", text)
            for name in recipes:
                self.assertIn(f"`{name}`", text)
            for table in json.loads(self.run_tool("schema", "--json").out)["tables"]:
                self.assertIn(f"`{table['name']}`", text)

    def test_languages_say_the_same(self):
        """Names, commands, statements and numbers, in whatever words."""
        def facts(language):
            text = self.run_tool("skill", "--language", language).out
            own = text[text.index("# "):text.rindex("{} ".format("## Commands" if language == "en" else "## 命令").strip())]
            return [sorted(set(re.findall(form, own))) for form in (r"`([^`\n]+)`", r"(?m)^SELECT .*$", r"(?<![\w.'+])\d{2,}")]
        self.assertEqual(facts("cn"), facts("en"))

    def test_every_command_in_it_runs(self):
        text = self.run_tool("skill").out
        commands = re.findall(r"`msprof-analyze ([^`]*--agent)`", text)
        self.assertGreater(len(commands), 4)
        key = json.loads(self.run_tool("advisor", "all", "-d", CAPTURE, "--json").out)["findings"][0]["key"]
        for command in commands:
            words = [{"DIR": CAPTURE, "NEW": CAPTURE, "OLD": OTHER, "KEY": key, "RECIPE": "compute_op_sum", '"SELECT': "SELECT 1"}.get(word, word)
                     for word in command.replace('"SELECT ..."', "SELECT").split()]
            words = ["SELECT 1" if word == "SELECT" else word for word in words]
            with self.subTest(command=command):
                result = self.run_tool(*words, *(["-o", self.out] if "compute_op_sum" in words else []))
                self.assertEqual(json.loads(result.out)["status"], "success", result.out)
        for sql in re.findall(r"(?m)^SELECT .*$", text):
            with self.subTest(sql=sql):
                self.assertEqual(self.run_tool("query", CAPTURE, sql).code, 0)

    def test_it_is_written_whole(self):
        self.assertEqual(self.run_tool("skill", "--write", self.scratch / "skills").code, 0)
        folder = self.scratch / "skills" / "msprof-analyze"
        self.assertEqual(sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md")),
                         ["SKILL.md", "references/questions.md", "references/schema.md"])
        self.assertEqual((folder / "SKILL.md").read_text(encoding="utf-8"), self.run_tool("skill").out)
        self.assertEqual((folder / "references/schema.md").read_text(encoding="utf-8"), self.run_tool("schema").out)


if __name__ == "__main__":
    sys.exit(main(__doc__, Mcp, Skill))
