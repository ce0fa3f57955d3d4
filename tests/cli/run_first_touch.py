#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people try first, and the typical mistakes.

    run_first_touch.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: jobsofranks, textforms, ranklists, mistakes, warnings, widths, words, frompython.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import csv
import json
import re
import shlex
import shutil
import sys

from cli import BASE, NEW, Cli, main
from captures import DATABASE, build_database  # of tests/support, which cli finds
from recipe_runs import REQUIRED
from same_tables import recipes_of


class FirstTouchCli(Cli):
    def job(self, name, captures):
        """A directory with rank number -> name of a capture NAME.sql, or None for a text capture."""
        job = self.scratch / name
        for rank, capture in captures.items():
            built = build_database(self.CAPTURES, capture, self.scratch / f"of_{name}_{rank}")
            place = job / f"host_{rank}_20250101_ascend_pt"
            shutil.copytree(built, place)
            (place / DATABASE).rename((place / DATABASE).with_name(f"ascend_pytorch_profiler_{rank}.db"))
        return job


class JobsOfRanks(FirstTouchCli):
    """compare of directories with several captures."""

    def jobs(self):
        return (self.job("old", {0: "db_base_ascend_pt", 1: "db_base_ascend_pt", 3: "db_base_ascend_pt"}),
                self.job("new", {1: "db_new_ascend_pt", 3: "db_base_ascend_pt", 4: "db_base_ascend_pt"}))

    def end_to_end(self, screen):
        (line,) = [line for line in screen.splitlines() if line.startswith("End to end  ")]
        return line.split()[-4:]

    def test_the_same_rank_of_both(self):
        old, new = self.jobs()
        result = self.compare(base=old, comparison=new)
        self.assert_compared(result)
        self.assertTrue(any("rank 1 of the 2 ranks" in line and "--all_ranks" in line
                            for line in result.err), result.err)
        single = self.compare(base=old / "host_1_20250101_ascend_pt", comparison=new / "host_1_20250101_ascend_pt")
        self.assertEqual(result.out, single.out)

    def test_one_rank_and_a_job(self):
        old, new = self.jobs()
        three = new / "host_3_20250101_ascend_pt"
        result = self.compare(base=old, comparison=three)
        self.assertEqual(result.out, self.compare(base=old / "host_3_20250101_ascend_pt", comparison=three).out)
        self.assertTrue(any("rank 3, the only one" in line for line in result.err), result.err)

    def test_no_rank_in_common(self):
        old, new = self.jobs()
        result = self.compare(base=old, comparison=new / "host_4_20250101_ascend_pt")
        self.assert_fails(3, result, "no rank is in both", "ranks 0, 1, 3", "rank 4;")

    def test_all_ranks(self):
        old, new = self.jobs()
        result = self.compare("--all_ranks", base=old, comparison=new)
        self.assertEqual(result.code, 0, result.err)
        table = [line.split() for line in result.out.splitlines() if re.match(r"rank \d+ +\d", line)]
        changed = self.end_to_end(self.compare(base="db", comparison="db2", cwd=self.linked(old, new)).out)
        self.assertEqual([row[:2] for row in table], [["rank", "1"], ["rank", "3"]])
        self.assertEqual(table[0][2:], changed)
        self.assertEqual(table[1][2], table[1][3])
        self.assertIn("rank 1 changed most:\nend to end: ", result.out)
        self.assertEqual([re.findall(r"_rank(\d)_", file.name) for file in self.workbooks()
                          if "rank" in file.name], [["1"], ["3"]])

    def linked(self, old, new):
        place = self.scratch / "pair"
        shutil.copytree(old / "host_1_20250101_ascend_pt", place / "db")
        shutil.copytree(new / "host_1_20250101_ascend_pt", place / "db2")
        return place

    def test_a_rank_that_cannot_be_read_is_left_out(self):
        old, new = self.jobs()
        database = new / "host_1_20250101_ascend_pt" / DATABASE.with_name("ascend_pytorch_profiler_1.db")
        database.write_bytes(database.read_bytes()[:5000])
        result = self.compare("--all_ranks", base=old, comparison=new)
        self.assertEqual(result.code, 5, result.err)
        self.assertEqual(re.findall(r"^rank (\d+) ", result.out, flags=re.MULTILINE)[0], "3")
        self.assertTrue(any("rank 1: " in line and "the rank is left out" in line for line in result.warnings),
                        result.err)

    def test_all_ranks_of_json_and_of_a_gate(self):
        old, new = self.jobs()
        self.assert_fails(2, self.compare("--all_ranks", "--json", base=old, comparison=new), "--json",
                          "--export_type json")
        self.assert_fails(2, self.compare("--all_ranks", "--fail_on", "step_time>+3%", base=old, comparison=new),
                          "--all_ranks", "a gate")

    def test_a_directory_with_one_capture_is_that_capture(self):
        for name, capture in (("a", BASE), ("b", NEW)):
            shutil.copytree(self.CAPTURES / capture, self.scratch / name / "log" / capture)
        place = {"base": self.scratch / "a", "comparison": self.scratch / "b/log"}
        result, single = self.compare(**place), self.compare()
        self.assert_compared(result)
        self.assertEqual(result.out.splitlines()[3:], single.out.splitlines()[3:])
        one = self.scratch / "a"
        for command in (["check"], ["advisor", "all", "-o", self.out], ["-m", "hccl_sum", "-o", self.out]):
            with self.subTest(command=command):
                result = self.run_tool(*command, "-d", one)
                self.assertEqual(result.code, self.run_tool(*command, "-d", one / "log" / BASE).code, result.err)
                self.assertEqual(result.errors, [])


