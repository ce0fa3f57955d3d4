#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, the spelling of options, and what is refused before any file is read.

    run_usage.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: help, spelling, usage.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import json
import re
import shutil
import sys

from cli import BASE, NEW, Cli, main
from same_tables import recipes_of  # of tests/support, which cli finds


class UsageCli(Cli):
    def recipes(self):
        return [*recipes_of(self.TOOL)]


class Help(UsageCli):
    OPTIONS = {
        "compare": """--help --profiling_path --benchmark_profiling_path -bp --output_path
            --enable_profiling_compare --enable_operator_compare --enable_memory_compare
            --enable_communication_compare --enable_api_compare --enable_kernel_compare
            --disable_details --disable_module --max_kernel_num --op_name_map --use_input_shape
            --compare_config --print_compare_config
            --export_type --json --gpu_flow_cat --base_step --comparison_step --use_kernel_type
            --screen --force --debug --jobs --verbose --quiet --fail_on --gate --min_abs --min_share
            --fail_on_new_op --warn_only --on_inconclusive --allow_mismatch --warmup --min_steps
            --rank_stat --memory_limit --save_baseline --update_baseline --noise --learn_noise
            step_time>+3% junit openmetrics github""",
        "cluster": "--help --jobs --verbose --quiet",
        "advisor": """--help --profiling_path --benchmark_profiling_path -bp --output_path --language --fail_on --rank_list
            --step_id --json --agent --baseline --top --evidence --max_chars --rules --print_rules --raw --graph_capture
            --force --memory_limit --cann_version -cv --torch_version -tv --profiling_type -pt --debug --verbose --quiet
            --jobs"""}

    def assert_help(self, result, *words, examples=2):
        self.assertEqual((result.code, result.err), (0, []))
        for word in words:
            self.assertIn(word, result.out)
        shown = result.out.split("Examples:\n")[1].split("\n\n")[0].splitlines()
        self.assertGreaterEqual(len(shown), examples, shown)
        for example in shown:
            self.assertTrue(example.startswith("  msprof-analyze "), example)

    def test_of_the_program(self):
        for arguments in ([], ["--help"], ["-h"], ["-H"]):
            with self.subTest(arguments=arguments):
                self.assert_help(self.run_tool(*arguments), "compare", "cluster", "--version")

    def test_of_each_command(self):
        for command, options in self.OPTIONS.items():
            for option in ("--help", "-h", "-H"):
                with self.subTest(command=command, option=option):
                    self.assert_help(self.run_tool(command, option), "--profiling_path", "--help")
                    self.assert_help(self.run_tool(command, option, "all"), *options.split())
            self.assertEqual(self.run_tool(command, "--help=all").out, self.run_tool(command, "--help", "all").out)

    def test_what_is_needed_first(self):
        """--help fits on a screen and counts the options that --help all has beside its own."""
        for command in (["compare"], ["advisor"], ["check"], ["parse"], ["export", "timeline"],
                        *(["-m", name] for name in self.recipes())):
            with self.subTest(command=command):
                first = self.run_tool(*command, "--help", env={"COLUMNS": "80"}).out
                everything = self.run_tool(*command, "--help", "all", env={"COLUMNS": "80"}).out
                self.assertLessEqual(len(first.splitlines()), 45)
                self.assertLess(set(self.options_of(first)), set(self.options_of(everything)))
                count = len(self.options_of(everything)) - len(self.options_of(first))
                self.assertTrue(first.splitlines()[-1].startswith(f"--help all lists {count} more option"), first)

    def test_all_lists_what_completion_offers(self):
        for command in ("compare", "advisor", "check", "parse", "export", "man"):
            offered = self.run_tool(env={"_MSPROF_ANALYZE_COMPLETE": "words", "_MSPROF_ANALYZE_CURRENT": "--",
                                         "_MSPROF_ANALYZE_BEFORE": f"msprof-analyze\n{command}"}).out
            options = set(re.findall(r"(?m)^--(\w+)", offered))
            self.assertGreater(len(options), 3)
            self.assertEqual(options - set(self.options_of(self.run_tool(command, "--help", "all").out)), set())

    def test_of_compare_says_what_exit_codes_mean(self):
        self.assert_help(self.run_tool("compare", "--help", "all"), "Exit codes:\n  0  ", "\n  1  ",
                         "\n  2  ", "\n  3  ", "\n  4  ", "\n  5  ", "\n  6  ")

    def options_of(self, page):
        return [name for line in re.findall(r"^  ((?:-\w+, )*(?:--\w+, )*--\w+)", page, flags=re.MULTILINE)
                for name in re.findall(r"--(\w+)", line)]

    def test_the_most_used_options_come_first(self):
        for command, first in (
                ("compare", ["profiling_path", "benchmark_profiling_path", "output_path",
                             "export_type", "json"]),
                ("cluster", ["mode", "profiling_path", "output_path", "export_type", "rank_list"])):
            self.assertEqual(self.options_of(self.run_tool(command, "-h").out)[:5], first)

    def test_of_a_recipe_has_its_options_alone(self):
        for recipe, has, lacks in (
                ("head_overhead", ["policy", "picture", "rank_list", "jobs"],
                 ["peak_tflops", "with_backward", "compat", "whole_backward", "mode"]),
                ("operator_mfu", ["peak_tflops", "with_backward", "compat", "print"],
                 ["whole_backward", "policy"]),
                ("module_statistic", ["peak_tflops", "whole_backward", "compat"],
                 ["with_backward", "policy"])):
            for arguments in (["-m", recipe, "--help", "all"], ["cluster", "-m", recipe, "-h", "all"],
                              ["-h", "all", "-m", recipe, self.CAPTURES]):
                result = self.run_tool(*arguments)
                self.assert_help(result, f"msprof-analyze -m {recipe} DIR", examples=1)
                self.assertTrue(result.out.startswith(f"{recipe}: "), result.out)
                options = self.options_of(result.out)
                self.assertEqual(set(has) - set(options), set())
                self.assertEqual(set(lacks) & set(options), set())
        of_all = self.options_of(self.run_tool("cluster", "-h", "all").out)
        self.assertEqual({"policy", "peak_tflops"} & set(of_all), set())

    def test_an_option_of_two_recipes_is_explained_for_each(self):
        self.assertIn("no avgMFU", self.run_tool("-m", "module_statistic", "-h").out)
        page = self.run_tool("-m", "operator_mfu", "-h").out
        self.assertNotIn("no avgMFU", page)
        self.assertIn("mfu_flops", page)

    def test_lines_fit(self):
        """80 columns for what is no terminal."""
        for page in ([], ["compare"], ["cluster"], ["check"], ["parse"], ["advisor"], ["export"], ["merge"], ["man"],
                     *(["-m", name] for name in self.recipes())):
            lines = self.run_tool(*page, "--help", env={"COLUMNS": ""}).out.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80, page)
            self.assertGreater(max(map(len, lines)), 60, page)

    def test_pages_of_check_fit(self):
        """But for a word that is longer than a line, such as a path."""
        for capture in (BASE, "text_level0_ascend_pt", "gpu_base.json", "broken", "."):
            for line in self.run_tool("check", capture).out.splitlines():
                self.assertTrue(len(line) <= 80 or len(line.split()) == 1, line)

    def test_every_recipe_is_listed(self):
        for page in ([], ["cluster"]):
            recipes = self.run_tool(*page, "-h").out.split("Recipes:\n")[1].split("\n\n")[0]
            self.assertEqual(re.findall(r"^  (\w+)", recipes, flags=re.MULTILINE), self.recipes())


