#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, check, compare, the gate and errors in Chinese, and how the language is chosen.

    run_chinese_commands.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: chinesehelp, chinesescreens, chineseerrors, chosenlanguage.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import sys
import unicodedata

from cli import BASE, NEW, Cli, main
from run_chinese import TERMS, english_in
from same_tables import recipes_of  # of tests/support, which cli finds

# Terms of the command line and its captures.
TERMS.update("""trace slice token prompt recipe advisor merge shell device mode runtime cluster compare check stack call mark
    decode prefill mixed dummy framework op off on all none start end trace api event fit wide us ms mstx range execution
    overlap analysis nsight systems kineto flash attention conv forward backward tensor move xlsx db json csv md html columns
    junit openmetrics github history computing lccl copies free export parse man auto completion bash zsh fish""".split())
# Names of analyses, and what the system says of a file.
NAMES = re.compile(r"(?:compare|cluster): [\w, ]+|compare, cluster, check[\w, -]+|No such file or directory|Not a directory")


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)


class Chinese(Cli):
    def say(self, *arguments, **settings):
        return self.run_tool(*arguments, "--language", "cn", env={"COLUMNS": "80"}, **settings)

    def assert_chinese(self, lines, about=""):
        self.assertTrue(any("\u4e00" <= sign <= "\u9fff" for line in lines for sign in line), f"{about}: {lines}")
        self.assertEqual([(run, line) for line in lines for run in english_in(NAMES.sub("", line))], [], about)


class ChineseHelp(Chinese):
    def pages(self):
        commands = ["compare", "cluster", "check", "parse", "advisor", "merge", "export", "query", "schema", "history", "auto-completion", "man"]
        yield ["--help"]
        for command in [*([name] for name in commands), *(["-m", name] for name in recipes_of(self.TOOL))]:
            yield [*command, "--help"]
            yield [*command, "--help", "all"]

    def test_no_english_is_left(self):
        for page in self.pages():
            with self.subTest(page=page):
                result = self.say(*page)
                self.assertEqual((result.code, result.err), (0, []))
                lines = [line for line in result.out.splitlines() if not self.is_command(line)]
                self.assert_chinese(lines, page)

    def test_lines_fit_on_the_screen(self):
        for page in self.pages():
            with self.subTest(page=page):
                for line in self.say(*page).out.splitlines():
                    self.assertLessEqual(columns_of(line), 80, line)

    def test_the_same_options_are_listed(self):
        for page in self.pages():
            with self.subTest(page=page):
                english = self.run_tool(*page, "--language", "en").out
                self.assertEqual(self.options_of(self.say(*page).out), self.options_of(english))

    def test_the_manual_is_in_english(self):
        self.assertEqual(self.say("man", "compare").out, self.run_tool("man", "compare").out)

    # Usage and examples.
    def is_command(self, line):
        return line.startswith(("  msprof-analyze ", "      "))

    def options_of(self, page):
        return re.findall(r"(?m)^  (?:-\w+, )*(?:--\w+, )*(--\w+)", page)


class ChineseScreens(Chinese):
    """Of captures that say enough to fill most lines."""

    # Warnings name paths, which tests make.
    def lines_of(self, result):
        return [line.replace(str(self.scratch), "/") for line in result.out.splitlines()]

    def test_check(self):
        for capture in (BASE, NEW, "."):
            with self.subTest(capture=capture):
                result = self.say("check", capture)
                english = self.run_tool("check", capture)
                self.assertEqual(result.code, english.code, result.err)
                lines = self.lines_of(result)
                self.assert_chinese(lines)
                self.assertEqual(lines[0], english.out.splitlines()[0])
                self.assertLessEqual(max(map(columns_of, lines[1:])), 80)

    def test_values_for_programs_are_the_same(self):
        def values(language):
            document = json.loads(self.run_tool("check", BASE, "--json", "--language", language).out)
            return [(rank["kind"], rank["recorded"], rank["steps"], [check["ability"] for check in rank["analyzers"]],
                     [warning["id"] for warning in rank["warnings"]]) for rank in document["ranks"]]

        self.assertEqual(values("cn"), values("en"))

    def test_compare(self):
        result = self.say("compare", "-d", NEW, "-bp", BASE, "-o", self.out)
        english = self.compare()
        self.assertEqual(result.code, english.code, result.err)
        lines = self.lines_of(result)
        self.assert_chinese([line for line in lines if not line.startswith(("\u57fa\u51c6\uff1a", "\u6bd4\u5bf9\uff1a"))])
        self.assertLessEqual(max(map(columns_of, lines)), 80)
        numbers = re.compile(r"[+-]?\d+\.\d+")
        self.assertEqual(numbers.findall(result.out), numbers.findall(english.out))
        table = lines[lines.index("") + 1:]
        table = table[:table.index("")]
        self.assertEqual(len({columns_of(line) for line in table if not line.startswith("\uff08")}), 1,
                         "the table is a rectangle")
        self.assert_chinese([line.removeprefix("msprof-analyze: ").replace(str(self.out), "/") for line in result.err])

    def test_the_gate(self):
        for limit, code in (("step_time>+1000%", 0), ("e2e>+0.001%", None)):
            with self.subTest(limit=limit):
                arguments = ("compare", "-d", NEW, "-bp", BASE, "--fail_on", limit, "-o", self.out, "--min_steps", 1)
                result, english = self.say(*arguments), self.run_tool(*arguments)
                self.assertEqual(result.code, english.code)
                if code is not None:
                    self.assertIn(result.code, (code, 4))
                self.assert_chinese(self.lines_of(result))

    def test_the_summary_for_github(self):
        summary = self.scratch / "summary.md"
        self.run_tool("compare", "-d", NEW, "-bp", BASE, "--fail_on", "e2e>+1%", "--export_type", "github",
                      "--language", "cn", "-o", self.out, env={"GITHUB_STEP_SUMMARY": str(summary)})
        lines = summary.read_text(encoding="utf-8").splitlines()
        self.assertTrue(lines[0].startswith("## "))
        self.assert_chinese(lines)