class TextForms(FirstTouchCli):
    """--export_type text of recipes for which the Python tool has no such files."""

    def test_files_are_written(self):
        job = self.job("job", {0: "pipeline_first_ascend_pt", 1: "pipeline_last_ascend_pt"})
        for recipe in ("pp_chart", "p2p_pairing", "head_overhead"):
            with self.subTest(recipe=recipe):
                result = self.run_tool("-m", recipe, "-d", job, "-o", self.out / recipe, "--export_type", "text")
                self.assertEqual(result.code, 0, result.err)
                self.assertTrue(any("the results are in" in line for line in result.err), result.err)
                for sheet in json.loads(self.run_tool("-m", recipe, "-d", job, "--json").out)["sheets"]:
                    with next((self.out / recipe).rglob(f"{sheet['name']}.csv")).open(newline="") as text:
                        header, *rows = csv.reader(text)
                    self.assertEqual((len(header), len(rows)), (len(sheet["columns"]), len(sheet["rows"])))

    def test_no_results_are_told(self):
        job = self.job("job", {0: "pipeline_first_ascend_pt"})
        result = self.run_tool("-m", "freq_analysis", "-d", job, "-o", self.out, "--export_type", "text")
        self.assertEqual(result.out, "the clocks of the cores were not measured\n")
        self.assertIn("no results, so no files were written", result.err[-1])


class RankLists(FirstTouchCli):
    """--rank_list with ranks that are not there, and what a run that fails leaves behind."""

    def setUp(self):
        super().setUp()
        self.captures = self.job("job", {0: "db_base_ascend_pt", 1: "db_new_ascend_pt"})

    def test_no_rank_is_there(self):
        before = sorted(self.captures.iterdir())
        for command in (["-m", "hccl_sum"], ["-m", "module_statistic", "--export_type", "text"], ["advisor", "all"]):
            with self.subTest(command=command):
                result = self.run_tool(*command, "-d", self.captures, "--rank_list", "7", cwd=self.scratch)
                self.assert_fails(3, result, f"{self.captures}: rank 7 not found; there are ranks 0, 1")
                self.assertEqual(sorted(self.captures.iterdir()), before)
                self.assertFalse((self.scratch / "log").exists())

    def test_some_are_there(self):
        result = self.run_tool("-m", "hccl_sum", "-d", self.captures, "--rank_list", "1,5-16", "-o", self.out)
        self.assertEqual(result.code, 5, result.err)
        self.assertTrue(any("ranks 5-16 not found; there are ranks 0, 1" in line
                            for line in result.warnings), result.err)

    def test_recipes_without_results_leave_nothing(self):
        before = sorted(self.captures.iterdir())
        for more in ([], ["--export_type", "text"], ["-o", self.scratch / "new"]):
            self.assert_fails(3, self.run_tool("-m", "pp_chart", "-d", self.captures, *more), "no results")
        self.assertEqual(sorted(self.captures.iterdir()), before)
        self.assertFalse((self.scratch / "new").exists())

    def test_commands_that_fail_leave_nothing(self):
        new = self.scratch / "new"
        unknown_step = ["--base_step", "99", "--comparison_step", "99"]
        nothing = self.CAPTURES / "broken/not_a_capture"
        for command, code in ((["compare", BASE, NEW, *unknown_step, "-o", new], 3),
                              (["compare", BASE, NEW, *unknown_step, "-o", f"{new}/below/it/"], 3),
                              (["compare", BASE, nothing, "--fail_on", "step_time>+3%", "--export_type", "md", "-o", new], 3),
                              (["compare", "-d", nothing, "--save_baseline", new / "below/main.json"], 3),
                              (["export", "timeline", "-d", nothing, "-o", new], 3),
                              (["export", "timeline", "-d", nothing, "-o", new / "below/trace.json"], 3)):
            with self.subTest(command=command):
                self.assert_fails(code, self.run_tool(*command))
                self.assertFalse(new.exists())
        self.assertEqual(self.run_tool("compare", BASE, NEW, "-o", f"{new}/below/it/").code, 0)
        self.assertEqual(len(list(new.glob("below/it/*.xlsx"))), 1)


