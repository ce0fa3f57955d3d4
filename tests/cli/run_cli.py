#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command line: what is said where, exit codes, and what is left behind.

    run_cli.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: help, spelling, usage, config, alike, promises, input, partial,
output, export, terminal, recipes, utilisation, headoverhead, gate.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import configparser
import csv
import itertools
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from captures import DATABASE, build_database  # noqa: E402
from formats import check_json, check_junit, parse_openmetrics  # noqa: E402
from groups import parse_arguments, run_group  # noqa: E402
from steps import KERNELS, write_capture  # noqa: E402
from workbook import Workbook  # noqa: E402

TOOL = CAPTURES = None  # set by main()
DOCS = Path(__file__).resolve().parents[2] / "docs"
TIMEOUT_SECONDS = 60
# Said about files of other owners or with the mode bits that a checkout happens to have.
ABOUT_THE_CHECKOUT = "use --force to read it without this warning"
ESCAPE = "\x1b"
BASE, NEW = "text_base_ascend_pt", "text_new_ascend_pt"


class Result:
    def __init__(self, done):
        self.code, self.out = done.returncode, done.stdout
        self.all_err = done.stderr
        self.err = [line for line in done.stderr.splitlines() if ABOUT_THE_CHECKOUT not in line]
        self.errors = [line for line in self.err if line.startswith("msprof-analyze: error: ")]
        self.warnings = [line for line in self.err if line.startswith("msprof-analyze: warning: ")]