class Spelling(Cli):
    """Ways to write the same command line."""

    def assert_same(self, *arguments, options=(), **settings):
        shutil.rmtree(self.out, ignore_errors=True)
        expected = self.compare(*options)
        shutil.rmtree(self.out, ignore_errors=True)
        result = self.run_tool("compare", *arguments, **settings)
        self.assert_compared(result)
        # The first lines are the paths, shortened together.
        self.assertEqual(result.out.splitlines()[2:], expected.out.splitlines()[2:])

    def test_long_names(self):
        self.assert_same("--profiling_path", NEW, "--benchmark_profiling_path", BASE,
                         "--output_path", self.out)
        self.assert_same("--profiling-path", NEW, "--benchmark-profiling-path", BASE,
                         "--output-path", self.out, "--enable-profiling-compare",
                         options=["--enable_profiling_compare"])
        self.assert_same(f"--profiling_path={NEW}", f"--benchmark-profiling-path={BASE}",
                         f"--output-path={self.out}")

    def test_short_names_with_equals(self):
        self.assert_same("-d", NEW, "-bp", BASE, "-o", self.out)
        self.assert_same(f"-d={NEW}", f"-bp={BASE}", f"-o={self.out}")

    def test_hyphens_in_values_stay(self):
        folder = self.scratch / "with-hyphens_and_underscores"
        shutil.copytree(self.CAPTURES / NEW, folder / NEW)
        self.assert_same(f"--profiling-path={folder / NEW}", "-bp", BASE, "-o", self.out)

    def test_home(self):
        home = self.scratch / "home"
        shutil.copytree(self.CAPTURES / NEW, home / NEW)
        for option in (["-d", f"~/{NEW}"], [f"-d=~/{NEW}"], [f"--profiling-path=~/{NEW}"]):
            with self.subTest(option=option):
                self.assert_same(*option, "-bp", BASE, "-o", self.out, env={"HOME": str(home)})
        result = self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", "~/results",
                               env={"HOME": str(home)})
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(list((home / "results").glob("*.xlsx"))), 1)
        self.assertFalse((self.CAPTURES / "~").exists())

    def test_other_directory(self):
        result = self.run_tool("compare", "-d", self.CAPTURES / NEW, "-bp", self.CAPTURES / BASE,
                               cwd=self.scratch)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(list(self.scratch.glob("*.xlsx"))), 1)  # -o is . by default