class Mistakes(FirstTouchCli):
    """Command lines as people type them at first."""

    def test_help_of(self):
        for words, page in ((["help"], ["--help"]), (["help", "compare"], ["compare", "--help"]),
                            (["help", "slow_rank"], ["-m", "slow_rank", "--help"])):
            result = self.run_tool(*words)
            self.assertEqual((result.code, result.out), (0, self.run_tool(*page).out))
        self.assert_fails(2, self.run_tool("help", "comparr"), "unknown command 'comparr'; did you mean 'compare'?")

    def test_a_recipe_for_a_command(self):
        for name in ("module_statistic", "module_statistics"):
            self.assert_fails(2, self.run_tool(name, "-d", NEW),
                              f"unknown command '{name}'; did you mean the recipe '-m module_statistic'?")

    def test_an_unknown_recipe_takes_one_line(self):
        for name, words in (("slow_rnk", "did you mean 'slow_rank'?"), ("?", "'msprof-analyze --help' lists them")):
            result = self.run_tool("-m", name, "-d", NEW)
            self.assert_fails(2, result, f"unknown recipe '{name}'", words)
            self.assertLess(len(result.errors[0]), 120)

    def test_options_that_are_given_twice(self):
        self.assert_fails(2, self.run_tool("-m", "hccl_sum", "-m", "slow_rank", "-d", NEW), "-m is given 2 times",
                          "join them: -m a,b")
        self.assert_fails(2, self.run_tool("-m", "hccl_sum", "-d", NEW, "-o", "a", "-o", "b"),
                          "--output_path is given 2 times; give it once")

    def test_what_to_compare_with_is_bp(self):
        job = self.job("job", {0: "db_base_ascend_pt"})
        answers = [self.run_tool("-m", "cluster_time_compare_summary", "-d", job, option, job, "-o", self.out)
                   for option in ("-bp", "--bp")]
        self.assertEqual([answer.code for answer in answers], [0, 0], answers[0].err)
        self.assertEqual(answers[0].out, answers[1].out)
        answers = [self.run_tool("-m", "calibrate_npu_gpu", "-d", NEW, option, "gpu_base.json", "-o", self.out)
                   for option in ("-bp", "--baseline_profiling_path")]
        self.assertEqual(answers[0].err, answers[1].err)
        self.assert_fails(2, self.run_tool("-m", "hccl_sum", "-d", job, "-bp", job), "-bp", "hccl_sum compares nothing")

    def test_a_file_for_results(self):
        file = self.write("file", "mine")
        for command in (["-m", "hccl_sum", "-d", NEW], ["-m", "hccl_sum", "-d", NEW, "--export_type", "json"],
                        ["advisor", "all", "-d", NEW], ["compare", NEW, BASE],
                        ["compare", NEW, BASE, "--fail_on", "step_time>+3%", "--export_type", "md"]):
            with self.subTest(command=command):
                self.assert_fails(2, self.run_tool(*command, "-o", file), f"-o: {file}: a file has this name")
                self.assertEqual(file.read_text(), "mine")

    def test_a_baseline_that_breaks_off(self):
        whole = self.scratch / "main.json"
        self.assertEqual(self.run_tool("compare", "-d", BASE, "--save_baseline", whole).code, 0)
        text = whole.read_text()
        for length in (30, 300, 2000, len(text) - 3):
            cut = self.write("cut.json", text[:length])
            with self.subTest(length=length):
                self.assert_fails(3, self.run_tool("compare", "-d", NEW, "-bp", cut, "--fail_on", "step_time>+3%"),
                                  f"-bp: {cut}: a baseline that breaks off", "--save_baseline")

    def test_why_takes_the_number_of_the_screen(self):
        screen = self.run_tool("advisor", "all", "-d", NEW, "-o", self.out, env={"LANG": "C"})
        findings = [line for line in screen.out.splitlines() if re.match(r"\d [A-Z]+ ", line)]
        self.assertGreater(len(findings), 1, screen.out)
        for line in findings:
            number, severity, title = re.match(r"(\d) ([A-Z]+) +(.*?)(?:   +saves .*)?$", line).groups()
            why = self.run_tool("advisor", "why", number, "-d", NEW, env={"LANG": "C"})
            self.assertTrue(why.out.startswith(f"{severity} {title}"), (line, why.out))
        self.assert_fails(2, self.run_tool("advisor", "why", "99", "-d", NEW), "no finding '99'")
        self.assert_fails(2, self.run_tool("advisor", "why", "1"), "msprof-analyze advisor why 1 -d DIR")

    def test_the_next_command_can_be_pasted(self):
        place = self.scratch / "it's here"
        place.mkdir()
        shutil.copytree(self.CAPTURES / NEW, place / NEW)
        for question in ("all", "schedule"):
            screen = self.run_tool("advisor", question, "-d", place / NEW, "--rank_list", "0", "-o", self.out,
                                   env={"LANG": "C"})
            command = re.search("^Next: (msprof-analyze .*)", screen.out, flags=re.MULTILINE)[1]
            self.assertIn("--rank_list 0", command)
            words = shlex.split(command)
            first = re.search("^1 [A-Z]+ +(.*?)(?:   +saves .*)?$", screen.out, flags=re.MULTILINE)[1]
            self.assertIn(first, self.run_tool(*words[1:], env={"LANG": "C"}).out)