class Cli(unittest.TestCase):
    """Every test has a directory of its own, self.scratch, and self.out in it for results."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.out = self.scratch / "out"

    def run_tool(self, *arguments, env=None, cwd=None):
        return Result(subprocess.run(
            [TOOL, *map(str, arguments)], cwd=cwd or CAPTURES, env={**os.environ, **(env or {})},
            check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=TIMEOUT_SECONDS))

    def compare(self, *more, comparison=NEW, base=BASE, **settings):
        return self.run_tool("compare", "-d", comparison, "-bp", base, "-o", self.out, *more,
                             **settings)

    def capture_copy(self, name=BASE):
        copy = self.scratch / name
        shutil.copytree(CAPTURES / name, copy)
        return copy

    def write(self, name, content):
        file = self.scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def workbooks(self):
        return sorted(self.out.glob("performance_comparison_result_*.xlsx"))

    def overall(self):
        """Index label, without tabs -> row of the only workbook."""
        (workbook,) = self.workbooks()
        sheet = Workbook(workbook).sheets[0]
        return {row[0].strip(): row for row in sheet.rows()[2:]}

    def assert_fails(self, code, result, *texts):
        """One error line, with all texts; nothing on stdout, no workbook."""
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(len(result.errors), 1, result.err)
        for line in result.err:
            self.assertTrue(line.startswith("msprof-analyze: "), line)
        for text in texts:
            self.assertIn(str(text), result.errors[0])
        self.assertEqual(self.workbooks(), [])

    def assert_compared(self, result, code=0):
        """What is not alike if anything, a table, a workbook and no error."""
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.errors, [])
        lines = result.out.splitlines()
        top = next(i for i, line in enumerate(lines) if line.startswith("+"))
        self.assertLessEqual(top, 5)
        table, story = lines[top:top + 8], lines[top + 8:]
        for line in table:
            self.assertIn(line[0] + line[-1], ("++", "||"))
        self.assertEqual(len(set(map(len, table))), 1, "the table is a rectangle")
        self.assertTrue(1 <= len(story) <= 5, story)
        self.assertTrue(story[0].startswith("end to end: "), story)
        self.assertNotEqual(self.workbooks(), [])


class Help(Cli):
    OPTIONS = {
        "compare": """--help --profiling_path --benchmark_profiling_path -bp --output_path
            --enable_profiling_compare --enable_operator_compare --enable_memory_compare
            --enable_communication_compare --enable_api_compare --enable_kernel_compare
            --disable_details --disable_module --max_kernel_num --op_name_map --use_input_shape
            --compare_config --print_compare_config
            --export_type --json --gpu_flow_cat --base_step --comparison_step --use_kernel_type
            --force --debug --jobs --verbose --quiet --fail_on --gate --min_abs --min_share
            --fail_on_new_op --warn_only --on_inconclusive --allow_mismatch --warmup --min_steps
            --rank_stat --memory_limit --save_baseline --update_baseline --noise --learn_noise
            step_time>+3% junit openmetrics github""",
        "cluster": "--help --jobs --verbose --quiet"}

    def assert_help(self, result, *words):
        self.assertEqual((result.code, result.err), (0, []))
        for word in words:
            self.assertIn(word, result.out)
        examples = result.out.split("Examples:\n")[1].split("\n\n")[0].splitlines()
        self.assertGreaterEqual(len(examples), 2, examples)
        for example in examples:
            self.assertTrue(example.startswith("  msprof-analyze "), example)

    def test_of_the_program(self):
        for arguments in ([], ["--help"], ["-h"], ["-H"]):
            with self.subTest(arguments=arguments):
                self.assert_help(self.run_tool(*arguments), "compare", "cluster", "--version")

    def test_of_each_command(self):
        for command, options in self.OPTIONS.items():
            for option in ("--help", "-h", "-H"):
                with self.subTest(command=command, option=option):
                    self.assert_help(self.run_tool(command, option), *options.split())

    def test_of_compare_says_what_exit_codes_mean(self):
        self.assert_help(self.run_tool("compare", "--help"), "Exit codes: 0 ", " 1 ", " 2 ", " 3 ",
                         " 4 ", " 5 ", " 6 ")

    def test_version(self):
        for option in ("--version", "-V", "-v"):
            with self.subTest(option=option):
                result = self.run_tool(option)
                self.assertEqual((result.code, result.err), (0, []))
                self.assertRegex(result.out, r"\Amsprof-analyze \d+\.\d+\.\d+\n\Z")


class Spelling(Cli):
    """Ways to write the same command line."""

    def assert_same(self, *arguments, **settings):
        shutil.rmtree(self.out, ignore_errors=True)
        expected = self.compare()
        shutil.rmtree(self.out, ignore_errors=True)
        result = self.run_tool("compare", *arguments, **settings)
        self.assert_compared(result)
        self.assertEqual(result.out, expected.out)

    def test_long_names(self):
        self.assert_same("--profiling_path", NEW, "--benchmark_profiling_path", BASE,
                         "--output_path", self.out)
        self.assert_same("--profiling-path", NEW, "--benchmark-profiling-path", BASE,
                         "--output-path", self.out, "--enable-profiling-compare")
        self.assert_same(f"--profiling_path={NEW}", f"--benchmark-profiling-path={BASE}",
                         f"--output-path={self.out}")

    def test_short_names_with_equals(self):
        self.assert_same("-d", NEW, "-bp", BASE, "-o", self.out)
        self.assert_same(f"-d={NEW}", f"-bp={BASE}", f"-o={self.out}")

    def test_hyphens_in_values_stay(self):
        folder = self.scratch / "with-hyphens_and_underscores"
        shutil.copytree(CAPTURES / NEW, folder / NEW)
        self.assert_same(f"--profiling-path={folder / NEW}", "-bp", BASE, "-o", self.out)

    def test_home(self):
        home = self.scratch / "home"
        shutil.copytree(CAPTURES / NEW, home / NEW)
        for option in (["-d", f"~/{NEW}"], [f"-d=~/{NEW}"], [f"--profiling-path=~/{NEW}"]):
            with self.subTest(option=option):
                self.assert_same(*option, "-bp", BASE, "-o", self.out, env={"HOME": str(home)})
        result = self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", "~/results",
                               env={"HOME": str(home)})
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(list((home / "results").glob("*.xlsx"))), 1)
        self.assertFalse((CAPTURES / "~").exists())

    def test_other_directory(self):
        result = self.run_tool("compare", "-d", CAPTURES / NEW, "-bp", CAPTURES / BASE,
                               cwd=self.scratch)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(list(self.scratch.glob("*.xlsx"))), 1)  # -o is . by default


class Usage(Cli):
    """Exit code 2."""

    def test_required_options(self):
        self.assert_fails(2, self.run_tool("compare"), "--profiling_path", "required", "--help")
        self.assert_fails(2, self.run_tool("compare", "-bp", BASE), "--profiling_path")
        self.assert_fails(2, self.run_tool("compare", "-d", NEW), "--benchmark_profiling_path")
        self.assert_fails(2, self.run_tool("compare", "-d"), "--profiling_path")

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
        self.assert_fails(2, self.run_tool("something"), "'something'", "--help")

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
                ("profiling", ["OverallMetrics"]), ("communication", ["CommunicationCompare"]),
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

    def test_a_recipe_leads_to_the_help_of_recipes(self):
        for flag in ("--help", "-h"):
            result = self.run_tool("-m", "operator_mfu", flag)
            self.assertEqual(result.code, 0, result.err)
            self.assertIn("Options of module_statistic, operator_mfu:", result.out)
            self.assertIn("--peak_tflops", result.out)

    def test_recipes(self):
        for arguments in (["-m", "module_statistics"], ["cluster", "-m", "x"], ["-d", CAPTURES]):
            result = self.run_tool(*arguments, "-d", CAPTURES) if "-m" in arguments \
                else self.run_tool(*arguments)
            with self.subTest(arguments=arguments):
                self.assert_fails(2, result, "-m")
                self.assertIn("module_statistic, operator_mfu", result.err[-1])

    def test_options_of_recipes(self):
        for option, value, words in (
                ("--rank_list", "0,x", ["'x'"]), ("--rank_list", "5-2", ["'5-2'"]),
                ("--rank_list", ",", ["''"]), ("--rank_list", "0-70000,5-70000", ["100000 ranks"]),
                ("--step_id", "two", ["two"]), ("--step_id", "-2", ["-2"]),
                ("--export_type", "notebook", ["db, text"]),
                ("--memory_limit", "much", ["8G"]), ("--memory_limit", "0", ["8G"]),
                ("--parallel_mode", "threads", ["concurrent"])):
            with self.subTest(option=option, value=value):
                result = self.run_tool("-m", "module_statistic", "-d", CAPTURES, "-o", self.out,
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
        self.assert_fails(2, self.compare("--base_step", "1", "--comparison_step", "1",
                                          comparison="gpu_new.json"), "gpu_new.json", "NPU")

    def test_values(self):
        self.assert_fails(2, self.compare("--gpu_flow_cat", "x" * 21), "--gpu_flow_cat", "20")
        for jobs in ("0", "-1", "x"):
            self.assert_fails(2, self.compare("--jobs", jobs), "--jobs", jobs)
        file = self.write("file", "")
        self.assert_fails(2, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", file), "-o", file)
        self.assertEqual(file.read_bytes(), b"")


class Config(Cli):
    """The masks of --compare_config."""

    MASKS = {"FA_MASK": "flash_attention", "CONV_MASK": "aten::conv", "MATMUL_MASK": "aten::mm",
             "CUBE_MASK": "gemm", "TRANS_MASK": "cast", "MC2_KERNEL": "allgathermatmul"}

    def masks_file(self, **masks):
        lines = [f"{key} = {mask}" for key, mask in {**self.MASKS, **masks}.items()]
        return self.write("masks.ini", "\n".join(["[OP_MASK]", *lines, ""]))

    def overall(self, *options):
        result = self.compare("--enable_profiling_compare", "--json", *options)
        self.assertEqual(result.code, 0, result.err)
        return json.loads(result.out)["sheets"][0]["rows"]

    def number(self, name, *options):
        rows = {row["index"].strip(): row for row in self.overall(*options)}
        return rows[name]["base_number"] if name in rows else 0

    def test_the_printed_one_is_the_default(self):
        printed = self.run_tool("compare", "--print-compare-config")
        self.assertEqual((printed.code, printed.err), (0, []))
        config = configparser.RawConfigParser()
        config.read_string(printed.out)
        self.assertEqual(config.sections(), ["OP_MASK"])
        self.assertEqual(sorted(config["OP_MASK"]), sorted(key.lower() for key in self.MASKS))
        file = self.write("printed.ini", printed.out)
        self.assertEqual(self.overall("--compare_config", file), self.overall())

    def test_masks_decide_the_category(self):
        names = "Vector (No Trans)", "Vector (Trans)"
        plain, trans = (self.number(name) for name in names)
        self.assertGreater(plain, 0)
        default = self.run_tool("compare", "--print_compare_config").out
        vowels = re.sub("TRANS_MASK = .*", "TRANS_MASK = A,e,i,o,u", default)
        every = self.write("masks.ini", vowels)
        self.assertEqual(self.number(names[0], "--compare_config", every), 0)
        self.assertEqual(self.number(names[1], "--compare_config", every), plain + trans)

    def test_the_dialect_of_configparser(self):
        text = """\ufeff; comment
            # comment

            [OP_MASK]
              fa_mask: Flash_Attention
              CONV_MASK=
                 ATEN::CONV,
            # comment

                 x
              MATMUL_MASK = aten::mm , ,aten::matmul,
            CUBE_MASK : gemm=
            TRANS_MASK =
            MC2_KERNEL = allgathermatmul"""
        config = configparser.RawConfigParser()
        config.read_string(text.lstrip("\ufeff"))
        self.assertEqual(len(config["OP_MASK"]), len(self.MASKS))
        for ending in ("\n", "\r\n"):
            file = self.write("masks.ini", text.replace("\n", ending))
            self.assertEqual(self.number("Vector (Trans)", "--compare_config", file), 0)

    def test_mistakes_name_file_and_line(self):
        keys = [f"{key} = {mask}" for key, mask in self.MASKS.items()]
        for name, lines, line, words in (
                ("unknown key", ["[OP_MASK]", *keys, "FA_MAKS = x"], 8, "'FA_MAKS'"),
                ("missing key", ["", "[OP_MASK]", *keys[:-1]], 2, "MC2_KERNEL"),
                ("missing section", keys, 1, "[OP_MASK]"),
                ("other section", ["[OP_MASKS]", *keys], 1, "[OP_MASKS]"),
                ("open section", ["[OP_MASK", *keys], 1, "']'"),
                ("section twice", ["[OP_MASK]", *keys, "[OP_MASK]"], 8, "line 1"),
                ("key twice", ["[OP_MASK]", *keys, "fa_mask = x"], 8, "line 2"),
                ("no mask", ["[OP_MASK]", "FA_MASK", *keys[1:]], 2, "CONV_MASK = aten::conv"),
                ("empty", [], 1, "[OP_MASK]")):
            with self.subTest(name):
                file = self.write("masks.ini", "\n".join(lines))
                self.assert_fails(2, self.compare("--compare_config", file), "--compare_config",
                                  f"{file}:{line}: ", words)

    def test_files_that_cannot_be_read(self):
        for file in (self.scratch, self.scratch / "missing.ini"):
            self.assert_fails(2, self.compare("--compare_config", file), "--compare_config", file)

    def test_a_gate_has_no_categories(self):
        self.assert_fails(2, self.compare("--compare_config", self.masks_file(), "--fail_on",
                                          "step_time>+3%"), "--compare_config", "a gate")


class Alike(Cli):
    """What differs before anything is compared is said first."""

    def capture(self, name, lengths=(50_000,), world_size=8, **settings):
        capture = write_capture(self.scratch / f"{name}_ascend_pt", lengths, **settings)
        groups = {"0": {"group_name": "dp", "global_ranks": list(range(world_size))}}
        (capture / "profiler_metadata.json").write_text(
            json.dumps({"parallel_group_info": groups}), encoding="utf-8")
        return capture

    def preface(self, result):
        """The lines above the table; they are a note, too, and no warning."""
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        lines = lines[:next(i for i, line in enumerate(lines) if line.startswith("+-"))]
        self.assertLessEqual(len(lines), 5)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        self.assertFalse(any("not alike" in line for line in result.err), result.err)
        return " ".join(lines)

    def assert_told(self, base, comparison, text, *options):
        told = f"The captures are not alike (base / comparison): {text}" if text else ""
        settings = {"base": base, "comparison": comparison}
        self.assertEqual(self.preface(self.compare(*options, **settings)), told)
        result = self.compare(*options, "--json", **settings)
        notes = json.loads(result.out)["notes"]
        self.assertEqual([note for note in notes if "not alike" in note], [told] if told else [])
        if told:
            self.assertEqual(notes[0], told)
            self.assertTrue(any(told in line for line in result.warnings), result.err)

    def test_what_differs(self):
        base = self.capture("base")
        self.assert_told(base, self.capture("same"), "")
        for name, settings, text in (
                ("steps", {"lengths": (50_000, 50_000)}, "steps (1 / 2)"),
                ("ranks", {"world_size": 4}, "world_size (8 / 4)"),
                ("level", {"level": "Level0"}, "profiler_level (Level1 / Level0)"),
                ("model", {"shapes": "16,64;64,64"},
                 "shapes (100 % of the kernels / 0 % with the same type and shapes)"),
                ("both", {"lengths": (50_000, 50_000), "level": "Level2", "world_size": 1},
                 "steps (1 / 2), world_size (8 / 1), profiler_level (Level1 / Level2)")):
            with self.subTest(name):
                self.assert_told(base, self.capture(name, **settings), text)

    def test_chosen_steps_are_one_each(self):
        base, two = self.capture("base"), self.capture("two", (50_000, 50_000))
        self.assert_told(base, two, "", "--base_step", "1", "--comparison_step", "2")

    def test_other_kinds(self):
        database = build_database(CAPTURES, "db_new_ascend_pt", self.scratch)
        self.assert_told(BASE, NEW, "")
        self.assertIn("device (NPU / GPU)", self.preface(self.compare(comparison="gpu_new.json")))
        self.assertNotIn("device", self.preface(self.compare(comparison=database)))

    def test_both_lines_of_the_table_say_which_they_are(self):
        for comparison, kind in ((NEW, "NPU"), ("gpu_new.json", "GPU")):
            rows = [line.split("|")[1].strip()
                    for line in self.compare(comparison=comparison).out.splitlines()
                    if line.startswith("| ")]
            self.assertEqual(rows[-2:], ["base NPU", f"comparison {kind}"])

    def test_many_differences_fill_five_lines_at_most(self):
        base, other = self.capture("base"), self.capture("other", level="Level2")
        file = other / "profiler_info_0.json"
        info = json.loads(file.read_text(encoding="utf-8"))
        info["config"]["common_config"] |= {"with_stack": True, "profile_memory": True}
        info |= {"torch_npu_version": "2.1.0." + "post" * 60, "cann_version": "8.0." + "RC" * 60}
        file.write_text(json.dumps(info), encoding="utf-8")
        old = base / "profiler_info_0.json"
        settings = json.loads(old.read_text(encoding="utf-8"))
        settings |= {"torch_npu_version": "2.0", "cann_version": "7.0"}
        old.write_text(json.dumps(settings), encoding="utf-8")
        result = self.compare(base=base, comparison=other)
        lines = result.out.splitlines()
        self.assertLessEqual(next(i for i, line in enumerate(lines) if line.startswith("+-")), 5)
        self.assertIn("profiler_level (Level1 / Level2)", " ".join(lines[:2]))


class Promises(Cli):
    """What `check` promises, `compare` does; what is left out has the same reason in both."""

    SHEETS = {"compare: overall": "OverallMetrics", "compare: memory": "MemoryCompareStatistic",
              "compare: communication": "CommunicationCompare", "compare: api": "ApiCompare",
              "compare: operators": "OperatorCompareStatistic", "compare: kernels": "KernelCompare"}
    REASONS = ("device activity", "host operators", "memory", "communication", "kernels")

    def gpu(self, name, *events):
        rows = [{"ph": "X", "pid": 1, "tid": 1, "args": {}, **event} for event in events]
        return self.write(name, json.dumps({"schemaVersion": 1, "traceEvents": rows}))

    def made_captures(self):
        op = {"cat": "cpu_op", "name": "aten::mm", "ts": 1000.0, "dur": 10.0}
        kernel = {"cat": "kernel", "name": "gemm", "ts": 1020.0, "dur": 5.0, "pid": 0, "tid": 7,
                  "args": {"stream": 7, "correlation": 1}}
        nccl = {**kernel, "name": "ncclKernel_AllReduce_RING", "ts": 1030.0}
        memory = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1002.0,
                  "args": {"Addr": 1, "Bytes": 1024, "Device Type": 1, "Device Id": 0,
                           "Total Allocated": 1024, "Total Reserved": 2048}}
        yield self.gpu("no_device.json", op)
        yield self.gpu("no_memory.json", op, kernel)
        yield self.gpu("no_operators.json", kernel, nccl)
        yield self.gpu("whole.json", op, kernel, nccl, memory)
        alone = self.scratch / "alone_1_20240101000000000_ascend_pt"
        write_capture(alone, [50_000], allreduce_us=0)
        yield alone
        output = alone / "ASCEND_PROFILER_OUTPUT"
        (output / "communication.json").write_text('{"step1": {"p2p": {}, "collective": {}}}')
        (output / "operator_memory.csv").write_text("Name,Size(KB),Allocation Time(us)\n")
        yield alone

    def captures(self):
        yield from self.made_captures()
        for path in sorted(CAPTURES.iterdir()):
            if path.suffix == ".sql":
                yield build_database(CAPTURES, path.stem, self.scratch)
            elif path.suffix == ".json" or path.name.endswith("_ascend_pt"):
                yield path

    def test_hold(self):
        for number, capture in enumerate(self.captures()):
            with self.subTest(number=number, capture=capture.name):
                check = json.loads(self.run_tool("check", "-d", capture, "--json").out)
                done = self.run_tool("compare", "-d", capture, "-bp", capture, "--json",
                                     "--disable_module", "-o", self.out)
                report = json.loads(done.out) if done.out else {"sheets": [], "notes": done.errors}
                self.assert_kept(check["ranks"][0]["analyzers"], report)

    def assert_kept(self, analyzers, report):
        there = {sheet["name"] for sheet in report["sheets"]}
        if any("no record of operators' memory" in note for note in report["notes"]):
            there.discard("MemoryCompareStatistic")  # it has no allocations
        for analyzer in analyzers:
            sheet = self.SHEETS.get(analyzer["name"])
            if sheet is None:
                continue
            runs = analyzer["ability"] != "cannot_run"
            self.assertEqual(runs, sheet in there, (analyzer, report["notes"]))
            if not runs:
                reason = analyzer["lacks"][0]["reason"]
                self.assertTrue(any(word in reason and word in note for word in self.REASONS
                                    for note in report["notes"]), (reason, report["notes"]))


class Input(Cli):
    """Exit code 3: nothing to work with. The message names the side or the file."""

    def assert_refused(self, path, *texts, base=BASE):
        self.assert_fails(3, self.compare(comparison=path, base=base), *texts)

    def test_missing(self):
        missing = self.scratch / "missing"
        self.assert_refused(missing, "-d:", missing, "No such file")
        self.assert_fails(3, self.compare(base=missing), "-bp:", missing, "No such file")
        self.assertFalse(self.out.exists(), "no directory for results that cannot come")

    def test_no_capture(self):
        folder = CAPTURES / "broken" / "not_a_capture"
        self.assert_refused(folder, "-d:", folder, "trace_view.json")
        self.assert_refused(folder / "notes.txt", "notes.txt", "not a capture")
        self.assert_refused(self.write("trace.txt", "[]"), "trace.txt", "not a capture")
        (self.scratch / "x_ascend_pt" / "PROF_000001_x").mkdir(parents=True)
        self.assert_refused(self.scratch / "x_ascend_pt", "x_ascend_pt", "no raw data")

    def test_broken_traces(self):
        self.assert_refused(self.write("empty.json", ""), "empty.json", "empty")
        self.assert_refused(self.write("blank.json", " \n\t"), "blank.json")
        self.assert_refused(self.write("text.json", "hello"), "text.json", "not JSON")
        self.assert_refused(self.write("cut.json.gz", b"\x1f\x8b\x08\x00"), "cut.json.gz")

    def test_traces_without_device_work(self):
        for name, content in (("empty_list.json", "[]"), ("no_events.json", '{"traceEvents": []}')):
            with self.subTest(name=name):
                result = self.compare(comparison=self.write(name, content))
                self.assert_fails(3, result, "nothing to compare")
                self.assertTrue(name in result.errors[0], result.err)

    def test_databases(self):
        name = "ascend_pytorch_profiler_0.db"
        self.assert_refused(self.write(name, "no database, just text" * 50), name,
                            "not a database")
        self.write(name, "")
        self.assert_refused(self.scratch / name, name, "the file is empty")
        self.assert_refused(self.write("other.db", ""), "other.db", "not a capture")

    def test_unknown_step(self):
        for capture in (CAPTURES / BASE, build_database(CAPTURES, "db_base_ascend_pt", self.scratch)):
            with self.subTest(capture=capture.name):
                result = self.compare("--base_step", "7", "--comparison_step", "1", base=capture)
                self.assert_fails(3, result, capture, "step 7 not found", "1, 2")

    def test_no_steps(self):
        capture = build_database(CAPTURES, "db_base_ascend_pt", self.scratch)
        database = sqlite3.connect(capture / DATABASE)
        database.execute("DROP TABLE STEP_TIME")
        database.commit()
        database.close()
        result = self.compare("--base_step", "1", "--comparison_step", "1", base=capture)
        self.assert_fails(3, result, capture, "no step markers")


class Partial(Cli):
    """Exit code 5: a report, and a warning that names what is not in it."""

    def assert_partial(self, capture, *texts):
        result = self.compare(comparison=capture)
        self.assert_compared(result, code=5)
        self.assertTrue(any(all(text in line for text in texts) for line in result.warnings),
                        result.err)
        return self.overall()

    def replace(self, capture, name, old, new):
        file = capture / "ASCEND_PROFILER_OUTPUT" / name
        content = file.read_bytes()
        self.assertIn(old, content)
        file.write_bytes(content.replace(old, new, 1))

    def test_truncated_trace(self):
        self.assert_partial(CAPTURES / "broken" / "truncated_trace_ascend_pt", "trace_view.json",
                            "breaks off")

    def test_broken_row(self):
        copy = self.capture_copy()
        self.replace(copy, "kernel_details.csv", b"1700000000200000.000", b"soon")
        rows = self.assert_partial(copy, "kernel left out", "kernel_details.csv:2")
        self.assertEqual(rows["Computing Time"][3], 31.0)  # the TransData kernel of 5 ms is missing
        self.assertEqual(rows["Computing Time"][6], 30.0)
        self.assertEqual(rows["Conv (Forward)"][4:7:2], [53.0, 2.0])

    def test_broken_event(self):
        copy = self.capture_copy()
        self.replace(copy, "trace_view.json", b"[", b'[{"ph": "X", "name": "a", "ts": },\n')
        rows = self.assert_partial(copy, "event left out", "trace_view.json", "not valid JSON")
        self.assertEqual(rows["Computing Time"][4:7:2], [462.0, 31.0])

    def test_broken_side_files(self):
        for name, content in (("communication.json", b'{"step1": '),
                              ("memory_record.csv", b"Component,Timestamp(us)\nAPP,1\n"),
                              ("memory_record.csv", b""),
                              ("kernel_details.csv", b"Name,Duration(us)\nx,1\n")):
            with self.subTest(name=name, content=content):
                shutil.rmtree(self.out, ignore_errors=True)
                shutil.rmtree(self.scratch / BASE, ignore_errors=True)
                copy = self.capture_copy()
                (copy / "ASCEND_PROFILER_OUTPUT" / name).write_bytes(content)
                rows = self.assert_partial(copy, name, "left out")
                self.assertEqual(rows["E2E Time"][4], 1450.0)

    def test_broken_profiler_info_is_only_a_warning(self):
        copy = self.capture_copy()
        (copy / "profiler_info_0.json").write_text("{", encoding="utf-8")
        result = self.compare(comparison=copy)
        self.assert_compared(result)
        self.assertTrue(any("profiler_info_0.json" in line for line in result.warnings), result.err)

    def test_missing_side_file_is_no_error(self):
        self.assert_compared(self.compare(comparison=CAPTURES / "broken" / "no_csv_ascend_pt"))


class Output(Cli):
    def test_impossible_places(self):
        file = self.write("file", "")
        for place in ("/proc/x", file / "sub", "/proc/1/x/y"):
            with self.subTest(place=place):
                self.assert_fails(6, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", place),
                                  "-o", place)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_place(self):
        self.out.mkdir(mode=0o500)
        for place in (self.out, self.out / "sub"):
            self.assert_fails(6, self.run_tool("compare", "-d", NEW, "-bp", BASE, "-o", place), "-o")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_stdout(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TOOL, "compare", "-d", NEW, "-bp", BASE, "-o", self.out],
                                  cwd=CAPTURES, stdout=full, stderr=subprocess.PIPE, check=False,
                                  encoding="utf-8", timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 6)
        self.assertIn("msprof-analyze: error: cannot write to standard output", done.stderr)

    def test_streams(self):
        result = self.compare("--enable_profiling_compare")
        self.assert_compared(result)
        (workbook,) = self.workbooks()
        self.assertEqual(result.err, [f"msprof-analyze: note: the details are in {workbook}"])
        quiet = self.compare("-q")
        self.assertEqual((quiet.all_err, quiet.out), ("", result.out))
        verbose = self.compare("-v")
        self.assertEqual(verbose.out, result.out)
        self.assertTrue(any(line.startswith("msprof-analyze: info: ") and "kernel_details.csv" in line
                            for line in verbose.err), verbose.err)

    def test_nothing_is_left_behind(self):
        self.assert_compared(self.compare())
        self.assertEqual(sorted(self.out.iterdir()), self.workbooks())
        self.assertEqual(self.out.stat().st_mode & 0o777, 0o750)
        shutil.rmtree(self.out)
        self.assert_fails(3, self.compare(comparison=self.write("x.json", '{"a": 1}')), "traceEvents")
        self.assertEqual(list(self.out.iterdir()) if self.out.exists() else [], [])

    def test_new_directories(self):
        self.out = self.scratch / "a" / "b" / "c"
        self.assert_compared(self.compare())

    def test_runs_in_one_second(self):
        for _ in range(4):
            self.assert_compared(self.compare())
        self.assertEqual(len(self.workbooks()), 4)

    def test_runs_at_once(self):
        runs = [subprocess.Popen([TOOL, "compare", "-d", NEW, "-bp", BASE, "-o", self.out],
                                 cwd=CAPTURES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(8)]
        self.assertEqual([run.wait(TIMEOUT_SECONDS) for run in runs], [0] * 8)
        self.assertEqual(len(self.workbooks()), 8)
        self.assertEqual(sorted(self.out.iterdir()), self.workbooks())

    def test_minimal_profiling(self):
        """The last column says so unless every NPU side was collected without host activities."""
        minimal = self.capture_copy("text_level0_ascend_pt")
        info = minimal / "profiler_info_0.json"
        settings = json.loads(info.read_text(encoding="utf-8"))
        settings["config"]["common_config"]["activities"] = ["ProfilerActivity.NPU"]
        info.write_text(json.dumps(settings), encoding="utf-8")
        for base, title in ((minimal, "E2E Time"), ("gpu_base.json", "E2E Time"),
                            (BASE, "E2E Time(Not minimal profiling)")):
            with self.subTest(base=base):
                result = self.compare(comparison=minimal, base=base)
                self.assert_compared(result)
                header = next(line for line in result.out.splitlines() if "E2E Time" in line)
                self.assertEqual(header.split("|")[-2].strip(), title)

    def test_jobs_change_nothing(self):
        outputs = []
        for jobs in ("1", "4"):
            result = self.compare("--jobs", jobs)
            self.assert_compared(result)
            outputs.append((result.out, self.overall()))
            shutil.rmtree(self.out)
        self.assertEqual(*outputs)

    def test_captures_stay_as_they_are(self):
        captures = [build_database(CAPTURES, f"db_{name}_ascend_pt", self.scratch / "captures")
                    for name in ("new", "base")]
        database = sqlite3.connect(captures[0] / DATABASE)
        database.execute("PRAGMA journal_mode = WAL")  # readers of such databases like to leave files
        database.close()
        captures.append(self.capture_copy())

        def state():
            return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
                    for capture in captures for path in (capture, *capture.rglob("*"))}
        before = state()
        self.assert_compared(self.compare(comparison=captures[0], base=captures[1]))
        self.assert_compared(self.compare(comparison=captures[0], base=captures[2]))
        self.assertEqual(state(), before)


class Export(Cli):
    """--export_type and --json."""

    def names(self):
        """What lies in the output directory, without the stem."""
        prefix = "performance_comparison_result_"
        names = sorted(path.name for path in self.out.iterdir())
        for name in names:
            self.assertTrue(name.startswith(prefix), name)
        self.assertEqual(len({name[len(prefix):len(prefix) + 14] for name in names}), 1, names)
        return [name[len(prefix) + 14:] for name in names]

    def path(self, ending):
        (path,) = self.out.glob("*" + ending)
        return path

    def test_types(self):
        for types, endings in (("xlsx", [".xlsx"]), ("json", [".json"]), ("md", [".md"]),
                               ("csv", ["_csv"]), ("JSON, xlsx,json", [".json", ".xlsx"])):
            with self.subTest(types=types):
                shutil.rmtree(self.out, ignore_errors=True)
                result = self.compare("--export_type", types)
                self.assertEqual((result.code, result.errors), (0, []))
                self.assertEqual(self.names(), endings)
                self.assertIn("Model Profiling Time Distribution", result.out)

    def test_option_twice(self):
        result = self.compare("--export-type=json", "--export_type", "md")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.names(), [".json", ".md"])

    def test_every_file_is_named_on_stderr(self):
        result = self.compare("--export_type", "xlsx,json,csv,md", "--enable_profiling_compare")
        self.assertEqual(result.err, [f"msprof-analyze: note: the details are in {self.path(ending)}"
                                      for ending in (".xlsx", ".json", "_csv", ".md")])

    def test_unknown_types(self):
        for types, unknown in (("pdf", "pdf"), ("xlsx,db", "db"), ("xlsx json", "xlsx json")):
            with self.subTest(types=types):
                self.assert_fails(2, self.compare("--export_type", types), "--export_type",
                                  f"'{unknown}'", "xlsx, json, csv, md")
        self.assert_fails(2, self.compare("--export_type"), "--export_type")
        self.assertFalse(self.out.exists())

    def test_json_on_stdout(self):
        result = self.compare("--json", "--enable_profiling_compare")
        self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
        document = json.loads(result.out)
        self.assertEqual([*document], ["schema_version", "notes", "story", "sheets"])
        self.assertEqual(document["schema_version"], 1)
        (sheet,) = document["sheets"]
        self.assertEqual((sheet["name"], sheet["base"], sheet["comparison"]),
                         ("OverallMetrics", str(CAPTURES / BASE), str(CAPTURES / NEW)))
        rows = {row["index"]: row for row in sheet["rows"]}
        for row in sheet["rows"]:
            self.assertEqual([*row], sheet["columns"])
        self.assertEqual(rows["Conv (Forward)"],
                         {"index": "Conv (Forward)", "base_duration_ms": 58,
                          "base_duration_ratio": 58 / 1450, "base_number": 3,
                          "comparison_duration_ms": 78, "comparison_duration_ratio": 78 / 1470,
                          "comparison_number": 3, "diff_duration_ms": 20, "diff_ratio": 78 / 58,
                          "level": 1})
        self.assertFalse(self.out.exists(), "--json writes no files")

    def test_json_with_files(self):
        result = self.compare("--json", "--export_type", "json,csv")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.names(), [".json", "_csv"])
        self.assertEqual(self.path(".json").read_text(encoding="utf-8"), result.out)

    def test_json_needs_no_output_directory(self):
        self.out = Path("/proc/x")
        self.assertEqual(self.compare("--json").code, 0)

    def test_json_keeps_exit_codes(self):
        result = self.compare("--json", comparison=CAPTURES / "broken" / "truncated_trace_ascend_pt")
        self.assertEqual(result.code, 5, result.err)
        (note,) = [note for note in json.loads(result.out)["notes"] if "breaks off" in note]
        self.assertTrue(any(note in line for line in result.warnings), result.err)
        self.assert_fails(3, self.compare("--json", comparison="missing"), "missing")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_stdout(self):
        for arguments in (["compare", "-d", NEW, "-bp", BASE, "--json"], ["check", "-d", BASE],
                          ["check", "-d", BASE, "--json"]):
            with self.subTest(arguments=arguments), \
                    open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([TOOL, *arguments], cwd=CAPTURES, stdout=full,
                                      stderr=subprocess.PIPE, check=False, encoding="utf-8",
                                      timeout=TIMEOUT_SECONDS)
                self.assertEqual(done.returncode, 6)
                self.assertIn("msprof-analyze: error: cannot write to standard output", done.stderr)

    def test_csv(self):
        self.assertEqual(
            self.compare("--export_type", "csv", "--enable_profiling_compare").code, 0)
        self.assertEqual([file.name for file in self.path("_csv").iterdir()], ["OverallMetrics.csv"])
        with open(self.path("_csv") / "OverallMetrics.csv", newline="", encoding="utf-8") as file:
            rows = {row["index"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows["Matmul"]["comparison_duration_ms"], "114")
        self.assertEqual((rows["Wait"]["level"], rows["Wait"]["base_number"]), ("2", ""))

    def test_compat(self):
        result = self.compare("--compat", comparison=CAPTURES / "text_level0_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        self.assertEqual([line[:6] for line in (lines[0], *lines[-3:])],
                         ["+-----", "| NPU ", "| NPU ", "+-----"])  # the table and nothing else
        (workbook,) = self.workbooks()
        sheets = {sheet.name: sheet.rows() for sheet in Workbook(workbook).sheets}
        self.assertNotIn("Notes", sheets)
        self.assertNotIn("N/A", [cell for row in sheets["OverallMetrics"] for cell in row])
        self.assertTrue(any("not alike" in line for line in result.warnings), result.err)

    def test_notes_are_in_every_file(self):
        broken = CAPTURES / "broken" / "truncated_trace_ascend_pt"
        self.assertEqual(self.compare("--export_type", "xlsx,json,csv,md", comparison=broken).code, 5)
        notes = json.loads(self.path(".json").read_text(encoding="utf-8"))["notes"]
        self.assertNotEqual(notes, [])
        sheet = Workbook(self.path(".xlsx")).sheets[-1]
        self.assertEqual((sheet.name, sheet.rows()), ("Notes", [["Note"], *([note] for note in notes)]))
        with open(self.path("_csv") / "Notes.csv", newline="", encoding="utf-8") as file:
            self.assertEqual([row["note"] for row in csv.DictReader(file)], notes)
        self.assertIn("\n## Notes\n", self.path(".md").read_text(encoding="utf-8"))


class Terminal(Cli):
    """Colour is for terminals that want it."""

    def on_terminal(self, *arguments, **env):
        """What a run writes to a terminal."""
        try:
            leader, follower = pty.openpty()
        except OSError as error:
            print(f"SKIPPED: this machine has no pseudo-terminals ({error})", file=sys.stderr)
            self.skipTest("no pseudo-terminals")
        received = []

        def receive():
            try:
                while chunk := os.read(leader, 4096):
                    received.append(chunk)
            except OSError:  # the other end is closed
                pass
        reader = threading.Thread(target=receive)
        reader.start()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        try:
            subprocess.run([TOOL, *map(str, arguments)], cwd=CAPTURES, stdin=follower,
                           stdout=follower, stderr=follower, check=False, timeout=TIMEOUT_SECONDS,
                           env={**environment, "TERM": "xterm", **env})
        finally:
            os.close(follower)
            reader.join(TIMEOUT_SECONDS)
            os.close(leader)
        return b"".join(received).decode()

    def test_pipes_get_no_escape_bytes(self):
        for result in (self.compare(), self.compare(comparison="missing"), self.run_tool("--help")):
            self.assertNotIn(ESCAPE, result.out + result.all_err)

    def test_terminals(self):
        arguments = ["compare", "-d", "missing", "-bp", BASE, "-o", self.out]
        self.assertIn(ESCAPE, self.on_terminal(*arguments))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            text = self.on_terminal(*arguments, **env)
            self.assertNotIn(ESCAPE, text)
            self.assertIn("msprof-analyze: error: -d: missing", text)
        self.assertIn(ESCAPE, self.on_terminal(*arguments, NO_COLOR=""))  # empty means not set

    def test_the_verdict_of_a_gate(self):
        capture = write_capture(self.scratch / "x_ascend_pt", (100_000,) * 3)
        arguments = ["compare", "-d", capture, "-bp", capture, "--fail_on", "step_time>+3%"]
        self.assertIn(f"{ESCAPE}[32mOK step_time", self.on_terminal(*arguments))
        self.assertNotIn(ESCAPE, self.on_terminal(*arguments, NO_COLOR="1"))

    def test_names_cannot_command_the_terminal(self):
        missing = self.scratch / f"{ESCAPE}[31mred"
        for text in (self.compare(comparison=missing).all_err,
                     self.on_terminal("compare", "-d", missing, "-bp", BASE, NO_COLOR="1")):
            self.assertNotIn(ESCAPE, text)
            self.assertIn("\\x1b[31mred", text)


class ToyModel:
    """Runs recipes on the toy model, worked out in testdata/README.md."""

    def setUp(self):
        super().setUp()
        self.captures = self.scratch / "captures"
        build_database(CAPTURES, "toy_model_ascend_pt", self.captures)
        self.results = self.out / "cluster_analysis_output"

    def table(self, name="ModuleStatistic"):
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        rows = database.execute(f"SELECT * FROM {name}").fetchall()
        database.close()
        return rows


class Recipes(ToyModel, Cli):
    """module_statistic."""

    ROWS = [("ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 3, 3, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 4, 4, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 5, 5, 1),
            ("", "ToyModel", "aten::clamp", "ClipByValueV2", 6, 6, 1),
            ("ToyModel", "RMSNorm", "aten::pow", "Cast, Pow", 12, 12, 1),
            ("ToyModel", "RMSNorm", "aten::mean", "ReduceMeanD", 20, 20, 1),
            ("ToyModel", "RMSNorm", "aten::rsqrt", "Rsqrt", 5, 5, 1),
            ("ToyModel", "RMSNorm", "aten::mul", "Mul", 6, 6, 1),
            ("ToyModel", "RMSNorm", "aten::mul", "Mul", 7, 7, 1),
            ("ToyModel", "[Backward]RMSNorm", "aten::mul", "Mul", 8, 8, 1),
            ("ToyModel", "[Backward]Linear", "aten::mm", "MatMulV2", 60, 60, 1)]

    def statistic(self, *options, directory=None):
        return self.run_tool("-m", "module_statistic", "-d", directory or self.captures, "-o",
                             self.out, *options)

    def test_database(self):
        result = self.statistic()
        self.assertEqual((result.code, result.out, result.errors, result.warnings), (0, "", [], []))
        self.assertEqual(self.table(), [(*row, 0) for row in self.ROWS])

    def test_minus_one_means_all_steps(self):
        self.assertEqual(self.statistic("--step_id", "-1").code, 0)
        self.assertEqual(len(self.table()), len(self.ROWS))

    def test_further_runs_replace_their_table_only(self):
        self.statistic()
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        database.executescript("CREATE TABLE Other (x); INSERT INTO Other VALUES (1);"
                               "DELETE FROM ModuleStatistic;")
        database.close()
        (self.results / "notes.txt").write_text("mine")
        self.assertEqual(self.statistic().code, 0)
        self.assertEqual(len(self.table()), len(self.ROWS))
        self.assertEqual(self.table("Other"), [(1,)])
        self.assertEqual(sorted(path.name for path in self.results.iterdir()),
                         ["cluster_analysis.db", "notes.txt"])

    def test_workbook_of_each_rank(self):
        shutil.copytree(self.captures / "toy_model_ascend_pt", self.captures / "other_ascend_pt")
        output = self.captures / "other_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        next(output.glob("*.db")).rename(output / "ascend_pytorch_profiler_12.db")
        self.assertEqual(self.statistic("--export_type", "text").code, 0)
        files = sorted((self.results / "ModuleStatistic").iterdir())
        self.assertEqual([file.name for file in files],
                         ["module_statistic_0.xlsx", "module_statistic_12.xlsx"])
        sheet = Workbook(files[1]).sheets[0]
        self.assertEqual(sheet.name, "Sheet1")
        # Rows 2 to 13; a parent is one cell over its rows, a module within its parent.
        self.assertEqual(sorted(sheet.merged),
                         ["A3:A6", "A7:A13", "B3:B6", "B7:B11"])
        self.assertEqual(sheet.rows()[1],
                         ["ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5])
        self.statistic("--rank_list", "12")
        self.assertEqual({row[-1] for row in self.table()}, {12})

    def test_captures_that_tell_no_rank_keep_their_workbooks_apart(self):
        for name in ("a_ascend_pt", "b_ascend_pt"):
            copy = self.scratch / "unknown" / name
            shutil.copytree(CAPTURES / "twin_text_base_ascend_pt", copy)
            for info in copy.glob("profiler_info*"):
                info.unlink()
        result = self.statistic("--export_type", "text", directory=self.scratch / "unknown")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("rank unknown: " in line for line in result.warnings), result.err)
        self.assertEqual(len(list((self.results / "ModuleStatistic").iterdir())), 2)

    def test_json_and_csv(self):
        for kind, name in (("json", "module_statistic.json"), ("csv", "module_statistic_csv")):
            self.assertEqual(self.statistic("--export_type", kind).code, 0)
            self.assertTrue((self.results / "ModuleStatistic" / name).exists())
        document = json.loads((self.results / "ModuleStatistic" / "module_statistic.json")
                              .read_text(encoding="utf-8"))
        self.assertEqual(len(document["sheets"][0]["rows"]), len(self.ROWS))

    def test_summary_on_the_screen(self):
        result = self.statistic("--print")
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.splitlines()
        self.assertTrue(lines[0].startswith("rank 0: 0.001 ms of kernels in modules (mstx ranges)"))
        self.assertEqual([line.split()[-1] for line in lines[1:]],
                         ["ToyModel", "Linear", "[Backward]Linear", "RMSNorm", "[Backward]RMSNorm"])

    def test_a_broken_rank_costs_itself_only(self):
        broken = self.captures / "b_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        broken.mkdir(parents=True)
        (broken / "ascend_pytorch_profiler_1.db").write_text("no database" * 100)
        result = self.statistic()
        self.assertEqual(result.code, 5, result.err)
        self.assertTrue(any("ascend_pytorch_profiler_1.db" in line for line in result.warnings))
        self.assertEqual(len(self.table()), len(self.ROWS))

    def test_utilisation_of_modules(self):
        self.assertEqual(self.statistic("--peak_tflops", "100").code, 0)
        uses = {row[1]: row[8] for row in self.table() if row[8]}
        self.assertEqual(uses, {"Linear": "44.31%", "[Backward]Linear": "83.33%"})
        self.assertEqual(self.table()[0][7], 0)  # the rank stays where the Python tool has it
        self.statistic("--export_type", "text", "--peak_tflops", "100")
        sheet = Workbook(self.results / "ModuleStatistic" / "module_statistic_0.xlsx").sheets[0]
        self.assertEqual(sheet.rows()[0][7], "Avg MFU")
        self.assertEqual(sheet.rows()[1][7], "44.31%")

    def test_modules_of_the_python_stack(self):
        result = self.statistic(directory=CAPTURES / "twin_text_base_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("nn.Module calls" in line for line in result.warnings), result.err)
        self.assertTrue(self.table())

    def test_captures_without_modules(self):
        shutil.rmtree(self.captures)
        build_database(CAPTURES, "db_base_ascend_pt", self.captures)
        database = next(self.captures.glob("*/*/*.db"))
        connection = sqlite3.connect(database)
        connection.executescript("DELETE FROM PYTORCH_API WHERE type = 50003;")
        connection.close()
        result = self.statistic()
        self.assert_fails(3, result, "no results")
        self.assertTrue(any("with_modules=True" in line for line in result.warnings), result.err)


class Utilisation(ToyModel, Cli):
    """operator_mfu."""

    def mfu(self, *options, directory=None):
        return self.run_tool("-m", "operator_mfu", "-d", directory or self.captures, "-o", self.out,
                             *options)

    def test_database(self):
        result = self.mfu("--peak_tflops", "100")
        self.assertEqual((result.code, result.out, result.errors, result.warnings), (0, "", [], []))
        kernels = self.table("OperatorMFU")
        self.assertEqual(kernels[1],
                         (0, "aten::addmm", "MatMulV2", 22000, 22200, 200, 0.25, 25.0, 100.0,
                          5_000_000, "MatMulV2", "100,250;250,100;100", "100,100", "shapes", "FP16",
                          None, ""))
        self.assertEqual([row[6] for row in kernels], [0.5, 0.25, 0.2381, 0.2273, 1.0, 0.8333])
        modules = self.table("ModuleMFU")
        self.assertEqual(modules[0], (0, "ToyModel", "Linear", "aten::addmm", "MatMulV2", 780, 156, 5,
                                      "44.31%"))
        self.assertEqual(len(modules), 10)  # those of the forward pass
        self.assertEqual(self.table("MFUSummary"),
                         [(0, work, 6, 840, 0.826, 3e7, 35.71, 0.3571, None, "")
                          for work in ("all matrix work", "matrix products")])
        self.assertEqual([(row[3], *row[5:]) for row in self.table("MFUWaste")],
                         [("100,250;250,100;100", 5, 780, 0.3205, 530),
                          ("100,100;100,250", 1, 60, 0.8333, 10)])

    def test_backward_modules_on_request(self):
        self.assertEqual(self.mfu("--peak_tflops", "100", "--with_backward").code, 0)
        self.assertIn((0, "ToyModel", "[Backward]Linear", "aten::mm", "MatMulV2", 60, 60, 1, "83.33%"),
                      self.table("ModuleMFU"))

    def test_the_chip_in_the_capture(self):
        device = self.captures / "toy_model_ascend_pt" / "PROF_1" / "device_0"
        device.mkdir(parents=True)
        (device / "info.json.0").write_text(
            '{"DeviceInfo": [{"id": 0, "ai_core_num": 20, "aiv_num": 40, "aic_frequency": "1800"}]}')
        self.assertEqual(self.mfu().warnings, [])
        self.assertEqual({row[8] for row in self.table("OperatorMFU")}, {294.91})
        self.mfu("--ai_core_num", "10", "--aic_frequency", "900")
        self.assertEqual({row[8] for row in self.table("OperatorMFU")}, {73.73})

    def test_without_a_peak_operations_are_told(self):
        result = self.mfu("--print")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(any("--peak_tflops" in line for line in result.warnings), result.err)
        self.assertIn("peak of the chip unknown", result.out)
        for row in self.table("OperatorMFU"):
            self.assertIsNone(row[6])
            self.assertGreater(row[7], 0)
            self.assertEqual(row[9], 5_000_000)
            self.assertEqual(row[16], "number or frequency of the cores unknown")
        self.assertEqual(len(self.table("ModuleMFU")[0]), 8)  # no column of utilisation

    def test_workbooks_and_screen(self):
        result = self.mfu("--peak_tflops", "100", "--export_type", "text", "--print")
        self.assertEqual(result.code, 0, result.err)
        files = sorted((self.results / "OperatorMfu").iterdir())
        self.assertEqual([file.name for file in files],
                         ["operator_mfu_kernel_0.xlsx", "operator_mfu_module_0.xlsx",
                          "operator_mfu_summary_0.xlsx"])
        kernels, modules, summary = (Workbook(file) for file in files)
        self.assertEqual(kernels.sheets[0].rows()[0][:8],
                         ["Rank ID", "Op Name", "Kernel Name", "Kernel Start(ns)", "Kernel End(ns)",
                          "Kernel Duration(ns)", "MFU", "actual_tflops"])
        self.assertEqual(modules.sheets[0].rows()[1][-1], "44.31%")
        self.assertEqual([sheet.name for sheet in summary.sheets], ["Summary", "Waste"])
        self.assertIn("35.7 %", result.out)

    def test_numbers_of_the_chip_must_be_numbers(self):
        for option, value in (("--ai_core_num", "0"), ("--ai_core_num", "2.5"),
                              ("--aic_frequency", "fast"), ("--peak_tflops", "-1"),
                              ("--peak_tflops", "inf")):
            self.assert_fails(2, self.mfu(option, value), f"{option} {value}")
        self.assertFalse(self.out.exists())

    def test_text_captures(self):
        result = self.mfu("--peak_tflops", "100", directory=CAPTURES / "text_base_ascend_pt")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(self.table("OperatorMFU"))


class HeadOverhead(Cli):
    """head_overhead, on the runs worked out in testdata/README.md, "Compiled graphs"."""

    EPOCH = 1_700_000_000_000_000_000
    TIMES = "w0Ns e0Ns t1Ns t2Ns t3Ns t4Ns fk0Ns fk1Ns".split()
    STEADY, HARD = "head_steady_ascend_pt", "head_hard_ascend_pt"

    def setUp(self):
        super().setUp()
        self.results = self.out / "cluster_analysis_output"
        self.database = {name: build_database(CAPTURES, name, self.scratch / "databases")
                         for name in (self.STEADY, self.HARD)}

    def both(self, name):
        """The run as text and as a database."""
        return CAPTURES / name, self.database[name]

    def head(self, capture, *options):
        return self.run_tool("-m", "head_overhead", "-d", capture, "-o", self.out, *options)

    def rows(self, table):
        """Rows as dictionaries, times in microseconds; points in time behind the epoch."""
        database = sqlite3.connect(self.results / "cluster_analysis.db")
        cursor = database.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        whole = {name for name in names if name.startswith("n") and name != "name"} | {
            "rankId", "callId", "parentCallId", "step", "pid", "tid", "deviceId", "calls",
            "compileCalls", "count"}
        rows = []
        for row in cursor.fetchall():
            values = dict(zip(names, row))
            for name in names:
                if isinstance(values[name], int) and name not in whole:
                    offset = self.EPOCH if name in self.TIMES else 0
                    values[name] = (values[name] - offset) / 1000
            rows.append(values)
        database.close()
        return rows

    def assert_columns(self, row, expected):
        self.assertEqual({name: row[name] for name in expected}, expected)

    def assert_adds_up(self, call):
        parts = [call[name] or 0 for name in ("platform", "dynamo", "torchairPy", "torchairCpp", "ge")]
        self.assertEqual(sum(parts), call["head"])
        exposed = [call[f"exposed{name}"] or 0
                   for name in ("Platform", "Dynamo", "Py", "Cpp", "Ge", "Lag")]
        self.assertEqual(sum(exposed), call["deviceIdleBeforeFirstKernel"])

    CALLS = (
        dict(step=7, tid=100, deviceId=0, parentCallId=None, graphKey="region 0/0",
             engine="GE_STATIC", phase="steady", kind="compiled_call", w0Ns=1000, e0Ns=1200, t1Ns=1340,
             t2Ns=1470, t3Ns=1600, t4Ns=1990, platform=200, platformWait=0, dynamo=140, lookup=90,
             dynamoCompile=0, regionOther=50, frontend=340, torchairPy=130, torchairCpp=130, ge=390,
             geExec=250, epilogueCpp=80, epiloguePy=60, head=990, compile=0, headNet=990, fk0Ns=1660,
             fk1Ns=1720, firstTaskLatency=60, firstKernelLatency=120, headToFirstKernel=720,
             entryToFirstKernel=520, deviceIdleBeforeFirstKernel=464, exposedPlatform=0,
             exposedDynamo=90, exposedPy=130, exposedCpp=130, exposedGe=114, exposedLag=0,
             nConstruct=2, nContiguous=1, nClone=0, nTo=0, nLaunch=1, flags=""),
        dict(step=7, tid=100, graphKey="region 1/0", engine="GE_STATIC", phase="steady", kind="compiled_call",
             w0Ns=1990, e0Ns=2100, t1Ns=2220, t2Ns=2260, t3Ns=2380, t4Ns=2750, platform=110,
             dynamo=120, lookup=80, dynamoCompile=0, regionOther=40, frontend=230, torchairPy=40,
             torchairCpp=120, ge=370, geExec=280, epilogueCpp=60, epiloguePy=30, head=760,
             fk0Ns=2500, fk1Ns=2500, firstTaskLatency=120, firstKernelLatency=120,
             headToFirstKernel=510, entryToFirstKernel=400, deviceIdleBeforeFirstKernel=80,
             exposedPlatform=0, exposedDynamo=0, exposedPy=0, exposedCpp=10, exposedGe=70,
             exposedLag=0, nConstruct=0, nContiguous=0, nLaunch=0, flags=""))

    def test_two_steady_calls(self):
        # A database does not tell which iteration of the model a call started.
        sources = ("launch, iteration", "iteration"), ("launch, model_fifo", "model_fifo")
        for capture, expected_sources in zip(self.both(self.STEADY), sources):
            with self.subTest(capture=capture):
                result = self.head(capture)
                self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
                calls = self.rows("HEAD_CALL")
                self.assertEqual(len(calls), 2)
                for call, expected in zip(calls, self.CALLS):
                    self.assert_columns(call, expected)
                    self.assert_adds_up(call)
                self.assertEqual(tuple(call["fkSource"] for call in calls), expected_sources)
                (step,) = self.rows("HEAD_STEP")
                self.assert_columns(step, dict(
                    step=7, tid=100, calls=2, compileCalls=0, platform=310, dynamo=260,
                    torchairPy=170, torchairCpp=250, ge=760, tail=1250, stepDuration=3000,
                    exposedTotal=544, outside=0))
                self.assertAlmostEqual(step["coverage"], 1750 / 3000, 5)

    def summary(self, scope="all", phase="steady"):
        return {row["segment"]: row for row in self.rows("HEAD_SUMMARY")
                if (row["scope"], row["phase"]) == (scope, phase)}

    def test_summary_of_two_steady_calls(self):
        for capture in self.both(self.STEADY):
            self.head(capture)
            summary = self.summary()
            self.assert_columns(summary["head"], dict(count=2, mean=875, p50=875, p90=967, max=990,
                                                      sum=1750, exposedSum=544))
            for name, share, exposed in (
                    ("platform", 0.177, 0), ("dynamo", 0.149, 90), ("torchair_py", 0.097, 130),
                    ("torchair_cpp", 0.143, 140), ("ge", 0.434, 184)):
                self.assertAlmostEqual(summary[name]["share"], share, 3, name)
                self.assertEqual(summary[name]["exposedSum"], exposed, name)
            self.assertAlmostEqual(summary["ge"]["shareOfStep"], 760 / 3000, 5)
            self.assertAlmostEqual(summary["ge"]["exposedShare"], 184 / 544, 5)
            self.assertEqual(self.summary("region 1/0")["head"]["sum"], 760)

    def test_children_of_a_call(self):
        expected = {
            "platform": {("op", "aten::randn"): (1, 30), ("(unattributed)", "(no event)"): (None, 170)},
            "torchair_py": {("tensor_construct", "aten::lift_fresh"): (2, 4),
                            ("contiguous", "aten::contiguous"): (1, 60),
                            ("(unattributed)", "Python"): (None, 66)},
            "torchair_cpp": {("gap", "gap_before_assemble"): (None, 30),
                             ("event", "AssembleInputs"): (1, 40),
                             ("gap", "gap_in_to_out"): (None, 30),
                             ("event", "AssembleOutputs"): (1, 10),
                             ("gap", "gap_before_execute"): (None, 20)},
            "ge": {("event", "InputCopy"): (1, 40), ("of_which_launch", "launch"): (1, 15),
                   ("event", "step_info"): (2, 10), ("event", "ModelExecute (self)"): (1, 35),
                   ("event", "OutputCopy"): (1, 1), ("(unattributed)", "GE"): (None, 164)},
            "epilogue": {("refresh", "RefreshAtTensorFromGeTensor"): (1, 60),
                         ("of_which_outputs", "aten::set_"): (1, 15),
                         ("(unattributed)", "other C++"): (None, 20),
                         ("(unattributed)", "Python"): (None, 60)}}
        for capture in self.both(self.STEADY):
            self.head(capture)
            found, shares = {}, {}
            for row in self.rows("HEAD_CHILD"):
                if row["scope"] != "region 0/0":
                    continue
                segment = row["segment"]
                found.setdefault(segment, {})[row["class"], row["name"]] = (
                    row["count"], row["total"])
                if not row["class"].startswith("of_which"):
                    shares[segment] = shares.get(segment, 0) + row["shareOfSegment"]
                if row["name"] == "aten::contiguous":
                    self.assertEqual(row["exposed"], 60)
            self.assertEqual(found, expected)
            for segment, share in shares.items():
                self.assertAlmostEqual(share, 1, 4, segment)

    def test_advice(self):
        for capture in self.both(self.STEADY):
            result = self.head(capture)
            advice = {(row["ruleId"], row["scope"]): row for row in self.rows("HEAD_ADVICE")}
            contiguous = advice["non_contiguous_inputs", "region 0/0"]
            self.assert_columns(contiguous, dict(owner="script", value=60, threshold=20,
                                                 exposedPerStep=60, calls=1))
            rules = {rule for rule, _ in advice}
            self.assertNotIn("tensors_built", rules)
            self.assertNotIn("dynamo_lookup", rules)
            # The platform's time is long but hidden, so it is no loss.
            self.assertEqual(advice["platform_time", "region 0/0"]["severity"], "info")
            self.assertIn("[warn] non contiguous inputs: region 0/0 (1 call, at most 60.0 us to gain in a step)", result.out)

    def test_thresholds_of_advice(self):
        self.head(CAPTURES / self.STEADY, "--thresholds", "contiguous_us=61, lookup_us=85")
        rules = {(row["ruleId"], row["scope"]) for row in self.rows("HEAD_ADVICE")}
        self.assertNotIn(("non_contiguous_inputs", "region 0/0"), rules)
        self.assertIn(("dynamo_lookup", "region 0/0"), rules)
        self.assertNotIn(("dynamo_lookup", "region 1/0"), rules)

    def test_hidden_head_is_no_bottleneck(self):
        capture = self.capture_copy(self.STEADY)
        trace = capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = json.loads(trace.read_text())
        (old,) = (event for event in events if event["name"] == "Add")
        old["dur"] = 2000  # the device is busy until both graphs run
        trace.write_text(json.dumps(events))
        result = self.head(capture)
        advice = self.rows("HEAD_ADVICE")
        self.assertIn("not the bottleneck", advice[0]["text"])
        self.assertEqual({row["severity"] for row in advice}, {"info"})
        self.assertEqual(self.summary()["head"]["exposedSum"], 0)
        self.assertIn("DEVICE_WAS_BUSY", self.rows("HEAD_CALL")[0]["flags"])
        self.assertIn("not the bottleneck", result.out)

    def test_policies(self):
        for capture in self.both(self.STEADY):
            self.assertEqual(self.head(capture, "--policy", "entry").code, 0)
            calls = self.rows("HEAD_CALL")
            for call, base, head in zip(calls, self.CALLS, (790, 650)):
                self.assert_columns(call, dict(
                    head=head, platform=0, frontend=base["dynamo"], w0Ns=base["e0Ns"],
                    deviceIdleBeforeFirstKernel=base["deviceIdleBeforeFirstKernel"],
                    **{name: base[name] for name in ("dynamo", "torchairPy", "torchairCpp", "ge")}))
                self.assert_adds_up(call)
            (step,) = self.rows("HEAD_STEP")
            self.assertEqual(step["outside"], 200 + 110)
            self.head(capture, "--policy", "step")
            self.assertEqual([call["w0Ns"] for call in self.rows("HEAD_CALL")], [1000, 1990])
            self.head(capture, "--policy", "device_idle")
            calls = self.rows("HEAD_CALL")
            self.assertEqual([call["w0Ns"] for call in calls], [1250, 2440])
            self.assert_columns(calls[0], dict(platform=0, dynamo=90, torchairPy=130,
                                               torchairCpp=130, head=740))
            for call in calls:
                self.assert_adds_up(call)

    HARD_CALLS = (
        dict(tid=200, kind="compiled_call", phase="compile", engine="GE", graphKey="region 0/0", w0Ns=100,
             e0Ns=100, t1Ns=50200, t2Ns=82100, t3Ns=91320, t4Ns=92200, platform=0, dynamo=50100,
             lookup=30, dynamoCompile=50000, regionOther=70, torchairPy=31900, torchairCpp=9220,
             ge=880, geExec=580, epilogueCpp=250, epiloguePy=50, head=92100, compile=90600,
             headNet=1500, firstTaskLatency=180, firstKernelLatency=480, fk0Ns=91500, fk1Ns=91800,
             deviceIdleBeforeFirstKernel=91694, exposedPlatform=0, exposedDynamo=50100,
             exposedPy=31900, exposedCpp=9220, exposedGe=474, flags="", nConstruct=1),
        dict(tid=200, kind="compiled_call", phase="steady", engine="GE_STATIC", graphKey="region 1/0",
             w0Ns=92200, e0Ns=92420, t1Ns=92480, t2Ns=92530, t3Ns=92650, t4Ns=92980, platform=220,
             platformWait=100, dynamo=60, lookup=30, dynamoCompile=0, regionOther=30, torchairPy=50,
             torchairCpp=120, ge=330, geExec=110, epilogueCpp=190, epiloguePy=30, head=780,
             compile=0, headNet=780, firstKernelLatency=130, fk1Ns=92780,
             deviceIdleBeforeFirstKernel=530, exposedPlatform=170, exposedDynamo=60, exposedPy=50,
             exposedCpp=120, exposedGe=130, flags="GE_FROM_CANN", nContiguous=1),
        dict(tid=200, kind="run_alone", phase="steady", engine="GE", w0Ns=92980, e0Ns=97000, t1Ns=97000,
             t2Ns=97000, t3Ns=97150, t4Ns=97400, platform=4020, dynamo=0, torchairPy=None,
             torchairCpp=150, ge=250, geExec=180, epilogueCpp=70, epiloguePy=None, head=4420,
             compile=0, headNet=4420, firstKernelLatency=150, fk1Ns=97300,
             deviceIdleBeforeFirstKernel=3190, exposedPlatform=2890, exposedDynamo=0,
             exposedPy=None, exposedCpp=150, exposedGe=150, flags="NO_PYTORCH_EVENT|NO_PYTHON_EVENT"),
        dict(tid=201, kind="cached_call", phase="steady", engine="GE", w0Ns=95000, e0Ns=95000, t1Ns=95000,
             t2Ns=95060, t3Ns=95160, t4Ns=95400, platform=0, dynamo=0, torchairPy=60,
             torchairCpp=100, ge=240, geExec=170, epilogueCpp=60, epiloguePy=10, head=400,
             compile=0, headNet=400, firstKernelLatency=130, fk1Ns=95290,
             deviceIdleBeforeFirstKernel=290, exposedPlatform=0, exposedDynamo=0, exposedPy=60,
             exposedCpp=100, exposedGe=130, flags=""))

    def test_hard_cases(self):
        for capture in self.both(self.HARD):
            with self.subTest(capture=capture):
                result = self.head(capture)
                self.assertEqual((result.code, result.errors, result.warnings), (0, [], []))
                calls = self.rows("HEAD_CALL")
                self.assertEqual(len(calls), 4)
                for call, expected in zip(calls, self.HARD_CALLS):
                    self.assert_columns(call, {"step": None, "fkSource": "time", **expected})
                    self.assert_adds_up(call)
                self.assertEqual(self.rows("HEAD_STEP"), [])
                self.assertIn("time alone", result.out)
                self.assertIn("1 call that compiles or loads a graph, 90.6 ms for that, the device "
                              "waits for 90.6 ms of it", result.out)
                self.assertNotIn("NO_PYTORCH_EVENT", result.out, "flags are told in words")
                self.assertIn("1 call: GE begins with its first call of CANN", result.out)

    def test_summary_of_hard_cases(self):
        for capture in self.both(self.HARD):
            self.head(capture)
            database = sqlite3.connect(self.results / "cluster_analysis.db")
            query = ("SELECT count, mean, p50, p90, max FROM HEAD_SUMMARY WHERE scope = 'all' "
                     "AND phase = 'steady' AND segment = ?")
            self.assertEqual(database.execute(query, ["head"]).fetchone(),
                             (3, 1866667, 780000, 3692000, 4420000))
            self.assertEqual(database.execute(query, ["torchair_py"]).fetchone()[:2], (2, 55000))
            database.close()

    def test_policy_entry_leaves_the_time_between_calls_out(self):
        self.head(CAPTURES / self.HARD, "--policy", "entry")
        self.assertEqual(self.rows("HEAD_CALL")[2]["head"], 400)

    def test_long_waits_without_steps_are_left_out(self):
        self.head(CAPTURES / self.HARD, "--max_gap", "4.02")
        self.assertEqual(self.rows("HEAD_CALL")[2]["platform"], 4020)
        self.head(CAPTURES / self.HARD, "--max_gap", "4.019")
        call = self.rows("HEAD_CALL")[2]
        self.assert_columns(call, dict(platform=0, head=400))
        self.assertIn("GAP_CLIPPED", call["flags"])

    def without_runtime_calls(self):
        copy = self.capture_copy(self.HARD)
        trace = copy / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = [event for event in json.loads(trace.read_text()) if "Model@" not in event["name"]]
        trace.write_text(json.dumps(events))
        database = self.database[self.HARD]
        connection = sqlite3.connect(next(database.glob("*/*.db")))
        connection.executescript("DROP TABLE CANN_API")
        connection.close()
        return copy, database

    def test_hard_cases_without_runtime_calls(self):
        for capture in self.without_runtime_calls():
            self.assertEqual(self.head(capture).code, 0)
            calls = self.rows("HEAD_CALL")
            self.assert_columns(calls[1], dict(
                t3Ns=92620, torchairCpp=90, ge=360, geExec=None, epilogueCpp=None, epiloguePy=30,
                firstKernelLatency=160, flags="GE_FROM_ASSEMBLE", engine="GE"))
            for position in (0, 2, 3):
                expected = {name: value for name, value in self.HARD_CALLS[position].items()}
                self.assert_columns(calls[position], expected)
            for call in calls:
                self.assert_adds_up(call)

    def test_one_step(self):
        for capture in self.both(self.STEADY):
            self.assertEqual(self.head(capture, "--step_id", "7").code, 0)
            self.assert_columns(self.rows("HEAD_CALL")[0], self.CALLS[0])
            result = self.head(capture, "--step_id", "8")
            self.assertEqual(result.code, 3)
            self.assertIn("step 8 not found", result.errors[0])

    def test_eager_captures(self):
        build_database(CAPTURES, "db_base_ascend_pt", self.scratch / "databases")
        for capture in (CAPTURES / "text_base_ascend_pt", CAPTURES / "text_level0_ascend_pt",
                        self.scratch / "databases" / "db_base_ascend_pt"):
            for kind in ("db", "text", "json", "csv"):
                with self.subTest(capture=capture, kind=kind):
                    result = self.head(capture, "--export_type", kind)
                    self.assertEqual((result.code, result.errors), (0, []))
                    self.assertIn("no graph-mode call found", result.out)
                    self.assertIn("npu_fx_compiler inference", result.out)
                    self.assertRegex(result.out, r"\d+ framework events on \d+ threads")
            self.head(capture)
            self.assertEqual(self.rows("HEAD_CALL"), [])

    def test_broken_captures_cannot_tell(self):
        result = self.head(CAPTURES / "broken" / "truncated_trace_ascend_pt")
        self.assertEqual((result.code, result.errors), (5, []))
        self.assertIn("no graph-mode call found", result.out)

    def test_graphs_that_only_the_runtime_shows(self):
        trace = self.write("replay/trace_view.json", json.dumps([
            {"ph": "M", "name": "process_name", "pid": 7 << 10, "tid": 0, "args": {"name": "CANN"}},
            {"ph": "X", "name": "AscendCL@aclmdlRIExecuteAsync", "pid": 7 << 10, "tid": 70,
             "ts": "1700000000000010", "dur": 30, "args": {}}]))
        result = self.head(trace.parent)
        self.assertEqual((result.code, result.errors), (0, []))
        self.assertIn("seen by the runtime only", result.out)
        (call,) = self.rows("HEAD_CALL")
        self.assert_columns(call, dict(kind="runtime_alone", engine="ACLGRAPH", t3Ns=10, w0Ns=None, head=None,
                                       platform=None, nConstruct=None))
        self.assertEqual(self.rows("HEAD_SUMMARY"), [])

    def test_replays_are_not_ges(self):
        def event(name, start, end, **more):
            return {"ph": "X", "name": name, "pid": 7, "tid": 70, "ts": str(1700000000000000 + start),
                    "dur": end - start, **more}

        trace = self.write("replay/trace_view.json", json.dumps([
            {"ph": "M", "name": "process_name", "pid": 7 << 10, "tid": 0, "args": {"name": "CANN"}},
            event("npu_fx_compiler inference", 100, 900, cat="cpu_op"),
            event("acl_graph_replay", 150, 880, cat="cpu_op"),
            {**event("AscendCL@aclmdlRIExecuteAsync", 200, 300), "pid": 7 << 10}]))
        result = self.head(trace.parent)
        self.assertEqual((result.code, result.errors), (0, []))
        summary = self.summary()
        self.assertNotIn("ge", summary)
        self.assertEqual(summary["aclgraph"]["sum"], 700)
        self.assertEqual({row["segment"] for row in self.rows("HEAD_CHILD")},
                         {"platform", "torchair_py", "aclgraph"})
        self.assertIn("aclgraph replay 700.0", result.out)
        self.assertNotRegex(result.out, r"\bGE\b")
        picture = self.scratch / "replay.html"
        self.head(trace.parent, "--picture", picture)
        self.assertNotRegex(picture.read_text(encoding="utf-8"), r"\bGE\b")

    def test_unknown_stays_empty_in_every_format(self):
        capture = CAPTURES / self.HARD
        self.head(capture, "--export_type", "json")
        folder = self.results / "HeadOverhead"
        document = json.loads((folder / "head_overhead.json").read_text(encoding="utf-8"))
        sheets = {sheet["name"]: sheet["rows"] for sheet in document["sheets"]}
        self.assertEqual(list(sheets), ["HEAD_CALL", "HEAD_STEP", "HEAD_SUMMARY", "HEAD_CHILD",
                                        "HEAD_ADVICE"])
        call = sheets["HEAD_CALL"][2]
        self.assertEqual((call["torchair_py"], call["epilogue_py"], call["exposed_py"], call["step"],
                          call["platform"]), (None, None, None, None, 4_020_000))
        self.head(capture, "--export_type", "csv")
        with open(folder / "head_overhead_csv" / "HEAD_CALL.csv", encoding="utf-8") as file:
            call = list(csv.DictReader(file))[2]
        self.assertEqual((call["torchair_py"], call["epilogue_py"], call["platform"]),
                         ("", "", "4020000"))
        self.head(capture, "--export_type", "text")
        workbook = Workbook(folder / "head_overhead.xlsx")
        rows = workbook.sheets[0].rows()
        call = dict(zip(rows[0], rows[3]))
        self.assertEqual((call["torchairPy(us)"], call["platform(us)"]), (None, 4020))

    def test_ranks(self):
        ranks = self.scratch / "ranks"
        for rank in (0, 1):
            copy = ranks / f"{rank}_ascend_pt"
            shutil.copytree(CAPTURES / self.STEADY, copy)
            (copy / f"profiler_info_{rank}.json").write_text('{"rank_id": %d}' % rank)
        result = self.head(ranks)
        self.assertEqual((result.code, result.errors), (0, []))
        self.assertEqual([row["rankId"] for row in self.rows("HEAD_CALL")], [0, 0, 1, 1])
        self.assertIn("rank 1: 2 calls", result.out)
        self.assertEqual(result.out.count("exposed/step"), 1, "the tables of one rank")
        self.head(ranks, "--export_type", "text")
        self.assertEqual(sorted(file.name for file in (self.results / "HeadOverhead").iterdir()),
                         ["head_overhead_0.xlsx", "head_overhead_1.xlsx"])

    def test_picture(self):
        for capture in self.both(self.STEADY):
            picture = self.scratch / "pictures" / "call.html"
            result = self.head(capture, "--picture", picture)
            self.assertEqual((result.code, result.errors), (0, []))
            self.assertIn(str(picture), result.all_err)
            page = picture.read_text(encoding="utf-8")
            self.assertIn("Call 0 of region 0/0", page)  # the largest head
            self.assertIn("torchair python: 130.0 us, from 340.0 to 470.0 us", page)
            self.assertIn("idle, GE and epilogue: 54.0 us, from 666.0 to 720.0 us", page)
            self.assertNotRegex(page, r"(src|href)=\"(?!data:)")
            self.assertIn(f"Capture {capture.name}.", page)
            self.assertIn(">stream 2</text>", page)
            self.assertIn("MatMul_1: 580.0 us, from 720.0 to 1300.0 us", page)
            self.assertIn("kernel of a stream", page)
            self.assertIn("min-width", page)
            self.assertNotIn("guess", page)
            self.head(capture, "--picture", picture, "--call", "1")
            self.assertIn("Call 1 of region 1/0", picture.read_text(encoding="utf-8"))
            missing = self.head(capture, "--picture", self.scratch / "x.html", "--call", "2")
            self.assertEqual(missing.code, 0)
            self.assertTrue(any("no such call" in line for line in missing.warnings), missing.err)
            self.assertFalse((self.scratch / "x.html").exists())
        self.assert_fails(2, self.head(CAPTURES / self.STEADY, "--picture", self.scratch),
                          "--picture", "name of a file")

    def test_guesses_are_marked_in_the_picture(self):
        ranks = self.scratch / "ranks"
        copy = ranks / "one_ascend_pt"
        shutil.copytree(CAPTURES / self.HARD, copy)
        (copy / "profiler_info_3.json").write_text('{"rank_id": 3}')
        picture = self.scratch / "call.html"
        self.head(ranks, "--picture", picture, "--call", "2")
        page = picture.read_text(encoding="utf-8")
        self.assertIn(", rank 3</h1>", page)
        self.assertIn("first kernel (a guess)", page)
        self.assertIn("stroke-dasharray", page)
        self.assertIn("a guess by time alone", page)
        self.assertIn("Note: no event of PyTorch, its time is in the platform's.", page)

    def test_names_in_the_picture_are_text(self):
        capture = self.capture_copy(self.STEADY)
        trace = capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        name = '<script>alert("x")</script>'
        trace.write_text(trace.read_text().replace('"aten::randn"', json.dumps(name)))
        picture = self.scratch / "call.html"
        self.assertEqual(self.head(capture, "--picture", picture).code, 0)
        page = picture.read_text(encoding="utf-8")
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)

    def test_picture_in_a_browser(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser") \
            or shutil.which("google-chrome")
        if browser is None:
            self.skipTest("no Chromium here: whether a browser shows the picture was not tested")
        picture = self.scratch / "call.html"
        self.head(CAPTURES / self.STEADY, "--picture", picture)
        run = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={self.scratch / 'browser'}", "--dump-dom", picture.as_uri()],
            check=False, capture_output=True, encoding="utf-8", timeout=TIMEOUT_SECONDS)
        self.assertIn("Call 0 of region 0/0", run.stdout, run.stderr)
        self.assertIn("</svg>", run.stdout)
        self.assertNotIn("CONSOLE", run.stderr)

    def test_options(self):
        for option, value, words in (
                ("--policy", "early", ["auto, entry, step, device_idle"]),
                ("--phase", "warm", ["steady, compile"]), ("--max_gap", "-1", []),
                ("--call", "x", []),
                ("--thresholds", "nothing=1", ["'nothing'", "lookup_us"]),
                ("--thresholds", "lookup_us=much", ["'much'", "lookup_us"])):
            with self.subTest(option=option, value=value):
                self.assert_fails(2, self.head(CAPTURES / self.STEADY, option, value),
                                  f"{option} {value}", *words)
        self.assertFalse(self.out.exists())


class Gate(Cli):
    """compare as a gate. The captures come from tests/support/steps.py: steps of about 100 ms with
    40 ms MatMulV2, 2 ms Relu, 10 ms exposed allreduce and the rest free."""

    STEPS = (99_900, 100_000, 100_100)
    SLOW = dict(lengths_us=(104_900, 105_000, 105_100),
                kernels=(("MatMulV2", 43_000), ("Relu", 2_000)), allreduce_us=11_500)
    HEADLINE = ("REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 0.3 %): "
                "+3.0 ms MatMulV2, +1.5 ms exposed allreduce, +0.5 ms free time")

    def setUp(self):
        super().setUp()
        self.base = self.capture("base")

    def capture(self, name, lengths_us=STEPS, **settings):
        return write_capture(self.scratch / f"{name}_ascend_pt", lengths_us, **settings)

    def gate(self, comparison, *more, base=None, **settings):
        return self.compare(*more, comparison=comparison, base=base or self.base, **settings)

    def assert_verdict(self, result, code, line):
        """Exit code, and the first line of the screen."""
        self.assertEqual(result.code, code, (result.out, result.err))
        self.assertEqual(result.errors, [])
        first = result.out.splitlines()[0]
        self.assertTrue(first.startswith(line), first)

    def document(self, result):
        document = json.loads(result.out)
        check_json(document, json.loads((DOCS / "gate.schema.json").read_text(encoding="utf-8")))
        self.assertEqual(document["exit_code"], result.code)
        return document

    # --- Exit codes ---

    def test_0_ok(self):
        same = self.capture("same")
        for options in (["--fail_on", "step_time>+3%"], ["--min_steps", "3"], ["--noise", "auto"]):
            self.assert_verdict(self.gate(same, *options), 0, "OK step_time 100.0 -> 100.0 ms (+0.0 %")
        self.assertEqual(self.workbooks(), [])
        self.assertFalse(self.out.exists(), "a gate writes no files unless it is told to")

    def test_0_improved(self):
        slow = self.capture("slow", **self.SLOW)
        self.assert_verdict(self.gate(self.base, "--fail_on", "step_time>+3%", base=slow), 0,
                            "IMPROVED step_time 105.0 -> 100.0 ms (-4.8 %, limit 3 %, noise 0.3 %): "
                            "-3.0 ms MatMulV2, -1.5 ms exposed allreduce, -0.5 ms free time")

    def test_1_regression(self):
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--fail_on", "step_time>+3%")
        self.assert_verdict(result, 1, self.HEADLINE)
        self.assertEqual(result.out.splitlines()[0], self.HEADLINE)
        self.assertIn("low confidence", result.out.splitlines()[1])
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+6%"), 0, "OK step_time")
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+3%&+6ms"), 0, "OK step_time")
        self.assert_verdict(self.gate(slow, "--fail_on", "step_time>+3%&+4ms"), 1, "REGRESSION")
        self.assert_verdict(self.gate(slow, "--warn_only"), 0, "REGRESSION step_time")

    def test_2_usage(self):
        for option, value, words in (
                ("--fail_on", "step_tiem>+3%", ["did you mean 'step_time'?"]),
                ("--fail_on", "step_time>+3%&fast", ["character 5", "'fast'", "+200us"]),
                ("--min_abs", "20", ["20us or 16MB"]), ("--min_share", "much", ["0.5%"]),
                ("--rank_stat", "best", ["worst, median or p95"]),
                ("--on_inconclusive", "hope", ["pass, warn or fail"]),
                ("--warmup", "-1", ["-1"]), ("--min_steps", "0", ["0"]),
                ("--memory_limit", "much", ["8G"]),
                ("--export_type", "junit,xlsx", ["'xlsx'", "junit"])):
            with self.subTest(option=option, value=value):
                self.assert_fails(2, self.gate(self.base, option, value), option, *words)
        self.assert_fails(2, self.gate(self.base, "--warmup", "1", "--base_step", "1",
                                       "--comparison_step", "1"), "--base_step", "no sheets")
        self.assert_fails(2, self.gate(self.base, "-d", self.base), "-d is given 2 times", "--fail_on")
        self.assert_fails(2, self.gate(self.base, "--fail_on", "free>+1%", "--fail_on", "free>+1ms"),
                          "--fail_on free>+1ms", "free has a limit already")
        self.assert_fails(2, self.gate(self.base, "--update_baseline"), "--update_baseline",
                          "--save_baseline")
        self.assert_fails(2, self.gate(self.base, "--export_type", "github", "--json"), "--json")
        self.assert_fails(2, self.run_tool("compare", "--learn_noise", self.scratch / "n.json",
                                           self.base, self.base), "--learn_noise", "2 runs are too few")

    def test_3_input(self):
        missing = self.scratch / "missing"
        self.assert_fails(3, self.gate(missing, "--warmup", "1"), "-d:", missing)
        self.assert_fails(3, self.gate(self.base, "--warmup", "1", base=missing), "-bp:", missing)
        self.assert_fails(3, self.gate(self.base, "--gate", missing), "--gate", missing)
        self.assert_fails(3, self.gate(self.base, "--noise", missing), "--noise", missing)
        cut = self.write("cut.json", '{"kind": "msprof-analyze-baseline", "runs": [')
        self.assert_fails(3, self.gate(self.base, base=cut), "-bp:", cut, "not valid JSON")
        future = self.write("future.json",
                            '{"kind": "msprof-analyze-baseline", "schema_version": 99}')
        self.assert_fails(3, self.gate(self.base, base=future), future, "schema_version 99")

    def test_4_inconclusive(self):
        short = self.capture("short", (100_000, 100_000))
        line = "INCONCLUSIVE step_time: 2 steps in a run of the comparison are too few, 3 are needed"
        self.assert_verdict(self.gate(short, "--fail_on", "step_time>+3%"), 4, line)
        self.assert_verdict(self.gate(short, "--on_inconclusive", "pass"), 0, line)
        warned = self.gate(short, "--on_inconclusive", "warn")
        self.assert_verdict(warned, 0, line)
        self.assertEqual(len(warned.warnings), 1, warned.err)
        self.assert_verdict(self.gate(short, "--min_steps", "2"), 0, "OK step_time")
        self.assert_verdict(self.gate(self.base, "--warmup", "1"), 4, "INCONCLUSIVE step_time: 2 steps")
        nothing = self.gate(self.base, "--fail_on", "op:Conv*>+1%")
        self.assert_verdict(nothing, 4, "INCONCLUSIVE op:Conv*: no name on either side fits")
        unmarked = self.capture("unmarked", steps=False)
        self.assert_verdict(self.gate(unmarked, "--warmup", "0", base=unmarked), 4,
                            "INCONCLUSIVE step_time: the captures have no step markers")
        self.assert_verdict(self.gate(unmarked, "--fail_on", "e2e>+1%", base=unmarked), 0, "OK e2e")

    def test_4_not_comparable(self):
        other = self.capture("other", level="Level2")
        line = "NOT COMPARABLE profiler_level (Level1 / Level2): "
        self.assert_verdict(self.gate(other, "--fail_on", "step_time>+3%"), 4, line)
        self.assert_verdict(self.gate(other, "--on_inconclusive", "pass"), 4, line)
        allowed = self.gate(other, "--allow_mismatch", "profiler_level,soc")
        self.assert_verdict(allowed, 0, "OK step_time")
        self.assertIn("allowed to differ: profiler_level (Level1 / Level2)", allowed.out)
        larger = self.capture("larger", shapes="16,64;64,64")
        self.assert_verdict(self.gate(larger, "--warmup", "0"), 4, "NOT COMPARABLE shapes (")

    def test_5_partial(self):
        cut = self.capture("cut", **self.SLOW)
        trace = cut / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        whole = trace.read_bytes()
        for part in (0.7, 0.9, 0.999):
            trace.write_bytes(whole[:int(part * len(whole))])
            for options in ([], ["--warn_only"], ["--on_inconclusive", "pass"],
                            ["--fail_on", "step_time>+90%"], ["--min_steps", "1"]):
                with self.subTest(part=part, options=options):
                    result = self.gate(cut, "--fail_on", "comm_total>+90%", *options)
                    self.assertIn(result.code, (4, 5), (result.out, result.err))
        result = self.gate(cut, "--fail_on", "step_time>+90%", "--export_type", "junit")
        self.assertEqual(check_junit((self.out / "gate.junit.xml").read_text(encoding="utf-8")),
                         {"step_time": "skipped", "complete_input": "error"})
        self.assert_verdict(result, 5, "OK step_time")
        self.assertIn("judged on partial data", result.out.splitlines()[1])
        self.assertTrue(any("trace_view.json" in line for line in result.warnings), result.err)

    def test_5_cut_databases(self):
        capture = build_database(CAPTURES, "twin_db_base_ascend_pt", self.scratch)
        whole = (capture / DATABASE).read_bytes()
        copy = self.scratch / "cut"
        shutil.copytree(capture, copy / capture.name)
        for part in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            with self.subTest(part=part):
                (copy / capture.name / DATABASE).write_bytes(whole[:int(part * len(whole))])
                result = self.gate(copy, "--fail_on", "e2e>+90%", "--warn_only", base=capture)
                self.assertIn(result.code, (3, 5), (result.out, result.err))

    def test_5_broken_side_files(self):
        for name in ("kernel_details.csv", "memory_record.csv"):
            slow = self.capture(f"slow_{name}", **self.SLOW)
            file = slow / "ASCEND_PROFILER_OUTPUT" / name
            file.write_bytes(file.read_bytes()[:-4])
            result = self.gate(slow, "--fail_on", "step_time>+3%")
            self.assert_verdict(result, 5, "REGRESSION step_time")
            self.assertTrue(any(name in line for line in result.warnings), result.err)
        saved = self.scratch / "partial.json"
        result = self.run_tool("compare", "-d", slow, "--save_baseline", saved)
        self.assertEqual(result.code, 5, result.err)
        self.assertFalse(saved.exists(), "a baseline keeps whole data only")

    def test_a_directory_in_place_of_a_file_that_is_not_read(self):
        same = self.capture("same")
        (same / "ASCEND_PROFILER_OUTPUT" / "communication.json").mkdir()
        self.assert_verdict(self.gate(same, "--fail_on", "step_time>+3%"), 0, "OK step_time")

    def test_5_kernels_that_end_too_early(self):
        """A list of kernels that was cut between two lines: the device still computed."""
        same = self.capture("same")
        file = same / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[:-2]), encoding="utf-8")
        result = self.gate(same, "--fail_on", "op:MatMul*>+3%")
        self.assert_verdict(result, 5, "OK op:MatMul*")
        self.assertTrue(any("step 3" in line for line in result.warnings), result.err)

    # --- What is judged ---

    def test_free_time_names_what_the_host_did(self):
        base = self.capture("quick", item_us=1_000)
        slow = self.capture("waits", (104_900, 105_000, 105_100), item_us=6_000)
        result = self.gate(slow, "--fail_on", "step_time>+3%", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, "
                            "noise 0.3 %): +5.0 ms free time (on the host aten::item +5.000 ms)")
        self.assertIn("calls on the host that grew:\n      +5.000 ms aten::item\n", result.out)
        (call,) = self.document(self.gate(slow, "--fail_on", "step_time>+3%", "--json",
                                          base=base))["host_calls"]
        self.assertEqual((call["name"], call["change_ns"]), ("aten::item", 5_000_000))

    def test_the_screen_says_the_verdict_once(self):
        slow = self.capture("slow", **self.SLOW)
        self.assertEqual(self.gate(slow, "--fail_on", "step_time>+3%").out.count("REGRESSION"), 1)
        near = self.capture("near", [length + 200 for length in self.STEPS],
                            kernels=(("MatMulV2", 40_100), ("Relu", 2_000)))
        lines = self.gate(near, "--fail_on", "step_time>+3%").out.splitlines()
        self.assertEqual(len(lines), 2, "the verdict and its confidence, no change below the noise")

    def test_metrics(self):
        slow = self.capture("slow", reserved_mb=1536, **self.SLOW)
        for expression, line in (
                ("computing>+3%", "computing 42.00 -> 45.00 ms (+7.1 %, limit 3 %, noise 0.2 %): "
                                  "+3.00 ms MatMulV2"),
                ("comm_exposed>+5%&+200us", "comm_exposed 10.00 -> 11.50 ms (+15.0 %, limit 5 % and "
                                            "200.0 us, noise 0.0 %): +1.50 ms exposed allreduce"),
                ("comm_total>+1ms", "comm_total 10.00 -> 11.50 ms"),
                ("peak_memory>+256MB", "peak_memory 1.000 -> 1.500 GB (+50.0 %, limit 256.0 MB"),
                ("e2e>+1%", "e2e 251.9 -> 266.4 ms (+5.8 %, limit 1 %, noise 0.3 %): "
                            "+9.0 ms computing, +4.5 ms exposed allreduce, +1.0 ms free time"),
                ("op:MatMul*>+7%", "op:MatMul* 40.00 -> 43.00 ms (+7.5 %"),
                ("op:aten::mat*>+7%", "op:aten::mat* 40.00 -> 43.00 ms"),
                ("kernel:aclnn_M*>+7%", "kernel:aclnn_M* 40.00 -> 43.00 ms (+7.5 %, limit 7 %, noise "
                                        "0.0 %): +3.00 ms aclnn_MatMulV2")):
            with self.subTest(expression=expression):
                self.assert_verdict(self.gate(slow, "--fail_on", expression), 1, f"REGRESSION {line}")
        free = self.gate(slow, "--fail_on", "free>+1%")
        self.assert_verdict(free, 0, "OK free 48.00 -> 48.50 ms (+1.0 %, limit 1 %, noise 219.0 %)")

    def test_new_operators(self):
        new = self.capture("new", kernels=(("MatMulV2", 40_000), ("Gelu", 2_000)))
        self.assert_verdict(self.gate(new, "--warmup", "0"), 0, "OK step_time")
        result = self.gate(new, "--fail_on_new_op")
        self.assert_verdict(result, 1, "REGRESSION new_op 0 -> 2 (+2, limit 0): Gelu, aten::gelu")
        self.assertIn("only in the base: Relu, aten::relu", result.out)

    def test_gate_file(self):
        slow = self.capture("slow", **self.SLOW)
        rules = {"metrics": [{"metric": "step_time", "limit": "+3%", "min_abs": "6ms"},
                             {"metric": "op:MatMul*", "limit": "+2%", "min_share": "5%"}]}
        file = self.write("gate.json", json.dumps(rules))
        result = self.gate(slow, "--gate", file)
        self.assert_verdict(result, 0, "OK step_time")
        self.assertIn("not above the floor of 6.000 ms", result.out)
        self.assertIn("not above the share of the step that counts, 5.000 ms", result.out)
        self.assert_verdict(self.gate(slow, "--gate", file, "--fail_on", "step_time>+3%"), 1,
                            "REGRESSION step_time")
        for wrong, words in ((b'{"metric": []}', ['"metric" is unknown', "metrics"]),
                             (b'{"metrics": [{"metric": "free"}]}', ['"limit"']),
                             (b'{"metrics": [{"metric": "free", "limit": "3"}]}', ["free: limit", "'3'"]),
                             (b'{"metrics": [{"metric": "free", "limit": "3%"},'
                              b'{"metric": "free", "limit": "3ms"}]}', ["free is there twice"]),
                             (b'{"min_steps": "3"}', ["min_steps", "whole number"])):
            with self.subTest(wrong=wrong):
                file.write_bytes(wrong)
                self.assert_fails(2, self.gate(slow, "--gate", file), "--gate", *words)

    def test_contributions_add_up(self):
        slow = self.capture("slow", **self.SLOW)
        document = self.document(self.gate(slow, "--fail_on", "step_time>+3%", "--json"))
        parts = document["contributions"]
        self.assertEqual([(part["name"], part["change_ns"]) for part in parts],
                         [("MatMulV2", 3_000_000), ("exposed allreduce", 1_500_000),
                          ("free time", 500_000), ("other", 0)])
        (metric,) = document["metrics"]
        self.assertEqual(sum(part["change_ns"] for part in parts), metric["change"])
        self.assertEqual(metric["base_runs"], [100_000_000])

    def test_contributions_are_of_the_metric_that_decides(self):
        slow = self.capture("slow", **self.SLOW)
        base = self.scratch / "baseline.json"
        self.run_tool("compare", "-d", self.base, "--save_baseline", base)
        for name, explained in (("e2e", "e2e"), ("computing", "computing"),
                                ("comm_exposed", "comm_exposed"), ("free", "free"),
                                ("comm_total", "step_time"), ("op:MatMul*", "step_time")):
            with self.subTest(name=name):
                document = self.document(self.gate(slow, "--fail_on", f"{name}>+0%", "--fail_on",
                                                   "step_time>+90%", "--json", base=base))
                self.assertEqual(document["explained"], explained)
                (metric,) = [metric for metric in document["metrics"]
                             if metric["name"] == explained]
                self.assertEqual(sum(part["change_ns"] for part in document["contributions"]),
                                 metric["comparison"] - metric["base"])

    def test_free_time_is_that_of_the_comparison(self):
        """Of captures without steps, with an LCCL kernel of 20 ms."""
        base, new = (build_database(CAPTURES, f"db_{name}_ascend_pt", self.scratch)
                     for name in ("base", "new"))
        for capture in (base, new):
            with sqlite3.connect(capture / DATABASE) as database:
                database.execute("DELETE FROM STEP_TIME")
            database.close()
        sheets = json.loads(self.compare("--enable_profiling_compare", "--json", base=base,
                                         comparison=new).out)["sheets"]
        rows = {row["index"].strip(): row for row in sheets[0]["rows"]}
        for metric, index in (("free", "Free Time"), ("computing", "Computing Time"),
                              ("comm_exposed", "Uncovered Communication Time"),
                              ("e2e", "E2E Time")):
            with self.subTest(metric=metric):
                (judged,) = self.document(self.gate(new, "--fail_on", f"{metric}>+0%", "--json",
                                                    base=base))["metrics"]
                for side in ("base", "comparison"):
                    self.assertAlmostEqual(judged[side] / 1e6,
                                           rows[index][f"{side}_duration_ms"], places=2)

    def test_e2e_begins_with_the_first_device_task(self):
        """A copy before the first kernel takes 50 ms longer: end to end and free time with it."""
        database = build_database(CAPTURES, "db_base_ascend_pt", self.scratch)
        slow = shutil.copytree(database, self.scratch / "slow_db_ascend_pt")
        with sqlite3.connect(slow / DATABASE) as tasks:
            tasks.execute("UPDATE TASK SET startNs = startNs - 50000000 WHERE connectionId = 101")
        tasks.close()
        text = CAPTURES / "text_base_ascend_pt"
        slow_text = shutil.copytree(text, self.scratch / "slow_text_ascend_pt")
        trace = slow_text / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        events = trace.read_text(encoding="utf-8")
        for ends, longer in (("dur\": 10000, ", "dur\": 60000, "), ("dur\": 50000}", "dur\": 100000}")):
            old = f'"ts": "1700000000150000.000", "{ends}'
            self.assertEqual(events.count(old), 1, old)
            events = events.replace(old, f'"ts": "1700000000100000.000", "{longer}')
        trace.write_text(events, encoding="utf-8")
        for base, capture in ((database, slow), (text, slow_text)):
            with self.subTest(capture=capture.name):
                self.assert_verdict(self.gate(capture, "--fail_on", "e2e>+1%", base=base), 1,
                                    "REGRESSION e2e 1450.0 -> 1500.0 ms (+3.4 %, limit 1 %, "
                                    "noise 0.3 %): +50.0 ms free time")
                document = json.loads(self.compare("--enable_profiling_compare", "--json",
                                                   base=base, comparison=capture).out)
                changed = {row["index"]: row["diff_duration_ms"]
                           for row in document["sheets"][0]["rows"] if row["diff_duration_ms"]}
                self.assertEqual(changed, {"Free Time": 50, "SDMA": 50, "E2E Time": 50})

    # --- Runs and ranks ---

    def runs(self, name, factor=1.0):
        """Three runs that differ by 0.3 % from each other."""
        return [self.capture(f"{name}{number}",
                             [round(factor * length * noise) for length in self.STEPS])
                for number, noise in enumerate((0.997, 1.0, 1.003))]

    def many(self, comparison, base, *more):
        arguments = [argument for path in comparison for argument in ("-d", path)]
        arguments += [argument for path in base for argument in ("-bp", path)]
        return self.run_tool("compare", *arguments, *more)

    def test_repeated_runs(self):
        base, same, slow = self.runs("a"), self.runs("b"), self.runs("c", 1.05)
        result = self.many(slow, base, "--fail_on", "step_time>+3%", "--json")
        document = self.document(result)
        self.assertEqual(document["verdict"], "regression")
        (metric,) = document["metrics"]
        self.assertEqual(metric["base_runs"], [99_700_000, 100_000_000, 100_300_000])
        self.assertEqual((metric["probability"], metric["low_confidence"]), (0.05, False))
        self.assertNotIn("low confidence", self.many(slow, base, "--warmup", "0").out)
        self.assert_verdict(self.many(same, base, "--fail_on", "step_time>+0%"), 0, "OK step_time")

    def test_warmup_is_recognised(self):
        """What a slow first step was in five is left out and said; --warmup goes before it."""
        base = self.capture("warm", (150_000, 100_100, 99_900, 99_800, 100_200))
        slow = self.capture("slow", (290_000, 105_100, 104_900, 104_800, 105_200))
        result = self.gate(slow, "--noise", "auto", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %")
        self.assertIn("\nfirst step left out as warm-up: 1.50 times the later ones in the base, 2.76 times in "
                      "the comparison\n", result.out)
        document = self.document(self.gate(slow, "--json", "--noise", "auto", base=base))
        self.assertEqual(document["warmup"]["steps"], 1)
        # Of four steps the mean of the middle two.
        self.assertEqual(document["metrics"][0]["base_runs"], [100_000_000])
        self.assertEqual(sum(part["change_ns"] for part in document["contributions"]),
                         document["metrics"][0]["change"])
        all_steps = self.document(self.gate(slow, "--json", "--warmup", "0", base=base))
        self.assertIsNone(all_steps["warmup"])
        self.assertEqual(all_steps["metrics"][0]["base_runs"], [100_100_000])
        alone = self.gate(slow, "--noise", "auto", base=self.capture("calm", (100_000,) * 5))
        self.assertIn("only the comparison was slow there, --warmup 0 judges all steps", alone.out)
        # A baseline keeps all steps, and the same is left out of it.
        from_file = self.gate(slow, base=self.saved(base))
        self.assertEqual(from_file.out, result.out)

    def test_drift_is_taken_off(self):
        base = self.capture("drifting", [98_000 + 1_000 * step for step in range(5)])
        slow = self.capture("slow", [103_000 + 1_000 * step for step in range(5)])
        result = self.gate(slow, "--noise", "auto", base=base)
        self.assert_verdict(result, 1, "REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 0.3 %)")
        self.assertIn("\n  drift of +1.00 % per step taken off\n", result.out)
        flat = self.capture("flat", [100_000] * 5)
        apart = self.gate(base, "--noise", "auto", base=flat)
        self.assert_verdict(apart, 0, "OK step_time 100.0 -> 100.0 ms")
        self.assertIn("drift differs and is not taken off: +0.00 % per step in the base, +1.00 % in the comparison; "
                      "in the last step the change is +2.0 %", apart.out)
        document = self.document(self.gate(base, "--json", "--noise", "auto", base=flat))
        self.assertTrue(document["metrics"][0]["drift"]["differs"])

    def test_learned_noise(self):
        noise = self.scratch / "noise.json"
        result = self.run_tool("compare", "--learn_noise", noise, *self.runs("a"))
        self.assertEqual(result.code, 0, result.err)
        learned = json.loads(noise.read_text(encoding="utf-8"))["relative_noise"]
        self.assertAlmostEqual(learned["step_time"], 0.003)
        self.assertEqual(learned["comm_exposed"], 0)
        noise.write_text(json.dumps({"kind": "msprof-analyze-noise", "schema_version": 1,
                                     "relative_noise": {"step_time": 0.02}}), encoding="utf-8")
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--noise", noise)
        self.assert_verdict(result, 0, "OK step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 2.0 %)")
        self.assertIn("not above three times the noise, 6.000 ms", result.out)

    def job(self, name, *lengths):
        for rank, length in enumerate(lengths):
            write_capture(self.scratch / name / f"rank{rank}_ascend_pt", (length,) * 3, rank=rank)
        return self.scratch / name

    def test_ranks_of_a_job(self):
        base = self.job("base", 100_000, 100_000, 100_000)
        new = self.job("new", 100_000, 101_000, 110_000)
        for stat, code, line in (("worst", 1, "REGRESSION step_time 100.0 -> 110.0 ms"),
                                 ("median", 0, "OK step_time 100.0 -> 101.0 ms"),
                                 ("p95", 1, "REGRESSION step_time 100.0 -> 110.0 ms")):
            with self.subTest(stat=stat):
                self.assert_verdict(self.gate(new, "--rank_stat", stat, base=base), code, line)
        alone = self.gate(new / "rank0_ascend_pt", "--warmup", "0", base=base)
        self.assert_verdict(alone, 4, "NOT COMPARABLE world_size (3 / 1)")
        broken = new / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        broken.write_text("no trace", encoding="utf-8")
        result = self.gate(new, "--rank_stat", "median", base=base)
        self.assertEqual(result.code, 5, (result.out, result.err))
        self.assertTrue(any("rank1" in line for line in result.warnings), result.err)

    def test_jobs_change_nothing(self):
        base, new = self.job("base", 100_000, 100_000), self.job("new", 100_000, 110_000)
        one, four = (self.gate(new, "--warmup", "1", "--min_steps", "2", "--json", "--jobs", jobs,
                               base=base) for jobs in ("1", "4"))
        self.assertEqual((one.code, one.out), (four.code, four.out))

    # --- Baselines ---

    def saved(self, *captures, more=()):
        file = self.scratch / "base.json"
        options = [argument for path in captures for argument in ("-d", path)]
        result = self.run_tool("compare", *options, "--save_baseline", file, *more)
        self.assertEqual((result.code, result.out), (0, ""), result.err)
        check_json(json.loads(file.read_text(encoding="utf-8")),
                   json.loads((DOCS / "baseline.schema.json").read_text(encoding="utf-8")))
        return file

    def test_a_baseline_stands_for_its_captures(self):
        file = self.saved(self.base)
        self.assertLess(file.stat().st_size, 10_000)
        slow = self.capture("slow", **self.SLOW)
        rules = ("--fail_on", "step_time>+3%", "--fail_on", "kernel:*Mat*>+3%")
        from_capture, from_file = (
            self.document(self.gate(slow, *rules, "--json", base=base)) for base in (self.base, file))
        for document in (from_capture, from_file):
            document.pop("base")
        self.assertEqual(from_capture, from_file)
        self.assert_verdict(self.gate(slow, base=file), 1, self.HEADLINE)  # needs no option

    def test_baselines_know_how_they_were_made(self):
        file = self.saved(self.base, more=["--warmup", "0", "--rank_stat", "median"])
        self.assert_verdict(self.gate(self.base, base=file), 4, "NOT COMPARABLE rank_stat (median / worst)")
        module = self.gate(self.base, "--fail_on", "api:aten::*>+3%", base=self.saved(self.base))
        self.assert_verdict(module, 4, "INCONCLUSIVE api:aten::*")
        self.assertIn("--save_baseline", module.out)

    def test_only_improvements_replace_a_baseline(self):
        slow, fast = self.capture("slow", **self.SLOW), self.capture("fast", (90_000,) * 3)
        file = self.saved(self.base)
        before = file.read_bytes()
        for capture, code in ((self.base, 0), (slow, 1)):
            self.assertEqual(self.gate(capture, "--update_baseline", base=file).code, code)
            self.assertEqual(file.read_bytes(), before)
        self.assert_verdict(self.gate(fast, "--update_baseline", base=file), 0, "IMPROVED step_time")
        document = json.loads(file.read_text(encoding="utf-8"))
        check_json(document, json.loads((DOCS / "baseline.schema.json").read_text(encoding="utf-8")))
        self.assertEqual(document["oldest_anchor"]["medians"]["step_time"], 100_000_000)
        faster = self.capture("faster", (80_000,) * 3)
        self.assertEqual(self.gate(faster, "--update_baseline", base=file).code, 0)
        document = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(document["oldest_anchor"]["medians"]["step_time"], 100_000_000)
        self.assertEqual(document["runs"][0]["samples"]["step_time"], [80_000_000] * 3)
        result = self.gate(self.capture("now", (82_000,) * 3), base=file)
        self.assertIn("since the oldest baseline, 100.0 ms: -18.0 %", result.out)

    # --- Forms ---

    def test_files(self):
        slow = self.capture("slow", **self.SLOW)
        rules = ("--fail_on", "step_time>+3%", "--fail_on", "peak_memory>+1MB", "--fail_on", "op:X>+1%")
        result = self.gate(slow, *rules, "--export_type", "junit,openmetrics,json,md")
        self.assert_verdict(result, 1, self.HEADLINE)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["gate.json", "gate.junit.xml", "gate.md", "gate.openmetrics.txt"])
        read = {path.name: path.read_text(encoding="utf-8") for path in self.out.iterdir()}
        self.assertEqual(check_junit(read["gate.junit.xml"]),
                         {"step_time": "failure", "peak_memory": None, "op:X": "error"})
        samples = parse_openmetrics(read["gate.openmetrics.txt"])
        step = ("metric", "step_time")
        self.assertEqual(samples["msprof_gate_base_seconds", (step,)], 0.1)
        self.assertEqual(samples["msprof_gate_comparison_seconds", (step,)], 0.105)
        self.assertEqual(samples["msprof_gate_base_bytes", (("metric", "peak_memory"),)], 1 << 30)
        state = ("msprof_gate_verdict", "regression")
        self.assertEqual(samples["msprof_gate_verdict", (step, state)], 1)
        self.assertEqual(samples["msprof_gate_exit_code", ()], 1)
        self.assertEqual({name for name, labels in samples if ("metric", "op:X") in labels},
                         {"msprof_gate_verdict"}, "what was not judged has no values")
        self.assertIn("| 100.0 ms | 105.0 ms | +5.0 % |", read["gate.md"])
        check_json(json.loads(read["gate.json"]),
                   json.loads((DOCS / "gate.schema.json").read_text(encoding="utf-8")))
        self.assertTrue(read["gate.md"].startswith("## REGRESSION step_time"))
        self.gate(self.base, "--export_type", "junit")
        self.assertEqual(check_junit((self.out / "gate.junit.xml").read_text(encoding="utf-8")),
                         {"step_time": None})

    def test_openmetrics_by_the_public_parser(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError as error:
            print(f"SKIPPED: no public parser of OpenMetrics ({error})", file=sys.stderr)
            self.skipTest("prometheus_client is not installed")
        self.gate(self.base, "--export_type", "openmetrics")
        text = (self.out / "gate.openmetrics.txt").read_text(encoding="utf-8")
        names = {family.name for family in text_string_to_metric_families(text)}
        self.assertIn("msprof_gate_base_seconds", names)

    def test_annotations(self):
        slow = self.capture("slow", **self.SLOW)
        summary = self.write("summary.md", "before\n")
        rules = [argument for number in range(12)
                 for argument in ("--fail_on", f"op:{'*' * number}Mat*>+1%")]
        result = self.gate(slow, "--fail_on", "step_time>+3%", *rules, "--export_type", "github",
                           env={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assert_verdict(result, 1, self.HEADLINE)
        commands = [line for line in result.out.splitlines() if line.startswith("::")]
        self.assertEqual(len(commands), 10)
        self.assertEqual(commands[0], "::error title=msprof-analyze gate::"
                         + self.HEADLINE.replace("%", "%25"))
        self.assertIn("and 4 more", commands[9])
        text = summary.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n## REGRESSION step_time"), text)
        self.assertFalse(self.out.exists())
        passed = self.gate(self.base, "--export_type", "github", env={"GITHUB_STEP_SUMMARY": ""})
        self.assertIn("\n::notice title=msprof-analyze gate::OK step_time", passed.out)

    def test_what_only_warns_turns_nothing_red(self):
        slow = self.capture("slow", **self.SLOW)
        result = self.gate(slow, "--warn_only", "--export_type", "junit,github",
                           env={"GITHUB_STEP_SUMMARY": ""})
        self.assertEqual(result.code, 0)
        self.assertIn("\n::warning title", result.out)
        self.assertNotIn("::error", result.out)
        text = (self.out / "gate.junit.xml").read_text(encoding="utf-8")
        self.assertEqual(check_junit(text), {"step_time": "skipped"})

    def test_names_are_only_text(self):
        bad = '</failure>&"|\n::error::x%0A\\`<b>\x1b[31m\uffff'
        new = self.capture("new", kernels=(("MatMulV2", 40_000), (bad, 12_000)))
        pattern = 'op:*</failure>&*|\n\\"*'
        result = self.gate(new, "--fail_on", "computing>+3%", "--fail_on", f"{pattern}>+1%",
                           "--fail_on_new_op", "--export_type", "junit,md,json,openmetrics,github",
                           env={"GITHUB_STEP_SUMMARY": ""})
        self.assert_verdict(result, 1, "REGRESSION computing")
        self.assertIn("+12.00 ms </failure>&'|", result.out.splitlines()[0])
        self.assertNotIn(ESCAPE, result.out)
        self.assertEqual([line for line in result.out.splitlines() if line.startswith("::error::x")],
                         [])
        read = {path.name: path.read_text(encoding="utf-8") for path in self.out.iterdir()}
        cases = check_junit(read["gate.junit.xml"])
        self.assertEqual(cases, {"computing": "failure", pattern: "error", "new_op": "failure"})
        samples = parse_openmetrics(read["gate.openmetrics.txt"])
        state = ("msprof_gate_verdict", "inconclusive")
        self.assertEqual(samples["msprof_gate_verdict", (("metric", pattern), state)], 1)
        self.assertIn(f"aten::{bad.lower()}", json.loads(read["gate.json"])["added"])
        self.assertNotIn("<b>", read["gate.md"])
        self.assertNotIn(ESCAPE, read["gate.md"])

    def test_markdown_is_small(self):
        names = [(f"Kernel{number:04}{'x' * 300}", 10) for number in range(1500)]
        new = self.capture("new", kernels=[*KERNELS, *names])
        self.gate(new, "--export_type", "md", "--allow_mismatch", "shapes")
        size = (self.out / "gate.md").stat().st_size
        self.assertTrue(1000 < size <= 64 * 1024, size)

    # --- docs/ci.md ---

    @staticmethod
    def examples(heading):
        """The shell commands below a heading: whole blocks, of YAML the script behind '|'."""
        text = (DOCS / "ci.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1]
        blocks = text.split("\n## ")[0].split("```")[1::2]
        for block in blocks:
            kind, body = block.split("\n", 1)
            if kind == "yaml":
                lines = body.split("|\n", 1)[1].splitlines()
                indent = len(lines[0]) - len(lines[0].lstrip())
                lines = itertools.takewhile(lambda line: line.startswith(" " * indent), lines)
                body = textwrap.dedent("\n".join(lines))
            yield body

    def job_place(self, runs, **env):
        """A directory with the captures of three runs, and a function that runs a script there."""
        place = self.scratch / f"job{len(list(self.scratch.iterdir()))}"
        (place / "perf").mkdir(parents=True)
        (place / "bin").mkdir()
        (place / "bin" / "msprof-analyze").symlink_to(TOOL)
        for number, run in enumerate(runs, 1):
            (place / "profiles").mkdir(exist_ok=True)
            (place / "profiles" / f"new_{number}").symlink_to(run)
        path = f"{place / 'bin'}:{os.environ['PATH']}"

        def run_in_place(text):
            return Result(subprocess.run(
                ["bash", "-c", text], cwd=place, env={**os.environ, "PATH": path, **env},
                check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                timeout=TIMEOUT_SECONDS))
        return place, run_in_place

    def test_jobs_of_the_documentation(self):
        four = self.STEPS + (100_000,)
        base = [self.capture(f"m{number}", four) for number in range(3)]
        slow = [self.capture(f"s{number}", [round(1.05 * length) for length in four])
                for number in range(3)]
        save, update, learn = [body for _, body in zip(range(3), self.examples("The baseline"))]
        place, run = self.job_place(base)
        self.assertEqual(run(save).code, 0)
        baseline = (place / "perf" / "main.json").read_bytes()
        self.assertEqual(run(update).code, 0)
        self.assertEqual((place / "perf" / "main.json").read_bytes(), baseline)
        self.assertEqual(run(learn).code, 0)
        (rules,) = self.examples("Without baseline file")
        self.assertEqual(run(rules).code, 0, "one run against itself")
        jobs = {heading: next(self.examples(heading))
                for heading in ("GitHub Actions", "GitLab CI", "A plain shell job")}
        for runs, code, verdict in ((base, 0, "OK step_time"), (slow, 1, "REGRESSION step_time")):
            place, run = self.job_place(runs, GITHUB_STEP_SUMMARY=str(self.scratch / "sum.md"))
            (place / "perf" / "main.json").write_bytes(baseline)
            for heading, script in jobs.items():
                with self.subTest(heading=heading, code=code):
                    self.assert_verdict(run(script), code, verdict)
            self.assertEqual(
                sorted(file.name for file in (place / "gate").iterdir()),
                ["gate.json", "gate.junit.xml", "gate.md", "gate.openmetrics.txt"])
        self.assertIn("## REGRESSION", (self.scratch / "sum.md").read_text(encoding="utf-8"))

    def test_json_keeps_stdout_clean(self):
        result = self.gate(self.base, "--warmup", "0", "--json")
        self.assertEqual(self.document(result)["verdict"], "ok")
        self.assertTrue(any("note: OK step_time" in line for line in result.err), result.err)

    def test_pipes_get_no_colour(self):
        self.assertNotIn(ESCAPE, self.gate(self.base, "--warmup", "0").out)

    def test_the_ordinary_comparison_stays(self):
        """Without an option of the gate there are sheets, and growth fails nothing."""
        self.assert_compared(self.compare())


def main():
    global TOOL, CAPTURES
    arguments = parse_arguments(__doc__, Cli)
    TOOL, CAPTURES = arguments.tool, arguments.captures
    return run_group(arguments)


if __name__ == "__main__":
    sys.exit(main())