class ChineseErrors(Chinese):
    """An error says its text in Chinese, and what it means to a program is the same."""

    def errors(self):
        broken = self.write("broken.json", '{"traceEvents": [')
        other = self.write("other.txt", "text")
        not_writable = self.write("file", "")
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--screen", "tall"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--jobs", "none"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--jobs", "0"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--no_such_option"]
        yield 2, ["compare", "-d"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "-o", "a", "-o", "b"]
        yield 2, ["compare", "-d", NEW]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--fail_on", "no_such_metric>+3%"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--fail_on", "step_time>3 bananas"]
        yield 2, ["compare", "-d", NEW, "-bp", BASE, "--op_name_map", "text"]
        yield 2, ["no_such_command"]
        yield 2, ["-m", "no_such_recipe", NEW]
        yield 2, ["-m", "hccl_sum", NEW, "--shard", "3/2", "-o", "a"]
        yield 2, ["merge"]
        yield 2, ["auto-completion", "csh"]
        yield 2, ["export", "timeline", NEW, "--from", "2", "--to", "1"]
        yield 3, ["compare", "-d", NEW, "-bp", self.scratch / "nowhere"]
        yield 3, ["check", self.scratch / "nowhere"]
        yield 3, ["compare", "-d", NEW, "-bp", other]
        yield 3, ["compare", "-d", NEW, "-bp", broken]
        yield 3, ["-m", "hccl_sum", self.scratch / "nowhere"]
        yield 6, ["compare", "-d", NEW, "-bp", BASE, "-o", not_writable / "below"]

    def test_each_kind(self):
        for code, arguments in self.errors():
            with self.subTest(arguments=arguments):
                english = self.run_tool(*arguments, env={"LANG": "C"})
                result = self.run_tool(*arguments, env={"LANG": "zh_CN.UTF-8"})
                self.assertEqual(english.code, result.code, (english.err, result.err))
                self.assertEqual(result.code, code, result.err)
                self.assertEqual(len(english.errors), 1)
                lines = [line.removeprefix("msprof-analyze: ").replace(str(self.scratch), "/") for line in result.err]
                self.assertEqual(len([line for line in lines if line.startswith("\u9519\u8bef: ")]), 1, lines)
                self.assert_chinese(lines)


class ChosenLanguage(Chinese):
    def is_chinese(self, *arguments, **env):
        result = self.run_tool("check", BASE, *arguments, env=env)
        return "\u91c7\u96c6" in result.out

    def test_of_the_environment(self):
        self.assertFalse(self.is_chinese())
        self.assertTrue(self.is_chinese(LANG="zh_CN.UTF-8"))
        self.assertTrue(self.is_chinese(LANG="zh_CN.utf8"))
        self.assertTrue(self.is_chinese(LANG="C", LC_ALL="zh_CN.UTF-8"))
        self.assertFalse(self.is_chinese(LANG="zh_CN.UTF-8", LC_ALL="C"))

    def test_the_option_counts_more(self):
        self.assertFalse(self.is_chinese("--language", "en", LANG="zh_CN.UTF-8"))
        self.assertFalse(self.is_chinese("-l", "en", LANG="zh_CN.UTF-8"))
        self.assertTrue(self.is_chinese("--language=cn", LANG="C"))

    def test_another_encoding_is_told(self):
        result = self.run_tool("check", BASE, env={"LANG": "zh_CN.GBK"})
        self.assertEqual(result.out, self.run_tool("check", BASE).out)
        self.assertEqual([line for line in result.err if "zh_CN.GBK" in line], result.err)
        self.assertEqual(len(result.err), 1)
        self.assertIn("LANG=zh_CN.UTF-8", result.err[0])

    def test_a_language_that_there_is_not(self):
        result = self.run_tool("check", BASE, "--language", "fr")
        self.assert_fails(2, result, "'fr' is unknown; give en or cn")


if __name__ == "__main__":
    sys.exit(main(__doc__, ChineseHelp, ChineseScreens, ChineseErrors, ChosenLanguage))