class Warnings(FirstTouchCli):
    """Each kind once."""

    def kinds(self, result):
        return [re.sub(r"\d+", "#", re.sub(r"\S*/\S*", "@", line)) for line in result.warnings]

    def test_one_of_each_kind(self):
        level0 = "text_level0_ascend_pt"
        pair = self.job("job", {0: "pipeline_first_ascend_pt", 1: "pipeline_last_ascend_pt"})
        commands = [["compare", level0, self.capture_copy(level0)], ["compare", "gpu_base.json", "gpu_new.json"],
                    *(["-m", recipe, "-d", pair] for recipe in recipes_of(self.TOOL)
                      if recipe not in REQUIRED)]
        told = 0
        for command in commands:
            with self.subTest(command=command):
                kinds = self.kinds(self.run_tool(*command, "-o", self.out))
                self.assertEqual(len(kinds), len(set(kinds)), kinds)
                told += len(kinds)
        self.assertGreater(told, 10)

    def test_nothing_is_said_of_an_older_exporter(self):
        """Its overlap analysis lacks both ends; the times come from the work."""
        result = self.compare(base="text_level0_ascend_pt", comparison=self.capture_copy("text_level0_ascend_pt"))
        self.assertNotIn("exporter", result.out + "".join(result.err))

    def test_sheets_that_nobody_asked_for(self):
        sides = {"base": "gpu_base.json", "comparison": "gpu_new.json"}
        result = self.compare(**sides)
        self.assertEqual([line for line in result.warnings if "Compare" in line], [])
        self.assertTrue(any("the sheet Notes or -v says why" in line for line in result.err), result.err)
        for option in ("-v", "--enable_kernel_compare"):
            result = self.compare(option, **sides)
            self.assertTrue(any("KernelCompare: " in line for line in result.warnings), result.err)
            self.assertFalse(any("says why" in line for line in result.err), result.err)

    def test_verbose_is_not_named_where_all_is_shown(self):
        job = self.job("job", {0: "pipeline_first_ascend_pt", 1: "pipeline_last_ascend_pt"})
        result = self.run_tool("-m", "module_statistic", "-d", job, "-o", self.out)
        self.assertTrue(any("2 ranks (0, 1): " in line for line in result.warnings), result.err)
        self.assertFalse(any("--verbose lists" in line for line in result.err), result.err)

    def test_advice_fits_the_device(self):
        """Nothing of NPUs is asked of a GPU, but where the recipe is of NPUs alone and says so."""
        for recipe in recipes_of(self.TOOL):
            if recipe in REQUIRED:
                continue
            with self.subTest(recipe=recipe):
                result = self.run_tool("-m", recipe, "-d", self.gpu_job(), "-o", self.out)
                for line in [*result.err, *result.out.splitlines()]:
                    if not re.search(r"NPU \w+ only|only NPU|the results are in", line):
                        self.assertNotRegex(line, r"profiler_level|aic_metrics|info\.json|CANN|HCCL|hcom_|HCCS|PROF_|ASCEND|NPU")

    def gpu_job(self):
        job = self.scratch / "gpu"
        job.mkdir(exist_ok=True)
        shutil.copy(self.CAPTURES / "gpu_base.json", job)
        return job