class Usage(UsageCli):
    """Exit code 2."""

    def test_required_options(self):
        self.assert_fails(2, self.run_tool("compare"), "--profiling_path", "required", "--help")
        self.assert_fails(2, self.run_tool("compare", "-bp", BASE), "--profiling_path")
        self.assert_fails(2, self.run_tool("compare", "-d", NEW), "--benchmark_profiling_path")
        self.assert_fails(2, self.run_tool("compare", "-d"), "--profiling_path", "needs a value (PATH)")
        for command in ("check", "parse"):
            self.assert_fails(2, self.run_tool(command), "--profiling_path is required",
                              f"msprof-analyze {command} PATH")

    def test_captures_may_stand_alone(self):
        for command in (["check"], ["-m", "head_overhead", "-o", self.out],
                        ["cluster", "-m", "head_overhead", "-o", self.out]):
            with self.subTest(command=command):
                named, alone = self.run_tool(*command, "-d", NEW), self.run_tool(*command, NEW)
                self.assertEqual((alone.code, alone.out), (0, named.out), alone.err)
                self.assertEqual((named.code, named.err), (0, alone.err))
                twice = self.run_tool(*command, NEW, "-d", NEW)
                self.assertEqual((twice.code, twice.out), (0, named.out), twice.err)
                self.assert_fails(2, self.run_tool(*command, NEW, "nowhere"), "unexpected argument 'nowhere'")
        self.assert_fails(3, self.run_tool("parse", NEW), NEW, "no raw data")
        self.assert_fails(2, self.run_tool("parse", NEW, "nowhere"), "unexpected argument")

    def test_names_of_commands_are_values_elsewhere(self):
        shutil.copytree(self.CAPTURES / NEW, self.scratch / "check")
        result = self.run_tool("-m", "head_overhead", "-d", "check", "-o", self.out, cwd=self.scratch)
        self.assertEqual(result.code, 0, result.err)

    def test_common_options_before_the_command(self):
        result = self.run_tool("-v", "compare", BASE, NEW, "-o", self.out)
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any(" -> " in line for line in result.err), result.err)
        self.assertEqual(self.run_tool("-q", "compare", BASE, NEW, "-o", self.out).err, [])

    def test_misspelt_options(self):
        for wrong, right in (("--profiling_pth", "--profiling_path"),
                             ("--profiling-pth", "--profiling_path"),
                             ("--outptu_path", "--output_path"),
                             ("--enable-profilng-compare", "--enable_profiling_compare"),
                             ("--comparision_step=1", "--comparison_step")):
            with self.subTest(wrong=wrong):
                name = wrong.split("=")[0].replace("-", "_").replace("__", "--", 1)
                self.assert_fails(2, self.compare(wrong), name, f"did you mean '{right}'?")

    def test_misspelt_required_option(self):
        self.assert_fails(2, self.run_tool("compare", "--profiling_pth", NEW, "-bp", BASE),
                          "--profiling_pth", "did you mean '--profiling_path'?")
        self.assert_fails(2, self.run_tool("compare", "-d", NEW, f"--benchmark-path={BASE}"),
                          "--benchmark_path", "--help")

    def test_unknown_options_and_commands(self):
        self.assert_fails(2, self.compare("--entirely_different"), "'--entirely_different'", "--help")
        self.assert_fails(2, self.compare("-x"), "'-x'", "compare --help")
        self.assert_fails(2, self.compare("-m", "module_statistic"), "'-m'")
        self.assert_fails(2, self.run_tool("compere"), "'compere'", "did you mean 'compare'?")
        self.assert_fails(2, self.run_tool("clustr", "-d", NEW), "'clustr'",
                          "did you mean 'cluster'?")
        self.assert_fails(2, self.run_tool("something"), "'something'", "available: compare")

    def test_values_that_cannot_be(self):
        for option, value, words in (
                ("--max_kernel_num", "3", ["greater than 3"]),
                ("--max_kernel_num", "many", ["many"]),
                ("--op_name_map", "{'a': 1}", ["character 7", "a name in quotes"]),
                ("--op_name_map", "['a']", ["character 1", "'{'"]),
                ("--op_name_map", "{'a': 'b'", ["character 10"]),
                ("--op_name_map", "{'" + "a" * 201 + "': 'b'}", ["200"]),
                ("--gpu_flow_cat", "a" * 21, ["20"])):
            with self.subTest(option=option, value=value):
                self.assert_fails(2, self.compare(option, value), option, *words)
                self.assertEqual(self.workbooks(), [])

    def test_options_without_effect_are_told(self):
        masks = self.write("masks.ini", self.run_tool("compare", "--print_compare_config").out)
        for options, words in (
                (["--enable_api_compare", "--use_kernel_type"], ["--enable_kernel_compare"]),
                (["--disable_details", "--max_kernel_num", "4"], ["--disable_details"]),
                (["--enable_profiling_compare", "--use_input_shape"], ["--use_input_shape"]),
                (["--enable_api_compare", "--compare_config", masks],
                 ["--enable_profiling_compare"])):
            with self.subTest(options=options):
                result = self.compare(*options)
                self.assertEqual(result.code, 0, result.err)
                for word in words:
                    self.assertTrue(any("no effect" in line and word in line
                                        for line in result.warnings), result.err)

    def test_captures_without_option_names(self):
        for arguments in ([BASE], [BASE, NEW, BASE], [BASE, NEW, "-d", NEW]):
            self.assert_fails(2, self.run_tool("compare", *arguments, "-o", self.out), "compare")
        result = self.run_tool("compare", BASE, NEW, "-o", self.out)
        self.assert_compared(result)
        self.assertEqual(result.out, self.compare().out)

    def test_enabled_sheets_only(self):
        for name, sheets in (
                ("profiling", ["OverallMetrics", "ChangeParts"]), ("communication", ["CommunicationCompare"]),
                ("operator", ["OperatorCompareStatistic", "OperatorCompare"]),
                ("memory", ["MemoryCompareStatistic", "MemoryCompare"]), ("api", ["ApiCompare"]),
                ("kernel", ["KernelCompare"])):
            with self.subTest(name=name):
                result = self.compare(f"--enable_{name}_compare", "--disable_module", "--json")
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual([sheet["name"] for sheet in json.loads(result.out)["sheets"]],
                                 sheets)

    def test_sheets_do_not_depend_on_the_others(self):
        whole = json.loads(self.compare("--disable_module", "--json").out)["sheets"]
        for name in ("profiling", "communication", "operator", "memory", "api", "kernel"):
            with self.subTest(name=name):
                result = self.compare(f"--enable_{name}_compare", "--disable_module", "--json")
                for sheet in json.loads(result.out)["sheets"]:
                    self.assertIn(sheet, whole)

    def test_recipes(self):
        for arguments, words in ((["-m", "module_statistics"], "did you mean 'module_statistic'?"),
                                 (["cluster", "-m", "x"], "'x'; 'msprof-analyze --help' lists them")):
            result = self.run_tool(*arguments, "-d", self.CAPTURES)
            with self.subTest(arguments=arguments):
                self.assert_fails(2, result, "-m", words)
                self.assertLess(len(result.errors[0]), 120)

    def test_options_of_recipes(self):
        for option, value, words in (
                ("--rank_list", "0,x", ["'x'"]), ("--rank_list", "5-2", ["'5-2'"]),
                ("--rank_list", ",", ["''"]), ("--rank_list", "0-70000,5-70000", ["100000 ranks"]),
                ("--step_id", "two", ["two"]), ("--step_id", "-2", ["-2"]),
                ("--export_type", "junit", ["db", "text"]),
                ("--memory_limit", "much", ["8G"]), ("--memory_limit", "0", ["8G"]),
                ("--parallel_mode", "threads", ["concurrent"])):
            with self.subTest(option=option, value=value):
                result = self.run_tool("-m", "module_statistic", "-d", self.CAPTURES, "-o", self.out,
                                       option, value)
                self.assert_fails(2, result, option, *words)
        self.assert_fails(2, self.run_tool("-m", "module_statistic"), "--profiling_path")
        self.assert_fails(3, self.run_tool("-m", "module_statistic", "-d", "missing"), "missing")
        self.assertFalse(self.out.exists())

    def test_options_that_only_hide_sheets_are_accepted(self):
        self.assert_compared(self.compare("--disable_details", "--disable_module", "--force",
                                          "--debug"))

    def test_steps(self):
        self.assert_fails(2, self.compare("--base_step", "1"), "--base_step", "--comparison_step")
        self.assert_fails(2, self.compare("--comparison_step", "1"), "--base_step")
        for step in ("x", "1.5", "-1", "99999999999", "1 2"):
            with self.subTest(step=step):
                self.assert_fails(2, self.compare("--base_step", step, "--comparison_step", "1"),
                                  "--base_step", step)
        self.assert_fails(3, self.compare("--base_step", "1", "--comparison_step", "7",
                                          comparison="gpu_new.json"), "gpu_new.json", "step 7 not found",
                          "available steps: 1")

    def test_values(self):
        self.assert_fails(2, self.compare("--gpu_flow_cat", "x" * 21), "--gpu_flow_cat", "20")
        for jobs in ("0", "-1", "x"):
            self.assert_fails(2, self.compare("--jobs", jobs), "--jobs", jobs)
        file = self.write("file", "")
        self.assert_fails(2, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", file), "-o", file)
        self.assertEqual(file.read_bytes(), b"")


if __name__ == "__main__":
    sys.exit(main(__doc__, Help, Spelling, Usage))