class Widths(FirstTouchCli):
    """Nothing is cut while there is room, and no line is wider than the screen."""

    def screens(self, columns):
        for command in (["advisor", "all", "-d", NEW], ["compare", BASE, NEW],
                        *(["-m", recipe, "-d", NEW] for recipe in recipes_of(self.TOOL)
                          if recipe not in REQUIRED)):
            yield command, self.run_tool(*command, "-o", self.out, env={"COLUMNS": str(columns), "LANG": "C"}).out

    def test_lines_fit(self):
        for columns in (80, 200):
            for command, screen in self.screens(columns):
                with self.subTest(command=command, columns=columns):
                    lines = [line for line in screen.splitlines() if not line.startswith("Next: ")]
                    self.assertLessEqual(max(map(len, lines), default=0), columns)

    def test_names_have_the_room_that_is_there(self):
        name = "Linear" + "Of" * 40 + "Experts"
        toy = (self.CAPTURES / "toy_model_ascend_pt.sql").read_text()
        self.write("long_ascend_pt.sql", toy.replace("'Linear'", f"'{name}'"))
        capture = build_database(self.scratch, "long_ascend_pt", self.scratch / "built")
        shown = {}
        for columns in (80, 200):
            screen = self.run_tool("-m", "module_statistic", "-d", capture, "-o", self.out,
                                   env={"COLUMNS": str(columns)}).out
            shown[columns] = [line.split()[-1] for line in screen.splitlines() if line.endswith("Experts")]
        self.assertNotEqual(shown[200], [])
        self.assertEqual([name in text for text in shown[200]], [True] * len(shown[200]))
        self.assertEqual(len(shown[80]), len(shown[200]))
        for text in shown[80]:  # the last module stays, with its beginning and its end
            self.assertRegex(text, r"LinearOf.*\.\.\..*OfExperts$|^ToyM.*\.\.\..*OfExperts$")

    def test_kernels_have_the_room_that_is_there(self):
        name = "MatMul" + "Of" * 30 + "Experts"
        text = (self.CAPTURES / "db_base_ascend_pt.sql").read_text()
        self.write("long_ascend_pt.sql", text.replace("'MatMulV2'", f"'{name}'"))
        capture = build_database(self.scratch, "long_ascend_pt", self.scratch / "built")
        for recipe in ("top_operators", "compute_op_sum"):
            with self.subTest(recipe=recipe):
                for columns, shown in ((80, r"MatMulOf\S*\.\.\.\S*Experts "), (200, f"{name} ")):
                    screen = self.run_tool("-m", recipe, "-d", capture, "-o", self.out, env={"COLUMNS": str(columns)}).out
                    self.assertRegex(screen, shown)
                    self.assertLessEqual(max(map(len, screen.splitlines())), columns)

    def test_what_a_fix_saves_is_a_column(self):
        screen = self.run_tool("advisor", "all", "-d", "twin_text_new_ascend_pt", "-o", self.out, env={"LANG": "C"}).out
        places = {line.index(" saves ") for line in screen.splitlines() if re.search(r"  saves \d", line)}
        self.assertEqual(len(places), 1, screen)
        self.assertGreater(len(re.findall("  saves ", screen)), 1, screen)


class Words(FirstTouchCli):
    """What screens say in words."""

    def advisor(self, *arguments, capture=NEW):
        return self.run_tool("advisor", *arguments, "-d", capture, "-o", self.out, env={"LANG": "C"}).out

    def test_checks_that_passed_and_what_was_not_judged(self):
        document = json.loads(self.run_tool("advisor", "all", "-d", NEW, "--json").out)
        screen = self.advisor("all")
        self.assertRegex(screen, rf"\b{len(document['fine'])} checks passed(;|\n)")
        causes, needs = {}, {}
        for row in document["skipped"]:
            causes.setdefault(row["hint"], set()).add(row["id"])
            needs.setdefault(row["hint"], set()).add(row["needs"])
        told = " ".join(line.strip() for line in re.search(r"^Not judged: (.*\n)(  .*\n)?", screen,
                                                         flags=re.MULTILINE)[0].splitlines())
        shown = re.findall(r"(\d+) causes? without (.*?)(?: and others)? \(([^()]+)\)(?:; |$)", told.removeprefix("Not judged: "))
        self.assertGreater(len(shown), 0)
        for count, names, hint in shown:
            self.assertEqual(int(count), len(causes[hint]), told)
            self.assertLessEqual(set(names.split(", ")), needs[hint], told)
        self.assertEqual([row["id"] for row in document["skipped"] if row["id"] in told], [], "words, no ids")
        more = re.search(r"; (\d+) more$", told)
        self.assertEqual(len(shown) + int(more[1] if more else 0), len(causes), told)

    def test_causes_of_idle_time_have_words(self):
        job = self.job("job", {0: "db_base_ascend_pt"})
        screen = self.run_tool("-m", "free_analysis", "-d", job, "-o", self.out).out
        self.assertNotRegex(screen, r"\b(?:free|comm|copy|comp)\.\w")
        self.assertRegex(screen, r"\n  (?:Python|operator calls|device queue|launch latency|[a-z ]+) \d[\d.]* us")

    def test_what_findings_hide_has_words(self):
        hidden = json.loads(self.run_tool("advisor", "all", "-d", BASE, "--json").out)["hidden"][0]
        line = re.search(r"^Hidden behind .*(\n  .*)?", self.advisor("all", capture=BASE), flags=re.MULTILINE)[0]
        self.assertNotIn(hidden["key"], line)

    def test_the_whole_capture(self):
        """A capture without steps has no step -1."""
        job = self.job("job", {0: "pipeline_first_ascend_pt"})
        for capture in (NEW, job, "gpu_base.json", "graph_replay/decode.json"):
            screen = self.advisor("all", capture=capture)
            for number in re.findall(r"^(\d) [A-Z]+ ", screen, flags=re.MULTILINE):
                why = self.advisor("why", number, capture=capture)
                self.assertNotRegex(why, r" -1\b|\.0 calls|(?<![\d.])[01] calls")

    def test_what_is_gone_has_one_form(self):
        """Conv2D of one side has another name in the other."""
        kernels = self.capture_copy(NEW)
        for name in ("kernel_details.csv", "op_statistic.csv"):
            table = kernels / "ASCEND_PROFILER_OUTPUT" / name
            table.write_text(table.read_text().replace("Conv2D", "Other2D"))
        screen = self.compare(base=BASE, comparison=kernels).out
        self.assertIn("gone", screen)
        self.assertNotIn("-100.0", screen)

    def test_times_of_steps_have_names(self):
        job = self.job("job", {0: "db_base_ascend_pt"})
        for recipe, more in (("cluster_time_compare_summary", ["-bp", job]), ("cluster_time_summary", [])):
            screen = self.run_tool("-m", recipe, "-d", job, *more, "-o", self.out).out
            self.assertIn("exposed communication", screen)
            self.assertNotRegex(screen, r"\b[a-z]+[A-Z]")


class FromPython(FirstTouchCli):
    """Command lines of the Python tool; those of docs/from-python.md run in run_doc_commands.py."""

    def test_options_without_effect(self):
        job = self.job("job", {0: "db_base_ascend_pt"})
        usual = self.run_tool("-m", "all", "-d", job, "-o", self.out)
        for option in (["--data_simplification"], ["--top_num", "5"], ["--exclude_op_name"]):
            result = self.run_tool("-m", "all", "-d", job, "-o", self.out, *option)
            self.assertEqual((result.code, result.out), (usual.code, usual.out), result.err)
            self.assertTrue(any(f"{option[0]} has no effect" in line for line in result.warnings), result.err)
        self.assert_fails(2, self.run_tool("-m", "slow_rank", "-d", job, "--exclude_op_name"), "no such option")

    def test_versions_and_types(self):
        for option, wrong, right in (("-cv", "foo", "8.0.RC1"), ("-tv", "2", "2.1.0"), ("-pt", "torch", "mindspore"),
                                     ("-cv", "8.", "7.0.0")):
            result = self.run_tool("advisor", "all", "-d", NEW, option, wrong, "-o", self.out)
            self.assert_fails(2, result, f"'{wrong}'")
            result = self.run_tool("advisor", "all", "-d", NEW, option, right, "-o", self.out)
            self.assertEqual(result.code, 0, result.err)


if __name__ == "__main__":
    sys.exit(main(__doc__, JobsOfRanks, TextForms, RankLists, Mistakes, Warnings, Widths, Words, FromPython))
